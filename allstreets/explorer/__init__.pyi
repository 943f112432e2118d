from .security import choose_token as choose_token
from .server import serve as serve
from .solves.folders import default_folder as default_folder
from .views.view import range_at as range_at

from .access import choose_token as choose_token
from .reaching import range_at as range_at
from .server import serve as serve
from .solves.folders import default_folder as default_folder

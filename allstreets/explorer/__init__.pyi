from .server import serve as serve
from .solves.folders import default_folder as default_folder

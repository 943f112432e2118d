from .server import make_server as make_server
from .tools import Bounds as Bounds
from .tools import Tools as Tools

from .aivat import Corrected as Corrected
from .player import Answer as Answer
from .player import Decider as Decider
from .player import Seat as Seat
from .player import SolutionPlayer as SolutionPlayer
from .table import Table as Table

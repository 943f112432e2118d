from .analysis.frequency_locks import LockRequest as LockRequest
from .cards.equity import equity as equity
from .cards.ranges import Range as Range
from .explorer.views.view import range_at as range_at
from .games.locks import Lock as Lock
from .games.spot import Spot as Spot
from .interop.range_files import export_ranges as export_ranges
from .jobs.api import certify as certify
from .jobs.api import lock as lock
from .jobs.api import train as train
from .jobs.simplify import simplify as simplify
from .jobs.spots import solve_many as solve_many
from .solutions.spot import SpotSolution as SpotSolution
from .solutions.spot import solve as solve
from .solutions.whole_game import WholeSolution as WholeSolution
from .solvers.spot import SpotSolver as SpotSolver
from .solvers.whole_game import WholeGameSolver as WholeGameSolver
from .storage.comparing import board_report as board_report
from .storage.comparing import compare as compare
from .storage.opening import load as load
from .storage.spot_bundle import load_spot as load_spot
from .storage.spot_bundle import save_spot as save_spot

__version__: str

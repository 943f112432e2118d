"""The jobs: solve a spot."""

from allstreets.solvers.estimate import Estimate, estimate_spot
from allstreets.solvers.locks import Lock
from allstreets.solvers.many import ManyRow, solve_many
from allstreets.solvers.spot import Spot
from allstreets.solvers.spot_report import action_rows, combo_rows, node_report, player_rows
from allstreets.solvers.spot_result import NodeResult, SpotResult
from allstreets.solvers.spot_solver import SpotSolver, solve
from allstreets.solvers.spot_text import spot_mapping

__all__ = [
    "Estimate",
    "Lock",
    "ManyRow",
    "NodeResult",
    "Spot",
    "SpotResult",
    "SpotSolver",
    "action_rows",
    "combo_rows",
    "estimate_spot",
    "node_report",
    "player_rows",
    "solve",
    "solve_many",
    "spot_mapping",
]

"""The jobs: solve a spot, solve models of flops."""

from allstreets.solvers.estimate import Estimate, estimate_spot
from allstreets.solvers.flop_game import FlopGame, flop_game
from allstreets.solvers.flop_model import (
    FlopEnds,
    FlopModel,
    FlopProgress,
    FlopResult,
    FlopSolver,
    solve_flop,
)
from allstreets.solvers.locks import Lock
from allstreets.solvers.many import ManyRow, solve_many
from allstreets.solvers.postflop_result import ClassStrategy, PostflopResult
from allstreets.solvers.spot import Spot
from allstreets.solvers.spot_report import action_rows, combo_rows, node_report, player_rows
from allstreets.solvers.spot_result import NodeResult, SpotResult
from allstreets.solvers.spot_solver import SpotSolver, solve
from allstreets.solvers.spot_text import spot_mapping

__all__ = [
    "ClassStrategy",
    "Estimate",
    "FlopEnds",
    "FlopGame",
    "FlopModel",
    "FlopProgress",
    "FlopResult",
    "FlopSolver",
    "Lock",
    "ManyRow",
    "NodeResult",
    "PostflopResult",
    "Spot",
    "SpotResult",
    "SpotSolver",
    "action_rows",
    "combo_rows",
    "estimate_spot",
    "flop_game",
    "node_report",
    "player_rows",
    "solve",
    "solve_flop",
    "solve_many",
    "spot_mapping",
]

"""The jobs: solve a spot, solve models of flops."""

from allstreets.solvers.flops.game import FlopGame, flop_game
from allstreets.solvers.flops.model import (
    FlopEnds,
    FlopModel,
    FlopProgress,
    FlopResult,
    FlopSolver,
    solve_flop,
)
from allstreets.solvers.flops.result import ClassStrategy, PostflopResult
from allstreets.solvers.spot.behind import BehindResult, solve_behind
from allstreets.solvers.spot.estimate import Estimate, estimate_spot
from allstreets.solvers.spot.locks import Lock
from allstreets.solvers.spot.many import ManyRow, solve_many
from allstreets.solvers.spot.report import action_rows, combo_rows, node_report, player_rows
from allstreets.solvers.spot.result import NodeResult, SpotResult
from allstreets.solvers.spot.solver import SpotSolver, solve
from allstreets.solvers.spot.spot import Spot
from allstreets.solvers.spot.text import spot_mapping

__all__ = [
    "BehindResult",
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
    "solve_behind",
    "solve_flop",
    "solve_many",
    "spot_mapping",
]

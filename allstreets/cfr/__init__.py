"""How regret is minimised: schedules, pruning, tabular CFR, external sampling, best responses."""

from allstreets.cfr.best_response import BestResponse, best_response, exploitability, game_value
from allstreets.cfr.flat import FlatGame, compile_game
from allstreets.cfr.mccfr import MccfrSolver
from allstreets.cfr.metrics import Metrics
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import (
    SCHEDULES,
    Multipliers,
    Schedule,
    cfr_plus,
    dcfr,
    dcfr_plus,
    linear,
    parse_schedule,
    tuned,
    vanilla,
)
from allstreets.cfr.sequence_form import SequenceForm, sequence_form
from allstreets.cfr.tabular import CfrSolver

__all__ = [
    "SCHEDULES",
    "BestResponse",
    "CfrSolver",
    "FlatGame",
    "MccfrSolver",
    "Metrics",
    "Multipliers",
    "Pruning",
    "Schedule",
    "SequenceForm",
    "best_response",
    "cfr_plus",
    "compile_game",
    "dcfr",
    "dcfr_plus",
    "exploitability",
    "game_value",
    "linear",
    "parse_schedule",
    "sequence_form",
    "tuned",
    "vanilla",
]

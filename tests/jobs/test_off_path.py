"""Off-path pots of a trained game: their entry ranges are stored, and flops are solved for them."""

from pathlib import Path

import numpy as np
import pytest

from allstreets.base import Floats
from allstreets.betting import BIG_BLINDS, IP, OOP, line_text
from allstreets.cards import HAND_SIZES
from allstreets.jobs import UnifiedConfig, plan_unified
from allstreets.solutions import WholeSolution, flop_spot
from allstreets.storage import load_unified

CONFIG = """{"type": "unified_cfr", "cards": "classes", "stack_depth": 20, "raise_cap": 2,
"raise_sizes": {"open": ["2bb"], "over_limp": ["3bb"], "3bet": ["3x"], "4bet+": ["2.2x"]},
"postflop_bet_sizes": [0.6], "max_raises_per_street": 1, "flops": ["7c6c2d"], "epochs": 150}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("off_path") / "game"
    plan_unified(UnifiedConfig.model_validate_json(CONFIG), folder).run()
    return folder


def shares(solution: WholeSolution) -> Floats:
    """[2, P]: how much of both ranges gets to each pot."""
    nodes = [pot.node for pot in solution.game.flop_pots]
    reach = solution.before.reach[nodes].transpose(1, 0, 2)
    of_pots: Floats = reach @ HAND_SIZES / HAND_SIZES.sum()
    return of_pots


def test_off_path_pots_are_solved_for_their_entry_ranges(folder: Path) -> None:
    solution = load_unified(folder)
    assert solution.before.ranges is not None
    of_pots = shares(solution)
    off_path = np.flatnonzero((of_pots < 1e-3).any(axis=0)).tolist()
    assert off_path
    for number, pot in enumerate(solution.game.flop_pots):
        line = line_text(solution.game.tree, pot.node, notation=BIG_BLINDS)
        spot = flop_spot(solution, line, "Ks8h3d")
        reach = solution.before.reach[pot.node]
        for player in (OOP, IP):
            if number in off_path and of_pots[player, number] < 1e-3:
                left = solution.before.pot_ranges[player, number]
                assert (spot.ranges[player].hand_weights > 1e-4).sum() > 20
                np.testing.assert_allclose(left.max(), 1.0)
                assert np.abs(left - reach[player] / reach[player].max()).sum() > 0.05
            elif of_pots[player, number] > 0.02:
                played = reach[player] / reach[player].max()
                classes = spot.ranges[player].hand_weights
                np.testing.assert_allclose(classes, np.where(played < 1e-5, 0, played), atol=1e-6)
        if number in off_path:
            assert spot.doubt.startswith("off-path: ")
            assert "would gain most by going there" in spot.doubt
        else:
            assert spot.doubt == ""


def test_a_solution_without_entry_ranges_still_says_that_a_line_is_not_reached(
    folder: Path,
) -> None:
    solution = load_unified(folder)
    number = int(np.argmin(shares(solution).min(axis=0)))
    line = solution.flop_lines()[number]
    object.__setattr__(solution.before, "ranges", None)
    assert flop_spot(solution, line, "Ks8h3d").doubt.startswith("not reached: ")

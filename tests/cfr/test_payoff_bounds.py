"""The bounds hold: no regret of one iteration is larger than they say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import RandomGame

from allstreets.cfr import FIRST, SECOND, CfrSolver, Leduc, compile_game, sequence_form
from allstreets.cfr.kernels.pruned import bound_of
from allstreets.cfr.payoff_bounds import payoff_bounds
from allstreets.cfr.sequence_form import SequenceForm


def check(form: SequenceForm) -> list[float]:
    """Regrets gained in each of some iterations as shares of their bounds."""
    bounds = payoff_bounds(form)
    solver = CfrSolver(form, "vanilla")
    shares = []
    lanes = form.layout.band_lane[form.layout.player_band]
    for _ in range(6):
        before = solver._tables.regrets.copy()
        reach_before = solver._tables.reach.copy()
        solver.train_batch(1)
        gained = solver._tables.regrets - before
        for player, reach in ((FIRST, reach_before), (SECOND, solver._tables.reach)):
            # The second player meets what the first plays after his own update.
            for lane in range(lanes[player], lanes[player + 1]):
                largest = bound_of(bounds, bounds.gap, lane, reach)
                assert gained[lane] <= largest + 1e-12
                shares.append(gained[lane] / largest if largest > 1e-9 else 0.0)
    return shares


def test_leduc() -> None:
    shares = check(sequence_form(compile_game(Leduc())))
    assert max(shares) > 0.5  # and is not absurdly wide


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_random_games(seed: int) -> None:
    check(sequence_form(compile_game(RandomGame(seed))))


def test_blocks_are_found_by_lane() -> None:
    form = sequence_form(compile_game(Leduc()))
    bounds = payoff_bounds(form)
    for lane in range(form.game.slots):
        blocks = np.flatnonzero(form.layout.block_lane == lane)
        assert list(blocks) == list(range(bounds.block_start[lane], bounds.block_end[lane]))

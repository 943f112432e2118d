"""The sequence form: lanes, bands and payoffs; no regret gained is above its bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import RandomGame

from allstreets.cfr import (
    FIRST,
    SECOND,
    CfrSolver,
    FlatGame,
    Kuhn,
    Leduc,
    compile_game,
    sequence_form,
)
from allstreets.cfr.game import NOWHERE, TERMINAL
from allstreets.cfr.kernels.tabular import bound_of
from allstreets.cfr.sequence_form import SequenceForm, payoff_bounds


def dense_payoffs(form: SequenceForm, player: int) -> np.ndarray:
    """[K + 1, K + 1] the player's payoff matrix, own lane by opponent's lane, from the blocks."""
    layout, slots = form.layout, form.game.slots
    matrix = np.zeros((slots + 1, slots + 1))
    for block in range(layout.player_block[player], layout.player_block[player + 1]):
        columns, payoffs = layout.block_column[block], layout.block_payoff[block]
        np.add.at(matrix[layout.block_lane[block]], columns, payoffs)
    return matrix


def check(flat: FlatGame) -> None:
    form = sequence_form(flat)
    assert sorted(form.lane) == list(range(flat.slots + 1))
    assert form.lane[NOWHERE] == flat.slots
    by_slot = np.random.default_rng(1).random(flat.slots)
    assert np.array_equal(form.to_slots(form.to_lanes(by_slot)), by_slot)
    layout = form.layout
    assert layout.band_set[-1] == len(flat.keys)
    for band, actions in enumerate(layout.band_actions):
        first, end = layout.band_set[band], layout.band_set[band + 1]
        for number in range(first, end):
            assert len(flat.actions[number]) == actions
            lanes = form.lane[flat.slot_start[number] : flat.slot_start[number + 1]]
            expected = layout.band_lane[band] + np.arange(actions) * (end - first) + number - first
            assert np.array_equal(lanes, expected)
            parent = layout.parent_lane[number]
            assert parent == flat.slots or parent < layout.band_lane[band]
    expected = np.zeros((flat.slots + 1, flat.slots + 1))
    for node in np.flatnonzero(flat.actor == TERMINAL):
        row, column = form.lane[flat.last_slot[:, node]]
        expected[row, column] += flat.chance_reach[node] * flat.utility[node]
    assert dense_payoffs(form, FIRST) == pytest.approx(expected, abs=1e-14)
    assert dense_payoffs(form, SECOND) == pytest.approx(-expected.T, abs=1e-14)


def test_kuhn() -> None:
    check(compile_game(Kuhn()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_random_games(seed: int) -> None:
    check(compile_game(RandomGame(seed)))


def test_leduc_is_stored_without_much_padding() -> None:
    layout = sequence_form(compile_game(Leduc())).layout
    entries = np.count_nonzero(layout.block_payoff)
    # Showdowns of equal ranks pay nothing: 6 deals, 4 public cards, 5 × 5 lines without a fold.
    assert entries == 2 * (5520 - 6 * 4 * 5 * 5)
    assert layout.block_payoff.size < 1.2 * entries


def gained_shares(form: SequenceForm) -> list[float]:
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


def test_bounds_hold_on_leduc() -> None:
    shares = gained_shares(sequence_form(compile_game(Leduc())))
    assert max(shares) > 0.5  # and is not absurdly wide


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_bounds_hold_on_random_games(seed: int) -> None:
    gained_shares(sequence_form(compile_game(RandomGame(seed))))


def test_blocks_are_found_by_lane() -> None:
    form = sequence_form(compile_game(Leduc()))
    bounds = payoff_bounds(form)
    for lane in range(form.game.slots):
        blocks = np.flatnonzero(form.layout.block_lane == lane)
        assert list(blocks) == list(range(bounds.block_start[lane], bounds.block_end[lane]))

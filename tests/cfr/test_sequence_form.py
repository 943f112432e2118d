"""The sequence form: lanes, bands and payoffs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import RandomGame

from allstreets.cfr import FIRST, SECOND, FlatGame, Kuhn, Leduc, compile_game, sequence_form
from allstreets.cfr.game import NOWHERE, TERMINAL
from allstreets.cfr.sequence_form import SequenceForm


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

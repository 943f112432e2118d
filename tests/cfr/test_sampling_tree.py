"""The tree that walks go over: the same game, and chance as it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import RandomGame

from allstreets.cfr import FlatGame, Leduc, compile_game
from allstreets.cfr.game import CHANCE, TERMINAL
from allstreets.cfr.sampling_tree import alias_table, sampling_tree


def check(flat: FlatGame) -> None:
    tree = sampling_tree(flat)
    nodes = tree.nodes.reshape(-1, 4)
    seen = []

    def moves(number: int, chance: float) -> list[tuple[int, float]]:
        """What a node's moves lead to; chance moves in a row are taken as one."""
        first = flat.first_child[number]
        found = []
        for child in range(first, first + flat.child_count[number]):
            reached = chance * flat.probability[child]
            if flat.actor[number] == flat.actor[child] == CHANCE:
                found += moves(child, reached)
            else:
                found.append((child, reached))
        return found

    def compare(number: int, place: int) -> None:
        assert place % 4 == 0
        node = place // 4
        seen.append(node)
        actor, count, first, slot = (int(part) for part in nodes[node])
        assert actor == flat.actor[number]
        if actor == TERMINAL:
            assert tree.utility[place // 2 + 1] == flat.utility[number]
            return
        if actor != CHANCE:
            assert slot == flat.slot_start[flat.information_set[number]]
        expected = moves(number, 1.0)
        assert count == len(expected)
        for index, (child, chance) in enumerate(expected):
            assert tree.probability[first // 4 + index] == pytest.approx(chance, rel=1e-15)
            compare(child, first + 4 * index)

    compare(0, 0)
    assert sorted(seen) == list(range(len(nodes)))


def test_leduc() -> None:
    check(compile_game(Leduc()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_random_games(seed: int) -> None:
    check(compile_game(RandomGame(seed)))


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=50))
def test_alias_tables_give_back_the_probabilities(weights: list[float]) -> None:
    probabilities = np.array(weights) / sum(weights)
    accept, alias = alias_table(probabilities)
    assert np.all((accept >= 0) & (accept <= 1))
    drawn = accept / len(weights)
    np.add.at(drawn, alias, (1 - accept) / len(weights))
    assert drawn == pytest.approx(probabilities, abs=1e-11)

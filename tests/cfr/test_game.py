"""The flat form of a game: its contents, and the games that it refuses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import RandomGame, all_states, information_sets

from allstreets.base import InputError
from allstreets.cfr import FIRST, SECOND, FlatGame, Game, Kuhn, Leduc, compile_game
from allstreets.cfr.game import CHANCE, NOWHERE, TERMINAL


def check(game: Game) -> FlatGame:
    """Everything the arrays promise, for any game."""
    flat = compile_game(game)
    states = list(all_states(game.root()))
    assert len(flat.actor) == len(states)
    assert flat.level_start[0] == 0
    assert flat.level_start[-1] == len(states)
    sets = information_sets(game)
    assert dict(zip(flat.keys, flat.actions, strict=True)) == {
        key: actions for key, (_, actions) in sets.items()
    }
    assert sorted(flat.utility[flat.actor == TERMINAL]) == sorted(
        state.utility() for state in states if state.is_terminal
    )
    assert flat.chance_reach[flat.actor == TERMINAL].min() > 0
    for node in range(len(flat.actor)):
        children = range(flat.first_child[node], flat.first_child[node] + flat.child_count[node])
        assert (len(children) == 0) == (flat.actor[node] == TERMINAL)
        for index, child in enumerate(children):
            assert child > node
            expected = flat.last_slot[:, node].copy()
            if flat.actor[node] in (FIRST, SECOND):
                information_set = flat.information_set[node]
                expected[flat.actor[node]] = flat.slot_start[information_set] + index
            assert np.array_equal(flat.last_slot[:, child], expected)
        if flat.actor[node] == CHANCE:
            assert flat.probability[list(children)].sum() == pytest.approx(1)
    for number, key in enumerate(flat.keys):
        player, _ = sets[key]
        assert flat.set_start[player] <= number < flat.set_start[player + 1]
        # A parent's slots stand before its children's.
        assert flat.parent_slot[number] < flat.slot_start[number]
        assert flat.set_of_slot[flat.slot_start[number]] == number
    return flat


def test_kuhn() -> None:
    flat = check(Kuhn())
    assert len(flat.keys) == 12
    assert flat.slots == 24
    assert flat.utility_range == 4
    assert list(flat.level_start[:4]) == [0, 1, 4, 10]
    assert flat.parent_slot[list(flat.keys).index("J")] == NOWHERE
    check_slot = flat.slot_start[list(flat.keys).index("J")]
    assert flat.parent_slot[list(flat.keys).index("J kb")] == check_slot


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_random_games(seed: int) -> None:
    check(RandomGame(seed))


def test_fingerprints_tell_rules_apart() -> None:
    assert compile_game(Kuhn()).fingerprint == compile_game(Kuhn(name="same")).fingerprint
    assert compile_game(Kuhn()).fingerprint != compile_game(Leduc()).fingerprint


@dataclass(frozen=True)
class Scripted:
    """A game given as a nested dictionary; a number is an end, a list is chance."""

    tree: object
    name: str = "scripted"
    unit: str = "chips"

    def root(self) -> "ScriptedState":
        return ScriptedState(self.tree)


@dataclass(frozen=True)
class ScriptedState:
    """(player, information set, {action: child}), or [(probability, child)], or a utility."""

    tree: object

    @property
    def is_terminal(self) -> bool:
        return isinstance(self.tree, int)

    @property
    def is_chance(self) -> bool:
        return isinstance(self.tree, list)

    @property
    def player(self) -> int:
        assert isinstance(self.tree, tuple)
        return int(self.tree[0])

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        assert isinstance(self.tree, list)
        return [(str(index), chance) for index, (chance, _) in enumerate(self.tree)]

    def actions(self) -> Sequence[str]:
        assert isinstance(self.tree, tuple)
        return [label for label, _ in self.tree[2]]

    def child(self, index: int) -> "ScriptedState":
        if isinstance(self.tree, list):
            return ScriptedState(self.tree[index][1])
        assert isinstance(self.tree, tuple)
        return ScriptedState(self.tree[2][index][1])

    def information_set(self) -> str:
        assert isinstance(self.tree, tuple)
        return str(self.tree[1])

    def utility(self) -> float:
        assert isinstance(self.tree, int)
        return float(self.tree)


def move(player: int, key: str, *children: tuple[str, object]) -> tuple[object, ...]:
    return (player, key, children)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([(0.5, 1), (0.6, 2)], "sum to 1"),
        ([(1.0, 1), (0.0, 2)], "must be positive"),
        ([], "sum to 1"),
        (move(FIRST, "x"), "at least one"),
        (move(FIRST, "x", ("a", 1), ("a", 2)), "its own label"),
        (
            [(0.5, move(FIRST, "x", ("a", 1))), (0.5, move(FIRST, "x", ("b", 1)))],
            "what a player may do must follow from what he knows",
        ),
        (
            [(0.5, move(FIRST, "x", ("a", 1))), (0.5, move(SECOND, "x", ("a", 1)))],
            "used by both players",
        ),
        (
            move(
                FIRST,
                "x",
                ("a", move(FIRST, "y", ("c", 1), ("d", 2))),
                ("b", move(FIRST, "y", ("c", 1), ("d", 2))),
            ),
            "perfect recall",
        ),
        # Absent-minded: the same set twice on one line.
        (move(FIRST, "x", ("a", move(FIRST, "x", ("a", 1), ("b", 2))), ("b", 2)), "perfect recall"),
    ],
)
def test_refuses_games_that_cannot_be_solved(tree: object, words: str) -> None:
    with pytest.raises(InputError) as error:
        compile_game(Scripted(tree))
    assert words in str(error.value)


def test_a_game_without_decisions() -> None:
    flat = compile_game(Scripted([(0.25, 4), (0.75, 0)]))
    assert flat.slots == 0
    assert flat.keys == ()


def test_a_game_that_is_too_large_is_refused_before_its_states_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = 0
    child = type(Leduc().root()).child

    def counting(state: object, index: int) -> object:
        nonlocal made
        made += 1
        return child(state, index)  # type: ignore[arg-type]

    monkeypatch.setattr(type(Leduc().root()), "child", counting)
    monkeypatch.setattr("allstreets.cfr.game.HISTORY_LIMIT", 1000)
    with pytest.raises(
        InputError, match=r"leduc has more than 1,000 histories.*\nChoose a smaller"
    ):
        compile_game(Leduc())
    assert made < 1000
    monkeypatch.setattr("allstreets.cfr.game.HISTORY_LIMIT", 9457)
    assert len(compile_game(Leduc()).actor) == 9457

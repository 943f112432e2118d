"""Pruning in the unified solver: off is off, closed actions stay as they are, and it converges."""

import numpy as np
import pytest
from builders.small_games import small_config
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.solvers.whole_game import WholeGameSolver

DCFR = parse_schedule("dcfr")
STRONG = Pruning(5, -1e5, 4, 1e10)  # in chips times pairs of combos


class Watched:
    """Leaves that write down which hands matter."""

    def __init__(self, solver: WholeGameSolver) -> None:
        self._leaves = solver.leaves
        self.masks: list[Flags | None] = []
        solver.preflop.leaves = self

    def step(
        self, player: Player, player_reach: Floats, opponent_reach: Floats, hand_mask: Flags | None
    ) -> Floats:
        self.masks.append(hand_mask)
        return self._leaves.step(player, player_reach, opponent_reach, hand_mask)

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        return self._leaves.best_response(player, opponent_reach)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        return self._leaves.evaluate(player, opponent_reach)


def make(pruning: Pruning | None, algorithm: str = "dcfr", **keys: object) -> WholeGameSolver:
    game = small_config(**{"stack_depth": 12, "raise_cap": 2, **keys}).game()
    return WholeGameSolver(
        game, game.build(game.engine()), parse_schedule(algorithm), pruning=pruning
    )


def bits(solver: WholeGameSolver) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver.state().items()}


def gap(solver: WholeGameSolver) -> float:
    found = solver.exploitability()
    assert found is not None
    return found


@pytest.mark.parametrize(
    "pruning",
    [
        Pruning(100, -1.0, 3, 1.0),  # begins after the run
        Pruning(0, -1.0, 3, 1.0),  # off
        Pruning(1, -1.0, 1, 1e30),  # every iteration explores
        Pruning(1, -1e30, 3, 1e30),  # nothing is as bad as that
    ],
)
def test_where_nothing_is_skipped_nothing_changes(pruning: Pruning) -> None:
    plain, pruned = make(None), make(pruning)
    plain.train_batch(14)
    pruned.train_batch(14)
    assert bits(plain) == bits(pruned)


def test_something_is_skipped_else() -> None:
    plain, pruned = make(None), make(STRONG)
    plain.train_batch(14)
    pruned.train_batch(14)
    assert bits(plain) != bits(pruned)


def test_a_closed_action_is_discounted_and_otherwise_left_alone() -> None:
    solver = make(STRONG)
    solver.train_batch(22)
    tree = solver.game.tree
    before = {node: array.copy() for node, array in solver.preflop.regrets.items()}
    masks = {player: solver.preflop.hand_mask(player, -1e5) for player in Player}
    solver.train_batch(1)  # not one that explores
    now = DCFR.at(23)
    closed = untouched = learned = 0
    for node, old in before.items():
        player = Player(int(tree.player[node]))
        here, new = masks[player][node], solver.preflop.regrets[node]
        children = tree.children_of(node)
        factors = np.where(old > 0, now.positive, now.negative)
        shut = here & ~masks[player][children]
        np.testing.assert_array_equal(new[shut], (old * factors)[shut])
        closed += int(shut.sum())
        # Below a closed action not even discounts are applied.
        np.testing.assert_array_equal(new[:, ~here], old[:, ~here])
        untouched += int((~here).sum())
        played = here & masks[player][children]
        learned += int((new != old * factors)[played].sum())
    assert min(closed, learned) > 300
    assert untouched > 100


def test_a_pot_is_left_alone_for_hands_that_never_get_there() -> None:
    """On the flops below, too: whole blocks of hands for whom no way is open."""
    solver = make(STRONG)
    solver.train_batch(22)
    games = solver.engine
    assert isinstance(games, MatrixEngine)
    watched = Watched(solver)
    before = all_regrets(games)
    solver.train_batch(1)
    after = all_regrets(games)
    left, learned = 0, 0
    for (pot, node), new in after.items():
        mask = watched.masks[int(games.games[pot].tree.player[node])]
        assert mask is not None
        blocks = np.pad(mask[pot], (0, 7)).reshape(-1, 16).any(axis=1)
        out = ~np.repeat(blocks, 16)[:HAND_COUNT]
        np.testing.assert_array_equal(new[:, out], before[pot, node][:, out])
        left += int(out.sum())
        learned += int((new != before[pot, node]).any(axis=0).sum())
    assert left > 100
    assert learned > 100


def all_regrets(games: MatrixEngine) -> dict[tuple[int, int], NDArray[np.float32]]:
    """Of all pots on the first flop, by pot and decision."""
    return {
        (pot, node): game.numbers_at(game.regrets, 0, node).copy()
        for pot, game in enumerate(games.games)
        for node in game.tree.decisions()
    }


def test_values_of_hands_that_do_not_matter_stay_what_they_were() -> None:
    """They are the baselines of later batches, so nothing that means nothing may get there."""
    solver = make(STRONG)
    solver.train_batch(22)
    watched = Watched(solver)
    before = np.array(solver.leaves.last)
    solver.train_batch(1)
    for player in Player:
        mask = watched.masks[player]
        assert mask is not None
        kept, new = before[player], np.asarray(solver.leaves.last[player])  # [P, F, 169]
        out = np.broadcast_to(~mask[:, None], new.shape)
        np.testing.assert_array_equal(new[out], kept[out])
        assert out.sum() > 50
        assert (new != kept)[~out].sum() > 50


def test_exploring_iterations_visit_everything() -> None:
    solver = make(STRONG)
    watched = Watched(solver)
    solver.train_batch(16)
    for iteration in range(1, 17):
        for mask in watched.masks[2 * iteration - 2 : 2 * iteration]:
            explores = iteration <= 5 or iteration % 4 == 0
            assert (mask is None) == explores
            if iteration > 12 and mask is not None:
                assert not mask.all()


@pytest.mark.parametrize("threshold", ["-1e5*sqrt(t)", -3e6])
def test_it_converges_as_without(threshold: str | float) -> None:
    iterations = 150
    plain, pruned = make(None), make(Pruning(30, threshold, 20, 1e9))
    plain.train_batch(iterations)
    pruned.train_batch(iterations)
    assert gap(pruned) <= 1.1 * gap(plain)
    assert bits(plain) != bits(pruned)


def test_regrets_stay_above_the_floor() -> None:
    floor = 2e6
    solver = make(Pruning(5, -1e6, 4, floor))
    solver.train_batch(5)
    lowest = min(float(array.min()) for array in solver.preflop.regrets.values())
    assert lowest < -floor
    solver.train_batch(20)
    assert min(float(array.min()) for array in solver.preflop.regrets.values()) >= -floor


def test_a_restored_run_goes_on_bit_for_bit() -> None:
    whole, begun, resumed = (make(STRONG) for _ in range(3))
    whole.train_batch(15)
    begun.train_batch(9)
    resumed.restore({name: array.copy() for name, array in begun.state().items()})
    resumed.train_batch(6)
    assert bits(resumed) == bits(whole)
    assert resumed.identity["pruning"] == STRONG.facts()


def test_the_sound_rule_is_refused_with_advice() -> None:
    with pytest.raises(InputError, match="prune_threshold is missing"):
        make(Pruning(5, None, 4, 1e9))

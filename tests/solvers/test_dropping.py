"""Closing actions before the flop: the rule itself, and the effects of a closed action."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.dropping import naive_verdict

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import Player, PreflopRules, build_preflop_tree
from allstreets.cards import HAND_COUNT, preflop_equity
from allstreets.cfr.schedules import parse_schedule
from allstreets.games.whole_game import PreflopGame, Strategies
from allstreets.solvers.dropping import HandDropping
from allstreets.solvers.preflop import PreflopCfr

RULES = PreflopRules.parse(20, [2.5], 3)
TREE = build_preflop_tree(RULES)
PAIRS = preflop_equity().pairs.astype(np.float64)
NOW = parse_schedule("dcfr").at(30)


class Table:
    """Leaves worth the equity of the hands; they write down the masks."""

    def __init__(self) -> None:
        self.masks: list[Flags | None] = []

    def step(
        self, player: Player, player_reach: Floats, opponent_reach: Floats, hand_mask: Flags | None
    ) -> Floats:
        del player_reach
        self.masks.append(hand_mask)
        return self.evaluate(player, opponent_reach)

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        return self.evaluate(player, opponent_reach)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        del player
        found: Floats = opponent_reach @ (PAIRS * (2 * preflop_equity().equity - 1)).T * 300
        return found


def make(seed: int = 1) -> PreflopCfr:
    """Regrets and sums as they may come, many of them negative or tiny."""
    generator = np.random.default_rng(seed)
    preflop = PreflopCfr(PreflopGame.dealt(TREE, RULES, PAIRS), Table())
    for node, regrets in preflop.regrets.items():
        regrets[...] = generator.normal(-0.5, 1, regrets.shape) * 1e6
        sums = preflop.sums[node]
        sums[...] = generator.choice([0.0, 1e-5, 1e-3, 1.0], sums.shape)
        sums[0] += 0.5
    return preflop


def reach_by_walking_up(strategies: Strategies, node: int, player: Player) -> Floats:
    """[169]: the chance that a player's own actions lead to a node."""
    reach = np.ones(HAND_COUNT)
    while node:
        parent = int(TREE.parent[node])
        if TREE.player[parent] == player:
            reach = reach * strategies[parent][TREE.children_of(parent).tolist().index(node)]
        node = parent
    return reach


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_the_rule_hand_by_hand(seed: int) -> None:
    generator = np.random.default_rng(seed)
    preflop = make(seed)
    closing = HandDropping(preflop, 10)
    sizes = dict.fromkeys(("closed", "newly_closed", "reopened"), 0)
    for _ in range(3):
        closing.watch()
        best = 1e4 * generator.integers(0, 5, (2, TREE.node_count, HAND_COUNT)).astype(np.float64)
        averages = preflop.average()
        state = {name: array.copy() for name, array in closing.state().items()}
        regrets = {node: array.copy() for node, array in preflop.regrets.items()}
        sums = {node: array.copy() for node, array in preflop.sums.items()}
        found = closing.review(best)
        counts = dict.fromkeys(sizes, 0)
        for node in regrets:
            worth = best[int(TREE.player[node])][TREE.children_of(node)]
            other = Player(int(TREE.player[node])).opponent
            pairs = PAIRS @ reach_by_walking_up(averages, node, other)
            closed, played = (state[f"closing.{kind}.{node:04d}"] for kind in ("closed", "played"))
            for hand in range(HAND_COUNT):
                verdict = naive_verdict(
                    closed[:, hand].tolist(),
                    played[:, hand].tolist(),
                    regrets[node][:, hand].tolist(),
                    sums[node][:, hand].tolist(),
                    worth[:, hand].tolist(),
                    float(pairs[hand]),
                )
                after = closing.state()
                assert after[f"closing.closed.{node:04d}"][:, hand].tolist() == verdict.closed
                assert after[f"closing.played.{node:04d}"][:, hand].tolist() == verdict.played
                assert preflop.regrets[node][:, hand].tolist() == verdict.regrets
                assert preflop.sums[node][:, hand].tolist() == verdict.sums
                before = closed[:, hand].tolist()
                counts["closed"] += sum(verdict.closed)
                counts["newly_closed"] += sum(
                    new and not old for old, new in zip(before, verdict.closed, strict=True)
                )
                counts["reopened"] += sum(verdict.played)
                assert not all(verdict.closed)
        assert {name: getattr(found, name) for name in counts} == counts
        assert 0 <= found.moved <= 3 * 1e-3
        sizes = {name: sizes[name] + counts[name] for name in sizes}
        for regrets_now in preflop.regrets.values():  # another period, with other regrets
            regrets_now[...] = generator.normal(-0.5, 1, regrets_now.shape) * 1e6
    assert min(sizes.values()) > 20


def closed_solver() -> tuple[PreflopCfr, HandDropping]:
    preflop = make()
    closing = HandDropping(preflop, 10)
    closing.watch()
    closing.review(1e5 * np.random.default_rng(4).random((2, TREE.node_count, HAND_COUNT)))
    return preflop, closing


def test_a_closed_action_is_not_played_whatever_its_regret() -> None:
    preflop, _ = closed_solver()
    for node, closed in preflop.closed.items():
        preflop.regrets[node][closed] = 1e9
        half = preflop.regrets[node][:, ::2]
        half[~closed[:, ::2]] = -1.0  # and where nothing has positive regret
        strategy = preflop.current()[node]
        assert not strategy[closed].any()
        np.testing.assert_allclose(strategy.sum(axis=0), 1)
        opened = np.where(closed, 0.0, 1 / (~closed).sum(axis=0))
        np.testing.assert_allclose(strategy[:, ::2], opened[:, ::2])
        assert not preflop.average()[node][closed].any()
    assert sum(int(closed.sum()) for closed in preflop.closed.values()) > 200


def test_nobody_asks_what_is_closed_and_it_learns_nothing() -> None:
    preflop, closing = closed_solver()
    assert isinstance(preflop.leaves, Table)
    before = {node: array.copy() for node, array in preflop.regrets.items()}
    way_open = {player: preflop.hand_mask(player) for player in Player}
    for player in Player:
        preflop.step(player, NOW)
        mask = preflop.leaves.masks[-1]
        assert mask is not None
        np.testing.assert_array_equal(mask, closing.open_hands()[player])
        assert 100 < mask.sum() < 0.9 * mask.size
    for node, old in before.items():
        player = Player(int(TREE.player[node]))
        new, here = preflop.regrets[node], way_open[player][node]
        np.testing.assert_array_equal(new[:, ~here], old[:, ~here])
        shut = here & preflop.closed[node]
        factors = np.where(old > 0, NOW.positive, NOW.negative)
        np.testing.assert_array_equal(new[shut], (old * factors)[shut])


def test_open_hands_are_those_with_a_way() -> None:
    """Found by walking up from every pot."""
    preflop, closing = closed_solver()
    found = closing.open_hands()
    for place, pot in enumerate(preflop.game.pots):
        for player in Player:
            for hand in range(HAND_COUNT):
                node, is_open = pot.node, True
                while node:
                    parent = int(TREE.parent[node])
                    action = TREE.children_of(parent).tolist().index(node)
                    if TREE.player[parent] == player:
                        is_open &= not preflop.closed[parent][action, hand]
                    node = parent
                assert found[player, place, hand] == is_open


def test_reviews_come_at_their_time() -> None:
    closing = HandDropping(make(), 25)
    assert [t for t in range(101) if closing.is_due(t)] == [25, 50, 75, 100]
    with pytest.raises(InputError, match="drop_unplayed_every is -1"):
        HandDropping(make(), -1)


def test_a_restored_one_goes_on_alike() -> None:
    preflop, closing = closed_solver()
    closing.watch()
    twin = make()
    again = HandDropping(twin, 10)
    twin.restore({name: array.copy() for name, array in preflop.state().items()})
    again.restore({name: array.copy() for name, array in closing.state().items()})
    assert twin.closed.keys() == preflop.closed.keys()
    best = np.random.default_rng(2).random((2, TREE.node_count, HAND_COUNT))
    assert again.review(best) == closing.review(best)
    for name, array in closing.state().items():
        assert again.state()[name].tobytes() == array.tobytes()

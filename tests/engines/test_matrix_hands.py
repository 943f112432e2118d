"""Games that store some hands only: the same numbers as if all were stored, to the bit."""

from typing import Any

import numpy as np
import pytest
from builders.matrix_stages import ordered_stage
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.matrix_hands import naive_row

from allstreets.base import Flags, Floats
from allstreets.base.jit import kernel
from allstreets.betting import (
    POSTFLOP,
    BettingTree,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cfr.schedules import IterationWeights, parse_schedule
from allstreets.engines.card_model import DealtPairs
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.engines.matrix.kernels.passes import move_numbers
from allstreets.engines.matrix.plan import listed, sources, stored_places
from allstreets.engines.protocol import Values
from allstreets.engines.simd.vectors import LANES, aligned, compress, load, store

HANDS, FLOPS = 40, 3
SCHEDULE = parse_schedule("dcfr")
FLOP_LIST = np.arange(FLOPS)


def make_trees() -> list[tuple[BettingTree, Floats]]:
    trees = []
    for pot, stack, sizes in ((100, 350, [1.0]), (400, 100, [0.5])):
        both = same_sizes(Street.FLOP, sizes, sizes)
        rules = PostflopRules(Street.FLOP, pot, stack, both, max_raises=1, rake=0.02)
        tree = build_postflop_tree(rules)
        trees.append((tree, payoffs(tree, rules)))
    return trees


TREES = make_trees()


def make_stages(hands: int = HANDS) -> list[tuple[Stage]]:
    generator = np.random.default_rng(5)
    return [(ordered_stage(generator, POSTFLOP, hands),) for _ in range(FLOPS)]


def make_flops(hands: int = HANDS, threads: int = 1) -> MatrixEngine:
    stages = make_stages(hands)
    held = np.array([stage.cards for (stage,) in stages])
    combos = np.array([stage.combos for (stage,) in stages])
    return MatrixEngine(TREES, MatrixCards(stages, DealtPairs(combos, held)), threads=threads)


def multipliers(iteration: int, threshold: float = -np.inf) -> list[IterationWeights]:
    return [SCHEDULE.at(iteration)._replace(threshold=threshold)] * FLOPS


def train(games: MatrixEngine, reach: Floats, iterations: range, **keys: Any) -> list[Values]:
    """Whole iterations at a reach of [2, P, H]; returns all values."""
    found = []
    for iteration in iterations:
        now = multipliers(iteration, **keys)
        for player in Player:
            other = reach[player.opponent]
            found.append(games.step(player, reach[player], other, FLOP_LIST, now))
    return found


def numbers(games: MatrixEngine) -> dict[tuple[str, int, int, int], NDArray[np.float32]]:
    """[A, H] of every kind, pot, flop and decision."""
    return {
        (kind, pot, flop, node): game.numbers_at(getattr(game, kind), flop, node).copy()
        for kind in ("regrets", "averages")
        for pot, game in enumerate(games.games)
        for flop in range(FLOPS)
        for node in game.tree.decisions()
    }


def player_at(games: MatrixEngine, pot: int, node: int) -> Player:
    return games.games[pot].tree.player_at(node)


def forget(games: MatrixEngine, kept: Flags) -> None:
    """Write zeros over what is stored of other hands, in a game that stores all."""
    length = games.cards.lengths[0]
    for pot, game in enumerate(games.games):
        for player in Player:
            out = np.append(~kept[player, pot], np.zeros(length - kept.shape[2], bool))
            for node in game.tree.decisions():
                if game.tree.player[node] != player:
                    continue
                actions, start = int(game.tree.child_count[node]), int(game.slot_of_node[node])
                for stored in (game.regrets, game.averages):
                    part = stored[0][player][:, start * length : (start + actions) * length]
                    lanes = part.reshape(FLOPS, -1, actions, LANES)
                    lanes.transpose(0, 1, 3, 2)[:, out.reshape(-1, LANES)] = 0


def spoil(games: MatrixEngine) -> None:
    """Nothing of what threads left behind may count."""
    for spaces in games._spaces:
        for space in spaces:
            for part in (space.reach, space.values, space.lanes, space.sums, space.margin):
                part[...] = np.nan
            space.combos[...] = np.nan
            space.needed[...] = 1
            space.union[...] = 1


def pair_of_games(kept: Flags, reach: Floats, hands: int = HANDS) -> tuple[MatrixEngine, ...]:
    """A game that stores all hands and one that stores `kept`, after the same iterations."""
    dense, sparse = make_flops(hands), make_flops(hands)
    full = np.ones_like(reach)
    train(dense, full, range(1, 6))
    train(sparse, full, range(1, 6))
    sparse.keep_hands(kept)
    forget(dense, kept)
    return dense, sparse


def padding(games: MatrixEngine) -> NDArray[np.float32]:
    """Regrets of padding: there are no hands to have any."""
    found = []
    for game in games.games:
        for player in Player:
            nodes = [node for node in game.tree.decisions() if game.tree.player[node] == player]
            counts = game.tree.child_count[nodes].astype(np.int64)
            kept = game.kept[player]
            places = stored_places(game.slot_of_node[nodes], counts, len(kept))
            regrets = np.delete(game.regrets[0][player], places.reshape(-1), axis=1)
            found.append(regrets.reshape(-1))
    return np.concatenate(found)


def random_kept(generator: np.random.Generator, hands: int = HANDS) -> Flags:
    """Of very different sizes: at least one hand, sometimes all."""
    shares = generator.choice([0.05, 0.4, 0.9, 1.1], (2, len(TREES), 1))
    kept = generator.random((2, len(TREES), hands)) < shares
    kept[:, :, 7] = True
    return kept


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([HANDS, 32]))
def test_a_game_of_some_hands_is_the_game_of_all_to_the_bit(seed: int, hands: int) -> None:
    generator = np.random.default_rng(seed)
    kept = random_kept(generator, hands)
    reach = generator.random(kept.shape) * kept
    dense, sparse = pair_of_games(kept, reach, hands)
    spoil(sparse)
    for player in Player:
        other = reach[player.opponent]
        for of_all, of_some in (
            (dense.best_response, sparse.best_response),
            (dense.evaluate, sparse.evaluate),
        ):
            expected = of_all(player, other, FLOP_LIST)
            np.testing.assert_array_equal(of_some(player, other, FLOP_LIST), expected)
            assert expected.any()
    threshold = float(generator.choice([-np.inf, -2e4]))
    learned = [train(games, reach, range(6, 10), threshold=threshold) for games in (dense, sparse)]
    if threshold == -np.inf:  # else blocks of sixteen are others, and other hands are left out
        for half, (expected, found) in enumerate(zip(*learned, strict=True)):
            here = np.broadcast_to(kept[half % 2][:, None], found.shape)
            np.testing.assert_array_equal(found[here], expected[here])
            assert not found[~here].any()
    assert not padding(sparse).any()
    after, stored = numbers(dense), numbers(sparse)
    for key, found in stored.items():
        here = kept[player_at(sparse, key[1], key[3]), key[1]]
        assert not found[:, ~here].any()
        if threshold == -np.inf:
            np.testing.assert_array_equal(found[:, here], after[key][:, here])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_a_mask_of_some_of_the_hands_that_are_kept(seed: int) -> None:
    """Values are those of a step for all, and what shares no block with them is left alone."""
    generator = np.random.default_rng(seed)
    kept = random_kept(generator)
    mask = generator.random(kept.shape) < 0.3
    reach = generator.random(kept.shape) * kept
    whole, part = (pair_of_games(kept, reach)[1] for _ in range(2))
    spoil(part)
    before, now, acting = numbers(part), multipliers(6), Player(seed % 2)
    own, other = reach[acting], reach[acting.opponent]
    expected = whole.step(acting, own, other, FLOP_LIST, now)
    found = part.step(acting, own, other, FLOP_LIST, now, mask[acting])
    for pot in range(len(TREES)):
        wanted = mask[acting, pot] & kept[acting, pot]
        np.testing.assert_array_equal(found[pot][:, wanted], expected[pot][:, wanted])
    after, full = numbers(part), numbers(whole)
    for key, old in before.items():
        player = player_at(part, key[1], key[3])
        if player != acting:  # his regrets stay, his averages do not depend on the mask
            np.testing.assert_array_equal(after[key], full[key])
            continue
        hands = np.flatnonzero(kept[player, key[1]])
        for first in range(0, len(hands), LANES):
            block = hands[first : first + LANES]
            same = full[key] if mask[player, key[1], block].any() else old
            np.testing.assert_array_equal(after[key][:, block], same[:, block])


def test_hands_go_and_come_back() -> None:
    """Who stays keeps his numbers, who comes back starts from nothing, and memory follows."""
    generator = np.random.default_rng(3)
    games = make_flops(threads=2)
    reach = np.ones((2, len(TREES), HANDS))
    train(games, reach, range(1, 4))
    full = games.memory_bytes
    known, stored = np.ones((2, len(TREES), HANDS), bool), numbers(games)
    for _ in range(6):
        kept = random_kept(generator)
        games.keep_hands(kept)
        known &= kept
        lengths = -(-kept.sum(axis=2) // LANES) * LANES
        sizes = [
            8 * FLOPS * int(game.slots[0] @ lengths[:, p]) for p, game in enumerate(games.games)
        ]
        assert games.memory_bytes == sum(sizes)
        assert games.saved_bytes == full - sum(sizes)
        for key, found in numbers(games).items():
            here = known[player_at(games, key[1], key[3]), key[1]]
            np.testing.assert_array_equal(found, np.where(here, stored[key], 0))
    assert known.any()
    games.keep_hands(np.ones_like(kept))
    assert (games.memory_bytes, games.saved_bytes) == (full, 0)


def test_a_player_without_hands_learns_nothing_and_the_other_stays_as_he_is() -> None:
    kept = np.ones((2, len(TREES), HANDS), bool)
    kept[Player.IP, 1] = False
    games = make_flops()
    reach = np.ones(kept.shape)
    train(games, reach, range(1, 4))
    games.keep_hands(kept)
    reach = reach * kept
    before = numbers(games)
    values = train(games, reach, range(4, 6))
    assert not any(found[1].any() for found in values)  # no hands on either side
    assert all(found[0].any() for found in values)
    for key, found in numbers(games).items():
        if key[:2] == ("regrets", 1):
            np.testing.assert_array_equal(found, before[key])
    best = games.best_response(Player.IP, reach[Player.OOP], FLOP_LIST)
    assert (best[1] != 0).any()  # the win of a hand that did come


def test_what_cannot_be() -> None:
    games = make_flops()
    kept = np.ones((2, len(TREES), HANDS), bool)
    kept[Player.OOP, 0, 3] = False
    games.keep_hands(kept)
    reach = np.ones(kept.shape)
    with pytest.raises(ValueError, match="is not stored reaches"):
        games.best_response(Player.IP, reach[Player.OOP], FLOP_LIST)
    node = next(n for n in games.games[0].tree.decisions() if player_at(games, 0, n) == Player.OOP)
    actions = int(games.games[0].tree.child_count[node])
    with pytest.raises(ValueError, match="only some are stored"):
        games.games[0].set_average(0, node, np.ones((actions, HANDS)))
    assert (games.average(0, 0, node)[:, 3] == 1 / actions).all()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(2, 4), min_size=0, max_size=5),
    st.lists(st.booleans(), min_size=1, max_size=50),
    st.integers(0, 10**6),
)
def test_numbers_move_to_where_they_belong(
    actions: list[int], flags: list[bool], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    before, after = listed(np.array(flags)), listed(generator.random(len(flags)) < 0.5)
    counts = np.array(actions, np.int64)
    slots = np.cumsum(counts) - counts
    old_row, new_row = (naive_row(actions, hands.tolist()) for hands in (before, after))
    places = stored_places(slots, counts, len(before))
    expected = [
        (node, action, hand)
        for node, count in enumerate(actions)
        for action in range(count)
        for hand in before.tolist()
    ]
    assert [old_row[place] for place in places.reshape(-1).tolist()] == expected
    old = np.where([entry is None for entry in old_row], np.nan, np.arange(len(old_row)))
    stored = np.tile(old.astype(np.float32), (4, 1))
    moved = np.full((4, len(new_row)), np.nan, np.float32)
    move_numbers(stored, moved, sources(slots, counts, before, after), 1, 3)
    wanted = [old_row.index(entry) if entry in old_row and entry else 0 for entry in new_row]
    assert moved[1:3].tolist() == [wanted, wanted]
    assert np.isnan(moved[[0, 3]]).all()


@kernel
def compress_one(source: NDArray[np.float32], bits: int, target: NDArray[np.float32]) -> None:
    store(target, 0, compress(load(source, 0), bits))


@given(st.integers(0, 2**LANES - 1))
def test_compressing_a_vector(bits: int) -> None:
    source, target = aligned(LANES), aligned(LANES)
    source[:] = np.arange(1, LANES + 1)
    compress_one(source, bits, target)
    chosen = [lane + 1 for lane in range(LANES) if bits >> lane & 1]
    assert target.tolist() == chosen + [0] * (LANES - len(chosen))

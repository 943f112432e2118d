"""The sampled flop game: deals, walks, unbiased estimates, and repetition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.chi_square import chi_square
from reference.games import split_mix
from reference.sampled import ExactClasses, NaiveSampled, combos_beside, naive_deals

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BettingTree,
    NodeKind,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cards import HAND_NAMES, parse_cards, parse_hand
from allstreets.cards.evaluator import evaluator_tables
from allstreets.cfr import IterationWeights, Pruning, parse_schedule
from allstreets.engines.sampled.kernels.external_sampling import Deals, deal_hands
from allstreets.engines.sampled.subgame import SampledSubgame, deals_for, flop_cards, player_slots

Game = tuple[BettingTree, Floats, tuple[int, ...]]

ADD_ONLY = IterationWeights(positive=1.0, negative=1.0, floor=-np.inf, average=1.0, weight=1.0)


def weights(text: str) -> Floats:
    """A range by class: "AA KQs:0.5"."""
    reach = np.zeros(169)
    for part in text.split():
        name, _, weight = part.partition(":")
        reach[parse_hand(name)] = float(weight or 1)
    return reach


def flop_game(
    stack: int = 200,
    bets: Any = (1.0,),
    raises: Any = (1.0,),
    flop: str = "Ks7d4d",
    **rules: Any,
) -> Game:
    made = PostflopRules(Street.FLOP, 100, stack, same_sizes(Street.FLOP, bets, raises), **rules)
    tree = build_postflop_tree(made)
    return tree, payoffs(tree, made), parse_cards(flop)


RANGES = (
    weights("AA:0.5 KK 55 AKs 76s QJo:0.25 T9s A4o"),
    weights("KQo QQ:0.75 77 A5s 98o:0.5 76s JTs"),
)
HELD = np.flatnonzero(RANGES[0] + RANGES[1]).tolist()
GAME = flop_game()


def iterate(
    game: SampledSubgame,
    iterations: int,
    reach: tuple[Floats, Floats] = RANGES,
    algorithm: str = "linear",
    first: int = 1,
    pruning: Pruning | None = None,
) -> None:
    for now in parse_schedule(algorithm).run(first, iterations, pruning):
        for player in Player:
            game.step(player, reach[player], reach[player.opponent], now)


def copied(state: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in state.items()}


def same_bits(one: SampledSubgame, other: SampledSubgame) -> bool:
    states = one.state(), other.state()
    return all(states[0][name].tobytes() == states[1][name].tobytes() for name in states[0])


def decisions(tree: BettingTree) -> list[int]:
    nodes: list[int] = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    return nodes


# Deals


def deal(
    flop: tuple[int, ...], own: Floats, other: Floats, count: int, seed: int
) -> tuple[Deals, float]:
    cards = flop_cards(flop)
    deals = Deals(
        np.zeros(count, np.uint16),
        np.zeros(count, np.uint16),
        np.zeros((count, 2), np.uint8),
        np.zeros(count, np.uint8),
    )
    pairs = deal_hands(
        cards,
        evaluator_tables(),
        own[cards.hands],
        other[cards.hands],
        deals,
        np.array([seed], np.uint64),
    )
    return deals, pairs


sparse_ranges = st.dictionaries(
    st.integers(0, 168), st.sampled_from([1.0, 0.5, 0.01, 1e-9]), min_size=1, max_size=5
)


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 51), min_size=3, max_size=3, unique=True),
    sparse_ranges,
    sparse_ranges,
    st.integers(0, 2**63 - 1),
)
def test_deals_agree_with_loops(
    flop: list[int], own: dict[int, float], other: dict[int, float], seed: int
) -> None:
    reach = np.zeros((2, 169))
    for row, given_weights in zip(reach, (own, other), strict=True):
        row[list(given_weights)] = list(given_weights.values())
    board = tuple(flop)
    deals, pairs = deal(board, reach[0], reach[1], 40, seed)
    combos = combos_beside(board)
    mine = [c for c in combos if reach[0][c[0]]]
    theirs = [d for d in combos if reach[1][d[0]]]
    fitting = [(c, d) for c in mine for d in theirs if not set(c[2]) & set(d[2])]
    expected = sum(reach[0][c[0]] * reach[1][d[0]] for c, d in fitting)
    assert pairs == pytest.approx(expected, rel=1e-9)
    if not fitting:
        assert pairs == 0
        return
    slow, _ = naive_deals(board, reach[0], reach[1], 40, split_mix(seed))
    for i, one in enumerate(slow):
        assert combos[deals.player[i]][1] == one.combos[0]
        assert combos[deals.opponent[i]][1] == one.combos[1]
        assert tuple(deals.runouts[i].tolist()) == one.runout
        assert deals.outcomes[i] == one.outcome


def test_pairs_are_dealt_in_proportion_to_the_product_of_reach() -> None:
    """Card removal included: KK meets KQo less often than 55 does."""
    tree, results, flop = GAME
    exact = ExactClasses(tree, results, flop, HELD)
    shares = RANGES[0][:, None] * exact.pairs * RANGES[1]
    shares /= shares.sum()
    combos = combos_beside(flop)
    hands = np.array([combo[0] for combo in combos])
    trials, count = 200, 1000
    found = np.zeros((trials, 169, 169))
    for seed in range(trials):
        deals, _ = deal(flop, *RANGES, count, seed * 10**9)
        np.add.at(found[seed], (hands[deals.player], hands[deals.opponent]), 1 / count)
    assert not found[:, shares == 0].any()
    error = found.std(axis=0, ddof=1)[shares > 0] / np.sqrt(trials)
    scores = (found.mean(axis=0) - shares)[shares > 0] / error
    assert len(scores) == np.count_nonzero(RANGES[0]) * np.count_nonzero(RANGES[1])
    assert np.abs(scores).max() < 4
    assert np.sqrt((scores**2).mean()) == pytest.approx(1, abs=0.3)


def test_own_combos_are_dealt_evenly() -> None:
    flop = GAME[2]
    deals, pairs = deal(flop, *RANGES, 3000, 7)
    combos = combos_beside(flop)
    theirs = [combo for combo in combos if RANGES[1][combo[0]]]
    for number, (hand, _, cards) in enumerate(combos):
        met = sum(RANGES[1][d[0]] for d in theirs if not set(d[2]) & set(cards))
        expected = 3000 * RANGES[0][hand] * met / pairs
        assert abs((deals.player == number).sum() - expected) < 1 + 1e-9


def test_turn_and_river_are_any_of_the_cards_that_are_left() -> None:
    flop = GAME[2]
    own, other = weights("AA"), weights("QQ JTs")
    deals, _ = deal(flop, own, other, 200_000, 3)
    combos = combos_beside(flop)
    expected = np.zeros(52)
    fitting = [(c[2], d[2]) for c in combos for d in combos if own[c[0]] and other[d[0]]]
    for pair in fitting:
        left = [card for card in range(52) if card not in (*flop, *pair[0], *pair[1])]
        assert len(left) == 45
        expected[left] += 1 / 45 / len(fitting)
    turn, river = deals.runouts.T
    assert (turn != river).all()
    assert (turn > river).mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(200_000))
    possible = expected > 0
    for cards in (turn, river):
        counts = np.bincount(cards, minlength=52)
        assert not counts[~possible].any()
        p_value = chi_square(counts[possible], 200_000 * expected[possible])
        assert p_value > 0.001


def test_hands_are_found_also_where_hardly_any_fits() -> None:
    """The flop leaves one pair of aces, so a player with aces meets the kings alone."""
    flop = parse_cards("AsAh7d")
    deals, pairs = deal(flop, weights("AA"), weights("AA KK:1e-12"), 6000, 5)
    assert pairs == pytest.approx(6e-12, rel=1e-9, abs=0)
    combos = combos_beside(flop)
    kings = [number for number, combo in enumerate(combos) if HAND_NAMES[combo[0]] == "KK"]
    counts = [(deals.opponent == number).sum() for number in kings]
    assert len(counts) == 6
    assert sum(counts) == 6000
    assert chi_square(counts) > 0.001


# Walks


@pytest.mark.parametrize(
    ("rules", "algorithm"),
    [({}, "linear"), ({"stack": 100}, "cfr+"), ({"stack": 100, "rake": 0.05}, "vanilla")],
)
def test_steps_agree_with_loops(rules: dict[str, Any], algorithm: str) -> None:
    tree, results, flop = flop_game(**rules)
    game = SampledSubgame(tree, results, flop, 0.005)
    twin = NaiveSampled(tree, results, flop, 64, split_mix(int(game.state()["random"][0])))
    compare_steps(game, twin, algorithm, 3, None)


@pytest.mark.long
def test_pruned_steps_agree_with_loops() -> None:
    """Long: many deals by loops."""
    tree, results, flop = GAME
    pruning = Pruning(warmup=1, threshold=-20_000.0, explore_interval=3)
    game = SampledSubgame(tree, results, flop, 0.005)
    twin = NaiveSampled(tree, results, flop, 64, split_mix(int(game.state()["random"][0])))
    compare_steps(game, twin, "linear", 4, pruning)
    assert game.pruned_fraction is not None
    assert 0.01 < game.pruned_fraction < 0.9


def compare_steps(
    game: SampledSubgame,
    twin: NaiveSampled,
    algorithm: str,
    iterations: int,
    pruning: Pruning | None,
) -> None:
    for iteration in range(1, iterations + 1):
        now = parse_schedule(algorithm).at(iteration, pruning)
        skips = pruning and iteration > pruning.warmup and iteration % pruning.explore_interval
        threshold = float(pruning.threshold or 0) if pruning and skips else None
        for player in Player:
            own, other = RANGES[player], RANGES[player.opponent]
            ours = game.step(player, own, other, now)
            slow = twin.step(player, own, other, now, threshold)
            assert ours == pytest.approx(slow, rel=1e-6, abs=1e-6 * np.abs(slow).max())
    nodes = decisions(game.tree)
    keys = [(node, hand) for node in nodes for hand in range(169)]
    regrets = np.concatenate([game.regrets(node).T.ravel() for node in nodes])
    expected = np.concatenate([twin.regrets[key] for key in keys])
    assert regrets == pytest.approx(expected, rel=1e-5, abs=0.1)
    average = np.concatenate([game.average(node).T.ravel() for node in nodes])
    sums = [twin.sums[key] for key in keys]
    means = [one / one.sum() if one.any() else np.full(len(one), 1 / len(one)) for one in sums]
    assert average == pytest.approx(np.concatenate(means), abs=1e-5)


SHORT = flop_game(stack=100, bets=("a",), raises=())  # a bet is all-in
RAKED = flop_game(rake=0.05, rake_cap=9.0)
CHECKED = flop_game(stack=0)  # nothing to decide: showdown on the flop


@pytest.mark.parametrize("game", [GAME, SHORT, RAKED, CHECKED])
@pytest.mark.parametrize("mixed", [False, True])
def test_values_and_regrets_are_unbiased(game: Game, mixed: bool) -> None:
    """For all 169 classes, also those that are not in the player's range."""
    tree, results, flop = game
    sampled = SampledSubgame(tree, results, flop, 0.1)
    exact = ExactClasses(tree, results, flop, HELD)
    state = copied(sampled.state())
    rng = np.random.default_rng(1)
    if mixed:
        for name in ("regrets.oop", "regrets.ip"):
            state[name] = rng.random(state[name].shape).astype(np.float32)
        sampled.restore(state)
    for node in decisions(tree):
        exact.strategy[node] = sampled.strategy(node)
        assert exact.strategy[node].std() > 0 or not mixed
    trials = 250
    for player in Player:
        own, other = RANGES[player], RANGES[player.opponent]
        nodes = [node for node in decisions(tree) if tree.player[node] == player]
        expected: dict[int, Floats] = {}
        expected_values = exact.values(player, other, best=False, regrets=expected)
        values = np.zeros((trials, 169))
        regrets = np.zeros((trials, sum(map(len, expected.values())), 169))
        for trial in range(trials):
            state["random"] = rng.integers(2**63, size=1, dtype=np.uint64)
            sampled.restore(state)
            before = [sampled.regrets(node) for node in nodes]
            values[trial] = sampled.step(player, own, other, ADD_ONLY)
            if nodes:
                added = [sampled.regrets(n) - b for n, b in zip(nodes, before, strict=True)]
                regrets[trial] = np.concatenate(added)
        check_scores(values, expected_values, 4.0)
        if nodes:
            check_scores(regrets, np.concatenate([expected[node] for node in nodes]), 5.5)


def check_scores(sample: Floats, expected: Floats, most: float) -> None:
    """Whether the mean of a sample is near the expected one, by its own standard error."""
    mean, error = sample.mean(axis=0), sample.std(axis=0, ddof=1) / np.sqrt(len(sample))
    sure = error <= 1e-6 * np.abs(expected).max()
    assert mean[sure] == pytest.approx(expected[sure], abs=1e-5 * np.abs(expected).max())
    assert sure.mean() < 0.5
    scores = ((mean - expected)[~sure]) / error[~sure]
    assert np.abs(scores).max() < most
    assert np.sqrt((scores**2).mean()) == pytest.approx(1, abs=0.2)


def test_ranges_that_cannot_meet_change_nothing() -> None:
    tree, results, flop = flop_game(flop="AsAhAd")
    sampled = SampledSubgame(tree, results, flop, 0.01)
    only_aces, nothing = weights("AA"), np.zeros(169)  # the flop leaves no pair of aces
    before = copied(sampled.state())
    for other in (only_aces, nothing):
        assert not sampled.step(Player.OOP, only_aces, other, ADD_ONLY).any()
    assert sampled.state()["regrets.oop"].tobytes() == before["regrets.oop"].tobytes()
    assert sampled.state()["random"].tobytes() == before["random"].tobytes()


def test_a_player_who_never_gets_here_learns_what_he_would_have() -> None:
    tree, results, flop = GAME
    sampled = SampledSubgame(tree, results, flop, 0.1)
    values = sampled.step(Player.OOP, np.zeros(169), RANGES[1], ADD_ONLY)
    assert (values != 0).all()
    assert sampled.state()["regrets.oop"].any()
    assert not sampled.state()["average.oop"].any()
    assert (sampled.average(0) == 1 / tree.child_count[0]).all()


# Convergence


def exact_twin(game: Game, sampled: SampledSubgame, hands: list[int] | None = None) -> ExactClasses:
    """A slow exact game in which both play the averages of a sampled one."""
    exact = ExactClasses(*game, *([] if hands is None else [hands]))
    for node in decisions(game[0]):
        exact.set_average(node, sampled.average(node))
    return exact


@pytest.mark.parametrize("game", [GAME, RAKED])
def test_exploitability_falls(game: Game) -> None:
    tree, results, flop = game
    sampled = SampledSubgame(tree, results, flop, 0.5)
    found, done = [], 0
    for iterations in (10, 60, 360):
        iterate(sampled, iterations - done, first=done + 1)
        done = iterations
        found.append(exact_twin(game, sampled, HELD).exploitability(RANGES) / tree.pot)
    assert found[1] < 0.02
    assert found[0] > 1.5 * found[1] > 2.5 * found[2]
    assert found[2] < 0.004


@pytest.mark.thorough
def test_all_classes_against_all() -> None:
    game = flop_game(stack=350, bets=(0.5, 1.0), raises=(0.5, 1.0), max_raises=1)
    sampled = SampledSubgame(*game, 1.0)
    everything = np.ones(169), np.ones(169)
    iterate(sampled, 150, everything)
    exact = exact_twin(game, sampled)
    gains = []
    for player in Player:
        other = everything[player.opponent]
        gains.append((exact.best_response(player, other) - exact.evaluate(player, other)).sum())
    pairs = exact.pairs.sum()
    assert pairs == 1176 * 1081
    assert sum(gains) / 2 / pairs == pytest.approx(exact.exploitability(everything))
    assert 0 < sum(gains) / 2 / pairs < 0.02 * sampled.tree.pot


# Repeating


def test_same_seed_same_bits_other_seed_others() -> None:
    one, same, other = (SampledSubgame(*GAME, 0.1, seed) for seed in (7, 7, 8))
    for game in (one, same, other):
        iterate(game, 5)
    assert same_bits(one, same)
    assert not np.array_equal(one.state()["regrets.ip"], other.state()["regrets.ip"])


def test_games_of_one_job_deal_differently() -> None:
    """The seed is the job's; flops and stakes bring their own randomness."""
    games = [GAME, flop_game(flop="Ks7d4h"), flop_game(stack=210)]
    assert len({int(SampledSubgame(*game).state()["random"][0]) for game in games}) == 3


@pytest.mark.parametrize("pruning", [None, Pruning(2, "-1000*sqrt(t)", 3, 50_000.0)])
def test_restored_games_go_on_bit_for_bit(pruning: Pruning | None) -> None:
    whole, cut, resumed = (SampledSubgame(*GAME, 0.1, 1) for _ in range(3))
    iterate(whole, 12, pruning=pruning)
    iterate(cut, 5, pruning=pruning)
    iterate(resumed, 2, algorithm="vanilla")  # what was there before must not matter
    resumed.restore(copied(cut.state()))
    iterate(resumed, 7, first=6, pruning=pruning)
    assert same_bits(whole, resumed)
    assert whole.pruned_fraction == resumed.pruned_fraction
    for node in decisions(whole.tree):
        assert (whole.strategy(node) == resumed.strategy(node)).all()


def test_a_state_of_another_game_is_refused() -> None:
    other = SampledSubgame(*SHORT, 0.1).state()
    with pytest.raises(InputError, match="another game"):
        SampledSubgame(*GAME, 0.1).restore(other)


# Pruning


def test_pruning_that_is_off_or_finds_nothing_changes_no_bit() -> None:
    plain, off, idle = (SampledSubgame(*GAME, 0.1) for _ in range(3))
    for game, pruning in ((plain, None), (off, Pruning(0, -1e-9)), (idle, Pruning(1, -1e300))):
        iterate(game, 8, pruning=pruning)
    assert plain.pruned_fraction is off.pruned_fraction is None
    assert idle.pruned_fraction == 0
    for name in ("regrets.oop", "regrets.ip", "average.oop", "average.ip", "random"):
        for game in (off, idle):
            assert game.state()[name].tobytes() == plain.state()[name].tobytes()


@pytest.mark.thorough
def test_pruned_games_converge_and_leave_something_out() -> None:
    pruned = SampledSubgame(*GAME, 1.0)
    iterate(pruned, 300, pruning=Pruning(20, "-2000*sqrt(t)"))
    assert pruned.pruned_fraction is not None
    assert pruned.pruned_fraction > 0.1
    assert exact_twin(GAME, pruned, HELD).exploitability(RANGES) < 0.01 * pruned.tree.pot


def test_the_floor_holds_once_pruning_is_on() -> None:
    game, pruning = SampledSubgame(*GAME, 0.1), Pruning(2, -1000.0, regret_floor=2000.0)
    iterate(game, 2, pruning=pruning)
    assert game.state()["regrets.oop"].min() < -2000
    iterate(game, 1, first=3, pruning=pruning)
    assert game.state()["regrets.oop"].min() == -2000


# Figures and layout


def test_regret_sums_count_classes_that_are_there() -> None:
    tree, results, flop = flop_game(flop="AsAhAd")
    game = SampledSubgame(tree, results, flop, 0.1)
    iterate(game, 3, (np.ones(169), np.ones(169)))
    total, largest, entries = game.regret_sums()
    alive = [hand for hand in range(169) if HAND_NAMES[hand] != "AA"]
    regrets = np.concatenate([game.regrets(node)[:, alive] for node in decisions(tree)])
    assert entries == regrets.size
    assert largest == regrets.max()
    assert total == pytest.approx(regrets[regrets > 0].sum())


def test_memory_is_that_of_the_tables() -> None:
    tree, results, flop = GAME
    actions = int(tree.child_count[decisions(tree)].sum())
    game = SampledSubgame(tree, results, flop, 1.0)
    assert game.memory_bytes == 169 * actions * 3 * 4


def test_slots_know_the_action_before() -> None:
    tree = flop_game(stack=350, bets=(0.5, "a"), raises=(0.5, "a"))[0]
    for player in Player:
        slots = player_slots(tree, player)
        nodes = [node for node in decisions(tree) if tree.player[node] == player]
        assert [int(slots.first[node]) for node in nodes] == slots.start[:-1].tolist()
        for place, node in enumerate(nodes):
            path = tree.path_to(node)
            own = [step for step, above in enumerate(path[:-1]) if above in nodes]
            before = -1
            if own:
                above, below = path[own[-1]], path[own[-1] + 1]
                before = int(slots.first[above]) + tree.children_of(above).tolist().index(below)
            assert slots.before[place] == before


def test_per_cent_of_the_pairs() -> None:
    assert deals_for(1.0) == 12_713
    assert deals_for(100.0) == 1_271_256
    assert deals_for(1e-9) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_pct": 0.0}, "sample_pct is 0"),
        ({"sample_pct": 101.0}, "at most 100"),
        ({"sample_pct": float("nan")}, "sample_pct is nan"),
        ({"seed": -1}, "the seed is -1"),
        ({"flop": parse_cards("Ks7d4d2c")}, "3 different cards"),
        ({"flop": (1, 1, 2)}, "3 different cards"),
    ],
)
def test_bad_input_is_told(changes: dict[str, Any], message: str) -> None:
    tree, results, flop = GAME
    arguments = {"flop": flop, **changes}
    with pytest.raises(InputError, match=message):
        SampledSubgame(tree, results, **arguments)


def test_a_tree_of_the_turn_is_refused() -> None:
    rules = PostflopRules(Street.TURN, 100, 100, same_sizes(Street.TURN, ["a"], []))
    tree = build_postflop_tree(rules)
    with pytest.raises(InputError, match="not on the turn"):
        SampledSubgame(tree, payoffs(tree, rules), GAME[2])

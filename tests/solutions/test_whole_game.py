"""Walking through a whole game: lines, flops, hands, and values."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from builders.whole_solution import (
    FLOP,
    SAME,
    buckets,
    classes,
    combo_result,
    combos,
    figures,
    forgotten,
    played,
    raked,
    result,
    same,
)
from reference.solution import hand_ev, reach_of

from allstreets.base import InputError
from allstreets.betting import BIG_BLINDS, Player, Street, find_decision, parse_line
from allstreets.cards import (
    HAND_NAMES,
    card_text,
    combo_index,
    flop_matchups,
    hand_pairs,
    make_card,
    parse_flop,
    parse_hand,
)
from allstreets.engines.card_model import CLASSES
from allstreets.solutions.pot_evaluation import live
from allstreets.solutions.whole_game import WholeSolution

PREFLOP = ("", "c", "r2.5", "r2.5 r6.25", "a")
POSTFLOP = ("c x", "c x | x", "c x | x b100% c", "r2.5 c | x x | b100%")


def test_what_is_told_of_it() -> None:
    found, known = result(), figures()
    assert found.exploitability == known.exploitability
    assert found.preflop_exploitability == known.preflop_exploitability
    assert found.values == known.values
    assert (found.iterations, found.metrics) == (30, [])
    assert found.facts.cards == CLASSES


def test_figures_are_those_of_the_strategies_that_are_shown() -> None:
    """Looked up, played again, and met by a best response through the whole game."""
    assert played(result()).exploitability() == pytest.approx(figures().exploitability, rel=1e-4)


@pytest.mark.parametrize("line", PREFLOP)
def test_decisions_before_the_flop(line: str) -> None:
    node = result().at(line).decision
    assert (node.line, node.board, node.street) == (line, (), Street.PREFLOP)
    assert node.strategy.shape == (len(node.actions), 169)
    np.testing.assert_allclose(node.strategy.sum(axis=0), 1)
    assert node.pot + sum(node.stacks) == 40


@pytest.mark.parametrize("line", POSTFLOP)
def test_decisions_after_the_flop(line: str) -> None:
    node = result().at(line, FLOP).decision
    whole = node.whole_hand()
    assert node.board == parse_flop(FLOP).flop.cards
    held = node.own.counts > 0
    np.testing.assert_allclose(node.strategy[:, held].sum(axis=0), 1)
    assert node.pot + sum(node.stacks) == pytest.approx(40)
    assert node.taken.sum() == pytest.approx(1)
    assert node.hands[0].weights.sum() == pytest.approx(node.hands[1].weights.sum())
    # Without rake one player wins what the other loses.
    assert whole.ev(Player.OOP) == pytest.approx(-whole.ev(Player.IP), abs=1e-9)
    assert node.ev(Player.OOP) + node.ev(Player.IP) == pytest.approx(node.pot)


def test_labels_and_chips() -> None:
    node = result().at("r2.5 c | x b100%", FLOP).decision
    assert node.line == f"r2.5 c | {FLOP} | x b100%"
    assert (node.street, node.player) == (Street.FLOP, Player.OOP)
    assert (node.pot, node.to_call, node.stacks) == (10.0, 5.0, (17.5, 12.5))
    assert node.actions == ("f", "c", "a")
    assert node.labels == ("fold", "call", "all-in 17.5 bb (83 %)")
    whole = node.whole_hand()
    assert np.nanmax(np.abs(whole.action_evs[0] + 2.5)) < 1e-9  # folding loses what was put in
    assert np.nanmax(np.abs(node.action_evs[0])) < 1e-9  # from here on it is worth nothing


@pytest.mark.parametrize("make", [classes, pytest.param(raked, marks=pytest.mark.long)])
@pytest.mark.parametrize("line", ["c x", "c x | x", "c x | x b{}"])
def test_evs_are_what_pairs_of_hands_add_up_to(make: Any, line: str) -> None:
    solver = make()
    size = "100%" if make is classes else "50%"
    solution = WholeSolution.of(solver)
    flop = solver.game.flops.flops[0]
    node = solution.at(line.format(size), flop.text).decision.whole_hand()
    pot = solver.game.pots[0]
    at = cache(solution.stored.view(pot.pot.node, flop).strategies.at)
    inside = find_decision(pot.tree, line.format(size).partition("|")[2], BIG_BLINDS)
    pairs = hand_pairs(flop.cards).astype(np.float64)
    equity = np.nan_to_num(flop_matchups(flop.cards).equity)
    reach = reach_of(pot.tree, at, inside, solution.before.reach[pot.pot.node])
    for one, side in enumerate(node.hands):
        np.testing.assert_allclose(side.reach, reach[one] * (side.counts > 0), atol=1e-12)
    player = node.player
    share = (reach[0] @ pairs @ reach[1]) / pairs.sum()
    assert node.share == pytest.approx(share)
    hands = ("A9s", "JTo", "55") if inside else ("JTo",)
    for hand in map(parse_hand, hands):
        places = (inside, *pot.tree.children_of(inside).tolist())
        shown = (node.evs()[hand], *node.action_evs[:, hand])
        for place, ev in zip(places, shown, strict=True):
            expected = hand_ev(
                pot.tree,
                pot.payoffs,
                at,
                lambda _: equity,
                pairs,
                reach[player.opponent],
                place,
                player,
                hand,
            )
            assert 100 * ev == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("make", [classes, buckets, combos, raked])
def test_the_first_decision_is_worth_what_the_solver_says(make: Any) -> None:
    """Values that the solver gave for the pot, against EVs from what is stored."""
    solver = make()
    solution = combo_result() if make is combos else WholeSolution.of(solver)
    for flop in solver.game.flops.flops:
        node = solution.at("c x", flop.text).decision.whole_hand()
        values = solution.values_at(flop.text)
        for player in Player:
            hands = node.hands[player]
            reach = node.reach_cells(player)
            mean = reach @ values[player, 0] / hands.weights.sum() / 100
            assert node.ev(player) == pytest.approx(mean, abs=0.01)  # bytes


def test_buckets_pass_from_street_to_street() -> None:
    """Sums over all classes are the same whether they are counted in buckets or in classes."""
    solution = WholeSolution.of(buckets())
    here, share = solution.at("c x", "Ks7h2d").decision, 1.0
    for word, after in (("x", "c x | x"), ("x", "c x | x x"), ("x", "c x | x x | x")):
        share = here.share * float(here.taken[here.actions.index(word)])
        here = solution.at(after, "Ks7h2d").decision
        assert here.share == pytest.approx(share, rel=1e-5)
    assert here.street == Street.TURN
    turn = solution.at("c x | x x", "Ks7h2d").decision
    mixed = np.nansum(turn.strategy * turn.action_evs, axis=0)
    assert turn.mean(mixed) == pytest.approx(turn.ev(), abs=0.02)
    whole = turn.whole_hand()
    assert whole.ev(Player.OOP) == pytest.approx(-whole.ev(Player.IP), abs=1e-9)


def test_any_spelling_of_a_flop_will_do() -> None:
    first, second = result().at("c x | x", FLOP).decision, result().at(f"c x | {SAME} | x").decision
    assert same(first.strategy, second.strategy)
    assert same(first.evs(), second.evs())
    assert (first.line, second.line) == (f"c x | {FLOP} | x", f"c x | {SAME} | x")


def test_strategies_as_mappings() -> None:
    root = result().strategy()
    assert set(root) == set(HAND_NAMES)
    assert set(root["AKs"]) == {"f", "c", "r2.5", "a"}
    for text in ("AKs", "aks", "KAs", "AhKh", "KcAc"):
        assert result().strategy(hand=text) == root["AKs"]
    assert result().strategy("c", hand="77") == result().at("c").decision.hand("77").frequencies
    on_flop = result().strategy("c x | x", flop=FLOP)
    assert set(on_flop["AKs"]) == {"x", "b100%"}
    assert sum(on_flop["AKs"].values()) == pytest.approx(1)
    assert result().strategy("c x | x", FLOP, "AKs") == on_flop["AKs"]
    assert result().strategy(hand="AsKh") == root["AKo"]
    for text in ("AK", "hello", "AhAh", "Ah"):
        with pytest.raises(InputError):
            result().strategy(hand=text)


def test_hands_that_do_not_fit() -> None:
    solution = WholeSolution.of(buckets())
    assert "AA" not in solution.strategy("c x", "AsAhAd")
    with pytest.raises(InputError, match="AA does not fit beside the flop AsAhAd"):
        solution.strategy("c x", "AsAhAd", "AA")


class AtRandom:
    """A solution in which every combo does something else."""

    def __init__(self, source: Any) -> None:
        self.before, self.rows, self.stores_flops = source.before, source.rows, True
        self._arrays = dict(source.arrays(0))
        shape = self._arrays["strategy.0.0"].shape
        drawn = np.random.default_rng(3).integers(1, 255, shape, dtype=np.uint8)
        self._arrays["strategy.0.0"] = drawn

    def arrays(self, flop: int) -> Any:
        assert flop == 0
        return self._arrays


def test_combos_of_exact_games() -> None:
    """A combo plays for itself, its suits renamed as the flop's are; a class is their mean."""
    whole = combo_result()
    solution = WholeSolution.game_of(whole.game, AtRandom(whole.stored.source), whole.facts)
    pot = whole.game.pots[0]
    flop = whole.game.flops.flops[0]
    kept = solution.stored.view(pot.pot.node, flop).strategies
    places = {combo: place for place, combo in enumerate(live(flop).tolist())}
    suits = parse_flop("7c7h7d").suit_map
    first, second = kept.at(0), kept.at(find_decision(pot.tree, "x a", BIG_BLINDS))
    ace, king = 12, 11
    members = []
    for high in range(4):
        for low in range(4):
            if high == low:
                continue
            text = card_text(make_card(ace, high)) + card_text(make_card(king, low))
            combo = combo_index(make_card(ace, suits[high]), make_card(king, suits[low]))
            place = places[combo]
            told = solution.strategy("c x", "7c7h7d", text)
            assert list(told.values()) == pytest.approx(first[:, place].tolist())
            told = solution.strategy("c x | x a", "7c7h7d", text)
            assert list(told.values()) == pytest.approx(second[:, place].tolist())
            members.append(place)
    node, hand = solution.at("c x", "7c7h7d").decision, parse_hand("AKo")
    shown = [node.cells(chances)[hand] for chances in node.strategy]
    np.testing.assert_allclose(shown, first[:, members].mean(axis=1))
    # Combos that check less often count less where a check has been raised.
    after, checks = solution.at("c x | x a", "7c7h7d").decision, first[0, members]
    expected = (second[:, members] * checks).sum(axis=1) / checks.sum()
    shown = [after.cells(chances)[hand] for chances in after.strategy]
    np.testing.assert_allclose(shown, expected)
    reach = solution.before.reach[pot.pot.node, Player.OOP, hand]
    assert after.reach_cells(Player.OOP)[hand] == pytest.approx(reach * checks.mean())


def test_what_exact_games_do_not_tell() -> None:
    with pytest.raises(InputError, match=r"7hAs is not in .* contains a card of the board 7c7h7d"):
        combo_result().strategy("c x", "7c7h7d", "7hAs")
    with pytest.raises(InputError, match="with real combos, only the flop's decisions are stored"):
        _ = combo_result().at("c x | x x", "7c7h7d").decision
    with pytest.raises(InputError, match="with cards: exact the turn is not stored"):
        combo_result().at("c x | x x x", "7c7h7d")


@pytest.mark.parametrize(
    ("line", "flop", "message"),
    [
        ("c x", None, "a flop is dealt there; name one, such as Qs7h4d"),
        ("c x | x", None, "the flop is dealt after 'c x': write three cards between bars"),
        ("c", FLOP, "'c' ends before the flop: leave the flop Qs7h4d out"),
        ("c | x", None, "'c' ends before the flop: leave the part after the bar out"),
        ("f", None, "no player acts there any more"),
        ("a c", None, "no player acts there any more"),
        ("r3", None, "'r3' is not offered: SB may f, c, r2.5, a"),
        ("c x | b50%", FLOP, "'b50%' is not offered: on the flop BB may x, b100%"),
        (
            "c x",
            "AhKd2s",
            r"AhKd2s \(AsKh2d but for suits\) is not among the 3 of this solution; nearest: Qs7",
        ),
        ("c x", "AhKd", "'AhKd' has 2 cards: a flop has 3"),
    ],
)
def test_what_is_wrong_is_said(line: str, flop: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = result().at(line, flop).decision


def test_near_flops_are_like_the_one_that_is_missing() -> None:
    with pytest.raises(InputError, match="nearest: 7s6h4s, As5h2h, Qs7h4d"):
        _ = result().at("c x", "8h6d5h").decision  # two-tone


def test_flops_as_a_table() -> None:
    rows = result().flops
    assert [row["flop"] for row in rows] == ["Qs7h4d", "As5h2h", "7s6h4s"]
    assert sum(row["weight"] for row in rows) == pytest.approx(22_100)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    known = figures().flop_exploitability
    assert known is not None
    assert [row["exploitability_pct"] for row in rows] == known.tolist()
    assert rows[0]["ev_oop_bb"] == pytest.approx(-rows[0]["ev_ip_bb"], abs=1e-6)
    assert rows[0]["suits"] == "rainbow"


def test_evs_by_flop_are_means_over_pots() -> None:
    solution = result()
    totals = seen = 0.0
    for line in solution.flop_lines():
        node = solution.at(line, FLOP).decision.whole_hand()
        pairs = float(node.hands[Player.OOP].weights.sum())
        if node.reached:
            totals += node.ev(Player.OOP) * pairs
            seen += pairs
    assert solution.flops[0]["ev_oop_bb"] == pytest.approx(totals / seen, abs=5e-3)  # bytes


def test_a_decision_on_every_flop() -> None:
    rows = result().flop_table("c x | x")
    for row in rows:
        node = result().at("c x | x", row["flop"]).decision
        assert row["share"] == node.share
        assert [row["x"], row["b100%"]] == node.taken.tolist()


def test_flop_lines_are_in_the_order_of_their_share() -> None:
    lines = result().flop_lines()
    assert len(lines) == len(classes().game.pots)
    before = result().before
    nodes = [parse_line(before.tree, line, notation=BIG_BLINDS).node for line in lines]
    shares = [before.reach[node, 0] @ before.pairs @ before.reach[node, 1] for node in nodes]
    assert shares == sorted(shares, reverse=True)
    assert result().opening_lines() == ["", "a"]  # he shoves more often than he raises


def test_values_only() -> None:
    solution = WholeSolution.of(forgotten(), memory="per_batch")
    assert solution.exploitability is None
    assert solution.values is None
    assert not solution.has_flops
    assert solution.at("").decision.taken.sum() == pytest.approx(1)
    with pytest.raises(InputError, match="stores no strategies after the flop"):
        _ = solution.at("c x", "Ks7h2d").decision
    rows = solution.flops
    assert rows[0]["exploitability_pct"] is None
    assert sum(row["share"] for row in rows) == pytest.approx(1)

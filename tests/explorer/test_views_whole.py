"""The view of a whole game has the solution's figures, before the flop and on every flop."""

from typing import Any

import numpy as np
import pytest
from builders.explorer_solutions import folder, view
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets import Range
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_NAMES,
    HAND_OF_COMBO,
    cards_text,
    equity,
    hand_pairs,
    live_combos,
    parse_board,
    parse_cards,
    parse_combo,
    parse_hand,
    preflop_equity,
)
from allstreets.cards.hands import COMBO_MASKS
from allstreets.explorer.models.base import short
from allstreets.explorer.models.place import CardsStep, Deal, Decision, End
from allstreets.explorer.views.nodes import BUCKET_EVS, FLOP_EQUITY, NO_EQUITY
from allstreets.solutions import NoNodeError, WholeSolution
from allstreets.solutions.decision import Decision as Record
from allstreets.solutions.tables import action_rows, hand_rows, player_rows
from allstreets.storage import load, load_unified

FLOP, SAME = "Qs7h4d", "Qc7d4h"  # one flop of "classes" in two spellings
NAMES: tuple[Any, Any] = ("oop", "ip")
EVERY = [
    *[("classes", line) for line in ("", "c", "r2.5", "r2.5 r6.25", "a", f"c x | {FLOP}")],
    *[("classes", f"c x | {FLOP} | {rest}") for rest in ("x", "x b100% c", "x x | b100%")],
    ("classes", f"r2.5 c | {SAME} | x x | x x | b100%"),
    *[("buckets", line) for line in ("", "c x | Ks7h2d", "c x | AcAdAh | x x | x")],
    *[("raked game", line) for line in ("", "c x | Ks7h2d", "c x | Ks7h2d | x b50%")],
    *[("exact", line) for line in ("", "c x | 7s7h7d", "c x | 7c7h7d | x", "c x | 7s7h7d | a")],
    *[("forgotten", ""), ("preflop", "r2.5")],
]


def decision(name: str, line: str) -> Decision:
    found = view(name).place(line).here
    assert isinstance(found, Decision)
    return found


def sent(value: float) -> float | None:
    return None if np.isnan(value) else short(value)


def told_of(name: str, line: str) -> tuple[Record, dict[str, Any]]:
    solution = load(folder(name))
    assert isinstance(solution, WholeSolution)
    return solution.at(line).decision, view(name).place(line).model_dump(mode="json")


@pytest.mark.parametrize(("name", "line"), EVERY)
def test_numbers_are_those_of_the_solution(name: str, line: str) -> None:
    node, place = told_of(name, line)
    here = place["here"]
    assert place["line"] == node.line
    assert (place["pot"], here["to_call"]) == (short(node.pot), short(node.to_call))
    assert tuple(place["stacks"].values()) == tuple(map(short, node.stacks))
    assert here["player"] == NAMES[node.player]
    assert here["share"] == pytest.approx(node.share, rel=1e-6)
    for action, row in zip(here["actions"], action_rows(node), strict=True):
        assert (action["word"], action["label"]) == (row["action"], row["label"])
        close([action["frequency"]], [row["frequency"]])
        assert action["known"] == row["known"]
        for key, told in (("ev", "ev_bb"), ("ev_range", "ev_range_bb")):
            expected = None if np.isnan(row[told]) else pytest.approx(row[told], rel=1e-5)
            assert action[key] == expected
    for player, row in zip(Player, player_rows(node), strict=True):
        summary = here["grids"][NAMES[player]]["summary"]
        assert summary["combos"] == pytest.approx(row["combos"], rel=1e-6)
        expected = None if np.isnan(row["ev_bb"]) else pytest.approx(row["ev_bb"], rel=1e-5)
        assert summary["ev"] == expected
        evs = node.cells(node.evs(player), player, evs=True)
        close(here["grids"][NAMES[player]]["ev"], evs)
        close(here["grids"][NAMES[player]]["reach"], node.reach_cells(player))
    for number, action in enumerate(here["actions"]):
        close(action["chances"], node.cells(node.strategy[number]))
        close(action["evs"], node.cells(node.action_evs[number], evs=True))


def close(told: list[float | None], known: Any) -> None:
    """Equal to the digits that are sent."""
    numbers = np.array([np.nan if number is None else number for number in told])
    np.testing.assert_allclose(numbers, known, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("line", ["c x", "r2.5 c | x", "c x | x b100% c"])
def test_equities_on_a_flop_against_combos(line: str) -> None:
    """By class with margins there, by combo over every runout here."""
    text = line.replace("c x", f"c x | {SAME}").replace("2.5 c", f"2.5 c | {SAME}")
    here, board = decision("classes", text), parse_board(SAME)
    grids = [here.grids.oop, here.grids.ip]
    ranges = [Range(np.minimum(np.array(grid.reach)[HAND_OF_COMBO], 1.0)) for grid in grids]
    expected = equity(ranges[0], ranges[1], board)
    for grid, by_combo, whole in zip(
        grids, expected.by_combo, (expected.first, expected.second), strict=True
    ):
        assert grid.summary.equity == pytest.approx(whole)
        for hand in range(0, 169, 7):
            combos = by_combo[hand == HAND_OF_COMBO]
            found = grid.equity[hand]
            held = combos[np.isfinite(combos)]
            if len(held) and found is not None:
                _assert_mean(found, held, hand, ranges, board, grid is grids[0])
    assert (FLOP_EQUITY in here.notes) == line.endswith("100% c")  # which leads to the turn


def _assert_mean(
    found: float, held: Any, hand: int, ranges: list[Range], board: Any, first: bool
) -> None:
    """A class wins the mean of its combos, each as often as it meets the other's."""
    own = np.flatnonzero((hand == HAND_OF_COMBO) & live_combos(board))
    other = ranges[1 if first else 0].on(board).weights
    fits = (COMBO_MASKS[own][:, None] & COMBO_MASKS[None, :]) == 0
    met = fits @ other
    assert found == pytest.approx(float(held @ met[met > 0]) / met.sum())


def test_equities_before_the_flop_against_combos() -> None:
    """All pairs of hands are dealt as `pairs` says: with three flops not quite as in the deck."""
    here = decision("classes", "r2.5")
    solution = load_unified(folder("classes"))
    pairs, shares = solution.before.pairs, preflop_equity().equity
    for hand in (parse_hand("AA"), parse_hand("72o"), parse_hand("T9s")):
        won = met = 0.0
        for other in range(169):
            weight = pairs[hand, other] * here.grids.ip.reach[other]
            won, met = won + weight * shares[hand, other], met + weight
        assert here.grids.oop.equity[hand] == pytest.approx(won / met)


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("a c", "allin"),
        (f"c x | {FLOP} | x x | x x | x x", "showdown"),
    ],
)
def test_where_hands_are_shown(line: str, how: str) -> None:
    """The share of the pot; over the whole hand less what was put in."""
    place, whole = view("classes").place(line), view("classes").place(line, "hand")
    assert isinstance(place.here, End)
    assert place.here.how == how
    assert place.here.grids is not None
    assert isinstance(whole.here, End)
    for player in NAMES:
        grid, results = getattr(place.here.grids, player), getattr(whole.here.grids, player)
        for ev, share, result in zip(grid.ev, grid.equity, results.ev, strict=True):
            if ev is not None:
                assert ev == pytest.approx(share * place.pot)
                assert result == pytest.approx(share * place.pot - place.pot / 2)
    before = view("classes").place(line.rpartition(" ")[0]).here
    assert isinstance(before, Decision)
    # What the last action is worth to each hand is what the showdown is worth to it.
    grid = getattr(place.here.grids, before.player)
    last = next(action for action in before.actions if action.word == line.split()[-1])
    known = [(a, b) for a, b in zip(grid.ev, last.evs, strict=True) if a is not None]
    assert len(known) > 50
    for ev, expected in known:  # what the action cost is in the middle then
        assert expected is not None
        assert ev == pytest.approx(expected + before.to_call, abs=2e-3)


def test_rake_is_told() -> None:
    here = view("raked game").place("c x | Ks7h2d | b50% f").here
    assert isinstance(here, End)
    assert here.text == "SB folds, BB wins 3.19 bb (after 0.11 bb of rake)"
    shown = view("raked game").place("c x | Ks7h2d | x x | x x | x x").here
    assert isinstance(shown, End)
    assert shown.grids is not None
    evs = shown.grids.oop.summary.ev, shown.grids.ip.summary.ev
    pot = view("raked game").place("c x | Ks7h2d | x x | x x | x x").pot
    assert sum(ev or 0 for ev in evs) == pytest.approx(pot - 0.11)


def test_the_strip_says_where_cards_are_averaged_over() -> None:
    place = view("classes").place(f"c x | {SAME} | x x | x b100%")
    assert [step.kind for step in place.steps] == [
        *("choice", "choice", "cards", "choice", "choice", "cards", "choice", "choice")
    ]
    flop, turn = (step for step in place.steps if isinstance(step, CardsStep))
    assert (flop.label, flop.cards) == (f"flop {SAME}", ["Qc", "7d", "4h"])
    assert flop.same_as == ["Qs", "7h", "4d"]
    assert (turn.label, turn.cards, turn.street) == ("turn: any card", [], "turn")
    assert place.board == ["Qc", "7d", "4h"]
    assert (place.street, place.unit) == ("turn", "bb")
    assert place.words == (
        f"SB limps, BB checks; flop {SAME}: BB checks, SB checks; turn: BB checks, SB bets 100 %"
    )


@pytest.mark.parametrize("line", ["c x", "c x | * | x", f"c x | {SAME} | x b100%", "r2.5 c | *"])
def test_the_table_over_flops(line: str) -> None:
    solution = load_unified(folder("classes"))
    report = view("classes").flops(line)
    plain = line.replace(f"| {SAME} ", "").replace("| * ", "").removesuffix("| *")
    rows = solution.flop_table(plain)
    assert "*" in report.line
    assert [row.flop for row in report.rows] == [row["flop"] for row in rows]
    total = 0.0
    for row, known, told in zip(report.rows, rows, solution.flops, strict=True):
        node = solution.at(plain, row.flop).decision
        assert row.frequencies == pytest.approx([known[word] for word in node.actions])
        assert row.share == pytest.approx(known["share"])
        assert (row.suits, row.pairing) == (known["suits"], known["pairing"])
        assert row.exploitability_pct == told["exploitability_pct"]
        here = view("classes").place(row.line).here
        assert isinstance(here, Decision)
        shares = here.grids.oop.summary.equity, here.grids.ip.summary.equity
        assert (row.equity_oop, row.equity_ip) == pytest.approx(shares)
        total += known["weight"] * node.hands[0].weights.sum()
        if node.line.endswith(row.flop):
            # As the solver found them there, by the strategies that are kept here.
            evs = here.grids.oop.summary.ev, here.grids.ip.summary.ev
            assert (row.ev_oop, row.ev_ip) == pytest.approx(evs, abs=1e-6)
        else:
            assert row.ev_oop is None
    assert sum(row.weight for row in report.rows) == pytest.approx(1)
    first = solution.at(plain, report.rows[0].flop).decision
    weight = rows[0]["weight"] * first.hands[0].weights.sum() / total
    assert report.rows[0].weight == pytest.approx(weight)
    # What is chosen there leads to the next table.
    onward = next(choice for choice in report.actions if choice.word in ("x", "c"))
    assert view("classes").flops(onward.line).rows


def test_tables_that_are_not_there() -> None:
    with pytest.raises(NoNodeError, match="No flop has been dealt yet") as caught:
        view("classes").flops("")
    ways = dict(caught.value.hints)
    assert ways == {"limp, check": "c x", "raise to 2.5 bb, call": "r2.5 c"}
    for line in ways.values():
        assert view("classes").flops(line).rows
    with pytest.raises(NoNodeError, match="No flop is dealt any more"):
        view("classes").flops("a")
    with pytest.raises(InputError, match="no player acts there"):
        view("classes").flops("c x | * | b100% f")
    with pytest.raises(InputError, match="decisions on the flop only"):
        view("buckets").flops("c x | * | x x")
    with pytest.raises(InputError, match="this solution ends there"):
        view("preflop").flops("c x")
    with pytest.raises(InputError, match="averaged over"):
        next(view("classes").cards(f"c x | {FLOP} | x"))
    with pytest.raises(InputError, match="no flop is dealt yet"):
        next(view("classes").cards("c x"))


@pytest.mark.parametrize("line", ["c x | {} | x", "c x | {} | a"])
@given(suits=st.integers(0, 23))
@settings(max_examples=6)
def test_real_combos_in_any_suits(line: str, suits: int) -> None:
    cards = CARD_PERMUTATIONS[suits][list(parse_cards("7s7h7d"))].tolist()
    text = line.format(cards_text(cards))
    solution = load_unified(folder("exact"))
    node = solution.at(text).decision
    here, name = view("exact"), NAMES[node.player]
    for hand in ("AKs", "A7o", "72s", "99"):
        rows = here.hand(text, name, hand).rows
        place = parse_hand(hand)
        assert len(rows) == node.class_counts()[place]
        for row in rows:
            assert not {row.cards[:2], row.cards[2:]} & {*here.place(text).board}
            assert HAND_OF_COMBO[parse_combo(row.cards)] == place
            known = solution.strategy(text, hand=row.cards)
            assert row.chances == pytest.approx(list(known.values()))
        # By reach; EVs also by how many of the other's hands a combo meets.
        reach = np.array([row.reach for row in rows])
        chances = np.array([row.chances for row in rows], np.float64)
        if reach.sum() > 0:
            shown = [node.cells(chance)[place] for chance in node.strategy]
            np.testing.assert_allclose(reach @ chances / reach.sum(), shown)


def test_equities_of_real_combos() -> None:
    text, board = "c x | 7s7h7d", parse_board("7s7h7d")
    here = decision("exact", text)
    weights = [np.zeros(1326), np.zeros(1326)]
    for player, own in zip(NAMES, weights, strict=True):
        for row in (
            row for hand in HAND_NAMES for row in view("exact").hand(text, player, hand).rows
        ):
            own[parse_combo(row.cards)] = row.reach
    expected = equity(Range(weights[0]), Range(weights[1]), board)
    assert here.grids.oop.summary.equity == pytest.approx(expected.first)
    for row in view("exact").hand(text, "ip", "AKs").rows:
        found = expected.by_combo[1][parse_combo(row.cards)]
        assert row.equity == pytest.approx(float(found))


def test_models_without_equity_say_so() -> None:
    here = decision("buckets", "c x | Ks7h2d")
    assert {NO_EQUITY, BUCKET_EVS} <= set(here.notes)
    assert set(here.grids.oop.equity) == {None}
    assert here.grids.oop.summary.ev is not None
    assert view("buckets").equity("c x | Ks7h2d").oop == []
    assert view("buckets").equity("c").oop  # before the flop there are no buckets


def test_where_solutions_end() -> None:
    forgotten = view("forgotten").place("c x").here
    assert isinstance(forgotten, Deal)  # any flop can be solved from there
    assert (forgotten.pattern, forgotten.flops, forgotten.named) == ("c x | {cards}", 0, [])
    assert forgotten.any_flop
    for name, line in (("preflop", "c x"), ("exact", "c x | 7s7h7d | x x")):
        here = view(name).place(line).here
        assert isinstance(here, Deal)
        assert (here.pattern, here.cards) == (None, [])
    with pytest.raises(NoNodeError, match="this solution ends there") as caught:
        view("preflop").place("c x | AhKd7s | x")
    assert caught.value.hints[0][1] == "c x"
    with pytest.raises(NoNodeError, match=r"with cards: exact the turn is not stored"):
        view("exact").place("c x | 7s7h7d | x x | x")


def test_flops_that_are_not_there_name_near_ones() -> None:
    with pytest.raises(NoNodeError, match=r"Qh7d5c .* is not among the 3 of this") as caught:
        view("classes").place("c x | Qh7d5c | x b100%")
    label, line = caught.value.hints[0]
    assert (label, line) == (FLOP, f"c x | {FLOP} | x b100%")
    assert view("classes").place(line).line == line
    with pytest.raises(NoNodeError, match=r"write three cards between bars") as caught:
        view("classes").place("c x | AhKd | x")
    assert caught.value.hints[0][1] == "c x"


def test_one_row_a_hand() -> None:
    text = f"c x | {FLOP} | x"
    detail = view("classes").hand(text, "ip", "aks")
    assert (detail.hand, len(detail.rows)) == ("AKs", 1)
    assert detail.note == "all combos of a hand are played alike in this model"
    here = decision("classes", text)
    row, place = detail.rows[0], parse_hand("AKs")
    assert row.combos == 4
    assert row.chances == [action.chances[place] for action in here.actions]
    assert (row.ev, row.equity) == (here.grids.ip.ev[place], here.grids.ip.equity[place])
    assert view("classes").hand(f"c x | {FLOP}", "ip", "AKs").rows[0].chances == []


def test_rows_for_a_spreadsheet() -> None:
    text = f"c x | {FLOP} | x"
    known = {
        row["hand"]: row for row in hand_rows(load_unified(folder("classes")).at(text).decision)
    }
    rows = view("classes").rows(text)
    assert [row["hand"] for row in rows] == [hand for hand in HAND_NAMES if hand in known]
    for row in rows:
        expected = known[row["hand"]]
        assert row["combos"] == expected["combos"]
        for mine, theirs in (("reach", "reach"), ("ev", "ev_bb"), ("x", "x"), ("ev_x", "ev_bb_x")):
            assert row[mine] == pytest.approx(expected[theirs], rel=1e-6)
    assert {"player", "combo"} < view("exact").rows("c x | 7s7h7d")[0].keys()


@pytest.mark.parametrize("player", NAMES)
def test_ranges_in_words_read_back(player: Any) -> None:
    text = f"r2.5 c | {SAME}"
    node = load_unified(folder("classes")).at(text).decision
    told = view("classes").range(text, player, None)
    expected = np.round(node.hands[Player[player.upper()]].reach, 4)[HAND_OF_COMBO]
    board = parse_board(SAME)
    assert "Q" in told.text("pio")
    read = Range.parse(told.text("pio")).on(board)
    np.testing.assert_array_equal(read.weights, np.where(live_combos(board), expected, 0))
    assert told.combos == pytest.approx(read.combos)


def test_eqr_is_what_is_got_of_the_pot() -> None:
    """EV from here on over equity times pot: what was put in before is not counted."""
    for text in ("", f"c x | {FLOP} | x b100%"):
        place = view("classes").place(text)
        assert isinstance(place.here, Decision)
        whole = view("classes").place(text, "hand").here
        assert isinstance(whole, Decision)
        paid = {player: 20 - place.stacks[player] for player in NAMES}
        for player in NAMES:
            grid, results = getattr(place.here.grids, player), getattr(whole.grids, player)
            assert results.eqr == pytest.approx(grid.eqr)
            rows = zip(grid.ev, results.ev, grid.equity, grid.eqr, strict=True)
            for ev, result, share, eqr in rows:
                if ev is not None and share:
                    assert eqr == pytest.approx(ev / (share * place.pot))
                    assert result == pytest.approx(ev - paid[player])


def test_pairs_weigh_ranges() -> None:
    """The mean over a range counts each hand as often as it meets the other's."""
    here = decision("classes", f"c x | {FLOP} | x")
    pairs = hand_pairs(parse_board(FLOP))
    reach = [np.array(grid.reach) for grid in (here.grids.oop, here.grids.ip)]
    weights = reach[1] * (pairs @ reach[0])
    chances = np.array([chance or 0 for chance in here.actions[0].chances])
    assert here.actions[0].frequency == pytest.approx(chances @ weights / weights.sum())


def test_flops_weigh_as_often_as_play_gets_there() -> None:
    """Two flops of different weights: a rainbow one, and trips."""
    solution, report = load_unified(folder("buckets")), view("buckets").flops("c x | * | x")
    rows = solution.flops
    assert rows[0]["weight"] != rows[1]["weight"]
    pairs = [solution.at("c x | x", row["flop"]).decision.hands[0].weights.sum() for row in rows]
    weights = [row["weight"] * count for row, count in zip(rows, pairs, strict=True)]
    expected = [weight / sum(weights) for weight in weights]
    assert [row.weight for row in report.rows] == pytest.approx(expected)


def test_what_an_end_and_a_deal_before_the_flop_are_worth() -> None:
    """The stored figures, and the rules."""
    here = view("classes").place("r2.5 f").here
    assert isinstance(here, End)
    assert here.how == "fold"
    assert here.grids.ip.summary.ev == pytest.approx(3.5)
    assert here.grids.oop.summary.ev == 0
    whole = view("classes").place("r2.5 f", "hand").here
    assert isinstance(whole, End)
    assert whole.grids.ip.summary.ev == pytest.approx(1.0)  # the big blind
    assert whole.grids.oop.summary.ev == pytest.approx(-1.0)
    before = view("classes").place("r2.5").here
    assert isinstance(before, Decision)
    fold = next(action for action in before.actions if action.word == "f")
    assert here.grids.oop.summary.combos == pytest.approx(fold.combos)
    deal = view("classes").place("r2.5 c").here
    assert isinstance(deal, Deal)
    assert deal.grids is not None
    call = next(action for action in before.actions if action.word == "c")
    assert deal.grids.oop.summary.ev == pytest.approx((call.ev or 0) + before.to_call, abs=1e-4)
    assert deal.grids.oop.summary.combos == pytest.approx(call.combos)


def test_a_description_tells_the_whole_game() -> None:
    facts = {fact.label: fact.value for fact in view("raked game").describe().facts}
    assert facts["Stacks"] == "6 bb"
    assert facts["Ante"] == "0.1 bb"
    assert facts["Rake"] == "5 % of the pot, at most 0.3 bb, none without a flop"
    assert facts["Limp"] == "allowed"
    assert facts["Raises before the flop"] == "4, all-in aside"
    assert facts["Raises per street"] == "1 after the bet"
    assert facts["Their cards"] == "Ks7h2d"
    assert facts["Cards after the flop"] == "classes"
    assert facts["Locks"] == "none: every strategy was solved"
    assert "All-in forced" not in facts  # a threshold of 0 does nothing

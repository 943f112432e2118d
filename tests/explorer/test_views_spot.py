"""A spot's view has the solution's figures, combo by combo, on every card."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import eval7
import numpy as np
import pytest
from builders.explorer_solutions import folder, solver, view, view_of
from builders.small_spots import RIVER, TURN, spot
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import explorer as naive_explorer

from allstreets import Range
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    HAND_NAMES,
    combo_text,
    parse_board,
    parse_card,
    parse_combo,
)
from allstreets.explorer.headlines import headline
from allstreets.explorer.models.base import short
from allstreets.explorer.models.place import Deal, Decision, End
from allstreets.explorer.views.reports import joined
from allstreets.explorer.views.view import open_view
from allstreets.solutions import NoNodeError, SpotSolution, action_rows, player_rows
from allstreets.solutions.decision import Decision as Record
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, save_spot
from allstreets.storage.manifest import read_manifest

LINES = {
    "river": ("", "x", "x b50%", "b50% r60%", "a"),
    "turn": ("", "x b75%", "x x | 2h |", "b75% c | Kd | x", "x x | 2d | x b75%"),
    "flop": ("", "x", "b75%", "x x | 2h |", "x x | 2c |", "x x | 2c | x x | 3c | x"),
    "raked": ("", "x b75%", "x x | 2h |"),
}
EVERY = [(name, line) for name, lines in LINES.items() for line in lines]
NAMES: tuple[Any, Any] = ("oop", "ip")


def decision(name: str, line: str) -> Decision:
    found = view(name).place(line).here
    assert isinstance(found, Decision)
    return found


def sent(value: float) -> float | None:
    """A number as it is sent."""
    return None if np.isnan(value) else short(value)


def as_sent(found: Any) -> dict[str, Any]:
    data: dict[str, Any] = found.model_dump(mode="json")
    return data


@pytest.mark.parametrize(("name", "line"), EVERY)
def test_numbers_are_those_of_the_solution(name: str, line: str) -> None:
    node = SpotSolution.of(solver(name)).at(line).decision
    place, here = view(name).place(line), decision(name, line)
    told = as_sent(here)
    assert (place.pot, here.to_call) == (node.pot, node.to_call)
    assert here.player == NAMES[node.player]
    for action, row in zip(told["actions"], action_rows(node), strict=True):
        assert (action["word"], action["label"]) == (row["action"], row["label"])
        assert action["frequency"] == pytest.approx(row["frequency"], rel=1e-6)
        assert action["combos"] == pytest.approx(row["combos"], rel=1e-6, abs=1e-9)
        assert action["known"] == row["known"]
        for key in ("ev", "ev_range"):
            known = None if np.isnan(row[key]) else pytest.approx(row[key], rel=1e-6, abs=1e-6)
            assert action[key] == known
    for player, row in zip(Player, player_rows(node), strict=True):
        summary = told["grids"][NAMES[player]]["summary"]
        assert summary["combos"] == pytest.approx(row["combos"], rel=1e-6)
        for key in ("equity", "ev", "eqr"):
            assert summary[key] == pytest.approx(row[key], rel=1e-6)
    for place_of_action, action in enumerate(told["actions"]):
        chances = node.cells(node.strategy[place_of_action])
        evs = node.cells(node.action_evs[place_of_action])
        assert action["chances"] == [sent(value) for value in chances]
        assert action["evs"] == [sent(value) for value in evs]


def test_what_was_locked_and_what_was_never_learned(tmp_path: Path) -> None:
    locks = [
        {"line": "", "strategy": {"bet": 1}},
        {"line": "b50%", "hands": {"AA,KdQd": {"call": 1}}},
    ]
    locked = SpotSolver(spot(RIVER, lock=locks), threads=1)
    locked.train_batch(10)
    save_spot(locked, tmp_path)
    manifest = read_manifest(tmp_path, "spot")
    assert headline("spot", manifest).locks == 2
    shown = open_view(tmp_path)
    facts = {fact.label: fact.value for fact in shown.describe().facts}
    assert facts["Lock at b50%"] == "AA,KdQd: call 100 %"

    root = shown.place("").here
    assert isinstance(root, Decision)
    assert [action.known for action in root.actions] == [False, True, False]
    assert [action.ev for action in root.actions][::2] == [None, None]
    assert {ev for action in root.actions[::2] for ev in action.evs} == {None}
    assert root.actions[1].ev == pytest.approx(root.actions[1].ev_range)
    assert root.grids.not_reached is None

    facing = shown.place("b50%").here
    assert isinstance(facing, Decision)
    shares = dict(zip(HAND_NAMES, facing.locked, strict=True))
    assert (shares["AA"], shares["KK"], shares["72o"]) == (1, 0, 0)
    assert 0 < shares["KQs"] < 1
    rows = shown.hand("b50%", "ip", "KQs").rows
    assert [row.cards for row in rows if row.locked] == ["KdQd"]

    for line in ("x", "x x", "x b50% f", "a"):
        here = shown.place(line).here
        assert isinstance(here, Decision | End)
        assert here.grids.not_reached is not None
        assert "OOP gets here with nothing" in here.grids.not_reached
        for grid in (here.grids.oop, here.grids.ip):
            assert set(grid.ev) == {None}
            assert grid.summary.ev is None
    away = shown.rows("x")
    assert {row["ev"] for row in away} == {None}
    assert {row["locked"] for row in shown.rows("")} == {True}


@pytest.mark.parametrize(("name", "line"), EVERY[::3])
def test_combos_are_those_of_the_solution(name: str, line: str) -> None:
    node = SpotSolution.of(solver(name)).at(line).decision
    table = {row["combo"]: row for row in node.table()}
    shown = 0
    for hand in HAND_NAMES:
        for row in view(name).hand(line, NAMES[node.player], hand).rows:
            told = as_sent(row)
            known = table.get(row.cards)
            if known is None:
                assert (row.reach, row.ev) == (0, None)
                assert set(row.chances) == {None}
                continue
            shown += 1
            assert told["reach"] == sent(known["reach"])
            assert told["ev"] == sent(known["ev"])
            assert told["equity"] == (
                None if np.isnan(known["equity"]) else pytest.approx(known["equity"], rel=6e-7)
            )
            assert told["chances"] == [sent(known[word]) for word in node.actions]
            assert told["evs"] == [sent(known[f"ev_{word}"]) for word in node.actions]
    assert shown == len(table)


@pytest.mark.parametrize(("name", "line"), EVERY[::2])
def test_a_cell_is_the_mean_of_its_combos(name: str, line: str) -> None:
    here = decision(name, line)
    for player in NAMES:
        grid = getattr(here.grids, player)
        for place, hand in enumerate(HAND_NAMES):
            rows = view(name).hand(line, player, hand).rows
            assert len(rows) == grid.combos[place]
            assert sum(row.reach for row in rows) == pytest.approx(
                grid.reach[place] * grid.combos[place]
            )
            action = 0 if player == here.player else None
            found = naive_explorer.cell(rows, action)
            assert found["ev"] == pytest.approx(grid.ev[place])
            assert found["equity"] == pytest.approx(grid.equity[place])
            if action is not None:
                assert found["chance"] == pytest.approx(here.actions[0].chances[place])
                assert found["action_ev"] == pytest.approx(here.actions[0].evs[place])


@pytest.mark.parametrize(("name", "line"), [("river", "x b50%"), ("turn", "x b75%")])
def test_equities_by_another_program(name: str, line: str) -> None:
    place = view(name).place(line)
    held = {
        player: {
            row.cards: row
            for hand in HAND_NAMES
            for row in view(name).hand(line, player, hand).rows
            if row.reach
        }
        for player in NAMES
    }
    for player, other in (NAMES, NAMES[::-1]):
        against = {cards: row.reach for cards, row in held[other].items()}
        for cards, row in list(held[player].items())[::9]:
            expected = naive_explorer.equity(cards, against, place.board)
            assert row.equity == pytest.approx(expected)


SYMMETRIC: dict[str, Any] = {
    "board": "KsKh7d4c",
    "oop_range": "QQ,98s,54s:0.5",
    "ip_range": "JJ,T9s,75s",
    "pot": 100,
    "stack": 75,
    "bets": ["75%"],
    "raises": [],
}


def test_the_strategies_of_all_cards_are_worth_what_is_told() -> None:
    """Played out pair by pair over all 48 cards, those that others stand for included."""
    found = SpotSolver(spot(SYMMETRIC), threads=1)
    found.train_batch(60)
    here = view_of(SpotSolution.of(found))
    deal = here.place("x x").here
    assert isinstance(deal, Deal)
    assert [option.card for option in deal.cards if option.line is None] == ["4c", "7d", "Kh", "Ks"]
    assert sum(option.same_as is not None for option in deal.cards) == 12  # hearts for spades
    assert len(deal.cards) == 52
    played = naive_explorer.PlayedOut(here)
    root = here.place("").here
    assert isinstance(root, Decision)
    evs = played.evs()
    for player, other in ((0, 1), (1, 0)):
        rows = {
            row.cards: row
            for hand in HAND_NAMES
            for row in here.hand("", NAMES[player], hand).rows
            if row.reach
        }
        assert rows.keys() == evs[player].keys()
        for cards, row in rows.items():
            assert row.ev == pytest.approx(evs[player][cards], abs=2e-3), (other, cards)


def test_cards_that_are_the_same_are_so_by_a_renaming_of_suits() -> None:
    root = view("flop")
    deal = root.place("x x").here
    assert isinstance(deal, Deal)
    for option in [option for option in deal.cards if option.same_as][::5]:
        assert option.same_as is not None
        pair = [
            {
                row.cards: row
                for hand in HAND_NAMES
                for row in root.hand(f"x x | {card} |", "oop", hand).rows
            }
            for card in (option.card, option.same_as)
        ]
        own = parse_board("Ks7d4d")
        renamings = [
            permutation
            for permutation in range(24)
            if {int(c) for c in _renamed(permutation, own)} == set(own)
            and _renamed(permutation, (parse_card(option.card),)) == [parse_card(option.same_as)]
        ]
        assert renamings
        for cards, row in pair[0].items():
            there = combo_text(int(COMBO_PERMUTATIONS[renamings[0]][parse_combo(cards)]))
            assert as_sent(row) | {"cards": ""} == as_sent(pair[1][there]) | {"cards": ""}


def _renamed(permutation: int, cards: tuple[int, ...]) -> list[int]:
    found: list[int] = CARD_PERMUTATIONS[permutation][list(cards)].tolist()
    return found


@pytest.mark.parametrize(
    ("name", "deal", "street"),
    [("flop", "x x", "turn"), ("flop", "x x | 2c | x x", "river"), ("turn", "b75% c", "river")],
)
def test_the_report_over_cards(name: str, deal: str, street: str) -> None:
    report = joined(view(name).cards(deal))
    place = view(name).place(deal)
    assert (report.line, report.street) == (place.line, street)
    assert isinstance(place.here, Deal)
    assert {row.card: row.same_as for row in report.rows} == {
        option.card: option.same_as for option in place.here.cards if option.line
    }
    assert sum(row.weight for row in report.rows) == pytest.approx(1)
    for row in report.rows[::7]:
        here = view(name).place(row.line).here
        assert isinstance(here, Decision)
        assert here.player == report.player
        assert [choice.word for choice in report.actions] == [one.word for one in here.actions]
        assert row.frequencies == pytest.approx([one.frequency for one in here.actions])
        told = here.grids.oop.summary, here.grids.ip.summary
        assert (row.ev_oop, row.ev_ip) == pytest.approx((told[0].ev, told[1].ev))
        assert (row.equity_oop, row.equity_ip) == pytest.approx((told[0].equity, told[1].equity))
        assert row.share == pytest.approx(here.share)
    assert joined(view(name).cards(report.rows[0].line)) == report


def test_the_report_over_cards_follows_the_play() -> None:
    """Behind the first decision it is that of the decision there, with every card."""
    line = f"{view('turn').place('x x').line} | 2c | x"
    report, first = joined(view("turn").cards(line)), joined(view("turn").cards("x x"))
    assert (first.player, report.player, report.line) == ("oop", "ip", first.line)
    assert [row.card for row in report.rows] == [row.card for row in first.rows]
    for row in report.rows[::9]:
        here = view("turn").place(row.line).here
        assert row.line.endswith("| x")
        assert isinstance(here, Decision)
        assert row.frequencies == pytest.approx([one.frequency for one in here.actions])
        assert row.ev_ip == pytest.approx(here.grids.ip.summary.ev)
    (end,) = (row for row in joined(view("turn").cards(f"{line} x")).rows if row.card == "2c")
    assert end.frequencies == []  # nobody acts any more


def test_weights_of_cards_add_up_to_what_is_dealt() -> None:
    """The means over all cards, by their weights, are the numbers before the card."""
    report = joined(view("turn").cards("x x"))
    root = view("turn").equity("x x")
    mean = sum(row.weight * (row.equity_oop or 0) for row in report.rows)
    assert mean == pytest.approx(naive_explorer.area(root.oop))


def test_reports_that_are_not_there() -> None:
    with pytest.raises(InputError, match="No card has been dealt yet"):
        next(view("turn").cards("x b75%"))
    with pytest.raises(InputError, match=r"turn is not stored in this solution.*--save full"):
        next(view("trimmed").cards("x x"))
    with pytest.raises(InputError, match="one board, so there is no table of flops"):
        view("turn").flops("")


def test_streets_that_are_not_kept_are_solved_again() -> None:
    deal = view("trimmed").place("x x").here
    assert isinstance(deal, Deal)
    assert deal.solves_again
    assert not view("trimmed").describe().features.cards
    here, again = view("trimmed").place("x x | 2h | x").here, decision("flop", "x x | 2h | x")
    assert isinstance(here, Decision)
    mine, theirs = here.grids.ip.summary, again.grids.ip.summary
    assert mine.combos == pytest.approx(theirs.combos, rel=1e-2)
    assert mine.ev == pytest.approx(theirs.ev, abs=3)


def test_where_hands_are_shown() -> None:
    """At a showdown a hand is worth its equity times the pot, as the call before it shows."""
    for name, line in (("river", "x b50% c"), ("turn", "x b75% a c"), ("raked", "x b75% a c")):
        before, place = view(name).place(line.rpartition(" ")[0]), view(name).place(line)
        assert isinstance(before.here, Decision)
        assert isinstance(place.here, End)
        assert place.here.how == ("showdown" if name == "river" else "allin")
        caller = before.here.player
        called = before.here.actions[1]
        assert called.word == "c"
        for cell, ev in enumerate(called.evs):
            after = getattr(place.here.grids, caller)
            rows = view(name).hand(before.line, caller, HAND_NAMES[cell]).rows
            if ev is None or after.ev[cell] is None or len({row.reach for row in rows}) > 1:
                continue
            # What the call cost is behind him then. Other combos of a cell may call more often.
            if all((row.chances[1] or 0) > 0.999 for row in rows if row.reach):
                assert after.ev[cell] == pytest.approx(ev + before.here.to_call, abs=2e-3)


def test_all_in_before_the_first_card() -> None:
    assert view("turn").place("x b75%").words == "OOP checks, IP bets 75"
    place = view("all-in").place("")
    assert isinstance(place.here, End)
    assert place.here.how == "allin"
    shares = [place.here.grids.oop.summary.ev, place.here.grids.ip.summary.ev]
    assert shares == pytest.approx(list(load_spot(folder("all-in")).evs), abs=1e-4)
    assert view("all-in").rows("")


def test_folds_say_who_wins() -> None:
    here = view("raked").place("b75% f").here
    assert isinstance(here, End)
    assert here.how == "fold"
    assert here.text == "IP folds, OOP wins 170 chips (after 5 chips of rake)"
    assert here.grids.oop.summary.ev == pytest.approx(170)
    assert here.grids.ip.summary.ev == 0
    before = view("raked").place("b75%").here
    assert isinstance(before, Decision)
    assert here.grids.ip.summary.combos == pytest.approx(before.actions[0].combos)
    assert here.grids.oop.summary.combos == pytest.approx(before.grids.oop.summary.combos)


@pytest.mark.parametrize(("name", "line"), [("turn", "x x"), ("turn", "b75% c"), ("raked", "x x")])
def test_a_deal_tells_what_the_cards_are_worth_on_average(name: str, line: str) -> None:
    here = view(name).place(line).here
    assert isinstance(here, Deal)
    assert here.grids is not None
    told = {player: getattr(here.grids, player).summary for player in NAMES}
    rows = joined(view(name).cards(line)).rows
    for player in NAMES:
        for figure, digits in (("equity", 1e-6), ("ev", 2e-3)):
            mean = sum(row.weight * getattr(row, f"{figure}_{player}") for row in rows)
            known = getattr(told[player], figure)
            if name == "raked" and figure == "ev":
                assert known is None  # the rake depends on what comes
            else:
                assert known == pytest.approx(mean, abs=digits)


def test_ways_to_a_card_where_none_was_dealt() -> None:
    with pytest.raises(NoNodeError, match="No card has been dealt yet") as caught:
        next(view("turn").cards(""))
    ways = dict(caught.value.hints)
    assert ways == {"check, check": "x x", "bet 75 (75 %), call": "b75 c"}
    for line in ways.values():
        assert next(view("turn").cards(line)).street == "river"
    with pytest.raises(NoNodeError, match="No more cards are dealt"):
        next(view("turn").cards("b75% f"))


@pytest.mark.parametrize(("name", "line"), EVERY)
def test_ranges_in_words_read_back(name: str, line: str) -> None:
    node = SpotSolution.of(solver(name)).at(line).decision
    board = node.board
    for player in Player:
        told = view(name).range(line, NAMES[player], None)
        weights = _weights(node, player)
        _assert_reads(told.text("pio"), told.combos, weights, board)
    for number, action in enumerate(node.actions):
        told = view(name).range(line, NAMES[node.player], action)
        weights = _weights(node, node.player, number)
        _assert_reads(told.text("pio"), told.combos, weights, board)


def _weights(node: Record, player: Player, action: int | None = None) -> Any:
    weights, hands = np.zeros(1326), node.hands[player]
    weights[hands.combos] = hands.reach * (1 if action is None else node.strategy[action])
    return np.round(weights, 4)


def _assert_reads(text: str, combos: float, weights: Any, board: tuple[int, ...]) -> None:
    assert combos == pytest.approx(weights.sum())
    if not weights.any():
        assert text == ""
        return
    np.testing.assert_array_equal(Range.parse(text).on(board).weights, weights)


def test_another_program_reads_ranges() -> None:
    """eval7 knows the same tokens; weights it writes in front."""
    text = view("turn").range("x x | 2d | x b75%", "oop", None).text("pio")
    assert ":" in text
    theirs: dict[frozenset[str], float] = {}
    for token in text.split(","):
        hands, _, weight = token.partition(":")
        for combo, _ in eval7.HandRange(hands).hands:
            theirs[frozenset(map(str, combo))] = float(weight or 1)
    mine = Range.parse(text).weights
    assert len(theirs) == np.count_nonzero(mine)
    for combo in np.flatnonzero(mine).tolist():
        name = combo_text(combo)
        assert theirs[frozenset((name[:2], name[2:]))] == mine[combo]


def test_ranges_of_actions_that_are_not_there() -> None:
    with pytest.raises(InputError, match="ip does not act here"):
        view("turn").range("", "ip", "x")
    with pytest.raises(InputError, match="'b33' is not offered here"):
        view("turn").range("", "oop", "b33")


def test_wrong_lines_lead_back() -> None:
    with pytest.raises(NoNodeError, match="OOP may x, b75") as caught:
        view("turn").place("x x | 2h | b20%")
    assert caught.value.hints == (("back to 'x x | 2h'", "x x | 2h"),)
    with pytest.raises(NoNodeError, match="on the board already") as caught:
        view("turn").place("x x | Ks | x")
    assert caught.value.hints[0][1] == "x x"


def test_rows_for_a_spreadsheet() -> None:
    node = SpotSolution.of(solver("turn")).at("x b75%").decision
    rows = view("turn").rows("x b75%")
    known = {row["combo"]: row for row in node.table()}
    assert len(rows) == len(known)
    for row in rows:
        expected = known[row["combo"]]
        assert row["player"] == "oop"
        for key in ("reach", "ev", "c", "ev_c"):
            assert row[key] == pytest.approx(expected[key], nan_ok=True)
    hands = [row["combo"] for row in rows]
    assert hands[0] == "AsAh"
    assert {row["player"] for row in view("turn").rows("x x")} == {"oop", "ip"}


def test_what_it_is() -> None:
    told = view("turn").describe()
    facts = {fact.label: fact.value for fact in told.facts}
    assert told.title == "Ks7d4c9h, pot 100, stack 200"
    assert facts["Stacks"] == "200 chips, SPR 2"
    assert facts["OOP range"].startswith("51 combos: 99+,AQs+,")
    assert facts["Turn OOP"] == "bet 75%, raise a"
    assert told.features.cards
    assert told.curve.points[0].iteration == 40
    assert told.curve.unit == "% of pot"
    assert not view("river").describe().features.cards


@settings(max_examples=6)
@given(seed=st.integers(0, 1000))
def test_random_weights(seed: int) -> None:
    """Cells, sums and texts also where combos of a hand differ in weight."""
    random = np.random.default_rng(seed)
    weights = np.round(random.random(1326), 2) * (random.random(1326) < 0.2)
    base = spot(TURN)
    changed = replace(base, oop=Range(weights), bet_sizes=None)
    found = SpotSolver(changed, threads=1)
    found.train_batch(3)
    here = view_of(SpotSolution.of(found))
    place = here.place("x")
    assert isinstance(place.here, Decision)
    for player in NAMES:
        grid = getattr(place.here.grids, player)
        for number in random.integers(0, 169, 25).tolist():
            rows = here.hand("x", player, HAND_NAMES[number]).rows
            assert naive_explorer.cell(rows)["ev"] == pytest.approx(grid.ev[number])
        told = here.range("x", player, None)
        node = SpotSolution.of(found).at("x").decision
        weights = _weights(node, Player(NAMES.index(player)))
        _assert_reads(told.text("pio"), told.combos, weights, node.board)


def test_a_view_needs_no_files_but_its_own(tmp_path: Any) -> None:
    save_spot(solver("turn"), tmp_path / "moved")
    here = open_view(tmp_path / "moved")
    assert here.place("x") == view("turn").place("x")


def test_what_was_given_up_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allstreets.solutions.spot.CACHED_STREETS", 2)
    monkeypatch.setattr("allstreets.solutions.resolve.CACHED_SPOTS", 1)
    result, short_one = SpotSolution.of(solver("flop")), load_spot(folder("trimmed"))
    lines = ("x x | 2c |", "x x | 2h |", "x x | 9h | x")
    for solution in (result, short_one):
        first = [solution.at(line).decision for line in lines]
        for line, before in zip(lines, first, strict=True):
            again = solution.at(line).decision
            np.testing.assert_array_equal(again.combos, before.combos)
            np.testing.assert_allclose(again.strategy, before.strategy)
            np.testing.assert_allclose(again.evs(), before.evs())

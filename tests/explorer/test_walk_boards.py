"""Whole games with real boards, walked through turn and river cards."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from builders.whole_solution import solver_of, whole_game
from harness.browsing import browser, explorer, keep_picture, new_page
from playwright.sync_api import expect

from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_COUNT,
    COMBO_PERMUTATIONS,
    MADE,
    card_text,
    cards_text,
    combo_text,
    hand_categories,
    live_combos,
    parse_cards,
    parse_combo,
    runouts,
)
from allstreets.cli.main import main
from allstreets.engines import CardModel
from allstreets.engines.exact.cards import StreetBoards, first_street, next_street
from allstreets.explorer.models.place import CardsStep, Deal, Decision, End
from allstreets.explorer.views.reports import joined
from allstreets.explorer.views.view import SolutionView, open_view
from allstreets.solutions import Decision as Record
from allstreets.solutions import WholeSolution
from allstreets.storage import board_report, load_unified, save_unified

FLOP = "KsKhKd"  # on which most runouts are alike
GROUPS = 16
LIMPED = f"c x | {FLOP}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("boards") / "game"
    model = CardModel("boards", groups=GROUPS, rows=16)
    save_unified(
        solver_of(whole_game([FLOP], 5, "100%", ()), 3, model), path, config={}, name="real boards"
    )
    return path


@pytest.fixture(scope="module")
def result(folder: Path) -> WholeSolution:
    return load_unified(folder)


@pytest.fixture(scope="module")
def view(folder: Path) -> SolutionView:
    return open_view(folder)


@cache
def river() -> StreetBoards:
    flop = tuple(parse_cards(FLOP))
    combos = np.flatnonzero(live_combos(flop))
    street = first_street(runouts(flop, [np.ones(COMBO_COUNT)]), (combos, combos))
    return next_street(next_street(street))


@pytest.mark.parametrize("number", [3, 250])
def test_a_combo_plays_what_is_stored_of_its_group(result: WholeSolution, number: int) -> None:
    turn, last = (card_text(card) for card in river().boards[number][3:])
    shown = result.at(f"{LIMPED} | x x | {turn} | x x | {last}").decision
    root = result.read("c x").node
    tree, arrays = result.stored.pot(root).tree, result.stored.source.arrays(0)
    own = [node for node in tree.decisions(Street.RIVER) if tree.player[node] == Player.OOP]
    slots = np.cumsum([0, *(int(tree.child_count[node]) for node in own)])
    node = next(  # after checks on flop and turn
        node for node in own if not tree.invested[node].any() and tree.to_call_at(node) == 0
    )
    first = (number * slots[-1] + slots[own.index(node)]) * GROUPS
    stored = arrays["average.0.2.oop"][first : first + 2 * GROUPS].reshape(2, GROUPS)
    chances = stored / stored.sum(axis=0, dtype=np.float64)
    hands, start = river().hands[0][number], int(river().lists[0].start[number])
    groups = arrays["groups.0.oop"][start + hands.hand]
    for combo, group in zip(hands.combos.tolist(), groups.tolist(), strict=True):
        mix = shown.hand(combo_text(combo)).frequencies
        np.testing.assert_allclose(list(mix.values()), chances[:, group], atol=1e-9)
        assert shown.alike is not None
        assert shown.alike[Player.OOP][shown.combos == combo] == group


def test_a_check_on_the_turn_is_worth_the_rivers_that_follow(result: WholeSolution) -> None:
    """By combo: the pairs of combos that a river leaves, and what they are worth there."""
    above = result.at(f"{LIMPED} | x x | 5c | x").decision
    total = np.zeros(COMBO_COUNT)
    for card in sorted(set(range(52)) - set(above.board)):
        below = result.at(f"{LIMPED} | x x | 5c | x x | {card_text(card)}").decision
        mine = below.hands[Player.IP]
        assert mine.combos is not None
        met = np.divide(mine.weights, mine.reach, where=mine.reach > 0, out=0 * mine.reach)
        total[mine.combos] += met * np.nan_to_num(below.evs(Player.IP))
    met = np.divide(above.own.weights, above.reach, where=above.reach > 0, out=0 * above.reach)
    taken = above.reach * above.strategy[0] > 1e-4
    assert taken.sum() > 50
    found = above.action_evs[0] * met * 44  # a check costs nothing
    np.testing.assert_allclose(found[taken], total[above.combos][taken], rtol=1e-3, atol=1e-3)


def test_a_check_behind_on_the_river_is_worth_its_equity(result: WholeSolution) -> None:
    node = result.at(f"{LIMPED} | x x | 5c | x x | Qd | x").decision
    worth = node.equity() * node.pot
    np.testing.assert_allclose(node.action_evs[0], worth, atol=1e-4)


def renamed(node: Record, permutation: int) -> np.ndarray:
    """[A, 1326]: a strategy with its suits renamed."""
    found = np.zeros((len(node.actions), COMBO_COUNT))
    found[:, COMBO_PERMUTATIONS[permutation][node.combos]] = node.strategy
    return found


@pytest.mark.parametrize("permutation", [0, 7, 16, 23])
def test_flops_are_named_in_any_suits(result: WholeSolution, permutation: int) -> None:
    def line(number: int) -> str:
        names = CARD_PERMUTATIONS[number]
        flop, turn, last = (
            cards_text(names[list(parse_cards(text))]) for text in (FLOP, "5s", "Qd")
        )
        return f"c x | {flop} | x x | {turn} | x x | {last}"

    one, other = result.at(line(0)).decision, result.at(line(permutation)).decision
    assert other.line == line(permutation)
    np.testing.assert_array_equal(renamed(one, permutation), renamed(other, 0))


def test_classes_of_a_board(result: WholeSolution) -> None:
    line = f"{LIMPED} | x x | 5c"
    classes = result.strategy(line)
    assert "KK" not in classes
    node = result.at(line).decision
    assert classes["55"]["x"] == pytest.approx(node.cells(node.strategy[0])[8])
    assert result.strategy(line, hand="AhKc") == node.hand("AhKc").frequencies


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("x x", "a card is dealt there"),
        ("x x | Kd | x", "the turn card Kd is on the board already"),
        ("x x | 5c | x x | 5c", "the river card 5c is on the board already"),
        ("x x | x", "the turn card is missing"),
        ("x x x", "the turn card is missing"),
        ("x x | Zz | x", "'Zz' is not a card"),
        ("x b100% f", "no player acts there any more"),
    ],
)
def test_wrong_cards_are_refused_in_a_line(result: WholeSolution, words: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        _ = result.at(f"{LIMPED} | {words}").decision
    assert message in str(refused.value)
    assert f"line '{LIMPED} | {words}'" in str(refused.value) or "after the flop" in str(
        refused.value
    )
    assert "\n" not in str(refused.value)


def test_every_card_can_be_picked(view: SolutionView) -> None:
    place = view.place("c x | KcKhKd | x x")
    assert isinstance(place.here, Deal)
    lines = {option.card: option.line for option in place.here.cards}
    assert lines["Kc"] is None
    assert lines["5h"] == "c x | KcKhKd | x x | 5h"
    turn = view.place(lines["5h"])
    assert turn.board == ["Kc", "Kh", "Kd", "5h"]
    last = turn.steps[-1]
    assert isinstance(last, CardsStep)
    assert (last.label, last.same_as) == ("turn 5h", ["5c"])
    assert isinstance(turn.here, Decision)
    again = view.place(f"{turn.here.actions[0].line} x").here
    assert isinstance(again, Deal)
    assert again.street == "river"
    assert isinstance(view.place(f"{lines['5h']} | x x | 2c | x x").here, End)


def test_numbers_are_those_of_the_solution(view: SolutionView, result: WholeSolution) -> None:
    line = f"{LIMPED} | x x | 5c | x x | Qd"
    place, node = view.place(line), result.at(line).decision
    assert isinstance(place.here, Decision)
    assert place.line == node.line == line
    taken = [action.frequency for action in place.here.actions]
    assert taken == pytest.approx(node.taken.tolist(), rel=1e-6)
    assert place.here.grids.oop.summary.ev == pytest.approx(node.ev(Player.OOP), rel=1e-5)


def test_hands_that_play_alike_are_listed(view: SolutionView, result: WholeSolution) -> None:
    line = f"{LIMPED} | x x | 5c | x x | Qd"
    detail, node = view.hand(line, "oop", "66"), result.at(line).decision
    assert node.alike is not None
    group = int(node.alike[Player.OOP][node.combos == parse_combo("6s6h")][0])
    size = int((node.alike[Player.OOP] == group).sum())
    named = next(text for text in detail.alike if "6s6h" in text.partition(":")[0])
    assert f"bucket {group}, {size} combos: " in named
    assert view.hand(f"{LIMPED} | x", "oop", "66").alike == []


@pytest.mark.long
def test_reports_over_cards(view: SolutionView) -> None:
    """Long: every turn card is lifted."""
    report = joined(view.cards(f"{LIMPED} | x x"))
    assert (report.street, len(report.rows)) == ("turn", 49)
    assert sum(row.weight for row in report.rows) == pytest.approx(1.0)
    with pytest.raises(InputError, match="tables over flops are of decisions on the flop"):
        view.flops(f"{LIMPED} | x x | 5c")
    assert len(view.flops("c x | * | x").rows) == 1


def test_tables_over_flops_have_no_turn(result: WholeSolution) -> None:
    assert [row["flop"] for row in result.flop_table("c x | * | x")] == [FLOP]
    with pytest.raises(InputError, match="tables over flops are of decisions on the flop"):
        result.flop_table("c x | x x | 5c")


def test_the_report_by_combo(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--line", f"{LIMPED} | x x | 5c", "--combos"]) == 0
    shown = capsys.readouterr().out
    assert "board KsKhKd5c" in shown
    assert "Combos of the same bucket play alike on this board." in shown
    assert main(["report", str(folder), "--line", "c", "--combos"]) == 2
    assert "--combos has no meaning here" in capsys.readouterr().err


@pytest.mark.long
def test_the_page_picks_a_card_and_tells_who_plays_alike(folder: Path) -> None:
    """Long: a browser of its own."""
    with (
        browser() as chromium,
        explorer(folder.parent / "solves", folder) as server,
        new_page(chromium, server) as page,
    ):
        page.goto("/")
        page.get_by_role("link", name="real boards").click()
        page.wait_for_url(re.compile("/solution/"))
        page.goto(f"{page.url.partition('?')[0]}?line={quote(f'{LIMPED} | x x')}")
        expect(page.get_by_text("Pick the turn card")).to_be_visible()
        page.get_by_role("button", name="5c", exact=True).click()
        page.locator('[data-hand="66"]').click()
        page.get_by_text("Hands that play alike on this board").click()
        expect(page.get_by_text(re.compile("6s6h.*: group"))).to_be_visible()
        keep_picture(page, "real turn")


def test_reports_and_categories_by_combo(result: WholeSolution, view: SolutionView) -> None:
    report, node = board_report(result, "c x"), result.at(LIMPED).decision
    assert list(report.total.frequencies) == pytest.approx(node.taken.tolist())
    assert report.total.evs == pytest.approx((node.ev(Player.OOP), node.ev(Player.IP)), nan_ok=True)
    turn = result.at(f"{LIMPED} | x x | 5c").decision
    groups = view.groups(f"{LIMPED} | x x | 5c").groups
    for kind in ("made", "draw"):
        some = [group for group in groups if group.kind == kind]
        assert sum(group.shares["oop"] for group in some) == pytest.approx(1)
    made, _ = hand_categories(turn.board)
    for group in groups:
        if group.kind == "made":
            own = made[turn.combos] == MADE.index(group.name)
            share = turn.reach[own].sum() / turn.reach.sum()
            assert group.shares["oop"] == pytest.approx(share, abs=1e-6)

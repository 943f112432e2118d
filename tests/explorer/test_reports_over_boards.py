"""Tables over the boards of a set, and hands by category: the messages, and the page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import explorer_solutions, whole_solution
from builders.small_spots import RIVER, TURN, spot
from harness.browsing import browser, explorer, keep_picture, new_page
from playwright.sync_api import Page, expect

from allstreets import board_report, solve_many
from allstreets.analysis import HAND_KEYS, ReportRow
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO, MADE, hand_categories, live_combos
from allstreets.explorer.folders import find_solutions, id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import PLAYER_NAMES
from allstreets.explorer.models.place import BoardHand
from allstreets.explorer.routes.table import hand_rows
from allstreets.explorer.views.reports import GrowingReports
from allstreets.explorer.views.view import open_view
from allstreets.jobs import Here
from allstreets.solutions import Boards, OnBoard
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, load_spots, save_spot

BOARDS = ["Ks7d4c9h2s", "Qs7s4s9h2c", "Kh7d4c9h2s"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("boards")

    spots = [{**RIVER, "name": "a river"}]
    solve_many(
        spots,
        target=0.02,
        boards=BOARDS,
        threads=1,
        output=root / "flops",
        executor=Here(),
    )
    solver = SpotSolver(spot(TURN), threads=1)
    solver.train_batch(10)
    save_spot(solver, root / "turn", name="small turn")
    whole_solution.save_classes(root / "game", name="small game")
    return root


def test_the_spots_of_a_set_are_listed_and_know_each_other(folder: Path) -> None:
    spots = load_spots(folder / "flops")
    own = [folder / "flops" / entry.folder for entry in spots.entries]
    assert {one.folder: one.part_of for one in find_solutions([folder])} == {
        **dict.fromkeys(own, folder / "flops"),
        **dict.fromkeys((folder / "flops", folder / "turn", folder / "game")),
    }
    cards = {Path(card.folder): card for card in Library([folder]).cards()}
    together = cards[folder / "flops"]
    assert together.title == "a river: 3 boards, pot 100, stack 300"
    assert together.tables[0].solutions == [id_of(one) for one in own]
    figures = [cards[one].exploitability or 0.0 for one in own]
    assert together.exploitability == pytest.approx(max(figures))
    view = open_view(own[0])
    assert view.describe().features.flops
    report, expected = view.flops("x"), board_report(spots, "x")
    assert [row.flop for row in report.rows] == BOARDS
    assert [row.solution for row in report.rows] == [id_of(one) for one in own]
    for row, wanted in zip(report.rows, expected.by("board"), strict=True):
        assert row.weight == pytest.approx(wanted.share)
        assert row.frequencies == pytest.approx(list(wanted.frequencies))
        assert (row.ev_oop, row.ev_ip) == pytest.approx(wanted.evs)
        eqr = (row.ev_ip or 0) / ((row.equity_ip or 0) * report.pot)
        assert eqr == pytest.approx(wanted.eqrs[1])
    assert report.paid == {"oop": 0, "ip": 0}
    over, facing = view.flops("b50%", "hand"), view.flops("b50%")
    assert over.paid == {"oop": 50, "ip": 0}
    for row, here in zip(over.rows, facing.rows, strict=True):
        assert (here.ev_oop or 0) - (row.ev_oop or 0) == pytest.approx(50)
        assert row.ev_ip == here.ev_ip
    alone = open_view(folder / "turn")
    assert not alone.describe().features.flops
    with pytest.raises(InputError, match="a spot has one board"):
        alone.flops("x")


def assert_same_rows(rows: Sequence[BoardHand], wanted: Sequence[ReportRow]) -> None:
    """Rows of the page are those of the command."""
    assert [row.name for row in rows] == [one.name for one in wanted]
    for row, one in zip(rows, wanted, strict=True):
        told = [row.share, *row.frequencies, row.ev_oop, row.ev_ip, row.equity_oop, row.equity_ip]
        figures = [one.share, *one.frequencies, *one.evs, *one.equities, *one.eqrs]
        known = [nan if value is None else value for value in (*told, row.eqr_oop, row.eqr_ip)]
        assert known == pytest.approx(figures, nan_ok=True)


GAMES: dict[
    str, tuple[str, dict[str, Any]]
] = {  # a solution, a line of the page, and the same for the command
    "classes": ("c x", {"line": "c x |"}),
    "classes on a flop": (f"c x | {whole_solution.FLOP} | x", {"line": "c x | x"}),
    "exact": ("c x", {"line": "c x |"}),
    "buckets": ("c x | *", {"line": "c x |"}),
    "models": ("spr2", {"line": "spr2 | *"}),
}


@pytest.mark.parametrize("name", GAMES)
def test_flops_by_hands_are_what_the_command_says(name: str) -> None:
    line, asked = GAMES[name]
    path = explorer_solutions.folder(name.split()[0])
    *_, last = open_view(path).flop_hands(line)
    expected = board_report(path, **asked)
    assert last.report is not None
    assert (last.done, last.report.boards) == (last.boards, len(expected.boards))
    for key in HAND_KEYS:
        assert_same_rows(getattr(last.report, key), expected.by(key))
    assert_same_rows([last.report.total], [expected.total])
    assert len(last.report.actions) == len(expected.actions)


def test_a_set_by_hands_is_read_once(folder: Path) -> None:
    spots = load_spots(folder / "flops")
    view = open_view(folder / "flops" / spots.entries[0].folder)
    first = next(view.flop_hands("x"))
    assert (first.done, first.boards, first.report) == (1, len(BOARDS), None)
    parts = list(view.flop_hands("x"))  # resumes where the previous reader left
    assert [part.done for part in parts] == [2, 3]
    (again,) = view.flop_hands("x")
    expected = board_report(spots, "x")
    assert again == parts[-1]
    assert again.report is not None
    for key in HAND_KEYS:
        assert_same_rows(getattr(again.report, key), expected.by(key))
    rows = hand_rows(again.report, "category")
    assert [row["category"] for row in rows] == [row.name for row in expected.by("category")]
    assert [row["ev"] for row in rows] == [row.ev_ip for row in again.report.category]
    with pytest.raises(InputError, match="a spot has one board"):
        next(open_view(folder / "turn").flop_hands("x"))


def test_a_report_that_breaks_off_is_begun_anew() -> None:
    whole = whole_solution.result().boards("c x |")
    boards, begun = list(whole.decisions), []

    def begin(line: str) -> Boards:
        begun.append(line)

        def decisions() -> Iterator[OnBoard]:
            yield boards[0]
            if len(begun) == 1:
                raise InputError("the flop is damaged")
            yield from boards[1:]

        return replace(whole, line=line, decisions=decisions())

    reports = GrowingReports(begin)
    steps = reports.steps("c x")
    assert next(steps).done == 1
    with pytest.raises(InputError, match="damaged"):
        next(steps)
    assert len(reports.report("c x").boards) == len(boards)
    assert len(reports.report("c x").boards) == len(boards)
    assert begun == ["c x", "c x"]


def test_hands_by_category(folder: Path) -> None:
    path = folder / "turn"
    node, groups = load_spot(path).at("x").decision, open_view(path).groups("x")
    assert groups.player == "ip"
    made, _ = hand_categories(node.board)
    live = live_combos(node.board)
    for kind in ("made", "draw"):
        some = [group for group in groups.groups if group.kind == kind]
        for player in ("oop", "ip"):
            assert sum(group.shares[player] for group in some) == pytest.approx(1)
        cells = np.sum([group.cells for group in some], axis=0)
        held = np.bincount(HAND_OF_COMBO[live], minlength=169) > 0
        assert (cells[held] <= 1 + 1e-9).all()
    top = next(group for group in groups.groups if group.name == "top pair")
    own = made[node.combos] == MADE.index("top pair")
    assert top.shares["ip"] == pytest.approx(node.reach[own].sum() / node.reach.sum())
    weights = node.own.weights[own]
    for chance, chances in zip(top.frequencies, node.strategy, strict=True):
        assert chance == pytest.approx(float(chances[own] @ weights / weights.sum()))
    for seat in Player:  # also of who does not act
        hands, name = node.hands[seat], PLAYER_NAMES[seat]
        assert hands.combos is not None
        held = made[hands.combos] == MADE.index("top pair")
        weights = hands.weights[held]
        assert top.combos[name] == pytest.approx(hands.reach[held].sum())
        for figures, values in ((top.evs, node.evs(seat)), (top.equities, node.equity(seat))):
            mean = values[held] @ weights / weights.sum()
            assert figures[name] == pytest.approx(float(mean))
    assert top.cells[HAND_NAMES.index("KQs")] == 1
    assert top.cells[HAND_NAMES.index("AA")] == 0
    game = open_view(folder / "game")
    starting = game.groups("").groups
    assert {group.kind for group in starting} == {"starting"}
    assert sum(group.combos["ip"] for group in starting) == pytest.approx(1326)
    assert np.sum([group.cells for group in starting], axis=0) == pytest.approx(np.ones(169))
    root = game.record("")
    aces = next(group for group in starting if group.name == "suited ace")  # A9s … A2s
    names = [HAND_NAMES.index(f"A{rank}s") for rank in "98765432"]
    weights = root.own.weights[names]
    mean = root.evs()[names] @ weights / weights.sum()
    assert aces.evs["ip"] == pytest.approx(float(mean))
    river = open_view(folder / "flops" / f"a-river-{BOARDS[0]}").groups("").groups
    assert {group.kind for group in river} == {"made"}  # nobody draws any more
    line = f"{whole_solution.result().flop_lines()[0]} | {whole_solution.FLOP} |"
    whole = game.groups(line)
    shares = [group.shares["oop"] for group in whole.groups if group.kind == "made"]
    assert sum(shares) == pytest.approx(1)


def a_set_in_the_list(page: Page, folder: Path) -> None:
    """One row, with its boards below, by keys; a way to its table; named, deleted, brought back."""
    page.goto("/")
    rows, spots = page.get_by_role("row"), page.get_by_role("link", name=re.compile("^a river "))
    own = page.get_by_role("row").filter(has=page.locator(f'[title="{folder / "flops"}"]'))
    expect(rows).to_have_count(1 + 3)  # the head, the set, a spot and a game
    expect(own).to_contain_text("a river: 3 boards, pot 100, stack 300")
    worst = Library([folder]).card(id_of(folder / "flops")).exploitability or 0.0
    expect(own).to_contain_text(re.compile(r"% of pot on the worst board"))
    shown = float(re.findall(r"([\d.]+) % of pot", own.inner_text())[0])
    assert shown == pytest.approx(worst, rel=0.01)
    fold = own.get_by_role("button", name="Boards of flops")
    fold.focus()
    page.keyboard.press("Enter")
    expect(spots).to_have_text([f"a river {board}" for board in BOARDS])
    expect(page.get_by_role("button", name=re.compile("^Delete a river"))).to_have_count(0)
    keep_picture(page, "set_folded_out")
    page.keyboard.press("Enter")
    expect(spots).to_have_count(0)

    search = page.get_by_label("Filter solutions")
    search.fill(f"spot {BOARDS[1]}")
    expect(spots).to_have_text([f"a river {BOARDS[1]}"])
    expect(rows).to_have_count(1 + 2)
    search.fill("river: boards")
    expect(rows).to_have_count(1 + 1)
    search.fill("no such thing")
    expect(page.get_by_text("None of the 6 solutions fits")).to_be_visible()
    search.fill("")

    own.get_by_role("button", name=re.compile("^Name ")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("my rivers")
    dialog.get_by_label("Note").fill("for Monday")
    dialog.get_by_role("button", name="Keep").click()
    expect(own).to_contain_text("for Monday")
    own.get_by_role("button", name="Delete my rivers").click()
    expect(own).to_contain_text("Move all 3 boards to the trash?")
    own.get_by_role("button", name="Delete", exact=True).click()
    expect(rows).to_have_count(1 + 2)
    assert not (folder / "flops").exists()
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(1 + 3)
    assert (folder / "flops" / "manifest.json").is_file()

    own.get_by_role("link", name="my rivers").click()
    page.wait_for_url(re.compile(r"tab=flops"))
    table = page.get_by_role("region", name="Boards")
    expect(table.get_by_role("row")).to_have_count(len(BOARDS) + 2)  # head and mean
    page.go_back()
    own.get_by_role("button", name="Boards of my rivers").click()
    expect(spots).to_have_count(len(BOARDS))


@pytest.mark.long
def test_in_the_page(folder: Path) -> None:
    """Long: a browser of its own."""
    with (
        browser() as chromium,
        explorer(folder / "solves", folder) as server,
        new_page(chromium, server) as page,
    ):
        a_set_in_the_list(page, folder)
        page.get_by_role("link", name=f"a river {BOARDS[0]}").click()
        grid = page.get_by_role("grid")
        expect(grid.locator("[data-hand]:not(.empty)").first).to_be_visible()
        every = grid.locator("[data-hand]:not(.empty)").count()
        choice = page.get_by_label("Category of hands")
        expect(choice.locator("option", has_text="top pair")).to_have_count(1)
        choice.select_option("top pair")
        expect(page.locator('[data-hand="AA"]')).to_have_class(re.compile("empty"))
        expect(page.locator('[data-hand="KQs"]')).not_to_have_class(re.compile("empty"))
        assert 0 < grid.locator("[data-hand]:not(.empty)").count() < every
        held = page.get_by_role("table", name="OOP by category").get_by_role("row")
        wanted = open_view(folder / "flops" / f"a-river-{BOARDS[0]}").groups("")
        top = next(group for group in wanted.groups if group.name == "top pair")
        expect(held.filter(has_text="top pair")).to_contain_text(f"{100 * top.shares['oop']:.1f} %")
        keep_picture(page, "category")
        held.get_by_role("button", name="top pair").click()  # lets go of it
        expect(grid.locator("[data-hand]:not(.empty)")).to_have_count(every)

        page.get_by_role("button", name="Boards", exact=True).click()
        table = page.get_by_role("region", name="Boards")
        expect(table.get_by_role("row")).to_have_count(len(BOARDS) + 2)  # head and mean
        page.get_by_label("Shown as").select_option("suits")
        groups = page.get_by_role("region", name="Groups of boards")
        report = board_report(folder / "flops", "")
        for row in [*report.by("suits"), report.total]:
            line = groups.get_by_role("row").filter(has_text=re.compile(f"^{row.name}"))
            expect(line).to_contain_text(f"{100 * row.frequencies[0]:.1f} %")
            expect(line).to_contain_text(f"{row.evs[0]:.2f}")
        keep_picture(page, "groups")
        page.get_by_label("Shown as").select_option("category")
        hands = page.get_by_role("region", name="Hands on all boards")
        for key in HAND_KEYS:
            page.get_by_label("Shown as").select_option(key)
            rows = report.by(key)
            expect(hands.locator("tbody tr")).to_have_count(len(rows))
            for row, line in zip(rows[:20], hands.locator("tbody tr").all(), strict=False):
                expect(line.get_by_role("rowheader")).to_have_text(row.name)
                expect(line).to_contain_text(f"{100 * row.frequencies[0]:.1f} %")
                ev = line.locator("td").nth(2 + len(report.actions)).inner_text()
                assert float(ev.replace("−", "-")) == pytest.approx(row.evs[0], abs=0.051)
        hands.get_by_role("button", name="EV OOP").click()  # the largest first
        best = report.sorted(report.by("hand"), "ev")[0]
        expect(hands.locator("tbody tr").first.get_by_role("rowheader")).to_have_text(best.name)
        link = page.get_by_role("link", name="CSV").get_attribute("href")
        assert page.request.get(link or "").text().startswith("hand,player,share,x,")
        keep_picture(page, "flops_by_hand")
        hands.get_by_role("button", name=best.name, exact=True).click()  # holds it open in the grid
        cell = page.locator(f'[data-hand="{best.name}"]')
        expect(cell).to_have_attribute("aria-selected", "true")
        page.go_back()
        page.get_by_label("Shown as").select_option("category")
        keep_picture(page, "flops_by_category")
        hands.get_by_role("button", name="top pair", exact=True).click()
        expect(choice).to_have_value("top pair")
        expect(page.locator('[data-hand="AA"]')).to_have_class(re.compile("empty"))
        choice.select_option("")
        page.go_back()
        page.get_by_label("Shown as").select_option("scatter")
        points = page.get_by_role("group", name=re.compile("flop by flop$")).get_by_role("link")
        expect(points).to_have_count(len(BOARDS))
        keep_picture(page, "scatter")
        page.get_by_role("link", name=BOARDS[1], exact=True).click()
        other = id_of(folder / "flops" / f"a-river-{BOARDS[1]}")
        page.wait_for_url(re.compile(f"/solution/{other}"))
        expect(page.get_by_text(f"a river {BOARDS[1]}")).to_be_visible()

"""Ranges in a real browser: through the clipboard in every kind, and kept under names.

All of it is long: what the page makes of a text is tested without a browser (`web/src/ranges`), and
what the server reads and writes beside it (`test_ranges_form`, `test_kept_ranges`).
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.small_spots import TURN, spot
from harness.browsing import (
    Server,
    browser,
    clock_stopped,
    explorer,
    keep_picture,
    new_page,
)
from playwright.sync_api import Browser, Page, expect

from allstreets.cards import Range, RangeKind
from allstreets.explorer import range_at
from allstreets.explorer.folders import id_of
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot

LABELS = {
    RangeKind.pio: "PioSOLVER",
    RangeKind.pio_1326: "PioSOLVER, numbers",
    RangeKind.gto: "GTO+",
    RangeKind.monker: "MonkerSolver",
    RangeKind.json: "JSON",
    RangeKind.csv: "CSV",
    RangeKind.text: "Shortest text",
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("ranges")
    solver = SpotSolver(spot(TURN), threads=1)
    solver.train_batch(20)
    save_spot(solver, made / "turn", name="small turn")
    return made


@pytest.fixture(scope="module")
def server(folder: Path, chromium: Browser) -> Iterator[Server]:
    del chromium  # first: without a browser there is nothing to serve
    with explorer(folder / "solves", folder / "turn") as running:
        yield running


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    with new_page(chromium, server) as fresh:
        fresh.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield fresh


def pick(page: Page, menu: str, kind: RangeKind) -> None:
    page.get_by_label(f"{menu} …").click()
    listed = page.get_by_role("group", name=menu)
    with clock_stopped(page):
        listed.get_by_role("button", name=LABELS[kind], exact=True).click()
        expect(page.get_by_text(f"as {LABELS[kind]}: ")).to_be_visible()
    expect(listed).to_be_hidden()


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.long
def test_the_range_in_the_grid_is_copied_in_every_kind(page: Page, folder: Path) -> None:
    page.goto(f"/solution/{id_of(folder / 'turn')}")
    expect(page.locator("[data-choice]").first).to_be_visible()
    held = range_at(folder / "turn", "", "oop")
    for kind in RangeKind:
        pick(page, "Copy the range of OOP as", kind)
        assert clipboard(page) == held.text(kind)
    # What was chosen last is what the other buttons copy, also after a reload.
    pick(page, "Copy the range of OOP as", RangeKind.gto)
    page.reload()
    bet = page.get_by_role("button", name="Copy the range that takes: bet").first
    expect(bet).to_be_visible()
    with clock_stopped(page):
        bet.click()
        expect(page.get_by_text("as GTO+: ")).to_be_visible()
    node = range_at(folder / "turn", "", "oop", action="bet")
    assert clipboard(page) == node.text("gto+")
    page.get_by_label("Copy the range of OOP as …").click()
    keep_picture(page, "copy_menu")
    page.keyboard.press("Escape")
    expect(page.get_by_role("group", name="Copy the range of OOP as")).to_be_hidden()


@pytest.mark.long
def test_the_form_takes_every_kind(page: Page) -> None:
    page.goto("/solve")
    text = page.get_by_label("Range of OOP as text")
    expect(text).to_be_visible()
    given = Range.parse("QQ+,AKs,AhKh:0.2,76s:0.3")
    editor = page.get_by_label("OOP range").first
    for kind in RangeKind:
        page.evaluate("text => navigator.clipboard.writeText(text)", given.text(kind))
        editor.get_by_role("button", name="Clear").click()
        expect(text).to_have_value("")
        editor.get_by_role("button", name="Paste").click()
        expect(text).to_have_value(str(given))
    for kind in (RangeKind.monker, RangeKind.pio_1326):
        pick(page, "Copy the range of OOP as", kind)
        assert clipboard(page) == given.text(kind)
    text.fill("[50]AA")
    expect(editor.get_by_text("'[50]' is never closed: write [/50]")).to_be_visible()


@pytest.mark.long
def test_ranges_are_kept_under_names(page: Page, folder: Path) -> None:
    page.goto("/solve")
    text = page.get_by_label("Range of OOP as text")
    text.fill("TT+,AKs")
    text.press("Tab")
    name = page.get_by_label("Name of the range of OOP")
    name.fill("3-bets / BB")
    kept = page.get_by_role("form", name="Saved ranges, for OOP")
    kept.get_by_role("button", name="Save").click()
    other = page.get_by_label("Load a saved range into IP")
    expect(other.get_by_role("option", name="3-bets / BB (34 combos)")).to_have_count(1)
    keep_picture(page, "kept_ranges")
    page.reload()
    expect(other).to_be_enabled()
    other.select_option("3-bets / BB")
    expect(page.get_by_label("Range of IP as text")).to_have_value("TT+,AKs")
    stored = json.loads((folder / "solves" / "ranges.json").read_text())
    assert stored["ranges"] == {"3-bets / BB": "TT+,AKs"}
    mine = page.get_by_role("form", name="Saved ranges, for IP")
    mine.get_by_role("button", name="Delete").click()
    expect(other).to_be_disabled()
    assert json.loads((folder / "solves" / "ranges.json").read_text())["ranges"] == {}

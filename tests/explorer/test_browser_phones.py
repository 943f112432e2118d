"""Small screens and loose ends in a browser: what a tap opens is in view, a message leads on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.small_spots import TURN, spot
from builders.whole_solution import CONFIG, classes
from harness.browsing import Server, browser, explorer, keep_picture, new_page
from harness.node_page import open_solution, take
from playwright.sync_api import Browser, Locator, Page, expect

from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot, save_unified

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CLIPPED = "part => part.scrollWidth > part.clientWidth"
NOT_STORED = "AhTd6s"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("phones")
    solver = SpotSolver(spot(TURN), threads=2)
    solver.train_batch(60)
    save_spot(solver, root / "turn", name="small turn")
    save_unified(classes(), root / "game", config=CONFIG, name="small game")
    return root


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def server(folder: Path, chromium: Browser) -> Iterator[Server]:
    del chromium  # first: without a browser there is nothing to serve
    with explorer(folder / "solves", folder) as running:
        yield running


def edges(part: Locator) -> tuple[float, float]:
    """The upper and the lower edge of a part of the page."""
    box = part.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"]


def test_a_tapped_hand_opens_right_below_the_grid(chromium: Browser, server: Server) -> None:
    with new_page(chromium, server, **PHONE) as page:
        open_solution(page, "small turn")
        page.locator('[data-hand="AQs"]').tap()
        panel = page.get_by_label("Hand", exact=True)
        expect(panel.locator("td.action").first).to_be_visible()
        keep_picture(page, "tapped_hand")
        grid = page.get_by_role("grid")
        assert edges(grid)[1] <= edges(panel)[0]
        assert edges(panel)[1] <= edges(page.get_by_label("Actions", exact=True))[0]
        expect(panel.locator("td.action").first).to_be_in_viewport()  # without scrolling
        assert not panel.evaluate(CLIPPED)
        panel.get_by_role("button", name="AQs held").tap()
        expect(page.get_by_text("Tap a hand to see its combos.")).to_be_visible()
        by_category = page.get_by_role("table", name="OOP by category")
        assert edges(by_category)[0] > edges(page.get_by_label("Actions", exact=True))[1]


def test_a_table_of_flops_shows_frequencies_first(chromium: Browser, server: Server) -> None:
    with new_page(chromium, server, **PHONE) as page:
        open_solution(page, "small game")
        take(page, "Limp")
        take(page, "Check")
        page.get_by_role("button", name="Flops", exact=True).tap()
        check = page.get_by_role("columnheader", name="Sort by Check")
        expect(check).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("columnheader", name="Sort by Suits")).to_have_count(0)


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    with new_page(chromium, server, viewport={"width": 1440, "height": 900}) as fresh:
        yield fresh


def test_the_game_is_named_in_full_beside_its_quality(page: Page) -> None:
    open_solution(page, "small game")
    title = page.locator(".bar .title")
    expect(title).to_have_text(re.compile("bb deep, 3 flops, classes"))
    assert not title.evaluate(CLIPPED)


def test_categories_have_as_many_digits_as_the_range(page: Page) -> None:
    open_solution(page, "small turn")
    categories = page.get_by_role("table", name="OOP by category").locator("tbody tr")
    for text in categories.locator("td:last-child").all_inner_texts():
        assert re.fullmatch(r"−?\d+\.\d", text)  # a pot of 100 chips


def test_a_flop_that_is_not_stored_names_near_ones_once(page: Page) -> None:
    open_solution(page, "small game")
    take(page, "Limp")
    take(page, "Check")
    page.goto(f"{page.url} | {NOT_STORED}")
    note = page.get_by_role("status").filter(has_text="is not among the 3 of this solution")
    expect(note).to_be_visible()
    links = note.get_by_role("link")
    expect(links).to_have_count(3)
    said = note.inner_text()
    assert [said.count(name) for name in links.all_inner_texts()] == [1, 1, 1]
    # It can be solved: how long that takes is known.
    expect(page.get_by_label("This flop with real combos")).to_contain_text(" in all, a draft")


def test_a_solution_that_is_gone_leads_to_the_list(page: Page) -> None:
    page.goto("/solution/ffffffffffff")
    expect(page.get_by_role("alert")).to_contain_text("there is no such solution")
    page.get_by_role("link", name="all solutions").click()
    expect(page.get_by_role("link", name="small turn")).to_be_visible()


def test_a_file_of_hud_numbers_says_what_it_leaves_out(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "villain.csv"
    file.write_text("number,frequency\nFold to c-bet,60%\n3bet,<=9%\nwtsd,30%\n")
    open_solution(page, "small game")
    page.get_by_role("button", name="HUD…").click()
    dialog = page.get_by_role("dialog", name="An opponent with these numbers")
    expect(dialog.get_by_label("fold to a c-bet")).to_be_visible()
    dialog.get_by_label("From a CSV file").set_input_files(file)
    expect(dialog.get_by_role("status")).to_have_text(
        "1 number was read; not used here: 3bet,<=9%; wtsd,30%."
    )
    expect(dialog.get_by_label("fold to a c-bet")).to_have_value("60")

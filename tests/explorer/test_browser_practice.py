"""The practice page in a real browser, played with the keyboard alone; and the page of reviews."""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from builders.practice_answers import answer
from builders.whole_solution import save_classes
from harness.browsing import Server, browser, explorer, keep_picture, new_page
from playwright.sync_api import Browser, Page, Route, expect
from study.test_review_job import FOLDED
from study.test_review_job import hand as played

from allstreets.study import Results, Wanted, chosen, default_file, export_text, review_hands
from allstreets.study.anki import MISSING


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = os.environ["ALLSTREETS_PRACTICE"]
    path = tmp_path_factory.mktemp("results") / "practice.sqlite"
    os.environ["ALLSTREETS_PRACTICE"] = str(path)
    yield path
    os.environ["ALLSTREETS_PRACTICE"] = before


@pytest.fixture(scope="module")
def server(
    file: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    del chromium  # first: without a browser there is nothing to serve
    assert default_file() == file
    root = tmp_path_factory.mktemp("practice")
    save_classes(root / "game", name="small game")
    (root / "hands.txt").write_text(
        "".join(
            played(number, cards, FOLDED).replace("($3 in", "($20 in")
            for number, cards in enumerate(["As Ad", "9s 2d", "Kd Kc"], start=1)
        )
    )
    review_hands(root / "hands.txt", root / "game", output=root / "mine", threads=1)
    with explorer(root / "solves", root) as running:
        yield running


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    with new_page(chromium, server) as fresh:
        yield fresh


def tab_to(page: Page, name: str) -> None:
    """Move the focus, as Tab does, until it is on a control of that name."""
    named = re.compile(f"^\\s*{name}")
    expect(page.get_by_label(named).or_(page.get_by_text(named)).first).to_be_visible()
    for _ in range(80):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "() => document.activeElement.ariaLabel"
            " ?? document.activeElement.labels?.[0]?.innerText"
            " ?? document.activeElement.innerText ?? ''"
        )
        if re.match(name, str(focused).strip()):
            return
    raise AssertionError(f"Tab never comes to {name}")


def test_a_session_with_the_keyboard(page: Page, file: Path) -> None:
    page.goto("/")
    tab_to(page, "Practice")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.get_by_text("does not see turn and river cards")).to_be_visible()
    tab_to(page, "Seed")
    page.keyboard.type("3")
    tab_to(page, "Play")
    page.keyboard.press("Enter")
    play = page.get_by_test_id("play")
    heading = page.get_by_role("heading", level=1)
    made = 0
    for hand in (1, 2):
        expect(heading).to_have_text(f"Hand {hand}")
        while True:
            expect(
                play.get_by_role("button", name="check").or_(play.get_by_text("call")).first
            ).to_be_visible()
            page.keyboard.press("2")
            made += 1
            expect(page.get_by_role("grid")).to_be_visible()
            answer = Results(file).answers()[-1].answer
            assert len(Results(file).answers()) == made
            expect(play.get_by_label("Your cards:")).to_have_attribute(
                "aria-label", f"Your cards: {answer.cards}"
            )
            held = page.locator("[role=gridcell].held")
            expect(held).to_have_count(1)
            if answer.missed:
                assert answer.loss_bb is not None
                expect(play).to_contain_text(f"{answer.loss_bb:.3f} bb lost. Best: ")
            else:
                expect(play).to_contain_text("Right")
            rows = play.locator("tbody tr")
            expect(rows).to_have_count(len(answer.options))
            over = play.get_by_role("button", name=re.compile("Next hand|Continue"))
            expect(over).to_be_visible()
            ended = "Next hand" in (over.text_content() or "")
            if made == 1:
                keep_picture(page, "practice")
            if ended:
                assert "drew 0." in (play.text_content() or "")
                keep_picture(page, "practice-end")
            page.keyboard.press("Enter")
            if ended:
                break
            expect(page.get_by_role("grid")).to_be_hidden()
    expect(heading).to_have_text("Hand 3")
    page.keyboard.press("q")
    expect(heading).to_have_text("small game: session")
    expect(page.get_by_text("Per 100 decisions").first).to_be_visible()
    results = page.get_by_role("region", name="Results so far")
    expect(results).to_contain_text("So far: 2 hands")
    expect(results.locator("canvas")).to_have_count(2)
    keep_picture(page, "practice-summary")
    exported_with_the_keyboard(page, file)
    tab_to(page, "Delete results")
    page.keyboard.press("Enter")
    hands, waiting = Results(file).counts()
    expect(results).to_contain_text(
        f"Delete all results: {hands} hands on 2 solutions, with {waiting} decisions to come back?"
    )
    expect(page.get_by_role("button", name="No", exact=True)).to_be_focused()
    page.keyboard.press("Enter")  # after all
    expect(results.get_by_text("Delete all results")).to_be_hidden()
    assert Results(file).counts() == (hands, waiting)
    tab_to(page, "Delete results")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="No", exact=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Yes, delete")).to_be_focused()
    page.keyboard.press("Enter")
    expect(results).to_be_hidden()
    assert Results(file).answers() == []


def saved(page: Page, press: Callable[[], None]) -> tuple[str, bytes]:
    """The name of the file that a browser saves, and what is in it."""
    with page.expect_download() as found:
        press()
    return found.value.suggested_filename, found.value.path().read_bytes()


def exported_with_the_keyboard(page: Page, file: Path) -> None:
    """Results as tables and as cards, of one solution and of all; some decisions are added."""
    for board in ("Qs7h4d", "Ah7h4h"):
        given = answer(board=board, line=f"r2.5 c | {board}", folder="/games/other")
        Results(file).keep(given, 10.0)
    page.reload()
    results = page.get_by_role("region", name="Results so far")
    expect(results).to_contain_text("So far: 4 hands")
    tab_to(page, "Results of")
    page.keyboard.press("g")
    expect(results).to_contain_text("So far: 2 hands")
    other = Results(file).answers(Path("/games/other"))
    for form in ("CSV", "JSON"):
        tab_to(page, f"Export {form}")
        name, content = saved(page, lambda: page.keyboard.press("Enter"))
        assert name == f"practice.{form.lower()}"
        assert content.decode() == export_text(other, form.lower())
    tab_to(page, "Export for Anki")
    page.keyboard.press("Enter")
    cards = page.get_by_role("form", name="Cards for Anki")
    expect(cards).to_contain_text("2 decisions were missed.")
    tab_to(page, "monotone")
    page.keyboard.press("Space")
    tab_to(page, "Save the cards")
    name, content = saved(page, lambda: page.keyboard.press("Enter"))
    assert (name, len(notes(content))) == ("missed.apkg", 1)
    assert "Ah7h4h" in notes(content)[0]
    expect(cards).to_contain_text("Saved missed.apkg: open it in Anki.")
    keep_picture(page, "practice-anki")
    cards.get_by_label("monotone").uncheck()
    results.get_by_label("Results of").select_option("")
    missed = chosen(Results(file).answers(), Wanted())
    expect(cards).to_contain_text(f"{len(missed)} decisions were missed.")
    save = cards.get_by_role("button", name="Save the cards")
    _, content = saved(page, save.click)
    assert len(notes(content)) == len(missed)
    # With what fits nothing, and where the extra is not installed, a line says so.
    cards.get_by_label("preflop", exact=True).check()
    cards.get_by_label("monotone").check()
    save.click()
    expect(cards).to_contain_text("there is nothing to write")

    def without_genanki(route: Route) -> None:
        told = route.fetch().json()
        told["cards"]["problem"] = MISSING
        route.fulfill(json=told)

    page.route("**/api/practice/results*", without_genanki)
    page.reload()
    results.get_by_role("button", name="Export for Anki").click()
    expect(cards).to_contain_text("genanki, which is not installed")
    expect(cards).to_contain_text("pip install 'allstreets[anki]'")
    expect(save).to_have_count(0)
    keep_picture(page, "practice-no-anki")
    page.unroute("**/api/practice/results*")
    page.reload()


def notes(package: bytes) -> list[str]:
    """The cards of a file for Anki."""
    with ZipFile(BytesIO(package)) as packed, TemporaryDirectory() as folder:
        packed.extract("collection.anki2", folder)
        with closing(sqlite3.connect(Path(folder) / "collection.anki2")) as db:
            return [str(text) for (text,) in db.execute("select flds from notes")]


def test_a_review_is_read_and_its_hands_replayed(page: Page) -> None:
    """From a solution to its practice, to the reviews, to a hand and the next, by keys."""
    page.goto("/")
    page.get_by_role("link", name="small game").click()
    page.get_by_role("link", name="Practise").click()
    expect(page.get_by_label("Solution")).to_contain_text("small game")
    page.get_by_role("link", name="Reviews").click()
    page.get_by_role("link", name="mine").click()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(1 + 3)
    expect(rows.nth(1)).to_contain_text("first to act")
    keep_picture(page, "review")
    page.get_by_label("At least").fill("0.5")
    expect(rows).to_have_count(1 + 2)  # the nine and the deuce are folded for nothing
    rows.nth(1).click()
    replay = page.get_by_test_id("replay")
    expect(replay).to_contain_text("bb lost")
    expect(replay).to_contain_text("the solution before the flop")
    held = page.locator("[role=gridcell].held")
    expect(held).to_have_attribute("data-hand", "AA")
    keep_picture(page, "review-hand")
    page.keyboard.press("ArrowRight")
    expect(replay).to_contain_text("were lost by decisions")
    page.keyboard.press("ArrowDown")
    expect(held).to_have_attribute("data-hand", "KK")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("2 of 2")).to_be_visible()  # nothing follows
    page.keyboard.press("Escape")
    expect(rows).to_have_count(1 + 2)  # the filter stays

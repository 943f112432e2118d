"""The explorer's page in a real browser: filling the form, solving, and what survives.

A dozen journeys are always made; the others are long: each takes seconds of a browser.
"""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.small_games import solve_limped
from builders.small_spots import RIVER, spot
from builders.whole_solution import trips
from harness.browsing import Server, browser, explorer, keep_picture, new_page
from playwright.sync_api import Browser, Page, expect

from allstreets.cards import HAND_NAMES
from allstreets.explorer.folders import id_of
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, load_unified, save_spot, save_unified


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the server of most tests shows, with the solves."""
    return tmp_path_factory.mktemp("shown")


@pytest.fixture(scope="module")
def server(folder: Path, chromium: Browser) -> Iterator[Server]:
    del chromium  # first: without a browser there is nothing to serve
    with explorer(folder / "solves", folder) as running:
        yield running


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    with new_page(chromium, server) as fresh:
        yield fresh


@pytest.fixture
def page_alone(chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """A page whose server has solved nothing yet."""
    with explorer(tmp_path / "solves") as server, new_page(chromium, server) as fresh:
        yield fresh


def fill_long_solve(page: Page) -> None:
    """A turn that runs for a while: its target is out of reach."""
    page.goto("/solve")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
    page.get_by_label("as text", exact=True).fill("Ks7d4c9h")
    page.get_by_label("Range of OOP as text").fill("99+,AQs+,KTs+,QJs,87s")
    page.get_by_label("Range of IP as text").fill("88+,AJs+,KQ,QTs+,T8s")
    page.get_by_label("Target").fill("0.00001")
    page.get_by_label("Target").press("Tab")


def start(page: Page, button: str = "Solve") -> str:
    """Returns the name of the solve."""
    expect(page.get_by_role("button", name=button, exact=True)).to_be_enabled()
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(re.compile("/solve/.+"))
    return page.url.rpartition("/")[2]


def state(page: Page, word: str) -> None:
    """Until the solve is in a state."""
    expect(page.locator("header .state")).to_have_text(re.compile(word))


def iteration(page: Page) -> int:
    text = page.get_by_label("Progress").inner_text()
    found = re.search(r"[Ii]terations?\s+([\d,]+)", text)
    assert found is not None, text
    return int(found[1].replace(",", ""))


def test_a_newcomer_sees_a_solution(page: Page, folder: Path) -> None:
    page.goto("/solve")
    expect(page.get_by_label("OOP range").first).to_be_visible()
    keep_picture(page, "form")
    name = start(page)
    state(page, "solved")
    keep_picture(page, "solved")
    page.get_by_role("link", name="Open the result").click()
    expect(page.locator(".tiles")).to_be_visible()
    shown = [
        float(text.removesuffix("%")) for text in page.locator(".tiles .often").all_inner_texts()
    ]
    node = load_spot(folder / "solves" / name / "solution").at("").decision
    assert shown == pytest.approx([100 * one for one in node.taken], abs=0.051)
    page.goto("/solve")
    expect(page.get_by_label("Solves", exact=True).get_by_role("link").first).to_be_visible()


@pytest.mark.long
def test_a_whole_game_is_trained(page: Page, folder: Path) -> None:
    page.goto("/train")
    train = page.get_by_role("button", name="Train", exact=True)
    quality = page.get_by_label("Quality")
    expect(quality.get_by_text(re.compile("a perfect opponent wins about"))).to_have_count(3)
    expect(train).to_be_enabled()
    page.get_by_label("Stack", exact=True).fill("0")
    expect(page.get_by_text("must be above 0, not 0")).to_be_visible()
    expect(train).to_be_disabled()
    page.get_by_label("Stack", exact=True).fill("15")
    page.get_by_label("Antes").select_option("bb")
    quality.get_by_text("Quick").click()
    expect(train).to_be_enabled()
    expect(page.get_by_label("What it takes")).to_contain_text(
        "15 bb, flops subset_15, cards boards"
    )
    keep_picture(page, "train")
    page.get_by_role("button", name="Training file").click()
    text = page.get_by_label(re.compile("^Training file, as"))
    expect(text).to_have_value(re.compile("bb_ante: 1\n.*quality: quick", re.DOTALL))
    expect(train).to_be_enabled()
    tiny = "solver:\n  type: unified_cfr\n  cards: classes\n  stack_depth: 3\n"
    tiny += "  flops: spread_1\n  epochs: 20\n"
    text.fill(tiny + "  stak: 3\n")
    expect(page.get_by_text("line 7: solver.stak")).to_be_visible()
    expect(train).to_be_disabled()
    text.fill(tiny)
    name = start(page, "Train")
    state(page, "solved")
    expect(page.get_by_label("Progress")).to_contain_text("mbb/hand")
    keep_picture(page, "trained")
    page.get_by_role("link", name="Open the result").click()
    expect(page.locator(".tiles")).to_be_visible()
    assert load_unified(folder / "solves" / name / "solution").facts.iterations == 20


@pytest.mark.long
def test_a_flop_of_a_whole_game(page: Page, folder: Path) -> None:
    game = folder / "trips"
    save_unified(trips(), game, config={}, name="trips")
    page.goto(f"/solution/{id_of(game)}?line=c x | 7c7d7h | x")
    page.get_by_role("button", name="Solve this flop exactly").click()
    flop = page.get_by_label("This flop with real combos")
    expect(flop).to_contain_text("Solved exactly, to 0.")

    # The game shows it without being asked: combo by combo, the strip from the first action on.
    flop.get_by_text("Ranges and pot from 'trips', c x").click()
    expect(flop).to_contain_text("of the range act differently")
    keep_picture(page, "flop_solved_exactly")
    page.locator('[data-hand="AKs"]').click()
    expect(page.get_by_label("Hand", exact=True).get_by_role("row")).to_have_count(1 + 4)
    page.get_by_role("button", name="AKs held").click()
    over = page.get_by_label("Where EVs start to count")
    big_blind = page.get_by_role("row").filter(has_text=re.compile("^BB"))
    here = float(big_blind.locator("td").nth(3).inner_text().replace("−", "-"))
    over.select_option("hand")
    page.wait_for_url(re.compile("evs=hand"))
    expect(page.get_by_text("EV: bb over the whole hand")).to_be_visible()
    whole = float(big_blind.locator("td").nth(3).inner_text().replace("−", "-"))
    assert here - whole == pytest.approx(1, abs=0.011)
    page.locator(".tiles .take", has_text="Check").click()
    page.get_by_role("button", name="2c", exact=True).click()
    expect(page.get_by_role("button", name="turn 2c")).to_be_visible()
    expect(page.locator(".tiles")).to_be_visible()
    assert "evs=hand" in page.url
    expect(over).to_have_value("hand")
    over.select_option("here")
    expect(page.get_by_text("EV: bb from here on")).to_be_visible()
    page.get_by_role("button", name="Cards", exact=True).click()
    expect(page.get_by_text("Cards of the turn")).to_be_visible()
    page.get_by_role("button", name="Strategy", exact=True).click()
    keep_picture(page, "turn_of_a_flop_solved_exactly")

    # The spot has a page of its own as well.
    own = page.get_by_role("link", name="Open as a spot")
    expect(own).to_have_attribute("href", re.compile("2c"))  # it follows the place
    own.click()
    origin = page.get_by_label("Where this comes from")
    expect(origin).to_contain_text("Ranges and pot from 'trips', c x")
    expect(page.get_by_role("button", name="turn 2c")).to_be_visible()  # the same node
    keep_picture(page, "flop_with_real_combos")
    origin.get_by_role("link").click()
    expect(page.get_by_role("link", name="Open as a spot")).to_be_visible()
    assert load_spot(game / "spots" / "c-x-7h7d7c").origin is not None


@pytest.mark.long
def test_what_it_costs_always_to_bet(page: Page, folder: Path) -> None:
    """A lock, solved again, and the difference: one button."""
    river = folder / "river"
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(50)
    save_spot(solver, river, name="river")
    page.goto(f"/solution/{id_of(river)}?line=x")
    page.get_by_role("button", name="Lock here").click()
    page.get_by_label("Observed", exact=True).check()
    page.get_by_label("Observed frequencies").fill("node,action,frequency\nx,bet,1.3")
    page.get_by_role("button", name="Solve again").click()
    expect(page.get_by_role("alert")).to_contain_text("line 2: ")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Always bet 50 (50 %)").click()
    changes = page.get_by_label("What the lock changes")
    expect(changes).to_contain_text("OOP gains")
    expect(changes).to_contain_text("→ 100.0 %")
    keep_picture(page, "locked")
    page.get_by_role("link", name="← river").click()
    expect(page).to_have_url(re.compile(f"{id_of(river)}.*line=x"))


@pytest.mark.long
def test_what_if_on_every_flop(page: Page, folder: Path) -> None:
    """The same in a whole game: by hand before the flop, for all hands after it."""
    (folder / "limped").mkdir()
    game = solve_limped(folder / "limped", ["KsKhKd", "9s7s2s"])
    page.goto(f"/solution/{id_of(game)}")
    page.get_by_role("button", name="Lock here").click()
    expect(page.get_by_label("Some hands")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.goto(f"/solution/{id_of(game)}?line=c+x+%7C+9s7s2s+%7C+x")
    page.get_by_role("button", name="Lock here").click()
    expect(page.get_by_text("It applies on every flop")).to_be_visible()
    expect(page.get_by_label("Some hands")).to_have_count(0)
    keep_picture(page, "lock-game")
    page.get_by_role("dialog").get_by_role("combobox").select_option("x")
    page.get_by_label("% of the range").fill("40")
    page.get_by_role("button", name="Solve again").click()
    changes = page.get_by_label("What the lock changes")
    expect(changes).to_contain_text("mbb/hand")
    expect(page.get_by_role("note").filter(has_text="locked")).to_be_visible()
    keep_picture(page, "locked-game")
    page.get_by_role("link", name="← small").click()
    expect(page).to_have_url(re.compile(f"{id_of(game)}.*9s7s2s"))


def test_reload_pause_and_stop(page_alone: Page) -> None:
    page = page_alone
    fill_long_solve(page)
    start(page)
    state(page, "solving")
    page.reload()
    state(page, "solving")
    page.get_by_role("button", name="Pause").click()
    state(page, "paused")
    held = iteration(page)
    assert held > 0
    page.reload()
    state(page, "paused")
    assert iteration(page) == held
    page.get_by_role("button", name="Resume").click()
    state(page, "solving")
    expect(page.get_by_role("link", name="Open the result")).to_be_visible()
    page.get_by_role("link", name="Open the result").click()
    expect(page.locator(".tiles")).to_be_visible()
    keep_picture(page, "result_while_solving")
    page.go_back()
    state(page, "solving")
    address = page.url
    fill_long_solve(page)
    expect(page.get_by_text("It waits behind")).to_be_visible()
    start(page)
    state(page, "in line")
    expect(page.get_by_text("Next: it starts")).to_be_visible()
    page.goto("/solve")
    expect(page.get_by_label("Solves", exact=True).get_by_text("1 in line")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Cancel")).click()
    past = page.get_by_label("Solves", exact=True)
    expect(past.get_by_text("stopped")).to_be_visible()
    past.get_by_role("button", name=re.compile("^Delete ")).and_(
        page.locator("button:not([disabled])")
    ).click()
    past.get_by_role("button", name="Delete", exact=True).click()
    expect(past.get_by_text("stopped")).to_have_count(0)
    past.get_by_role("button", name="Undo").click()
    expect(past.get_by_text("stopped")).to_be_visible()
    page.goto(address)
    page.get_by_role("button", name="Stop").click()
    state(page, "stopped")
    assert iteration(page) > held


@pytest.mark.long
def test_a_server_that_is_killed_loses_nothing(chromium: Browser, tmp_path: Path) -> None:
    solves = tmp_path / "solves"
    with explorer(solves) as server, new_page(chromium, server) as page:
        fill_long_solve(page)
        start(page)
        expect(page.get_by_role("link", name="Open the result")).to_be_visible()
        port = int(server.url.rsplit(":", 1)[1])
        server.stop(signal.SIGKILL)
        expect(page.get_by_role("alert")).to_be_visible()
        with explorer(solves, port=port):
            state(page, "cut off")
            before = iteration(page)
            assert before > 0
            page.get_by_role("button", name="Continue").click()
            state(page, "solving")
            page.get_by_role("button", name="Stop").click()
            state(page, "stopped")
            assert iteration(page) >= before


@pytest.mark.long
def test_ranges_are_painted_and_typed(page: Page) -> None:
    page.goto("/solve")
    editor = page.get_by_label("OOP range").first
    text = page.get_by_label("Range of OOP as text")
    editor.get_by_role("button", name="Clear").click()
    expect(text).to_have_value("")
    for hand in ("AA", "AKs"):
        editor.locator(f'[data-hand="{hand}"]').click()
    expect(text).to_have_value("AA,AKs")
    text.fill("QQ,76s:0.5")
    expect(editor.locator('[data-hand="76s"]')).to_have_attribute("aria-label", re.compile("50"))
    expect(editor.locator('[data-hand="AA"]')).to_have_attribute("aria-label", re.compile(r"\b0"))
    text.fill("QQ,nonsense")
    expect(page.get_by_text(re.compile("nonsense")).first).to_be_visible()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()
    assert editor.locator("[data-hand]").count() == len(HAND_NAMES)


def memory_with(page: Page, groups: str) -> int:
    """The estimate for a spot after choosing how rivers are stored."""
    sent = f'"river_groups":"{groups}"'
    with page.expect_response(lambda one: sent in (one.request.post_data or "")) as told:
        page.get_by_label("River strategies").select_option(groups)
    needed: int = told.value.json()["memory_bytes"]
    return needed


@pytest.mark.long
def test_rivers_may_share_strategies(page: Page) -> None:
    page.goto("/solve")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
    page.get_by_text("Big blind, raises, rake").click()
    assert memory_with(page, "suits") < memory_with(page, "none")

"""The explorer's page in a real browser: opening solutions, walking, reading numbers.

A dozen journeys are always made; the others are long: each takes seconds of a browser.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from builders.small_spots import RIVER, TURN, spot
from builders.whole_solution import CONFIG, FLOP, classes, result
from harness.browsing import (
    Server,
    browser,
    clock_stopped,
    explorer,
    keep_picture,
    new_page,
)
from harness.node_page import arrive, line_of, numbers, open_solution, take, wait_for
from playwright.sync_api import Browser, Locator, Page, expect

from allstreets.cards import HAND_NAMES, HAND_OF_COMBO, Range, combo_text
from allstreets.interop import export_ranges
from allstreets.jobs import simplify
from allstreets.solutions import Decision, PreflopRoots, WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import (
    compare,
    load_spot,
    load_unified,
    save_preflop,
    save_spot,
    save_unified,
)

SCROLLED_SIDEWAYS = """part => {
  const parts = [];
  for (let each = part; each; each = each.parentElement) parts.push(each);
  const scrolls = each => /auto|scroll/.test(getComputedStyle(each).overflowX);
  return parts.filter(each => each.scrollWidth > each.clientWidth && scrolls(each))
    .map(each => each.className);
}"""
CELL_COLOURS = (
    "cell => [cell, ...cell.querySelectorAll('*')].map(each => each.getAttribute('style')).join()"
)
MANY_SIZES = ["20%", "33%", "50%", "75%", "125%", "200%", "a"]
LOCKS = [
    {"line": "", "strategy": {"bet": 1}},
    {"line": "b50%", "hands": {"AA": {"call": 1}}},
]
LONG_NAME = "many sizes, and a name that somebody wrote to remember what it was made for " * 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("looking")
    solver = SpotSolver(spot(TURN), threads=2)
    solver.train_batch(60)
    save_spot(solver, root / "turn", name="small turn")
    rough = SpotSolver(spot(TURN), threads=2)
    rough.train_batch(4)
    save_spot(rough, root / "rough", name="rough turn")
    save_unified(classes(), root / "game", config=CONFIG, name="small game")
    game = result()
    before = WholeSolution(PreflopRoots(game.rules, game.before), None, game.facts)
    save_preflop(before, root / "preflop only", identity={})
    many = SpotSolver(spot(RIVER | {"bets": MANY_SIZES, "stack": 2000}), threads=2)
    many.train_batch(10)
    save_spot(many, root / "many", name=LONG_NAME)
    locked = SpotSolver(spot(RIVER, lock=LOCKS), threads=1)
    locked.train_batch(40)
    save_spot(locked, root / "locked", name="always bets")
    return root


@pytest.fixture(scope="module")
def server(folder: Path, chromium: Browser) -> Iterator[Server]:
    del chromium  # first: without a browser there is nothing to serve
    with explorer(folder / "solves", folder) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    with new_page(chromium, server) as fresh:
        yield fresh


def hold(page: Page, hand: str) -> None:
    """Hold a hand of the grid open, until its combos are there."""
    page.locator(f'[data-hand="{hand}"]').click()
    wait_for(page, hand=hand)
    expect(page.get_by_role("button", name=f"{hand} held")).to_be_visible()
    expect(page.get_by_label("Hand", exact=True).locator("td.action").first).to_be_visible()


def test_from_the_list_to_the_river(page: Page, folder: Path) -> None:
    open_solution(page, "small game")
    keep_picture(page, "preflop")
    take(page, "Limp")
    take(page, "Check")
    assert line_of(page) == "c x"
    deck = page.get_by_role("group", name="flop cards")
    for card in (FLOP[:2], FLOP[2:4], FLOP[4:]):
        expect(deck.get_by_role("button", name=card, exact=True)).not_to_have_class(
            re.compile("dimmed")
        )
        deck.get_by_role("button", name=card, exact=True).click()
    expect(page.locator("[data-choice]").first).to_be_visible()
    keep_picture(page, "flop")
    for _ in range(4):  # both check the flop and the turn
        take(page, "Check")
    exact = page.get_by_label("This flop with real combos")
    expect(exact).to_contain_text("Any card: this game was solved without turn and river cards")
    expect(exact.get_by_role("button", name="Solve this flop exactly")).to_be_visible()
    river = page.get_by_label("river: BB")
    expect(river).to_be_visible()
    node = load_unified(folder / "game").at(line_of(page)).decision
    assert node.street.text == "river"
    shown = [
        float(text.removesuffix("%")) for text in page.locator(".tiles .often").all_inner_texts()
    ]
    assert shown == pytest.approx([100 * one for one in node.taken], abs=0.051)

    page.go_back()
    expect(river).to_have_count(0)
    page.get_by_label("preflop: BB").locator(".head").click()
    wait_for(page, line="c")
    page.get_by_label("preflop: SB").get_by_text("Raise 2.5").click()  # another way from the start
    wait_for(page, line="r2.5")


@pytest.mark.long
def test_what_was_locked_and_what_nobody_does(page: Page) -> None:
    page.goto("/")
    row = page.get_by_role("row").filter(has_text="always bets")
    expect(row.get_by_text("2 locks")).to_be_visible()
    open_solution(page, "always bets")
    expect(page.locator(".bar").get_by_text("2 locks")).to_be_visible()
    expect(page.get_by_role("note")).to_have_text(re.compile("given for all hands"))
    assert (
        page.locator("[data-hand] .lock").count() == page.locator("[data-hand]:not(.empty)").count()
    )
    check, bet = (page.locator(".tiles li").filter(has_text=text) for text in ("Check", "Bet 50%"))
    expect(check).to_contain_text("not reached")
    expect(bet).to_contain_text("range EV")
    keep_picture(page, "locked")
    take(page, "Check")
    expect(page.get_by_role("note")).to_have_text(
        re.compile("^not reached: OOP gets here with nothing")
    )
    expect(page.locator(".grid.grey")).to_be_visible()
    assert "–" in page.get_by_role("row").filter(has_text="OOP").inner_text()
    page.locator('[data-hand="AA"]').hover()
    expect(page.locator('[data-hand="AA"]')).to_have_attribute("title", re.compile("not reached"))
    keep_picture(page, "not_reached")
    page.get_by_label("river: OOP").locator(".head").click()
    wait_for(page, line=None)
    arrive(page)
    take(page, "Bet 50%")
    expect(page.locator("[data-hand] .lock")).to_have_count(1)
    expect(page.locator('[data-hand="AA"] .lock')).to_be_visible()
    expect(page.get_by_role("note")).to_have_text(re.compile("given for 1 of "))
    keep_picture(page, "one_hand_locked")


def test_a_link_opens_the_same_place(page: Page, chromium: Browser, server: Server) -> None:
    open_solution(page, "small turn")
    take(page, "Check")
    hold(page, "AKs")
    shown = page.locator(".tiles").inner_text()
    with new_page(chromium, server) as other:
        other.goto(page.url)
        expect(other.locator(".tiles")).to_have_text(shown, use_inner_text=True)
        expect(other.locator('[data-hand="AKs"]')).to_have_attribute("aria-selected", "true")


def test_a_link_to_a_flop_that_is_not_stored(page: Page) -> None:
    open_solution(page, "small game")
    solution = urlsplit(page.url).path
    page.goto(f"{solution}?line=c+x")
    arrive(page)
    deck = page.get_by_role("group", name="flop cards")
    for card in ("9h", "8h", "2c"):
        deck.get_by_role("button", name=card, exact=True).click()
    wait_for(page, line="c x | 9h8h2c")
    offer = page.get_by_role("button", name="Solve this flop exactly")
    expect(offer).to_be_visible()
    expect(page.get_by_text("is not among the 3 of this solution")).to_be_visible()
    shown = page.locator("main").inner_text()
    page.reload()
    expect(offer).to_be_visible()
    expect(page.locator("main")).to_have_text(shown, use_inner_text=True)


def test_before_a_card_is_dealt_no_cell_has_the_colour_of_an_action(page: Page) -> None:
    open_solution(page, "small game")
    action = page.locator('[data-hand="72o"]').evaluate(CELL_COLOURS)
    assert "--fold" in action
    page.goto(f"{urlsplit(page.url).path}?line=c+x")
    arrive(page)
    for player, hand in (("BB", "AA"), ("SB", "72o")):
        page.get_by_role("group", name="Whose hands").get_by_text(player).click()
        reach = page.locator(f'[data-hand="{hand}"]').evaluate(CELL_COLOURS)
        assert not re.search("--(fold|check|call|bet|raise)", reach)
        assert ("--oop-cell" if player == "BB" else "--ip-cell") in reach


def test_cards_follow_the_decision_and_names_differ(page: Page) -> None:
    open_solution(page, "small turn")
    page.get_by_role("button", name="Cards", exact=True).click()
    page.get_by_role("link", name="check, check").click()
    heading = page.get_by_role("heading", name="Cards of the river")
    for line, seat in (("x x", "OOP"), ("x x | 2d | x", "IP"), ("x x | 2d | x b75", "OOP")):
        page.goto(f"{urlsplit(page.url).path}?line={line.replace(' ', '+')}&tab=cards")
        expect(heading).to_contain_text(f"{seat} acts")
    open_solution(page, "small turn")
    expect(page.get_by_role("button", name="Equity", exact=True)).to_have_count(1)


def test_cells_show_what_python_says(page: Page, folder: Path) -> None:
    open_solution(page, "small turn")
    solution = urlsplit(page.url).path
    for line, name in (("x", "QTs"), ("x b75", "KTs")):
        page.goto(f"{solution}?line={line.replace(' ', '+')}&hand={name}")
        arrive(page)
        assert_rows_of(page, load_spot(folder / "turn").at(line).decision, name)


def assert_rows_of(page: Page, node: Decision, name: str) -> None:
    """The combos of a hand that is held, with the numbers of a decision."""
    hand = HAND_NAMES.index(name)
    rows = page.locator("table tbody tr").filter(has=page.locator("td.action"))
    expect(rows.first).to_be_visible()
    places = [
        place for place, combo in enumerate(node.combos.tolist()) if HAND_OF_COMBO[combo] == hand
    ]
    assert rows.count() == len(places) > 0
    table = {row["combo"]: row for row in node.table()}
    for at in range(rows.count()):
        row = rows.nth(at)
        cards = [card.get_attribute("aria-label") for card in row.get_by_role("img").all()]
        wanted = next(row for combo, row in table.items() if {combo[:2], combo[2:]} == set(cards))
        reach, equity, ev, eqr, *rest = numbers(row.locator("td"))
        assert reach == pytest.approx(wanted["reach"], abs=0.0051)
        assert equity == pytest.approx(wanted["equity"], abs=0.00051)
        assert ev == pytest.approx(wanted["ev"], abs=0.051)
        assert eqr == pytest.approx(wanted["eqr"], abs=0.0051)
        for action, word in enumerate(node.actions):
            assert rest[2 * action] == pytest.approx(wanted[word], abs=0.0051)
            assert rest[2 * action + 1] == pytest.approx(wanted[f"ev_{word}"], abs=0.051)


@pytest.mark.long
def test_modes_and_players(page: Page, folder: Path) -> None:
    open_solution(page, "small turn")
    node = load_spot(folder / "turn").at("").decision
    hand = HAND_NAMES.index("KTs")
    cell = page.locator('[data-hand="KTs"] .text')
    modes = page.get_by_role("group", name="What the grid shows")
    modes.get_by_text("EV", exact=True).click()
    expect(cell).to_have_text(re.compile(r"\d"))
    evs = node.cells(node.evs())
    assert numbers(cell)[0] == pytest.approx(evs[hand], abs=0.51)
    modes.get_by_text("Equity", exact=True).click()
    wait_for(page, mode="equity")
    equities = node.cells(node.equity())
    assert numbers(cell)[0] == pytest.approx(100 * equities[hand], abs=0.51)
    keep_picture(page, "equity_of_hands")
    modes.get_by_text("EV", exact=True).click()
    page.get_by_label("Whose EV").select_option("b75")
    wait_for(page, mode="ev", action="b75")
    bets = node.cells(node.action_evs[node.actions.index("b75")])
    assert numbers(cell)[0] == pytest.approx(bets[hand], abs=0.51)
    modes.get_by_text("Loss", exact=True).click()
    wait_for(page, mode="loss", action="b75")
    best = node.cells(node.action_evs.max(axis=0))
    assert numbers(cell)[0] == pytest.approx(best[hand] - bets[hand], abs=0.51)
    modes.get_by_text("Strategy", exact=True).click()
    page.get_by_role("group", name="Whose hands").get_by_text("IP").click()
    wait_for(page, player="ip")
    for mode in ("EQR", "Reach"):
        modes.get_by_text(mode, exact=True).click()
        expect(page.locator('[data-hand="KQs"] .text')).to_have_text(re.compile(r"\d"))


def compare_with(page: Page, name: str) -> Locator:
    """Lay another solution beside this one; returns the bar above the place."""
    page.get_by_role("button", name="Compare with…").click()
    menu = page.get_by_role("dialog", name="Compare with")
    menu.get_by_role("button", name=re.compile(f"^{name}")).click()
    expect(menu).to_be_hidden()
    page.wait_for_url(re.compile("compare="))
    return page.get_by_role("region", name="Beside another solution")


def test_two_solutions_side_by_side(
    page: Page, folder: Path, chromium: Browser, server: Server
) -> None:
    open_solution(page, "small turn")
    page.get_by_role("button", name="Compare with…").click()
    menu = page.get_by_role("dialog", name="Compare with")
    expect(menu.get_by_text("2 of other games")).to_be_visible()  # rivers; whole games are left out
    menu.get_by_text("2 of other games").click()
    expect(
        menu.get_by_text(re.compile("always bets: another game: board Ks7d4c9h2s"))
    ).to_be_visible()
    keep_picture(page, "compare_menu")
    menu.get_by_role("button", name="Close").click()
    bar = compare_with(page, "rough turn")
    there, here = (load_spot(folder / name) for name in ("rough", "turn"))
    noise = 2 * (there.exploitability + here.exploitability) * there.at("").pot
    expect(bar).to_contain_text(compare(there, here).gain_text(noise))
    take(page, "Check")  # it stays beside from place to place
    found = compare(there, here, "x")
    expect(bar).to_contain_text(found.gain_text(noise))
    expect(bar).to_contain_text(f"acts differently {100 * found.distance:.1f} % of the time")
    for a, b in zip(*found.frequencies, strict=True):
        expect(bar).to_contain_text(f"{100 * a:.1f} % → {100 * b:.1f} %")
    for a, b in found.evs:
        expect(bar).to_contain_text(f"{a:.2f} → {b:.2f}")

    table = page.get_by_role("table", name="Hands beside rough turn")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(len(found.hands))
    first = found.hands[0]
    wanted = [first.share, first.distance, first.weighted]
    assert numbers(rows.first.locator("td"))[:3] == pytest.approx(wanted, abs=0.0051)
    gains = sorted((hand.gain for hand in found.hands), reverse=True)
    table.get_by_role("button", name="Gain").click()
    expect(table.get_by_role("columnheader", name="Gain")).to_have_attribute(
        "aria-sort", "descending"
    )
    shown = numbers(table.locator("tbody tr td:last-child"))
    assert shown == pytest.approx(gains, abs=0.051)

    page.get_by_role("group", name="What the grid shows").get_by_text("Diff").click()
    wait_for(page, mode="difference", line="x")
    cell = page.locator('[data-hand="T8s"]')
    hand = HAND_NAMES.index("T8s")
    expect(cell.locator(".text")).to_have_text(f"{100 * found.cells()[hand]:.0f}")
    mixes = [
        one.at("x").decision.cells(one.at("x").decision.strategy[0])[hand] for one in (here, there)
    ]
    for mix in mixes:  # as both grids show it
        expect(cell).to_have_attribute("title", re.compile(f"check {100 * mix:.0f} %"))
    keep_picture(page, "difference")
    cell.click()
    own = [one for one in found.hands if one.hand == hand]
    expect(rows).to_have_count(len(own))
    keep_picture(page, "difference_of_a_hand")
    with new_page(chromium, server) as other:
        other.goto(page.url)
        expect(other.get_by_role("region", name="Beside another solution")).to_contain_text(
            found.gain_text(noise)
        )
        expect(other.locator('[data-hand="T8s"] .text')).to_have_text(
            cell.locator(".text").inner_text()
        )
    page.keyboard.press("Escape")
    page.keyboard.press("m")  # the modes go round
    wait_for(page, mode=None, hand=None)
    page.get_by_role("link", name="⇄ rough turn").click()  # the same from the other side
    expect(page.get_by_role("heading", level=1)).to_have_text("rough turn")
    expect(bar).to_contain_text(compare(here, there, "x").gain_text(noise))
    assert line_of(page) == "x"
    page.get_by_role("button", name="End comparing").click()
    wait_for(page, compare=None, line="x")
    expect(bar).to_have_count(0)
    expect(page.get_by_role("button", name="Diff")).to_have_count(0)


@pytest.mark.long
def test_a_whole_game_beside_its_preflop_play(page: Page) -> None:
    open_solution(page, "small game")
    bar = compare_with(page, "preflop only")
    take(page, "Limp")
    expect(bar).to_contain_text("EVs are the same.")
    expect(bar).to_contain_text("acts differently 0.0 % of the time")
    take(page, "Check")
    expect(bar).not_to_contain_text("acts differently")  # nobody acts: EVs alone
    expect(bar).to_contain_text("EVs are the same.")
    page.get_by_title(FLOP).click()
    expect(bar).to_contain_text("'preflop only' does not have this place")
    page.keyboard.press("ArrowLeft")
    expect(bar).to_contain_text("EVs are the same.")


def test_the_library_is_on_top(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    card = page.get_by_role("listitem").filter(
        has=page.get_by_role("heading", name="Push or fold", exact=True)
    )
    expect(card).to_contain_text("Exact: a perfect opponent wins less than 0.0001 bb in 100 hands")
    card.get_by_role("combobox").select_option("9.5 bb")
    card.get_by_role("link", name="Open").click()
    expect(page.get_by_role("heading", name="pf-9.5bb")).to_be_visible()
    expect(page.locator("[data-choice]").first).to_be_visible()


def test_the_keyboard_alone(page: Page) -> None:
    page.goto("/")
    link = page.get_by_role("link", name="small turn")
    expect(link).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("[data-choice]").first).to_be_visible()
    page.keyboard.press("1")
    wait_for(page, line="x")
    arrive(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda _: line_of(page).startswith("x b"))
    after = arrive(page)
    page.keyboard.press("ArrowLeft")
    wait_for(page, line="x")
    arrive(page)
    page.keyboard.press("ArrowRight")
    wait_for(page, line=after)
    arrive(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # quicker than the server
    wait_for(page, line=None)
    arrive(page)
    page.keyboard.press("m")
    wait_for(page, mode="ev")
    page.keyboard.press("2")
    wait_for(page, line="b75")
    page.keyboard.press("Home")
    wait_for(page, line=None)
    arrive(page)
    for key in ("1", "ArrowDown", "ArrowDown", "Enter"):  # three places, before the first is there
        page.keyboard.press(key)
    wait_for(page, line=after)
    arrive(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.long
def test_cards_flops_equity_and_facts(page: Page, folder: Path) -> None:
    open_solution(page, "small turn")
    take(page, "Check")
    take(page, "Check")
    page.get_by_role("button", name="Cards", exact=True).click()
    expect(page.get_by_text(re.compile("^48 ·"))).to_be_visible()
    keep_picture(page, "river_cards")
    open_solution(page, "small turn")
    page.goto(f"{page.url.split('?')[0]}?tab=equity")
    expect(page.locator(".chart canvas")).to_be_visible()
    keep_picture(page, "equity_curves")
    page.goto(f"{page.url.split('?')[0]}?tab=about")
    expect(page.get_by_text("Ks7d4c9h").first).to_be_visible()
    keep_picture(page, "about")
    page.get_by_role("button", name="What does it cost?").click()
    price = simplify(folder / "turn", grid=0.25, threads=1)
    expect(page.get_by_text(re.compile(f"exploitable for {price.after:.3f}"))).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^turn alone"))).to_contain_text(
        f"{price.streets[0].prices[0]:.3f}"
    )
    keep_picture(page, "simple")

    open_solution(page, "small game")
    page.goto(f"{page.url.split('?')[0]}?line=r2.5&tab=about")
    page.get_by_role("button", name="What does it cost?").click()
    page.get_by_role("button", name="Save this simple strategy").click()
    expect(page.locator("h1")).to_have_text("small game, steps of 25 %")
    (saved,) = (each.parent for each in (folder / "solves").glob("*-simple-*/manifest.json"))
    made = load_unified(saved).facts.simplified
    assert made is not None
    bar = page.get_by_role("region", name="Made simple")
    expect(bar).to_contain_text(f"exploitable for {made.after:.3g} mbb/hand in its own game")
    keep_picture(page, "made_simple")
    bar.get_by_role("link", name="small game").click()
    expect(page.locator("h1")).to_have_text("small game")
    page.goto("/")
    expect(page.get_by_role("row", name="small game, steps of 25 %")).to_contain_text("simple:")
    rmtree(saved)  # others look for "small game"

    open_solution(page, "small game")
    page.goto(f"{page.url.split('?')[0]}?line=c+x&tab=flops")
    flops = load_unified(folder / "game").flops
    expect(page.get_by_role("row")).to_have_count(len(flops) + 2)
    page.get_by_placeholder(re.compile("AK7")).fill(FLOP[0] + FLOP[2])
    expect(page.get_by_role("row")).to_have_count(1 + 2)
    keep_picture(page, "flops")


def test_what_does_not_exist_is_said(page: Page) -> None:
    open_solution(page, "small game")
    solution = urlsplit(page.url).path
    page.goto(f"{solution}?line=c+x+|+2c2d2h")
    expect(page.get_by_text(re.compile("not among"))).to_be_visible()
    page.get_by_role("link", name=re.compile(r"♠|[2-9TJQKA]s")).first.or_(
        page.get_by_role("button", name=re.compile(r"[2-9TJQKA]s[2-9TJQKA]"))
    ).first.click()
    expect(page.locator("[data-choice]").first).to_be_visible()
    page.goto("/solution/0000")
    expect(page.get_by_text(re.compile("no such|there is no|no solution"))).to_be_visible()
    page.goto("/nowhere/at-all")
    expect(page.get_by_role("heading", name="404: there is no such page")).to_be_visible()
    expect(page.get_by_text("/nowhere/at-all")).to_be_visible()
    page.get_by_role("link", name="All solutions").click()
    expect(page.get_by_role("heading", name="Solutions")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dark", {"color_scheme": "dark"}),
        ("tablet", {"viewport": {"width": 1024, "height": 768}}),
        ("upright", {"viewport": {"width": 820, "height": 1180}}),
    ],
)
@pytest.mark.long
def test_looks(chromium: Browser, server: Server, name: str, settings: dict[str, Any]) -> None:
    with new_page(chromium, server, **settings) as page:
        open_solution(page, "small turn")
        hold(page, "AKs")
        grid, width = page.get_by_role("grid").bounding_box(), page.viewport_size
        assert grid is not None
        assert width is not None
        assert grid["x"] >= 0
        assert grid["x"] + grid["width"] <= width["width"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        keep_picture(page, name)
        page.get_by_label("colour-blind safe").check()
        expect(page.locator("html")).to_have_attribute("data-palette", "safe")
        keep_picture(page, f"{name}_safe")


@pytest.mark.parametrize("width", [390, 320])
def test_every_page_fits_a_phone(chromium: Browser, server: Server, width: int) -> None:
    def fits(page: Page, name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        header = page.locator("header").first.bounding_box()
        main = page.locator("main").bounding_box()
        assert header is not None
        assert main is not None
        assert main["y"] >= header["y"] + header["height"]  # nothing lies under the header
        keep_picture(page, f"phone_{width}_{name}")

    def whole(part: Locator) -> None:
        """Nothing of it has to be scrolled into view sideways."""
        part.page.mouse.move(0, 0)  # a pointer over the grid would tell of one hand
        expect(part).to_be_visible()
        assert part.evaluate(SCROLLED_SIDEWAYS) == []

    phone = {"width": width, "height": 844}
    with new_page(chromium, server, viewport=phone, has_touch=True) as page:
        page.goto("/")
        row = page.get_by_role("row").filter(has_text="small turn")
        for text in ("spot", "% of pot", "iterations 60", "on disk", "written"):
            expect(row.get_by_role("cell", name=text)).to_be_visible()
        fits(page, "home")
        open_solution(page, LONG_NAME.strip())
        fits(page, "many_actions")
        open_solution(page, "small game")
        strip = page.get_by_role("navigation", name="The way here").bounding_box()
        assert strip is not None
        assert strip["y"] <= 120  # the heads above it
        whole(page.get_by_role("table", name="SB by category"))
        fits(page, "preflop")
        page.get_by_role("button", name="HUD…").click()
        whole(page.get_by_role("dialog").get_by_role("group", name="facing a limp"))
        fits(page, "hud")
        page.keyboard.press("Escape")
        solution = page.url.split("?")[0]
        for name, query in (
            ("deal", "line=c x"),
            ("flop", f"line=c x | {FLOP} | x"),
            ("flops", "line=c x&tab=flops"),
            ("equity", "tab=equity"),
            ("about", "tab=about"),
        ):
            page.goto(f"{solution}?{query}")
            expect(page.get_by_role("heading", level=1)).to_have_text("small game")
            expect(page.locator(".page")).to_have_attribute("aria-busy", "false")
            fits(page, name)
        page.goto(f"{solution}?line=c x&tab=flops&by=hand")
        expect(page.get_by_role("region", name="Hands on all flops")).to_be_visible()
        fits(page, "flops_by_hand")
        open_solution(page, "small turn")
        whole(page.get_by_role("table", name="OOP by category"))
        page.goto(f"{page.url.split('?')[0]}?line=x x&tab=cards")
        expect(page.get_by_role("heading", name="Cards of the river")).to_be_visible()
        fits(page, "cards")
        open_solution(page, "small turn")
        compare_with(page, "rough turn")
        page.goto(f"{page.url}&mode=difference&line=x")
        expect(page.get_by_role("table", name="Hands beside rough turn")).to_be_visible()
        fits(page, "compared")
        page.goto("/solve")
        expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
        fits(page, "solve")
        page.goto("/train")
        expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()
        fits(page, "train")


@pytest.mark.long
def test_copied_range_reads_back(page: Page, folder: Path) -> None:
    open_solution(page, "small turn")
    node = load_spot(folder / "turn").at("").decision
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with clock_stopped(page):
        page.get_by_role("button", name=re.compile("Copy the range that takes: bet")).first.click()
        expect(page.get_by_text(re.compile("copied", re.IGNORECASE))).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    weights = Range.parse(text).weights
    bets = node.actions.index(next(word for word in node.actions if word.startswith("b")))
    for combo, reach, chance in zip(
        node.combos.tolist(), node.reach, node.strategy[bets], strict=True
    ):
        assert weights[combo] == pytest.approx(reach * chance, abs=1e-4), combo_text(combo)


@pytest.mark.parametrize("kind", ["GTO+", "MonkerSolver"])
@pytest.mark.long
def test_the_tree_before_the_flop_is_saved(
    page: Page, folder: Path, tmp_path: Path, kind: str
) -> None:
    """One kind by the mouse, the other by keys: the files that `allstreets export` writes."""
    open_solution(page, "small game")
    button = page.get_by_label("Download every range before the flop as …")
    menu = page.get_by_role("group", name="Download every range before the flop as")
    short = {"GTO+": "gto", "MonkerSolver": "monker"}[kind]
    with clock_stopped(page):
        with page.expect_download() as found:
            if kind == "GTO+":
                button.click()
                keep_picture(page, "tree_kinds")
                menu.get_by_role("button", name=kind).click()
            else:
                button.focus()
                page.keyboard.press("Enter")
                expect(menu).to_be_visible()
                for _ in range(4):
                    page.keyboard.press("Tab")
                expect(menu.get_by_role("button", name=kind)).to_be_focused()
                page.keyboard.press("Enter")
        assert found.value.suggested_filename == f"small-game-{short}.zip"
        expect(page.get_by_text(f"Saved small-game-{short}.zip")).to_be_visible()
    out = tmp_path / "out"
    export_ranges(load_unified(folder / "game"), out, "gto+" if kind == "GTO+" else "monker")
    with ZipFile(found.value.path()) as packed:
        held = {name: packed.read(name) for name in packed.namelist()}
    written = [path for path in out.rglob("*") if path.is_file()]
    assert held == {path.relative_to(out).as_posix(): path.read_bytes() for path in written}
    take(page, "Limp")
    expect(button).to_be_visible()
    open_solution(page, "small turn")  # a spot has no such tree
    expect(page.get_by_label("Copy the range of OOP as …")).to_be_visible()
    expect(button).to_have_count(0)


@pytest.mark.long
def test_the_page_asks_only_for_what_the_document_tells(page: Page) -> None:
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).path))
    open_solution(page, "small turn")
    take(page, "Check")
    document = page.request.get("/api/openapi.json").json()
    known = [re.sub(r"\{\w+\}", "[^/]+", path) for path in document["paths"]]
    for path in asked:
        if path.startswith("/api/"):
            assert any(re.fullmatch(one, path) for one in known), json.dumps(sorted(asked))


@pytest.mark.long
def test_a_deal_shows_both_ranges_beside_the_cards(page: Page) -> None:
    open_solution(page, "small turn")
    solution = urlsplit(page.url).path
    take(page, "Check")
    take(page, "Check")
    expect(page.get_by_text("Pick the river card")).to_be_visible()
    told = page.request.get(
        f"/api{solution.replace('solution', 'solutions')}/place?line=x+x"
    ).json()
    for player, seat in (("oop", "OOP"), ("ip", "IP")):
        summary = told["here"]["grids"][player]["summary"]
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=seat))
        shown = numbers(row.locator("td"))
        assert shown[1] == pytest.approx(summary["combos"], abs=0.051)
        assert shown[2] == pytest.approx(summary["equity"], abs=0.00051)
        assert shown[3] == pytest.approx(summary["ev"], abs=0.051)
    keep_picture(page, "deal")
    page.locator('[data-hand="KTs"]').click()
    expect(page.get_by_label("Hand", exact=True).get_by_role("row")).not_to_have_count(0)
    page.get_by_role("button", name="2d", exact=True).click()
    expect(page.locator("[data-choice]").first).to_be_visible()


@pytest.mark.long
def test_cards_before_a_deal_lead_to_one(page: Page) -> None:
    open_solution(page, "small turn")
    page.get_by_role("button", name="Cards", exact=True).click()
    page.get_by_role("link", name="check, check").click()
    wait_for(page, line="x x", tab="cards")
    expect(page.get_by_text(re.compile("^48 ·"))).to_be_visible()

    open_solution(page, "small game")
    page.get_by_role("button", name="Flops", exact=True).click()
    page.get_by_role("link", name="limp, check").click()
    wait_for(page, line="c x", tab="flops")
    expect(page.get_by_label("Flops").get_by_role("row")).not_to_have_count(0)


@pytest.mark.long
def test_a_fold_shows_who_had_what(page: Page) -> None:
    open_solution(page, "small turn")
    take(page, "Bet 75%")
    take(page, "Fold")
    expect(page.get_by_text("IP folds, OOP wins 175 chips")).to_be_visible()
    page.get_by_role("group", name="Whose hands").get_by_text("IP").click()
    expect(page.get_by_role("grid")).to_be_visible()
    keep_picture(page, "fold")


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (820, 1180)])
@pytest.mark.long
def test_many_actions_and_long_names_fit(
    chromium: Browser, server: Server, size: tuple[int, int]
) -> None:
    with new_page(chromium, server, viewport={"width": size[0], "height": size[1]}) as page:
        open_solution(page, LONG_NAME.strip())
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        choices = page.locator("[data-choice]")
        expect(choices).to_have_count(len(MANY_SIZES) + 1)
        column = page.get_by_label("river: OOP").bounding_box()
        assert column is not None
        for choice in choices.all():
            box = choice.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= column["y"] + column["height"] + 1
            assert box["x"] + box["width"] <= column["x"] + column["width"] + 1
        about = page.get_by_role("button", name="About", exact=True).bounding_box()
        assert about is not None
        assert about["x"] + about["width"] <= size[0]
        keep_picture(page, f"many_actions_{size[0]}")


@pytest.mark.long
def test_a_server_that_comes_back_is_found(chromium: Browser, folder: Path) -> None:
    with explorer(folder / "solves", folder / "turn") as first, new_page(chromium, first) as page:
        open_solution(page, "small turn")
        page.wait_for_load_state("networkidle")  # the page has looked one action ahead
        first.stop()
        page.locator("[data-choice]").first.click()
        expect(page.get_by_label("turn: IP")).to_be_visible()
        page.locator("[data-choice]").last.click()
        expect(page.get_by_text(re.compile("does not answer"))).to_be_visible()
        port = int(first.url.rpartition(":")[2])
        with explorer(folder / "solves", folder / "turn", port=port):
            expect(page.get_by_text(re.compile("does not answer"))).to_have_count(0)
            expect(page.get_by_label("turn: OOP")).to_have_count(2)


@pytest.mark.long
def test_a_solution_that_is_replaced_is_told_anew(page: Page, folder: Path) -> None:
    target = folder / "replaced"
    copytree(folder / "turn", target)
    listed = page.request.get("/api/solutions").json()
    id = next(one["id"] for one in listed if one["folder"] == str(target))
    page.goto(f"/solution/{id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("small turn")
    expect(page.locator("[data-choice]").first).to_be_visible()
    page.wait_for_load_state("networkidle")  # the page has looked one action ahead
    rmtree(target)
    copytree(folder / "many", target)
    page.locator("[data-choice]").first.click()
    expect(page.get_by_label("turn: IP")).to_be_visible()
    page.locator("[data-choice]").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LONG_NAME.strip())
    expect(page.get_by_role("button", name="Cards", exact=True)).to_have_count(0)

    page.goto("/")
    row = page.get_by_role("row").filter(has=page.locator(f'[title="{target}"]'))
    row.get_by_role("button", name=re.compile("^Name ")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("my river")
    dialog.get_by_label("Note").fill("for the final table")
    dialog.get_by_role("button", name="Keep").click()
    expect(row.get_by_role("link", name="my river")).to_be_visible()
    expect(row).to_contain_text("for the final table")
    keep_picture(page, "named")
    row.get_by_role("button", name="Delete my river").click()
    row.get_by_role("button", name="Keep").click()  # after all
    row.get_by_role("button", name="Delete my river").click()
    row.get_by_role("button", name="Delete", exact=True).click()
    expect(row).to_have_count(0)
    assert not target.exists()
    page.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("link", name="my river")).to_be_visible()
    assert (target / "manifest.json").is_file()
    rmtree(target)

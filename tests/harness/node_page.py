"""Steps through a solution in a real browser, which tests of several pages make."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect


def line_of(page: Page) -> str:
    """The line that the address bar holds."""
    return parse_qs(urlsplit(page.url).query).get("line", [""])[0]


def wait_for(page: Page, **wanted: str | None) -> None:
    """Until the address bar holds these values."""

    def holds(url: str) -> bool:
        query = parse_qs(urlsplit(url).query)
        return all(query.get(key, [None])[0] == value for key, value in wanted.items())

    page.wait_for_url(holds)


def arrive(page: Page) -> str:
    """Until the node of the address bar is shown; returns its line."""
    line = line_of(page)
    expect(page.locator("[data-line]")).to_have_attribute("data-line", line)
    return line


def open_solution(page: Page, name: str) -> None:
    """Open a solution from the list, until its first decision is shown."""
    page.goto("/")
    page.get_by_role("link", name=name).click()
    page.wait_for_url(re.compile("/solution/"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    expect(page.locator("[data-choice]").first).to_be_visible()
    expect(page.locator("[data-hand]").first).to_be_visible()


def take(page: Page, label: str) -> None:
    """Take an action of the decision that is looked at."""
    before = line_of(page)
    page.locator("[data-choice]").filter(has_text=label).first.click()
    page.wait_for_url(lambda _: line_of(page) != before)
    arrive(page)


def numbers(cells: Locator) -> list[float]:
    """The numbers that a row shows; a percentage is a share."""
    values = []
    for text in cells.all_inner_texts():
        for number, unit in re.findall(r"([−-]?[\d.]+)\s*(%?)", text):
            values.append(float(number.replace("−", "-")) / (100 if unit else 1))
    return values

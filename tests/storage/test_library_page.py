"""docs/library.md lists what ships, and its figures are those of the packs."""

import re
from pathlib import Path

import pytest

from allstreets.cli.main import main
from allstreets.solutions import WholeSolution
from allstreets.storage import library, load

PAGE = Path(__file__).parents[2] / "docs/library.md"


def test_the_table_is_that_of_the_packs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["library", "--markdown"]) == 0
    printed = capsys.readouterr().out.strip()
    written = re.search(
        r"<!-- allstreets library --markdown -->\n(.*?)\n<!-- end -->", PAGE.read_text(), re.S
    )
    assert written is not None
    assert written[1] == printed, (
        "put what allstreets library --markdown prints into docs/library.md"
    )


def test_what_coaches_say() -> None:
    """The figures of the table, which are a report and no target."""
    page, solution = PAGE.read_text(), load("hu-20bb", WholeSolution)
    first = {hand: solution.strategy("", hand=hand) for hand in ("95s", "94o", "Q4o")}
    assert f"| {100 * first['95s']['r2']:.0f} %, and limps otherwise" in page
    assert f"| 94o limps | {100 * first['94o']['c']:.0f} % |" in page
    assert f"| Q4o limps three times in four | {100 * first['Q4o']['c']:.0f} % |" in page
    evs = solution.at().decision.hand("95s").evs
    assert abs(evs["r2"] - evs["c"]) < 0.001
    limped = solution.at("c").decision.frequencies()
    shares = limped["r3"] + limped["a"], limped["r3"], limped["a"]
    both, raised, all_in = (f"{100 * share:.0f} %" for share in shares)
    assert f"| {both}: to 3 bb {raised}, all-in {all_in} |" in page


def test_the_table_counts_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["library", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    counted = [
        int(found[1]) if (found := re.search(r", (\d+) games", line)) else 1 for line in lines
    ]
    assert sum(counted) == len(library())

"""docs/library.md lists what ships, and its figures are those of the packs."""

import re
from pathlib import Path

import pytest

from allstreets.cli.main import main
from allstreets.storage import library

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


def test_the_table_counts_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["library", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    counted = [
        int(found[1]) if (found := re.search(r", (\d+) games", line)) else 1 for line in lines
    ]
    assert sum(counted) == len(library())

"""The files of code that a node of the explorer passes, counted by called functions.

Counted by `sys.setprofile` over one request for a second node on the river, when everything is open
that the first one needed. Files of `base`, `cards` and `betting` are the ground that all stand on:
they are not counted.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from builders.solutions import folder

import allstreets
from allstreets.explorer.server import open_folders

PACKAGE = Path(allstreets.__file__).parent
GROUND = ("base", "cards", "betting")
MOST = 18
RIVERS = {
    "flop": "x x | 2h | x x | 3c |",
    "boards": "c x | 7s7h7d | x x | 5c | x x | 4d |",
    "exact flop": "c x | 7s7h7d | x x | 5c | x x | 4d |",
}


def modules_passed(request: Callable[[], object]) -> set[str]:
    """The files of the package in which a function is called, except the ground layers."""
    files = set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        request()
    finally:
        sys.setprofile(before)
    own = (Path(file) for file in files if Path(file).is_relative_to(PACKAGE))
    parts = (path.relative_to(PACKAGE).with_suffix("").parts for path in own)
    return {".".join(names) for names in parts if names[0] not in GROUND}


@pytest.mark.parametrize("kind", RIVERS)
def test_a_second_node_on_the_river_passes_few_modules(kind: str, tmp_path: Path) -> None:
    library, solves = open_folders([folder(kind)], tmp_path)
    id, line = library.id_of(folder(kind)), RIVERS[kind]
    assert library.place(id, line).street == "river"
    passed = modules_passed(lambda: library.place(id, f"{line} x"))
    assert "solutions.walk" in passed
    assert len(passed) <= MOST, sorted(passed)
    assert solves.close(60)

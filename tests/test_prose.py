"""Prose: no banned phrase in pages and docstrings, and a gallery of all pictures."""

import ast
import re
from pathlib import Path

import pytest
from harness.prose import all_findings, findings_in_module, findings_in_page

ROOT = Path(__file__).parents[1]


def test_pages_and_docstrings_have_no_banned_phrase() -> None:
    assert [str(finding) for finding in all_findings()] == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The run goes on from there.", "goes on from"),
        ("`goes on from` and\n\na lock holds a player to a bet", "holds a player to"),
        ("Two sizes take 1.5 s an iteration.", "s an iteration"),
        ("```text\nin the place of\n```\nin the place of it", "in the place of"),
    ],
)
def test_a_banned_phrase_is_found_outside_of_code(text: str, phrase: str) -> None:
    (finding,) = findings_in_page(Path("page.md"), text)
    assert finding.phrase == phrase
    assert finding.line == len(text.splitlines())


def test_a_docstring_does_not_open_with_what() -> None:
    text = 'def bet():\n    """What a bet is."""\n\n\ndef fold():\n    """A fold."""\n'
    (finding,) = findings_in_module(Path("module.py"), text)
    assert (finding.line, finding.phrase) == (2, "What …")


def test_the_gallery_shows_every_picture_and_no_other() -> None:
    """The pictures of the page are those that the command takes, and all lie in docs/images."""
    tree = ast.parse((ROOT / "docs" / "tools" / "gallery.py").read_text(encoding="utf-8"))
    pictures = next(
        node.value for node in tree.body if isinstance(node, ast.AnnAssign) and node.value
    )
    taken = [each.attr for each in ast.walk(pictures) if isinstance(each, ast.Attribute)]
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\(images/(\w+)\.png\)", page) == taken
    assert sorted(path.stem for path in (ROOT / "docs" / "images").glob("*.png")) == sorted(taken)

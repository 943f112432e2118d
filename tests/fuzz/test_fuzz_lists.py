"""Damaged small files in opened folders: lists are answered, and name the damage."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from builders.explorer_solutions import folder
from builders.small_forms import river
from harness.fuzzing import damaged_cases, internal_errors

from allstreets.base import InputError
from allstreets.explorer.folders import id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models.solution import Label
from allstreets.explorer.ranges import KeptRanges
from allstreets.explorer.reviews import Reviews
from allstreets.explorer.solves.folders import Request, Status, new_folder
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.trash import Trash
from allstreets.interop import Skipped
from allstreets.study import (
    GradedDecision,
    HandReview,
    IndexedHand,
    Option,
    ReviewFolder,
    ReviewIndex,
)

QUICK, LONG = 200, 10_000
KEY = "0a1b"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An opened folder with a solution, a review, a solve, kept ranges, and something deleted."""
    root = tmp_path_factory.mktemp("opened")
    shutil.copytree(folder("turn"), root / "turn")
    library = Library([root])
    library.label(library.cards()[0].id, Label(name="mine", note="for the final table"))
    (root / "gone").mkdir()
    Trash([root]).put(root / "gone", "gone")
    review = ReviewFolder(root / "review")
    hands = (IndexedHand(KEY, "hands.txt", 1), IndexedHand("0c", "hands.txt", 40))
    skipped = (Skipped("hands.txt", 80, "another game"),)
    review.write(ReviewIndex("mine", None, 1.0, 0.01, 10.0, {"game": "/game"}, hands, skipped))
    review.keep(KEY, reviewed())
    (root / "ranges.json").write_text('{"version": 1, "ranges": {"tight": "TT+,AKs:0.5"}}')
    solve = new_folder(root, Request(run=1, state="done", form=river(), created=1.0))
    solve.write(Status(run=1, state="done", reason="the target"))
    return root


def reviewed() -> HandReview:
    """A hand with one decision."""
    decision = GradedDecision(
        place=0,
        street="flop",
        line="r2.5 c | Qs7h4d",
        board="Qs7h4d",
        pot_bb=5.0,
        to_call_bb=0.0,
        stack_bb=17.5,
        taken="b2",
        counted_as="b2.5",
        options=(Option("x", 0.75, 2.0), Option("b2.5", 0.25, 1.5)),
        loss_bb=0.5,
        within_bb=0.1,
        strategy=((0.5, None), (0.5, None)),
    )
    return HandReview(
        name="hand #1",
        file="hands.txt",
        line=1,
        hero="me",
        seat="BB",
        cards="AhKh",
        players=("me", "you"),
        holes=("AhKh", ""),
        stacks_bb=(20.0, 20.0),
        antes_bb=(0.0, 0.0),
        blinds_bb=(1.0, 0.5),
        board="Qs7h4d",
        actions=(("preflop", "SB", "r2.5"), ("preflop", "BB", "c"), ("flop", "BB", "b2")),
        results_bb=(0.0, 0.0),
        kind="raised",
        solution="game",
        solution_stack_bb=20.0,
        stack_bb=20.0,
        notes=(),
        decisions=(decision,),
    )


def list_solutions(root: Path) -> None:
    (card,) = Library([root]).cards()
    assert card.kind == "spot"
    card.model_dump_json().encode()


def list_trash(root: Path) -> None:
    (trashed,) = Trash([root]).list()
    trashed.model_dump_json().encode()


def list_reviews(root: Path) -> None:
    reviews = Reviews(Library([root]))
    (card,) = reviews.cards()
    card.model_dump_json().encode()
    if card.problem is None:
        reviews.detail(card.id).model_dump_json().encode()
        reviews.hand(card.id, KEY).model_dump_json().encode()


def list_solves(root: Path) -> None:
    solves = Solves(root, id_of)
    for solve in solves.list():
        solves.detail(solve.id).model_dump_json().encode()


def list_ranges(root: Path) -> None:
    for one in KeptRanges(root).list():
        one.model_dump_json().encode()


LISTS: dict[str, Callable[[Path], None]] = {
    "turn/label.json": list_solutions,
    ".trash/*/trashed.json": list_trash,
    "review/review.json": list_reviews,
    f"review/hands/{KEY}.json": list_reviews,
    "*/solve.json": list_solves,
    "*/status.json": list_solves,
    "ranges.json": list_ranges,
}


def wrong(root: Path, pattern: str, count: int, start: int = 0) -> list[str]:
    """The cases of a file that are no clean errors; it is put back at the end."""
    (path,) = root.glob(pattern)
    valid = path.read_bytes()
    values = [json.dumps({**json.loads(valid), key: None}) for key in json.loads(valid)]

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            LISTS[pattern](root)
        finally:
            assert path.read_bytes() == data

    try:
        cases = damaged_cases([valid, *(text.encode() for text in values)], count, start)
        return internal_errors(read, cases, (InputError,))
    finally:
        path.write_bytes(valid)


@pytest.mark.parametrize("pattern", list(LISTS))
def test_damaged_files(pattern: str, root: Path) -> None:
    LISTS[pattern](root)
    assert wrong(root, pattern, QUICK // len(LISTS) + 10) == []


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", list(LISTS))
def test_many_damaged_files(pattern: str, root: Path) -> None:
    assert wrong(root, pattern, LONG // len(LISTS), QUICK) == []

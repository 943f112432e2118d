"""The boards that a spot is solved on: a list, a named set of flops, or a file.

The weight of a board is the number of boards isomorphic to it, unless a set or a file says
otherwise. A board that cannot be read stays in the list with the reason; the others are solved.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from allstreets.base import InputError, csv_rows, decode_text
from allstreets.betting import street_of_board
from allstreets.cards import boards_alike, cards_text, parse_board, parse_flop_set

SET_NAME = re.compile(r"all|(spread|subset|fitted)[_-]?\d+")
FILE_NAME = re.compile(r".*\.(csv|txt|tsv)", re.IGNORECASE)
BOARD_HEADS = ("board", "boards", "flop", "flops")
MOST_BYTES = 10_000_000

Boards = str | Path | Sequence[str]


@dataclass(frozen=True)
class WeightedBoard:
    """A board and its weight, or the problem with it."""

    text: str  # "QsJh2h", or as it was written where it cannot be read
    weight: float | None  # None: there is none, as there is a problem
    problem: str | None = None


def read_boards(given: Boards) -> list[WeightedBoard]:
    """Boards by a list of them, by the name of a set of flops, or by a file.

    In a list a factor may follow a colon, as in training files: AhKd7s:2 counts twice.

    >>> [(board.text, board.weight) for board in read_boards("AhKd7s, 9h8h2c7d:2")]
    [('AhKd7s', 24.0), ('9h8h2c7d', 48.0)]
    >>> len(read_boards("subset_25"))
    25
    """
    if isinstance(given, Path) or (isinstance(given, str) and FILE_NAME.fullmatch(given.strip())):
        return _distinct(_lines(Path(given)))
    if isinstance(given, str):
        name = given.strip().lower()
        if SET_NAME.fullmatch(name):
            flops = parse_flop_set(name)
            weights = flops.weights.tolist()
            return [
                WeightedBoard(flop.text, weight)
                for flop, weight in zip(flops.flops, weights, strict=True)
            ]
        given = [text for text in re.split(r"[,\s]+", given.strip()) if text]
    if not given:
        raise InputError("boards: the list is empty: name some ([QsJh2h, 9h8h2c]), or a set of "
                         "flops (subset_25)")  # fmt: skip
    return _distinct(_listed(str(text)) for text in given)


def _listed(text: str) -> WeightedBoard:
    cards, _, factor = text.partition(":")
    try:
        board = _board(cards)
        weight = boards_alike(board) * (_number(factor) if factor else 1.0)
    except InputError as error:
        return WeightedBoard(text, None, str(error))
    return WeightedBoard(cards_text(board), weight)


def _lines(path: Path) -> Iterator[WeightedBoard]:
    """The boards of a file, a line each.

    A header names the columns (board or flop, and weight); without one they are the first two. A
    weight may also follow a colon, as PioSOLVER writes it. It is used unchanged.
    """
    lines = _text(path).splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    between = next((mark for mark in "\t;" if mark in first), ",")
    head: list[str] | None = None
    any_board = False
    for number, row in csv_rows(lines, str(path), between):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if head is None:
            head = [cell.lower() for cell in cells]
            if any(name in head for name in (*BOARD_HEADS, "weight")):
                if not any(name in head for name in BOARD_HEADS):
                    raise InputError(f"{path}, line {number}: no column is called board")
                continue
            head = ["board", "weight"]
        any_board = True
        column = next(head.index(name) for name in BOARD_HEADS if name in head)
        text = cells[column] if column < len(cells) else ""
        weight_column = head.index("weight") if "weight" in head else len(cells)
        weight = cells[weight_column] if weight_column < len(cells) else ""
        yield _line(f"{path}, line {number}", text, weight)
    if not any_board:
        raise InputError(f"{path} names no boards: write one a line, such as QsJh2h")


def _line(source: str, text: str, weight: str) -> WeightedBoard:
    cards, _, behind = text.partition(":")
    try:
        if weight and behind:
            raise InputError(f"'{text}' has two weights, {behind} and {weight}")
        board = _board(cards)
        given = weight or behind
        stands_for = _number(given) if given else float(boards_alike(board))
    except InputError as error:
        return WeightedBoard(text, None, f"{source}: {error}")
    return WeightedBoard(cards_text(board), stands_for)


def _board(text: str) -> tuple[int, ...]:
    cards = parse_board(text)
    street_of_board(cards)
    return cards


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 1e9:
        raise InputError(f"the weight '{text}' must be a positive number")
    return number


def _distinct(boards: Iterator[WeightedBoard]) -> list[WeightedBoard]:
    """The boards in their order; a repeated board is a problem, as its weight is not known."""
    seen: set[str] = set()
    distinct = []
    for board in boards:
        if board.problem is None and board.text in seen:
            distinct.append(
                WeightedBoard(board.text, None, f"the board {board.text} is named twice")
            )
            continue
        seen.add(board.text)
        distinct.append(board)
    return distinct


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; name a file of boards") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} is larger than 10 MB; is it the right one?")
    return decode_text(data, str(path))

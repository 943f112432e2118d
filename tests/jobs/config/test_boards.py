"""Boards out of lists, sets and files."""

from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.cards import all_flops, boards_alike, subset_flops
from allstreets.jobs.config.boards import read_boards


def test_flops_weigh_what_they_stand_for() -> None:
    assert all(boards_alike(flop.cards) == flop.multiplicity for flop in all_flops())


def test_sets_bring_their_weights() -> None:
    subset = subset_flops(25)
    boards = read_boards("subset_25")
    assert [board.text for board in boards] == [flop.text for flop in subset.flops]
    assert [board.weight for board in boards] == subset.weights.tolist()
    assert sum(board.weight or 0 for board in read_boards("all")) == 22_100
    with pytest.raises(InputError, match="fitted_from"):
        read_boards("fitted_25")
    with pytest.raises(InputError, match="the list is empty"):
        read_boards([])


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "boards.csv"
    path.write_text("name,Weight,board\nx,2,QsJh2h\ny,,AhKd7s\n\nz,-1,2c2d2h\n,1,QsJh\n,1,QsJh2h\n")
    boards = read_boards(path)
    assert [(board.text, board.weight) for board in boards] == [
        ("QsJh2h", 2),
        ("AhKd7s", 24),
        ("2c2d2h", None),
        ("QsJh", None),
        ("QsJh2h", None),
    ]
    assert boards[2].problem == f"{path}, line 5: the weight '-1' must be a positive number"
    assert str(boards[3].problem).startswith(f"{path}, line 6: the board 'QsJh' has 2 cards")
    assert boards[4].problem == "the board QsJh2h is named twice"
    path.write_text("# a subset\nQsJh2h:1.5\n9h8h2c;\n")
    assert [board.weight for board in read_boards(str(path))] == [1.5, None]
    path.write_text("QsJh2h;1.5\n9h8h2c\n")
    assert [board.weight for board in read_boards(str(path))] == [1.5, 12]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "names no boards"),
        (b"weight,cards\n1,QsJh2h\n", "line 1: no column is called board"),
        (b"QsJh2h\n\xe4\n", r"not UTF-8 text \(line 2\)"),
    ],
)
def test_files_without_boards(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "boards.csv"
    with pytest.raises(InputError, match="cannot read"):
        read_boards(path)
    path.write_bytes(text)
    with pytest.raises(InputError, match=message):
        read_boards(path)

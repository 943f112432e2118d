"""Reports over the boards of a solution, of any kind that has several."""

from collections.abc import Callable, Iterator
from pathlib import Path

from allstreets.analysis import BoardReport, report_of
from allstreets.solutions import Boards, OnBoard, WholeSolution
from allstreets.storage.opening import Solution, load
from allstreets.storage.spot_set import SpotSet


def board_report(
    solution: "Solution | Path | str",
    line: str = "",
    *,
    spr: float | None = None,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BoardReport:
    """A decision on every flop of a whole game, of a model of flops, or of a set of spots.

    `line` leads to it and names no flop: "r2.5 c | x" in a whole game, "x b50%" elsewhere. `spr`
    is the stack-to-pot ratio of a model of flops that has several, `name` the spot of a set that
    has several. `solution` may be its folder. `progress` is called with the boards that are read,
    of how many: all flops take a minute or more.
    """
    loaded = load(solution) if isinstance(solution, Path | str) else solution
    if isinstance(loaded, SpotSet):
        boards = loaded.boards(line, name)
    else:
        if isinstance(loaded, WholeSolution):
            line = loaded.with_ratio(line, spr)
        boards = loaded.boards(line)
    told = boards.decisions if progress is None else _told(boards, progress)
    return report_of(told, line)


def _told(boards: Boards, progress: Callable[[int, int], None]) -> Iterator[OnBoard]:
    for done, board in enumerate(boards.decisions):
        progress(done, boards.count)
        yield board
    progress(boards.count, boards.count)

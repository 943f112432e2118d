"""Reports over the boards of a solution, of any kind that has several."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from allstreets.analysis import BoardReport, report_of
from allstreets.base import InputError
from allstreets.solutions import FlopsResult, OnBoard, UnifiedResult
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
    found = load(solution) if isinstance(solution, Path | str) else solution
    if isinstance(found, UnifiedResult):
        decisions, total = found.decisions(line), len(found.game.flops.flops)
    elif isinstance(found, FlopsResult):
        decisions, total = found.decisions(line, spr), len({row["flop"] for row in found.flops})
    elif isinstance(found, SpotSet):
        decisions = found.decisions(line, name)
        total = sum(name in (None, entry.name) for entry in found.entries)
    else:
        raise InputError(
            "reports over boards are of whole games, models of flops and sets of spots "
            "(allstreets solve --boards … --output); this is a single board, or ends at the flop"
        )
    return report_of(decisions if progress is None else _told(decisions, total, progress), line)


def _told(
    decisions: Iterable[OnBoard], total: int, progress: Callable[[int, int], None]
) -> Iterator[OnBoard]:
    for done, one in enumerate(decisions):
        progress(done, total)
        yield one
    progress(total, total)

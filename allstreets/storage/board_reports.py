"""Reports over the boards of a solution, of any kind that has several."""

from pathlib import Path

from allstreets.base import InputError
from allstreets.solvers import BoardReport, FlopsResult, UnifiedResult, report_of
from allstreets.storage.opening import Solution, load
from allstreets.storage.spot_set import SpotSet


def board_report(
    solution: "Solution | Path | str",
    line: str = "",
    *,
    spr: float | None = None,
    name: str | None = None,
) -> BoardReport:
    """A decision on every flop of a whole game, of a model of flops, or of a set of spots.

    `line` leads to it and names no flop: "r2.5 c | x" in a whole game, "x b50%" elsewhere. `spr`
    is the stack-to-pot ratio of a model of flops that has several, `name` the spot of a set that
    has several. `solution` may be its folder.
    """
    found = load(solution) if isinstance(solution, Path | str) else solution
    if isinstance(found, UnifiedResult):
        decisions = found.decisions(line)
    elif isinstance(found, FlopsResult):
        decisions = found.decisions(line, spr)
    elif isinstance(found, SpotSet):
        decisions = found.decisions(line, name)
    else:
        raise InputError(
            "reports over boards are of whole games, models of flops and sets of spots "
            "(allstreets solve --boards … --output); this is a single board, or ends at the flop"
        )
    return report_of(decisions, line)

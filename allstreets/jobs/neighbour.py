"""A game that is trained like a solution that is there, at another stack.

The solution gives its settings (tree, sizes, cards, flops) and its ranges: hands are bucketed for
the ranges of its pots, line by line, where a run of its own begins with those of a quick solve by
hand classes. Strategies are not carried over. Played for the first iterations they teach a flop
that nothing else happens, and the run is behind for as long as it lasts: docs/library.md has the
figures.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allstreets.base import Floats, InputError
from allstreets.betting import BIG_BLINDS, line_text
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.train import TrainConfig
from allstreets.solutions import WholeSolution
from allstreets.storage import load, origin, packed_name

NOT_KEPT = ("cluster", "lock")  # it is solved here, and nothing is held
OF_A_PACK = ("device", "threads", "store", "time_limit_seconds")  # of the machine that made it


def load_neighbour(solution: Path | str) -> WholeSolution:
    """A whole game to be like; an `InputError` for other solutions."""
    neighbour = load(solution)
    if not isinstance(neighbour, WholeSolution) or not neighbour.is_game:
        raise InputError(f"--like {solution}: this is not a whole game; name one")
    return neighbour


def like_config(neighbour: WholeSolution, flags: Mapping[str, Any]) -> TrainConfig:
    """The settings of a solution, overridden by those that are given."""
    assert neighbour.folder is not None  # it was loaded
    packed = packed_name(neighbour.folder) is not None
    without = (*NOT_KEPT, *(OF_A_PACK if packed else ()))
    own = {key: value for key, value in neighbour.facts.config.items() if key not in without}
    given = {key: value for key, value in flags.items() if value is not None}
    keys = {key: value for key, value in {**own, **given}.items() if value is not None}
    name = neighbour.facts.name or neighbour.folder.name
    called = f"like {name}, {float(keys['stack_depth']):g} bb"
    solver = {"type": "unified_cfr", **keys}
    return check_config({"name": called, "solver": solver}, TrainConfig, origin(neighbour.folder))


def known_ranges(neighbour: WholeSolution) -> dict[str, Floats]:
    """[2, 169] by line: the ranges of a solution's pots; none of a pot that nobody gets to."""
    before = neighbour.before
    ranges = before.pot_ranges
    lines = [
        line_text(before.tree, pot.node, notation=BIG_BLINDS) for pot in neighbour.stored.flop_pots
    ]
    return {
        line: ranges[:, pot]
        for pot, line in enumerate(lines)
        if (ranges[:, pot].sum(axis=1) > 0).all()
    }

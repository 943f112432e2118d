"""Spots that were solved together, in a list: one line for all of their boards."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.folders import id_of
from allstreets.explorer.models.solution import SolutionCard, SpotTable
from allstreets.explorer.views.headlines import PERCENT, Headline, Manifest
from allstreets.storage import read_spot_manifest

MOST_NAMES = 3  # that a line lists


def set_headline(folder: Path, manifest: Manifest) -> Headline:
    """The headline of a set; `judged` completes it by what its spots say."""
    entries: Sequence[Manifest] = manifest["spots"]
    solved = sum(entry["row"] is not None for entry in entries)
    names = [str(name) for name in dict.fromkeys(entry["name"] for entry in entries)]
    boards = f"{len(entries):,} board{'' if len(entries) == 1 else 's'}"
    if solved < len(entries):
        boards = f"{solved:,} of {boards}"
    if not names:
        title = "no boards"
    elif len(names) == 1:
        title = f"{names[0]}: {boards}{_stakes(folder / str(entries[0]['folder']))}"
    else:
        listed = names[:MOST_NAMES] + ["…"] * (len(names) > MOST_NAMES)
        title = f"{len(names):,} spots, {boards}: {', '.join(listed)}"
    return Headline(title=title, iterations=None, exploitability=None, unit=PERCENT)


def _stakes(spot: Path) -> str:
    """Pot and stack, which are the same on every board."""
    with suppress(InputError):  # the spot itself is listed, and says what is wrong with it
        config = read_spot_manifest(spot)["config"]
        return f", pot {config['pot']:,}, stack {config['stack']:,}"
    return ""


def spot_tables(folder: Path, manifest: Manifest) -> list[SpotTable]:
    """The spots of a set, each with the boards that it is solved on."""
    found: dict[str, list[str]] = {}
    for entry in manifest["spots"]:
        if entry["row"] is not None:
            found.setdefault(str(entry["name"]), []).append(id_of(folder / str(entry["folder"])))
    return [SpotTable(name=name, solutions=boards) for name, boards in found.items()]


def judged(card: SolutionCard, spots: Sequence[SolutionCard]) -> SolutionCard:
    """A set as good as the worst of its solved spots, as far as they can be read."""
    wanted = sum(len(table.solutions) for table in card.tables)
    known = [spot for spot in spots if spot.exploitability is not None]
    lost = wanted - len(known)
    return card.model_copy(
        update={
            "exploitability": max((spot.exploitability or 0.0 for spot in known), default=None),
            "iterations": max((spot.iterations or 0 for spot in known), default=None),
            "locks": max((spot.locks for spot in known), default=0),
            "problem": f"{lost:,} of {wanted:,} boards cannot be read" if lost else card.problem,
        }
    )

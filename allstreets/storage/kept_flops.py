"""Flops of a whole game that were solved exactly, kept as spots beside the solution.

    FOLDER/manifest.json                    the whole game
           spots/r2.5-c-QsJh2h/             a bundle of a spot, its origin in the manifest

A kept flop is found by its fingerprint: another spelling of its suits is the same flop. Ranges
change when the solution is trained on, and with them the fingerprint: such a flop is solved anew
under the next free name, and the old one stays.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.cards import cards_text
from allstreets.solutions import ExactFlop, FlopSpot, Origin, WholeSolution, flop_spot
from allstreets.storage.manifest import MANIFEST
from allstreets.storage.spot_bundle import load_spot, read_spot_manifest

SPOTS = "spots"


@dataclass(frozen=True)
class KeptFlop:
    """A spot beside a whole game."""

    folder: Path
    origin: Origin
    exploitability: float  # a share of the pot
    manifest: Mapping[str, Any]


def kept_flops(folder: Path) -> Iterator[KeptFlop]:
    """All spots beside a solution that can be read."""
    with suppress(OSError):
        for path in sorted((folder / SPOTS).iterdir()):
            with suppress(InputError, KeyError, TypeError, ValueError):
                manifest = read_spot_manifest(path)
                origin = Origin.read(manifest["origin"])
                yield KeptFlop(path, origin, float(manifest["exploitability"]), manifest)


def find_kept(folder: Path, found: FlopSpot) -> KeptFlop | None:
    """The spot of a flop beside its solution: in the suits asked for, or else in any; the best."""
    same = [one for one in kept_flops(folder) if one.origin.fingerprint == found.fingerprint]
    return min(
        same, key=lambda one: (one.origin.flop != found.cards, one.exploitability), default=None
    )


def find_exact(
    folder: Path, solution: WholeSolution, root: int, flop: tuple[int, ...]
) -> ExactFlop | None:
    """The spot beside a whole game of a pot on a flop, as a part of the game; None: there is none.

    `root` is the node before the flop that leads to the pot.
    """
    if not (folder / SPOTS).is_dir():
        return None
    try:
        spot = flop_spot(solution, solution.roots.text(root), cards_text(flop))
    except InputError:  # no range gets there
        return None
    kept = find_kept(folder, spot)
    if kept is None:
        return None
    reach = solution.roots.reach(root)
    return ExactFlop(load_spot(kept.folder), solution.stored.pot(root), reach, flop)


def new_kept(folder: Path, found: FlopSpot) -> Path:
    """The folder for the spot of a flop: the first of its name without a solution."""
    names = (found.name if number == 1 else f"{found.name}-{number}" for number in count(1))
    paths = (folder / SPOTS / name for name in names)
    return next(path for path in paths if not (path / MANIFEST).exists())

"""Flops of a whole game that were solved exactly, kept as spots beside the solution.

    FOLDER/manifest.json                    the whole game
           spots/r2.5-c-QsJh2h/             a bundle of a spot, its origin in the manifest

A kept flop is found by its fingerprint: another spelling of its suits is the same flop. Ranges
change when the solution is trained further, and with them the fingerprint: such a flop is solved
again under the next free name, and the old one stays.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.cards import canonical_flop, cards_text
from allstreets.solutions import ExactFlop, FlopSpot, Origin, WholeSolution, flop_spot, origin_head
from allstreets.storage.manifest import MANIFEST
from allstreets.storage.spot_bundle import load_spot, read_spot_manifest

SPOTS = "spots"
CACHED_NAMES = 4096


@dataclass(frozen=True)
class KeptFlop:
    """A spot beside a whole game."""

    folder: Path
    origin: Origin
    exploitability: float  # a share of the pot
    manifest: Mapping[str, Any]

    @property
    def is_draft(self) -> bool:
        """Whether it waits for its exact solution."""
        return self.origin.draft is not None

    @property
    def is_full(self) -> bool:
        """Whether it keeps everything that a solver resumes from."""
        return bool(self.manifest["saved"] == "full")


def kept_flops(folder: Path) -> Iterator[KeptFlop]:
    """All spots beside a solution that can be read."""
    with suppress(OSError):
        for path in sorted((folder / SPOTS).iterdir()):
            with suppress(InputError, KeyError, TypeError, ValueError):
                manifest = read_spot_manifest(path)
                origin = Origin.read(manifest["origin"])
                yield KeptFlop(path, origin, float(manifest["exploitability"]), manifest)


def find_kept(folder: Path, flop: FlopSpot) -> KeptFlop | None:
    """The best spot of a flop beside its solution, in the requested suits if possible."""
    same = [kept for kept in kept_flops(folder) if kept.origin.fingerprint == flop.fingerprint]
    return min(
        same, key=lambda kept: (kept.origin.flop != flop.cards, kept.exploitability), default=None
    )


class KeptExactFlops:
    """The spots beside a whole game as parts of it, by pot and flop.

    A table over flops asks for every flop, so the list of kept flops is read once.
    """

    every = False

    def __init__(self, folder: Path, solution: WholeSolution) -> None:
        self._folder, self._solution = folder, solution
        self._kept: set[tuple[str, str]] | None = None  # (line, canonical flop)
        self._is_kept = lru_cache(CACHED_NAMES)(self._named)

    def refresh(self) -> None:
        """Look for flops solved meanwhile."""
        self._kept = None
        self._is_kept.cache_clear()

    def find(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        """The spot of the pot that a root leads to; None: there is none."""
        if self._kept is None:
            origins = (kept.origin for kept in kept_flops(self._folder))
            self._kept = {(origin.line, origin.canonical) for origin in origins}
        return self._opened(root, flop) if self._kept and self._is_kept(root, flop) else None

    def _named(self, root: int, flop: tuple[int, ...]) -> bool:
        line, canonical = self._solution.roots.text(root), canonical_flop(flop).flop.text
        return (line, canonical) in (self._kept or ())

    def _opened(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        solution = self._solution
        try:
            spot = flop_spot(solution, solution.roots.text(root), cards_text(flop))
        except InputError:  # no range gets there
            return None
        kept = find_kept(self._folder, spot)
        if kept is None:  # solved for other ranges
            return None
        note, reach = origin_head(kept.origin, kept.exploitability), solution.roots.reach(root)
        return ExactFlop(load_spot(kept.folder), solution.stored.pot(root), reach, flop, note)


def new_kept(folder: Path, flop: FlopSpot) -> Path:
    """The folder for the spot of a flop: the first of its name without a solution."""
    names = (flop.name if number == 1 else f"{flop.name}-{number}" for number in count(1))
    paths = (folder / SPOTS / name for name in names)
    return next(path for path in paths if not (path / MANIFEST).exists())

"""Opening a folder of any kind: its manifest says what it holds."""

from importlib import import_module
from typing import Any, TypeAlias, TypeVar, overload

from allstreets.base import InputError, Place
from allstreets.solutions import Solution as Walked
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage.manifest import folder_kind
from allstreets.storage.mirror import mirrored
from allstreets.storage.spot_set import SpotSet

Solution: TypeAlias = SpotSolution | SpotSet | WholeSolution
Loaded = TypeVar("Loaded", SpotSolution, SpotSet, WholeSolution)

OPENERS = {
    "spot": ("allstreets.storage.spot_bundle", "load_spot"),
    "spots": ("allstreets.storage.spot_set", "load_spots"),
    "postflop": ("allstreets.storage.flops_bundle", "load_flops"),
    "preflop": ("allstreets.storage.game_bundle", "load_preflop"),
    "unified": ("allstreets.storage.game_bundle", "load_unified"),
}


NAMES = {SpotSolution: "a spot", SpotSet: "a set of spots", WholeSolution: "a whole game"}


@overload
def load(folder: Place | str) -> Solution: ...


@overload
def load(folder: Place | str, kind: type[Loaded]) -> Loaded: ...


def load(folder: Place | str, kind: type[Any] | None = None) -> Any:
    """A stored solution; its type shows its kind.

    With a `kind`, such as `WholeSolution`, others are refused, and editors know the type.
    Reads the manifest; the rest is read when it is needed.
    """
    folder = mirrored(folder)
    stored = folder_kind(folder)
    if stored not in OPENERS:
        raise InputError(
            f"{folder} contains a solution of a kind that this version does not know ('{stored}'); "
            "use the version that wrote it"
        )
    module, name = OPENERS[stored]
    loaded = getattr(import_module(module), name)(folder)
    if kind is not None and not isinstance(loaded, kind):
        kind_text = next(text for known, text in NAMES.items() if isinstance(loaded, known))
        raise InputError(f"{folder} contains {kind_text}, not {NAMES[kind]}")
    return loaded


def folder_of(solution: Walked | Place | str) -> Place | str:
    """The folder of a solution that was loaded; a folder is its own."""
    if not isinstance(solution, Walked):
        return solution
    if solution.folder is None:
        raise InputError("this solution is in no folder: save it, and load what was saved")
    return solution.folder

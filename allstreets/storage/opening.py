"""Opening a folder of any kind: its manifest says what it holds."""

from importlib import import_module
from typing import TypeAlias, cast

from allstreets.base import InputError, Place
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage.manifest import folder_kind
from allstreets.storage.mirror import mirrored
from allstreets.storage.spot_set import SpotSet

Solution: TypeAlias = SpotSolution | SpotSet | WholeSolution

OPENERS = {
    "spot": ("allstreets.storage.spot_bundle", "load_spot"),
    "spots": ("allstreets.storage.spot_set", "load_spots"),
    "postflop": ("allstreets.storage.flops_bundle", "load_flops"),
    "preflop": ("allstreets.storage.preflop_bundle", "load_preflop"),
    "unified": ("allstreets.storage.unified_bundle", "load_unified"),
}


def load(folder: Place | str) -> Solution:
    """A stored solution; its type shows its kind.

    Reads the manifest; the rest is read when it is needed.
    """
    folder = mirrored(folder)
    kind = folder_kind(folder)
    if kind not in OPENERS:
        raise InputError(
            f"{folder} holds a solution of a kind that this version does not know ('{kind}'); "
            "use the version that wrote it"
        )
    module, name = OPENERS[kind]
    return cast(Solution, getattr(import_module(module), name)(folder))

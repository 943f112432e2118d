"""Opening a folder of any kind: its manifest says what it holds."""

from importlib import import_module
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.storage.manifest import folder_kind

OPENERS = {
    "spot": ("allstreets.storage.bundle", "load_spot"),
    "postflop": ("allstreets.storage.flop_bundle", "load_postflop"),
    "preflop": ("allstreets.storage.preflop_bundle", "load_preflop"),
    "unified": ("allstreets.storage.unified_bundle", "load_unified"),
}


def load(folder: Path | str) -> Any:
    """A solution that was kept: a `SpotResult`, `PostflopResult`, `PreflopResult`, `UnifiedResult`.

    Reads the manifest; the rest is read when it is asked for.
    """
    folder = Path(folder)
    kind = folder_kind(folder)
    if kind not in OPENERS:
        raise InputError(
            f"{folder} holds a solution of a kind that this version does not know ('{kind}'); "
            "use the version that wrote it"
        )
    module, name = OPENERS[kind]
    return getattr(import_module(module), name)(folder)

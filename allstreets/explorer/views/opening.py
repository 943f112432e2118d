"""The view of a solution in a folder, by what its manifest says."""

from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.models.base import SolutionKind
from allstreets.explorer.views.base import SolutionView
from allstreets.explorer.views.headlines import Manifest
from allstreets.explorer.views.locked import LockedView
from allstreets.storage import (
    bundle,
    flop_bundle,
    load_postflop,
    load_preflop,
    load_spot,
    load_unified,
    preflop_bundle,
    unified_bundle,
)
from allstreets.storage.manifest import folder_kind, read_manifest

SCHEMAS: dict[SolutionKind, int] = {
    "spot": bundle.SCHEMA,
    "unified": unified_bundle.SCHEMA,
    "preflop": preflop_bundle.SCHEMA,
    "postflop": flop_bundle.SCHEMA,
}


def read_facts(folder: Path) -> tuple[SolutionKind, Manifest]:
    """Kind and manifest of a folder, checked; an `InputError` says what is wrong with it."""
    found = folder_kind(folder)
    for kind, schema in SCHEMAS.items():
        if kind == found:
            return kind, read_manifest(folder, kind, schema)
    raise InputError(
        f"{folder} holds a solution of a kind that this version does not know ('{found}')"
    )


def open_view(folder: Path) -> SolutionView:
    """A view of the solution in a folder, for many threads."""
    kind, manifest = read_facts(folder)
    return LockedView(_view(kind, folder, manifest))


def _view(kind: SolutionKind, folder: Path, manifest: Manifest) -> SolutionView:
    # Each kind brings the parts of its own solver: only what is opened is imported.
    if kind == "spot":
        from allstreets.explorer.views.spot import SpotView

        return SpotView(load_spot(folder), manifest)
    if kind == "postflop":
        from allstreets.explorer.views.postflop import PostflopView

        return PostflopView(load_postflop(folder), manifest)
    from allstreets.explorer.views.whole import WholeView

    return WholeView(load_unified(folder) if kind == "unified" else load_preflop(folder), manifest)

"""The view of a solution in a folder, by what its manifest says."""

from pathlib import Path
from typing import get_args

from allstreets.base import InputError
from allstreets.explorer.models.base import SolutionKind
from allstreets.explorer.views.base import SolutionView
from allstreets.explorer.views.descriptions import describe_flops, describe_whole
from allstreets.explorer.views.headlines import Manifest
from allstreets.explorer.views.locked import LockedView
from allstreets.explorer.views.preflop_roots import PreflopRoots
from allstreets.explorer.views.ratio_roots import RatioRoots
from allstreets.explorer.views.spot import SpotView
from allstreets.explorer.views.spot_boards import boards_beside
from allstreets.explorer.views.whole import WholeView
from allstreets.storage import (
    folder_kind,
    load_flops,
    load_preflop,
    load_spot,
    load_unified,
    read_manifest,
)


def read_facts(folder: Path) -> tuple[SolutionKind, Manifest]:
    """Kind and manifest of a folder, checked; an `InputError` says what is wrong with it."""
    found = folder_kind(folder)
    kinds: tuple[SolutionKind, ...] = get_args(SolutionKind)
    for kind in kinds:
        if kind == found:
            return kind, read_manifest(folder, kind)
    raise InputError(
        f"{folder} holds a solution of a kind that this version does not know ('{found}')"
    )


def open_view(folder: Path) -> SolutionView:
    """A view of the solution in a folder, for many threads."""
    kind, manifest = read_facts(folder)
    return LockedView(_view(kind, folder, manifest))


def _view(kind: SolutionKind, folder: Path, manifest: Manifest) -> SolutionView:
    if kind == "spots":
        raise InputError(f"{folder} holds spots that were solved together: open one of them")

    # Each kind brings the parts of its own solver: only what is opened is imported.
    if kind == "spot":
        return SpotView(load_spot(folder), manifest, boards_beside(folder))

    if kind == "postflop":
        flops = load_flops(folder)
        return WholeView(RatioRoots(flops), describe_flops(flops, manifest))

    result = load_unified(folder) if kind == "unified" else load_preflop(folder)
    return WholeView(PreflopRoots(result), describe_whole(result, manifest))

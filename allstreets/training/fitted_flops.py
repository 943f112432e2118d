"""`flops: fitted_95`: flops chosen for the game at hand, by a solution of it on all flops."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from allstreets.analysis import leaf_features
from allstreets.base import Floats, InputError
from allstreets.cards import FlopSet, choose_flops
from allstreets.solutions import WholeSolution
from allstreets.storage import MANIFEST, load_unified


def fitted_flops(count: int, folder: Path) -> FlopSet:
    """`count` flops with weights that stand for all in the game of the solution in `folder`.

    Any solution of a similar game with hand classes serves; the nearer the game, the better.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise InputError(
            f"fitted_from: {folder} holds no solution; name the folder of a whole game that was "
            "solved on all flops, or write flops: subset_95"
        )
    return _fitted(count, folder, manifest.stat().st_mtime_ns)


@lru_cache(8)
def _fitted(count: int, folder: Path, changed: int) -> FlopSet:
    del changed  # a solution that was written again is read again
    return choose_flops(count, [solution_leaves(folder)], f"fitted_{count}")


def solution_leaves(folder: Path) -> Floats:
    """[1755, D]: what the pots of a solution on all flops are worth, as `leaf_features`."""
    result = load_unified(folder)
    flops = result.game.flops
    if not (flops.is_all and result.has_flops and result.game.flop_pots):
        held = "stores no flops" if flops.is_all else f"has {len(flops.flops):,} flops"
        raise InputError(
            f"fitted_from: {folder} cannot say which flops stand for all: it {held}; "
            "it takes a solution on all 1,755 (flops: all, cards: classes, memory: resident)"
        )
    return leaves_of(result)


def leaves_of(result: WholeSolution) -> Floats:
    """[F, D]: what the pots of a solution are worth on each of its flops."""
    flops = range(len(result.game.flops.flops))
    source = result.stored.source
    values = np.stack([source.arrays(place)["values"] for place in flops], axis=2)
    nodes = [pot.node for pot in result.game.flop_pots]
    return leaf_features(values, result.before.reach[nodes].transpose(1, 0, 2))

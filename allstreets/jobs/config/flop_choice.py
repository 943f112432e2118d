"""The keys that choose the flops of a game; `fitted_95` are chosen by a solution on all flops.

So this file imports everything that whole games need: it is separate from keys that spots share,
which start faster without it.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from allstreets.base import Floats, InputError
from allstreets.cards import HAND_SIZES, FlopSet, choose_flops, fitted_count, parse_flop_set
from allstreets.jobs.config.model import ConfigModel, WrongKeyError
from allstreets.solutions import WholeSolution
from allstreets.storage import MANIFEST, load_unified


def leaf_features(values: NDArray[np.floating], reach: Floats) -> Floats:
    """[F, D]: of values [2, P, F, 169] for the hands of both players, and their reach [2, P, 169].

    Values are totals over the combos of a class, in chips times pairs of combos. The value of a pot
    to a hand matters in proportion to its reach, and errors of single combos even out over a class:
    so values are multiplied by √reach / √combos.
    """
    scaled = values * (np.sqrt(reach) / np.sqrt(HAND_SIZES))[:, :, None]
    features: Floats = scaled.transpose(2, 0, 1, 3).reshape(values.shape[2], -1)
    return features.astype(np.float64)


def fitted_flops(count: int, folder: Path) -> FlopSet:
    """`count` flops with weights that stand for all in the game of the solution in `folder`.

    Any solution of a similar game with hand classes will do; the more similar, the better.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise InputError(
            f"fitted_from: {folder} contains no solution; name the folder of a whole game that was "
            "solved on all flops, or write flops: subset_95"
        )
    return _fitted(count, folder, manifest.stat().st_mtime_ns)


@lru_cache(8)
def _fitted(count: int, folder: Path, changed: int) -> FlopSet:
    del changed  # a solution that was written again is read again
    return choose_flops(count, [solution_leaves(folder)], f"fitted_{count}")


def solution_leaves(folder: Path) -> Floats:
    """[1755, D]: the values of a solution's pots on all flops, as `leaf_features`."""
    result = load_unified(folder)
    flops = result.game.flops
    if not (flops.is_all and result.has_flops and result.game.flop_pots):
        held = "stores no flops" if flops.is_all else f"has {len(flops.flops):,} flops"
        raise InputError(
            f"fitted_from: {folder} cannot say which flops stand for all: it {held}; "
            "use a solution on all 1,755 (flops: all, cards: classes, memory: resident)"
        )
    return leaves_of(result)


def leaves_of(result: WholeSolution) -> Floats:
    """[F, D]: the values of a solution's pots on each of its flops."""
    flops = range(len(result.game.flops.flops))
    source = result.stored.source
    values = np.stack([source.arrays(number)["values"] for number in flops], axis=2)
    nodes = [pot.node for pot in result.game.flop_pots]
    return leaf_features(values, result.before.reach[nodes].transpose(1, 0, 2))


class FlopsConfig(ConfigModel):
    """The flops that may come."""

    flops: int | str | tuple[str, ...] = Field(default="all", examples=["all"])
    """all; subset_95 (15, 25, 49, 95, 184 or 352 flops with weights, chosen to stand for all
    1,755); fitted_95 (chosen for this game, see fitted_from); spread_25 or 25 (middles of equal
    parts); or a list of flops."""

    fitted_from: str | None = Field(default=None, examples=["runs/all_flops"])
    """With flops fitted_N: a folder with a solution of this game, or one like it, on all flops."""

    @field_validator("flops")
    @classmethod
    def _flops_can_be_read(cls, value: int | str | tuple[str, ...]) -> int | str | tuple[str, ...]:
        if fitted_count(value) is None:
            parse_flop_set(f"spread_{value}" if isinstance(value, int) else value)
        return value

    @model_validator(mode="after")
    def _fitted_to_something(self) -> "FlopsConfig":
        fitted = fitted_count(self.flops)
        if fitted and self.fitted_from is None:
            raise WrongKeyError(
                "flops",
                f"{self.flops} is chosen by a solution on all flops: name its folder with "
                "fitted_from, or write subset_95",
            )
        if self.fitted_from is not None and not fitted:
            raise WrongKeyError("fitted_from", "is for flops fitted_95, say; leave it out")
        return self

    def flop_set(self) -> FlopSet:
        """The flops that may come, with their weights."""
        if count := fitted_count(self.flops):
            return fitted_flops(count, Path(self.fitted_from or ""))
        return parse_flop_set(self.flops)

"""How the 169 classes become the hands that a card model plays with on a flop.

What later streets of `buckets` need of the cards is recomputed, since for all flops it would fill a
disk. Of `exact` games the flop is stored, with its EVs: turn and river would take gigabytes per
flop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from allstreets.base import Bytes, Floats, Longs
from allstreets.betting import Street
from allstreets.cards import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, Flop, live_combos
from allstreets.engines import (
    BucketCounts,
    CardModel,
    Stage,
    bucket_stages,
    build_bucket_model,
    class_stages,
)


def flop_hands(model: CardModel, flop: Flop, held: Bytes | None = None) -> "ModelHands":
    """The hands of a flop; `held` [169, H] are the combos of each class in each bucket."""
    if model.plays_combos:
        return combo_hands(flop)
    if model.kind == "buckets":
        assert held is not None
        return bucket_hands(held, lambda: _bucket_stages(flop.cards, model.buckets, model.seed))
    stages = class_stages(flop.cards)
    return ModelHands(np.diag(stages[0].combos), stages[0], lambda: stages)


@dataclass(frozen=True, eq=False)
class ModelHands:
    """The H hands of the first stage on a flop, and the cards of all stages."""

    held: Floats  # [169, H]: how many combos of each class each hand has
    first: Stage  # without margins where `stages` takes a while
    stages: Callable[[], tuple[Stage, ...]]

    @property
    def combos(self) -> Floats:
        """[169]: combos of each class beside the flop."""
        combos: Floats = self.held.sum(axis=1)
        return combos

    def stage(self, number: int) -> Stage:
        """The pairs of a stage, found at once for the first one."""
        return self.stages()[number] if number else self.first


def live(flop: Flop) -> Longs:
    """[H]: the combos beside a flop, rising: the hands of the exact model."""
    return np.flatnonzero(live_combos(flop.cards))


def combo_hands(flop: Flop) -> ModelHands:
    """Every combo for itself."""
    combos = live(flop)
    places = np.arange(len(combos))
    held = np.zeros((HAND_COUNT, len(combos)))
    held[HAND_OF_COMBO[combos], places] = 1.0
    cards = np.zeros((len(combos), 52))
    cards[places[:, None], COMBO_CARDS[combos]] = 1.0
    stage = Stage((Street.FLOP,), np.ones(len(combos)), cards, np.zeros((0, 0), np.float32))
    return ModelHands(held, stage, lambda: (stage,))


def bucket_hands(held: Bytes, stages: Callable[[], tuple[Stage, ...]]) -> ModelHands:
    """Buckets; flops with fewer than others have columns of zeros at the end."""
    combos = held.sum(axis=0, dtype=np.float64)
    count = int(np.flatnonzero(combos)[-1]) + 1
    first = Stage((Street.FLOP,), combos[:count], None, np.zeros((0, 0), np.float32))
    return ModelHands(held[:, :count].astype(np.float64), first, stages)


@lru_cache(maxsize=4)
def _bucket_stages(
    flop: tuple[int, int, int], counts: tuple[int, int, int], seed: int
) -> tuple[Stage, ...]:
    return bucket_stages(build_bucket_model(flop, BucketCounts(*counts), seed))

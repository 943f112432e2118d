"""How the 169 classes become the hands that a card model plays with on a flop.

| model     | hands                    | of a stored solution is there                             |
|-----------|--------------------------|-----------------------------------------------------------|
| `classes` | the classes              | all streets                                               |
| `buckets` | buckets, on every street | all streets; what later ones need of the cards is found   |
|           |                          | anew, since for all flops it would fill a disk            |
| `exact`   | combos                   | the flop, with the EVs found there; turn and river would  |
|           |                          | take gigabytes a flop                                     |
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Street
from allstreets.cards import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, Flop, live_combos
from allstreets.solvers.flops.strategies import StageStreets
from allstreets.subgames.buckets import BucketCounts, bucket_stages, build_bucket_model
from allstreets.subgames.classes import class_stages
from allstreets.subgames.matrix_model import POSTFLOP, Stage

Floats = NDArray[np.float64]
Kind = Literal["classes", "buckets", "exact"]

NO_STRATEGIES = ", values only"  # how `FreshFlops` ends its model's name
BUCKETS = re.compile(r"buckets \((\d+), (\d+), (\d+)\) seed (\d+)")
BY_STREET: StageStreets = tuple((street,) for street in POSTFLOP)
STREETS: dict[Kind, StageStreets] = {
    "classes": (POSTFLOP,),
    "buckets": BY_STREET,
    "exact": (POSTFLOP[:1], POSTFLOP[1:]),
}


@dataclass(frozen=True)
class CardModel:
    """A card model as its name tells it (`FlopGames.model`)."""

    name: str
    kind: Kind
    is_kept: bool  # whether strategies after the flop are there at all
    counts: BucketCounts | None = None
    seed: int = 0

    @classmethod
    def parse(cls, name: str) -> "CardModel":
        """Read a name such as "classes", "exact float32", "buckets (20, 500, 500) seed 1".

        >>> CardModel.parse("buckets (20, 500, 500) seed 1").counts
        BucketCounts(flop=20, turn=500, river=500)
        >>> CardModel.parse("buckets, values only").is_kept
        False
        """
        plain, kept = name.removesuffix(NO_STRATEGIES), not name.endswith(NO_STRATEGIES)
        kinds: tuple[Kind, ...] = ("classes", "buckets", "exact")
        kind = next(kind for kind in kinds if plain.startswith(kind))
        if found := BUCKETS.fullmatch(plain):
            flop, turn, river, seed = (int(number) for number in found.groups())
            return cls(name, kind, kept, BucketCounts(flop, turn, river), seed)
        return cls(name, kind, kept)

    @property
    def streets(self) -> StageStreets:
        """The streets of each stage of the stored strategies."""
        return STREETS[self.kind]

    @property
    def last_street(self) -> Street:
        """The last street whose decisions are kept."""
        return Street.FLOP if self.kind == "exact" else Street.RIVER

    def hands(self, flop: Flop, held: NDArray[np.uint8] | None = None) -> "FlopHands":
        """The hands of a flop; `held` [169, H] are the combos of each class in each bucket."""
        if self.kind == "classes":
            stages = class_stages(flop.cards)
            return FlopHands(np.diag(stages[0].combos), stages[0], lambda: stages)
        if self.kind == "exact":
            return combo_hands(flop)
        assert held is not None
        assert self.counts is not None
        cards, counts, seed = flop.cards, self.counts, self.seed
        return bucket_hands(held, lambda: _bucket_stages(cards, counts, seed))


@dataclass(frozen=True, eq=False)
class FlopHands:
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


def live(flop: Flop) -> NDArray[np.int64]:
    """[H]: the combos beside a flop, rising: the hands of the exact model."""
    return np.flatnonzero(live_combos(flop.cards))


def combo_hands(flop: Flop) -> FlopHands:
    """Every combo for itself."""
    combos = live(flop)
    places = np.arange(len(combos))
    held = np.zeros((HAND_COUNT, len(combos)))
    held[HAND_OF_COMBO[combos], places] = 1.0
    cards = np.zeros((len(combos), 52))
    cards[places[:, None], COMBO_CARDS[combos]] = 1.0
    stage = Stage((Street.FLOP,), np.ones(len(combos)), cards, np.zeros((0, 0), np.float32))
    return FlopHands(held, stage, lambda: (stage,))


def bucket_hands(held: NDArray[np.uint8], stages: Callable[[], tuple[Stage, ...]]) -> FlopHands:
    """Buckets; flops with fewer than others have columns of zeros at the end."""
    combos = held.sum(axis=0, dtype=np.float64)
    count = int(np.flatnonzero(combos)[-1]) + 1
    first = Stage((Street.FLOP,), combos[:count], None, np.zeros((0, 0), np.float32))
    return FlopHands(held[:, :count].astype(np.float64), first, stages)


@lru_cache(maxsize=4)
def _bucket_stages(
    flop: tuple[int, int, int], counts: BucketCounts, seed: int
) -> tuple[Stage, ...]:
    return bucket_stages(build_bucket_model(flop, counts, seed))

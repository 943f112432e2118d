"""The description of an engine's games, from which it is built wherever it is to live.

An `EngineSpec` is small and can be pickled: it is sent to where the arrays will live, another
thread, process or device, and built there. A part of the flops is the same description with fewer
flops, so that shards and batches need nothing else. An engine is imported when it is built: a river
needs no other engine's kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from allstreets import engines  # each of which waits until it is built
from allstreets.base import Floats, InputError, Longs
from allstreets.betting import BettingTree, PostflopRules, build_postflop_tree, payoffs
from allstreets.cards import Flop, Runouts
from allstreets.engines.card_model import (
    CLASSES,
    ON_GPUS,
    ON_PROCESSORS,
    CardModel,
    DealtPairs,
    Kind,
    MemoryMode,
)
from allstreets.engines.device import CPU, Device, open_device
from allstreets.engines.exact.buckets import MakeBuckets, StreetBuckets
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.machine import MappedMemory, own_pages
from allstreets.engines.protocol import Engine
from allstreets.engines.trees import Trees, deal_streets

if TYPE_CHECKING:
    from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
    from allstreets.engines.matrix.game import Allocate


@dataclass(frozen=True)
class EngineSpec:
    """P pots on F flops, what players know of the cards, and where the arrays live."""

    pots: tuple[PostflopRules, ...]
    flops: tuple[Flop, ...]
    model: CardModel = CLASSES
    memory: MemoryMode = "resident"
    folder: Path | None = None  # of the files of `memmap`
    threads: int = 1
    ranges: Floats | None = None  # [2, P, 169] that start the pots; None: all hands
    device: str = CPU

    def of(self, flops: Longs) -> EngineSpec:
        """The same for some of the flops, in memory."""
        chosen = tuple(self.flops[number] for number in flops.tolist())
        return replace(self, flops=chosen, memory="resident")

    def trees(self) -> Trees:
        """Tree and payoffs of every pot."""
        built = ((build_postflop_tree(rules), rules) for rules in self.pots)
        return [(tree, payoffs(tree, rules)) for tree, rules in built]

    def dealt(self) -> DealtPairs:
        """The pairs of combos that are dealt on each flop."""
        cards = [flop.cards for flop in self.flops]
        return DealtPairs.of(cards, removal=self.model.removes_cards)

    def build(self, trees: Trees | None = None, allocate: Allocate = own_pages) -> Engine:
        """The engine, here; `trees` saves building them again.

        `allocate` makes the large arrays of `classes` and `buckets` that are resident.
        """
        if self.memory not in self.model.can.memory:
            raise InputError(
                f"memory {self.memory} is for cards: classes and buckets; {self.model.kind} games "
                "are resident"
            )
        device = open_device(self.device)
        if device is not None and self.model.kind not in ON_GPUS:
            raise InputError(
                f"device: {self.device} takes cards: {', '.join(ON_GPUS)}; "
                f"{self.model.kind} games run on the cpu"
            )
        trees = self.trees() if trees is None else trees
        for tree, _ in trees:
            require_playable(tree, self.model.kind, device)
        if self.memory == "per_batch":
            return engines.PerBatchEngine(
                self.model, len(trees), self.dealt(), lambda flops: self.of(flops).build(trees)
            )
        return FACTORIES[self.model.kind](self, trees, device, allocate)

    def matrix_cards(self) -> MatrixCards:
        """The card data of `classes` and `buckets`, flop by flop."""
        if self.model.kind != "buckets":
            return engines.MatrixCards(
                [engines.class_stages(flop.cards) for flop in self.flops], self.dealt()
            )
        counts = engines.BucketCounts(*self.model.buckets)
        stages, roots, buckets = engines.bucket_flops(
            self.flops, counts, self.model.seed, self.threads
        )
        return engines.MatrixCards(stages, self.dealt(), roots, buckets, self.model.buckets)


def require_playable(tree: BettingTree, kind: Kind, device: Device | None) -> None:
    """Refuse a tree with locked decisions on engines that would ignore them."""
    can = ON_PROCESSORS[kind] if device is None else ON_GPUS[kind]
    if tree.is_locked and not can.locks:
        raise InputError(
            f"lock: cards {kind} does not support locks after the flop: use other cards"
        )
    if tree.hand_locks and not can.locks_combos:
        raise InputError(
            "lock: after the flop some hands are locked with cards boards or exact; with "
            f"{kind} lock all hands of a decision"
        )


def exact_subgame(
    tree: BettingTree,
    payoffs: Floats,
    root: Runouts,
    combos: tuple[Longs, Longs],
    threads: int = 1,
    precision: str = "float32",
    like: ExactSubgame | None = None,
    buckets: StreetBuckets | MakeBuckets | None = None,
    learns: bool = True,
    device: Device | None = None,
    tremble: float = 0.0,
) -> ExactSubgame:
    """An `ExactSubgame`; if it learns, on the device if there is one."""
    levels = deal_streets(tree)
    shared = like is not None and like.levels == levels
    streets = engines.flop_streets(root, combos) if not shared and len(levels) == 3 else []
    if device is None or not learns:
        return ExactSubgame(
            tree, payoffs, root, combos, threads, precision, like, buckets, learns, tremble, streets
        )
    require_playable(tree, "exact", device)
    return engines.CudaSubgame(
        tree, payoffs, root, combos, device, threads, precision, like, buckets, tremble, streets
    )


# An engine for each kind of cards.


def _matrix(spec: EngineSpec, trees: Trees, device: Device | None, allocate: Allocate) -> Engine:
    if device is not None:
        return engines.CudaMatrixEngine(
            trees, spec.matrix_cards(), device, spec.model, spec.threads
        )
    return _matrices(spec, trees, allocate)


def _matrices(spec: EngineSpec, trees: Trees, allocate: Allocate) -> MatrixEngine:
    if spec.memory == "memmap":
        if spec.folder is None:
            raise InputError("memory memmap needs a folder on disk: give --output")
        allocate = MappedMemory(spec.folder)
    return engines.MatrixEngine(trees, spec.matrix_cards(), spec.model, spec.threads, allocate)


def _sampled(spec: EngineSpec, trees: Trees, device: Device | None, allocate: Allocate) -> Engine:
    del device
    matrices = _matrices(spec, trees, allocate)
    return engines.SampledEngine(trees, spec.flops, matrices, spec.model, spec.threads)


def _exact(spec: EngineSpec, trees: Trees, device: Device | None, allocate: Allocate) -> Engine:
    del allocate
    subgame = partial(exact_subgame, device=device)
    return engines.ExactEngine(trees, spec.flops, spec.threads, spec.model, device, subgame)


def _boards(spec: EngineSpec, trees: Trees, device: Device | None, allocate: Allocate) -> Engine:
    del allocate
    if device is None:
        return engines.BoardsEngine(trees, spec.flops, spec.threads, spec.model, spec.ranges)
    return engines.CudaBoardsEngine(
        trees, spec.flops, spec.threads, spec.model, device, spec.ranges
    )


FACTORIES: dict[Kind, Callable[[EngineSpec, Trees, Device | None, Allocate], Engine]] = {
    "classes": _matrix,
    "buckets": _matrix,
    "exact": _exact,
    "sampled": _sampled,
    "boards": _boards,
}

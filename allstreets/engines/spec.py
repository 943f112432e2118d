"""From a description of games to the engine that owns them.

An `EngineSpec` is small and can be pickled: it is sent to where the arrays will live, another
thread, process or device, and built there. A part of the flops is the same description with fewer
flops, so that shards and batches need nothing else.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from allstreets.base import Floats, InputError, Longs
from allstreets.betting import BettingTree, PostflopRules, build_postflop_tree, payoffs
from allstreets.cards import Flop
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.card_model import CLASSES, ON_GPUS, CardModel, MemoryMode
from allstreets.engines.cuda.boards import CudaBoardsEngine
from allstreets.engines.cuda.matrix import CudaMatrixEngine
from allstreets.engines.dealt_pairs import DealtPairs
from allstreets.engines.device import CPU, open_device
from allstreets.engines.exact.engine import ExactEngine
from allstreets.engines.exact_factory import exact_subgame, require_free
from allstreets.engines.mapped_memory import MappedMemory, own_pages
from allstreets.engines.matrix.buckets import BucketCounts, bucket_flops
from allstreets.engines.matrix.cards import class_stages
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.engines.matrix.game import Allocate
from allstreets.engines.per_batch import PerBatchEngine
from allstreets.engines.protocol import Engine
from allstreets.engines.sampled.engine import SampledEngine

Trees = list[tuple[BettingTree, Floats]]


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

    def of(self, flops: Longs) -> "EngineSpec":
        """The same for some of the flops, in memory."""
        chosen = tuple(self.flops[place] for place in flops.tolist())
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
        can = self.model.can
        if self.memory not in can.memory:
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
            require_free(tree, device)
            if tree.is_locked and not can.locks:
                raise InputError(
                    "lock: sampled deals know no locks after the flop: use other cards"
                )
            if tree.hand_locks and not can.locks_combos:
                raise InputError(
                    "lock: after the flop some hands are locked with cards boards or exact; with "
                    f"{self.model.kind} lock all hands of a decision"
                )
        if self.memory == "per_batch":
            return PerBatchEngine(
                self.model, len(trees), self.dealt(), lambda flops: self.of(flops).build(trees)
            )
        if self.model.kind == "exact":
            subgame = partial(exact_subgame, device=device)
            return ExactEngine(trees, self.flops, self.threads, self.model, device, subgame)
        if self.model.kind == "boards" and device is not None:
            return CudaBoardsEngine(
                trees, self.flops, self.threads, self.model, device, self.ranges
            )
        if self.model.kind == "boards":
            return BoardsEngine(trees, self.flops, self.threads, self.model, self.ranges)
        if device is not None:
            return CudaMatrixEngine(trees, self._cards(), device, self.model, self.threads)
        matrices = MatrixEngine(
            trees, self._cards(), self.model, self.threads, self._allocate(allocate)
        )
        if self.model.kind == "sampled":
            return SampledEngine(trees, self.flops, matrices, self.model, self.threads)
        return matrices

    def _cards(self) -> MatrixCards:
        if self.model.kind != "buckets":
            return MatrixCards([class_stages(flop.cards) for flop in self.flops], self.dealt())
        counts = BucketCounts(*self.model.buckets)
        stages, roots, buckets = bucket_flops(self.flops, counts, self.model.seed, self.threads)
        return MatrixCards(stages, self.dealt(), roots, buckets, self.model.buckets)

    def _allocate(self, resident: Allocate) -> Allocate:
        if self.memory != "memmap":
            return resident
        if self.folder is None:
            raise InputError("memory memmap needs a folder on disk: give --output")
        return MappedMemory(self.folder)

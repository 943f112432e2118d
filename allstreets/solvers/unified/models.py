"""The subgames of a unified game under each card model and each way of keeping them."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.solvers.unified.game import UnifiedGame
from allstreets.subgames.classes import class_stages
from allstreets.subgames.exact_flops import ExactFlops
from allstreets.subgames.flop_games import FlopGames
from allstreets.subgames.flop_pairs import FlopPairs
from allstreets.subgames.fresh_flops import FreshFlops
from allstreets.subgames.mapped_memory import MappedMemory, own_pages
from allstreets.subgames.matrix_flops import MatrixFlops

CardModel = Literal["classes", "buckets", "exact"]
MemoryMode = Literal["resident", "memmap", "values"]
Counts = tuple[int, int, int]  # buckets on flop, turn, river


def make_games(
    game: UnifiedGame,
    cards: CardModel = "classes",
    *,
    threads: int = 1,
    memory: MemoryMode = "resident",
    folder: Path | None = None,
    buckets: Counts = (20, 500, 500),
    precision: str = "float32",
    seed: int = 1,
) -> FlopGames:
    """All pots on all flops; `folder` is where `memmap` keeps them."""
    flops = game.flops.flops
    allocate: Callable[[tuple[int, int]], NDArray[np.float32]] = own_pages
    if memory == "memmap":
        if folder is None:
            raise InputError("memory memmap needs a folder on disk: give --output")
        allocate = MappedMemory(folder)
    if cards == "exact":
        if memory != "resident":
            raise InputError(
                f"memory {memory} is for cards: classes and buckets; exact games are resident"
            )
        return ExactFlops(game.trees, flops, threads, precision)
    dealt = FlopPairs.of([flop.cards for flop in flops], removal=cards == "classes")

    def matrices(some: NDArray[np.int64]) -> MatrixFlops:
        chosen = [flops[place] for place in some]
        pairs = FlopPairs.of([flop.cards for flop in chosen], removal=cards == "classes")
        if cards == "classes":
            stages = [class_stages(flop.cards) for flop in chosen]
            return MatrixFlops(
                game.trees, stages, pairs, threads=threads, allocate=allocate, model=cards
            )
        from allstreets.subgames.bucket_flops import bucket_flops
        from allstreets.subgames.buckets import BucketCounts

        models, roots = bucket_flops(chosen, BucketCounts(*buckets), seed, threads)
        name = f"buckets {buckets} seed {seed}"
        return MatrixFlops(game.trees, models, pairs, roots, threads, allocate, name)

    if memory == "values":
        return FreshFlops(cards, len(game.pots), dealt, matrices)
    return matrices(np.arange(len(flops)))

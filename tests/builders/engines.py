"""Small engines of every kind behind one protocol: two pots on two flops."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from builders.host_device import HostDevice
from builders.worker_pools import PoolHere

from allstreets.base import Floats, Longs
from allstreets.betting import Player, PostflopRules, Street, same_sizes
from allstreets.cards import HAND_COUNT, Flop, Runouts
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.cluster import ClusterEngine
from allstreets.engines.boards.cards import FlopBoards, bucket_hands, flop_boards
from allstreets.engines.boards.listed_river import flop_streets
from allstreets.engines.card_model import CLASSES, EXACT, CardModel
from allstreets.engines.device import CPU
from allstreets.engines.exact.cards import StreetBoards
from allstreets.engines.matrix.buckets import build_bucket_model
from allstreets.engines.protocol import Engine
from allstreets.engines.spec import EngineSpec

FLOPS = named_flops(["7s7h7d", "KsKhKd"]).flops  # on which most runouts are alike
EVERY = np.arange(len(FLOPS))
SCHEDULE = parse_schedule("tuned")
MODELS = {
    "classes": CLASSES,
    "buckets": CardModel("buckets", (5, 18, 20)),
    "exact": EXACT,
    "suits": CardModel("exact", river_groups="suits"),
    "boards": CardModel("boards", groups=16, rows=16),
    "sampled": CardModel("sampled", sample_pct=0.02),
}


def rules(pot: int, stack: int, streets: int) -> PostflopRules:
    """Checked, or all-in with the first bet on the first `streets`; most boards are rivers."""
    bets = same_sizes(Street.FLOP, "a", "")[:streets]
    sizes = (*bets, *same_sizes(Street.FLOP, "", "")[streets:])
    return PostflopRules(Street.FLOP, pot, stack, sizes, max_raises=0)


POTS = rules(200, 100, 2), rules(100, 250, 2)
ON_THE_FLOP = rules(200, 100, 1), rules(100, 250, 1)


@dataclass(frozen=True)
class Kind:
    """A card model, and who owns the arrays."""

    model: str
    device: str = CPU
    workers: int = 0
    flops: tuple[Flop, ...] = FLOPS
    pots: tuple[PostflopRules, ...] = POTS

    def spec(self, pots: tuple[PostflopRules, ...] | None = None, **others: Any) -> EngineSpec:
        """The description of its engine."""
        return EngineSpec(
            self.pots if pots is None else pots,
            self.flops,
            MODELS[self.model],
            device=self.device,
            **others,
        )

    def build(self, pots: tuple[PostflopRules, ...] | None = None, **others: Any) -> Engine:
        """A new engine."""
        spec = self.spec(pots, **others)
        if self.workers:
            return ClusterEngine(spec, PoolHere(self.workers), threads=spec.threads)
        with ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr("allstreets.engines.spec.open_device", _opened)
            # Buckets are the same on every device (`gpu/test_cuda_bucketing`).
            patch.setattr("allstreets.engines.boards.engine.flop_boards", _flop_boards)
            patch.setattr("allstreets.engines.matrix.buckets.build_bucket_model", _bucket_model)
            patch.setattr("allstreets.engines.flop_streets", _streets)
            patch.setattr("allstreets.engines.cuda.boards.CudaBucketing", lambda _: bucket_hands)
            return spec.build()


def pots_of(model: str) -> tuple[PostflopRules, ...]:
    """Exact subgames are bet on the flop alone: all-ins on the turn take most of their time."""
    return ON_THE_FLOP if MODELS[model].kind == "exact" else POTS


KINDS: dict[str, Kind] = {
    **{name: Kind(name, pots=pots_of(name)) for name in MODELS},
    **{
        f"cuda {name}": Kind(name, "cuda", pots=pots_of(name))
        for name in MODELS
        if name != "sampled"
    },
    "cluster of classes": Kind("classes", workers=2),
    "cluster of boards": Kind("boards", workers=2),
}


def _opened(name: str) -> HostDevice | None:
    return None if name == CPU else HostDevice()


_BOARDS: dict[Any, FlopBoards] = {}


def _flop_boards(flop: Any, ranges: Any, settings: Any, _: Any) -> FlopBoards:
    key = flop, np.array(ranges).tobytes(), settings
    if key not in _BOARDS:
        _BOARDS[key] = flop_boards(flop, ranges, settings)
    return _BOARDS[key]


# What engines make of the cards before they play, each once.
_bucket_model = cache(build_bucket_model)
_STREETS: dict[tuple[int, ...], list[StreetBoards]] = {}


def _streets(root: Runouts, combos: tuple[Longs, Longs]) -> list[StreetBoards]:
    if root.board not in _STREETS:
        _STREETS[root.board] = flop_streets(root, combos)
    return _STREETS[root.board]


def any_reach(seed: int = 1, pots: int = len(POTS)) -> Floats:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, pots, HAND_COUNT))
    return np.where(drawn > 0.2, drawn, 0.0)


def weights(count: int, first: int = 1) -> list[IterationWeights]:
    """Of `count` iterations."""
    return list(SCHEDULE.run(first, count))


def train(engine: Engine, reach: Floats, count: int, first: int = 1) -> list[Floats]:
    """Iterations by steps on all flops; the values of both players in the last one."""
    values: list[Floats] = []
    for now in weights(count, first):
        values = [
            np.asarray(
                engine.step(p, reach[p], reach[p.opponent], EVERY, [now] * engine.flops), np.float64
            )
            for p in Player
        ]
    return values


def evaluations(engine: Engine, reach: Floats) -> Floats:
    """[2, 2, P, F, 169]: best responses and averages of both players."""
    runs: tuple[Callable[..., Floats], ...] = engine.best_response, engine.evaluate
    return np.array([[run(p, reach[p.opponent], EVERY) for p in Player] for run in runs])


class Pool:
    """Engines that have learned nothing, lent to one test after the other."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, int], list[Engine]] = defaultdict(list)
        self._lent: list[tuple[tuple[str, int], Engine]] = []
        self._blank: dict[str, dict[str, Any]] = {}

    def fresh(self, name: str, threads: int = 1) -> Engine:
        """An engine until `give_back`."""
        key, kind = (name, threads), KINDS[name]
        if kind.workers:
            return kind.build(threads=threads)
        if self._idle[key]:
            engine = self._idle[key].pop()
            engine.restore(self._blank[name])
        else:
            engine = kind.build(threads=threads)
            if name not in self._blank:
                self._blank[name] = {key: array.copy() for key, array in engine.state().items()}
        self._lent.append((key, engine))
        return engine

    def give_back(self) -> None:
        """A test has ended."""
        for key, engine in self._lent:
            self._idle[key].append(engine)
        self._lent.clear()


@cache
def trained(name: str) -> Engine:
    """An engine after four iterations; tests may not change it."""
    engine = KINDS[name].build()
    train(engine, any_reach(), 4)
    return engine


@cache
def evaluated(name: str) -> Floats:
    """[2, 2, P, F, 169]: the evaluations of that engine for the reach it was trained for."""
    values = evaluations(trained(name), any_reach())
    values.setflags(write=False)
    return values


def raked(name: str, rake: float) -> Engine:
    """An engine of the same pots with rake."""
    return KINDS[name].build(tuple(replace(pot, rake=rake) for pot in KINDS[name].pots))

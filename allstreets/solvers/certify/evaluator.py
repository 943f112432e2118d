"""Flop after flop with real cards: as the solution plays it, or as it is completed.

Where a solution stores no strategies of a flop, because it was not trained on it or because its
model keeps none after the flop, the flop is solved for the ranges that the solution sends there.
Its preflop strategy stays as it is, and the rest is what a player would do who studies that flop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from allstreets.base import Arrays, Floats
from allstreets.cards import Flop
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.engines import (
    CPU,
    TWO_BYTES,
    CardModel,
    EngineSpec,
    Lift,
    LiftedValues,
    evaluate_flop,
    lift_flop,
    open_device,
    solved_lifts,
)
from allstreets.solvers.whole_game.result import UnifiedResult

SCHEDULE = "ahead"
AT_ONCE = 4  # flops that are completed side by side at most, for the sake of memory
BOARDS = CardModel("boards", groups=32)
EXACTLY = CardModel("exact", precision="float16")


@dataclass(frozen=True)
class Completion:
    """How flops without stored strategies are solved."""

    model: CardModel = BOARDS
    iterations: int = 100

    @classmethod
    def like(
        cls,
        cards: CardModel,
        kind: Literal["boards", "classes", "exact"] | None = None,
        groups: int | None = None,
        iterations: int | None = None,
    ) -> "Completion":
        """As a solution with these cards solves its flops, where it stores what it needs to.

        What is named is as named.
        """
        model = cards if cards.kind == "boards" else BOARDS
        if kind is not None and kind != model.kind:
            model = EXACTLY if kind == "exact" else CardModel(kind)
        if groups is not None:
            model = replace(model, groups=groups)
        return cls(model, cls.iterations if iterations is None else iterations)

    @property
    def text(self) -> str:
        """For people: "classes, 200 iterations"."""
        return f"{self.model}, {self.iterations:,} iterations"


@dataclass(frozen=True, eq=False)
class Judge:
    """Plays a solution with real cards."""

    result: UnifiedResult
    completion: Completion = field(default_factory=Completion)
    threads: int = 1
    device: str = CPU  # where flops are solved exactly
    _ahead: dict[int, Arrays] = field(default_factory=dict)  # completed and not judged yet

    @cached_property
    def stored(self) -> dict[int, int]:
        """The places of flops, by their numbers, of which every decision is stored."""
        if not self.result.has_flops or not self.result.cards.stores_all_streets:
            return {}
        return {flop.number: place for place, flop in enumerate(self.result.game.flops.flops)}

    def completes(self, flop: Flop) -> str | None:
        """How a flop is solved before it is judged; None: it is stored."""
        return None if flop.number in self.stored else self.completion.text

    @cached_property
    def reach(self) -> Floats:
        """[2, P, 169]: both players' reach at the roots of the pots."""
        nodes = [pot.node for pot in self.result.game.flop_pots]
        reach: Floats = self.result.before.reach[nodes].transpose(1, 0, 2)
        return reach

    @cached_property
    def spec(self) -> EngineSpec:
        """What flops are completed by."""
        model, threads = self.completion.model, self.threads
        return self.result.game.engine(model, threads=threads, ranges=self.reach)

    def values(self, flop: Flop, following: Sequence[Flop] = ()) -> LiftedValues:
        """What the pots of a flop are worth; some of the `following` are completed with it."""
        own = self.result.rules.rake > 0  # without, one player's gain is the other's loss
        trees = [(pot.tree, pot.payoffs) for pot in self.result.game.pots]
        plays = self._plays(flop, following)
        there = open_device(self.device)
        return evaluate_flop(
            trees, flop, plays, self.reach, own=own, threads=self.threads, device=there
        )

    def _plays(self, flop: Flop, following: Sequence[Flop]) -> list[Lift]:
        """How the pots of a flop are played."""
        if flop.number not in self.stored and not self.completion.model.stores_all_streets:
            return solved_lifts(self.completion.model, self.reach, self._every)
        model, arrays = self._strategies(flop, following)
        return lift_flop(model, flop, [pot.tree for pot in self.result.game.pots], arrays)

    def _strategies(self, flop: Flop, following: Sequence[Flop]) -> tuple[CardModel, Arrays]:
        place = self.stored.get(flop.number)
        if place is not None:
            return self.result.cards, self.result.source.arrays(place)
        if flop.number not in self._ahead:
            others = [one for one in following if one.number not in self.stored]
            count = min(self.threads, AT_ONCE)
            self._ahead.update(self.completed([flop, *others][:count]))
        return self.completion.model, self._ahead.pop(flop.number)

    @property
    def _every(self) -> list[IterationWeights]:
        """What each iteration of a completion does."""
        return parse_schedule(SCHEDULE).run(1, self.completion.iterations)

    def completed(self, flops: Sequence[Flop]) -> dict[int, Arrays]:
        """The strategies of flops that are solved for the solution's ranges, by their numbers.

        They are as a bundle has them. Pots that both players hardly ever get to are solved as well:
        a best response may.
        """
        game, pots = self.result.game, len(self.result.game.pots)
        games = game.build(replace(self.spec, flops=tuple(flops)))
        games.iterate(self.reach, np.ones((pots, len(flops)), np.bool_), self._every)
        return {
            flop.number: games.pack(place, self.reach, [TWO_BYTES] * pots)
            for place, flop in enumerate(flops)
        }

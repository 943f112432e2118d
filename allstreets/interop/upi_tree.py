"""The tree of a session: a spot with its solver or its stored solution, and its locks."""

from dataclasses import dataclass, field

import numpy as np

from allstreets.base import Flags, Floats
from allstreets.cards import Range
from allstreets.games import Lock, Spot
from allstreets.interop.upi_solving import BackgroundSolve
from allstreets.solutions import Node, Position, SpotSolution
from allstreets.solvers import SpotSolver


@dataclass(frozen=True, eq=False)
class Locked:
    """A strategy that some hands are locked to at a node."""

    node: Node
    strategy: Floats  # [A, 1326]
    held: Flags  # [1326]

    def lock(self) -> Lock:
        """The lock of a spot file."""
        words = self.node.ranges.actions
        shares = np.zeros_like(self.strategy)
        held = self.strategy[:, self.held]
        shares[:, self.held] = np.minimum(held / held.sum(axis=0), 1.0)
        ranges = {
            word: str(Range(row)) for word, row in zip(words, shares, strict=True) if row.any()
        }
        return Lock(self.node.line, ranges=ranges)


@dataclass(eq=False)
class Tree:
    """A tree that was built or loaded."""

    spot: Spot
    scale: tuple[float, float] = (1.0, 1.0)  # the largest weights of both ranges as they were set
    solver: SpotSolver | None = None
    stored: SpotSolution | None = None  # of a folder, until it is trained on
    seconds_before: float = 0.0  # of training in the folder that it was loaded from
    runs: list[BackgroundSolve] = field(default_factory=list)
    own_locks: tuple[Lock, ...] = ()  # of the folder that it was loaded from
    locks: dict[Position, Locked] = field(default_factory=dict)
    given: dict[Position, Floats] = field(default_factory=dict)  # strategies that were set
    changed: SpotSolution | None = None  # with these strategies, once its numbers are asked for
    shown: tuple[int, SpotSolution] | None = None

    @property
    def seconds(self) -> float:
        """Seconds of training."""
        return self.seconds_before + sum(run.seconds for run in self.runs)

    @property
    def solution(self) -> SpotSolution:
        """The solution with the current strategies."""
        if self.stored is not None:
            return self.stored
        assert self.solver is not None
        if self.shown is None or self.shown[0] != self.solver.iterations:
            self.shown = self.solver.iterations, SpotSolution.of(self.solver)
        return self.shown[1]

"""The tree of a session: a spot with what was locked there, with its solver or its stored solution.

Whole games stand in `games`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from allstreets.base import Flags, Floats, InputError, available_bytes
from allstreets.betting import Player
from allstreets.cards import Range, card_text
from allstreets.games import Lock, Spot, estimate_spot, require_memory
from allstreets.interop.upi.nodes import Nodes
from allstreets.interop.upi.solving import BackgroundSolve
from allstreets.interop.upi.text import tree_info
from allstreets.solutions import Node, Position, SpotSolution
from allstreets.solvers import SpotSolver, WholeGameSolver
from allstreets.storage import open_spot_solver, save_spot

Saved = Literal["full", "turn", "flop"]


@dataclass(frozen=True)
class Results:
    """EVs of OOP and IP, and what best responses win, in chips of the client."""

    evs: tuple[float, float]
    best: tuple[float, float]  # NaN: not known
    exploitable: float


class Tree(ABC):
    """A tree that was built or loaded; amounts are in chips of the client."""

    def __init__(self, seconds: float = 0.0) -> None:
        """`seconds` of training, in the folder that it was loaded from."""
        self.seconds_before = seconds
        self.runs: list[BackgroundSolve] = []

    @property
    def seconds(self) -> float:
        """Seconds of training."""
        return self.seconds_before + sum(run.seconds for run in self.runs)

    @property
    @abstractmethod
    def pot(self) -> float:
        """The pot that accuracies are fractions of: blinds included."""

    @property
    def start(self) -> tuple[tuple[float, float], float]:
        """The bets of OOP and IP before the first action, and the rest of the pot."""
        return (0.0, 0.0), self.pot

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations of training."""

    @property
    @abstractmethod
    def stack(self) -> float:
        """The effective stack."""

    @property
    def board(self) -> Sequence[str]:
        """The cards on the table when it begins."""
        return ()

    @property
    @abstractmethod
    def info(self) -> list[str]:
        """The tree as the lines that PioSOLVER's viewer writes."""

    @property
    @abstractmethod
    def ranges(self) -> tuple[Range, Range]:
        """The ranges of OOP and IP when it begins."""

    @property
    def scale(self) -> tuple[float, float]:
        """The largest weights of both ranges as they were set."""
        return 1.0, 1.0

    @property
    @abstractmethod
    def nodes(self) -> Nodes:
        """The nodes with the strategies that were solved."""

    @property
    def played(self) -> Nodes:
        """The nodes with the current strategies, those that were set included."""
        return self.nodes

    @abstractmethod
    def trainable(self, threads: int | None) -> SpotSolver | WholeGameSolver:
        """The spot's solver, with all settings made since."""

    @abstractmethod
    def exploitability(self) -> float:
        """The exploitability of what the solver holds, as a fraction of the pot."""

    @abstractmethod
    def results(self) -> Results:
        """The results of the current strategies."""

    @abstractmethod
    def save(self, folder: Path, saved: Saved) -> None:
        """Write its folder, down to the street that is named."""


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


@dataclass(frozen=True, eq=False)
class _Given:
    """Locks and strategies that a client has set in the tree of a spot."""

    locks: dict[Position, Locked] = field(default_factory=dict)
    strategies: dict[Position, Floats] = field(default_factory=dict)  # [A, 1326]


class SpotTree(Tree):
    """A spot, with what was locked and set there."""

    def __init__(
        self,
        spot: Spot,
        threads: int | None,
        scale: tuple[float, float] = (1.0, 1.0),
        stored: SpotSolution | None = None,
    ) -> None:
        """`stored` is the solution of a folder; else its solver is made, which plays evenly."""
        super().__init__(0.0 if stored is None else stored.seconds)
        self.spot, self._scale, self._threads = spot, scale, threads
        self.stored = stored  # until it is trained on
        self._own_locks = spot.lock  # of the folder, or of lines that are forced
        self._given = _Given()
        self._changed: SpotSolution | None = None  # once what was set is asked for
        self._shown: tuple[int, SpotSolution] | None = None
        self._solver = None if stored is not None else self._new_solver(spot)

    def _new_solver(self, spot: Spot) -> SpotSolver:
        require_room(spot)
        return SpotSolver(spot, threads=self._threads)

    @property
    def pot(self) -> float:
        """The starting pot."""
        return self.spot.pot

    @property
    def iterations(self) -> int:
        """Iterations of training."""
        return (self._solver or self._solution).iterations

    @property
    def stack(self) -> float:
        """The effective stack."""
        return self.spot.stack

    @property
    def board(self) -> Sequence[str]:
        """The cards of the board."""
        return [card_text(card) for card in self.spot.cards]

    @property
    def info(self) -> list[str]:
        """The tree as the lines that PioSOLVER's viewer writes."""
        return tree_info(self.spot)

    @property
    def ranges(self) -> tuple[Range, Range]:
        """The ranges of OOP and IP."""
        oop, ip = self.spot.ranges
        return oop, ip

    @property
    def scale(self) -> tuple[float, float]:
        """The largest weights of both ranges as they were set."""
        return self._scale

    @property
    def nodes(self) -> Nodes:
        """The nodes with the strategies that were solved."""
        return self._named(self._solution)

    @property
    def played(self) -> Nodes:
        """The nodes with the current strategies, those that were set included."""
        return self._named(self._changed_solution())

    def _named(self, solution: SpotSolution) -> Nodes:
        return Nodes(solution, self.spot.pot, self.spot.pairs)

    @property
    def _solution(self) -> SpotSolution:
        if self.stored is not None:
            return self.stored
        solver = self._solver
        assert solver is not None
        if self._shown is None or self._shown[0] != solver.iterations:
            self._shown = solver.iterations, SpotSolution.of(solver)
        return self._shown[1]

    def _changed_solution(self) -> SpotSolution:
        if not self._given.strategies:
            return self._solution
        if self._changed is None:
            self._open()
            if self._solver is None:
                raise InputError("a strategy was set in a tree that is not stored whole: go first")
            locks = dict(self._given.locks)
            for position, strategy in self._given.strategies.items():
                held: Flags = np.asarray(strategy.sum(axis=0) > 0)
                locks[position] = Locked(self._solution.node(position), strategy, held)
            given = (locked.lock() for locked in locks.values())
            spot = replace(self.spot, lock=(*self._own_locks, *given))
            require_room(spot)
            self._changed = SpotSolution.of(self._solver.with_locks(spot))
        return self._changed

    # Training.

    def trainable(self, threads: int | None) -> SpotSolver:
        """The spot's solver with its locks; other locks make another game, solved afresh."""
        self._threads = threads
        locks = (*self._own_locks, *(locked.lock() for locked in self._given.locks.values()))
        if locks == self.spot.lock:
            self._open()
        if self._solver is None or locks != self._solver.spot.lock:
            self._solver = self._new_solver(replace(self.spot, lock=locks))
            self.spot, self.stored, self._shown = self._solver.spot, None, None
            self.seconds_before = 0.0
            self.runs.clear()
        self._given.strategies.clear()
        self._changed = None
        return self._solver

    def _open(self) -> None:
        """Open the solver of a tree that was loaded with all streets."""
        stored = self.stored
        if stored is None or stored.folder is None:
            return
        if stored.stored_streets == len(stored.streets):
            self._solver = open_spot_solver(stored.folder, self._threads)
            self.spot, self.stored = self._solver.spot, None

    def exploitability(self) -> float:
        """The exploitability of what the solver holds, as a fraction of the pot."""
        assert self._solver is not None
        return self._solver.exploitability() / self.spot.pot

    def results(self) -> Results:
        """The results of the current strategies, by best responses if there is a solver."""
        self._open()
        solution, pot = self._changed_solution(), self.spot.pot
        solver = solution.solver
        if solver is None:
            share = max(solution.exploitability, 0.0)
            return Results(solution.evs, (math.nan, math.nan), share * pot)
        evs = solver.expected_values()
        oop, ip = (solver.mean(player, best=True) + pot / 2 for player in Player)
        return Results(evs, (oop, ip), max((oop + ip - sum(evs)) / 2, 0.0))

    def save(self, folder: Path, saved: Saved) -> None:
        """Write its folder, down to the street that is named."""
        if self.stored is not None:
            raise InputError(f"nothing was solved since it was loaded: copy {self.stored.folder}")
        save_spot(self._solution, folder, saved, seconds=self.seconds)

    # What a client sets.

    def strategy(self, node: Node) -> Floats:
        """[A, 1326]: as it was set, else as it was solved."""
        given = self._given.strategies.get(node.position)
        return self.nodes.strategy(node) if given is None else given

    def give(self, node: Node, strategy: Floats) -> None:
        """Set a strategy [A, 1326], which counts at once."""
        self._given.strategies[node.position], self._changed = strategy, None

    def lock(self, node: Node, wanted: Flags) -> None:
        """Lock hands [1326] at a node to what they do there; none of them: no longer."""
        held = wanted & self.nodes.held(node)
        if held.any():
            self._given.locks[node.position] = Locked(node, self.strategy(node), held)
        else:
            self._given.locks.pop(node.position, None)

    def unlock(self, node: Node) -> None:
        """Forget what was locked and set at a node."""
        self._given.locks.pop(node.position, None)
        self._given.strategies.pop(node.position, None)
        self._changed = None

    def locked(self, node: Node) -> Flags:
        """[1326]: the hands that are locked at a node."""
        locked = self._given.locks.get(node.position)
        return self.nodes.held(node) & False if locked is None else locked.held


def require_room(spot: Spot) -> None:
    """Refuse a spot that does not fit into memory."""
    require_memory(spot, "float32", estimate_spot(spot), available_bytes())

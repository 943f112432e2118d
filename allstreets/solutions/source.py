"""The source of a solved whole game's numbers: a solver in memory, or files.

Both give the same arrays, so that the figures at the end of a run are those of the stored files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from allstreets import solvers  # its kernels are loaded when something is solved
from allstreets.base import Arrays, Floats, Place
from allstreets.betting import CHIPS_PER_BB
from allstreets.engines import ShardedEngine
from allstreets.games import WholeGame
from allstreets.solutions.preflop import PreflopStrategies, SolutionFacts
from allstreets.solutions.tables import Row

if TYPE_CHECKING:
    from allstreets.solvers import QuantisedSolution, WholeGameSolver


class Source(Protocol):
    """The numbers of a solved whole game."""

    @property
    def before(self) -> PreflopStrategies:
        """The part before the flop."""

    @property
    def stores_flops(self) -> bool:
        """Whether there are strategies after the flop."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row per flop: flop, weight, share, exploitability_pct, ev_oop_bb, ev_ip_bb."""

    def arrays(self, flop: int) -> Arrays:
        """The arrays of a flop, by its index; see `engines.quantised`."""


@dataclass(frozen=True, eq=False)
class StoredGame:
    """The contents of a whole game's bundle except its flops, which are written one by one."""

    game: WholeGame
    before: PreflopStrategies
    rows: tuple[Row, ...]  # of the flops
    facts: SolutionFacts


class SolverSource:
    """The numbers of a solver as it stands; it must not be trained while this is in use."""

    def __init__(
        self, solver: "WholeGameSolver", quantised: "QuantisedSolution | None" = None
    ) -> None:
        self.solver = solver
        self._quantised = quantised
        self._reach = solver.preflop.pot_reach(solver.preflop.average())

    @cached_property
    def quantised(self) -> "QuantisedSolution":
        """The stored form of the strategies, and its quality."""
        return self._quantised or solvers.quantise_solution(self.solver)

    @property
    def stores_flops(self) -> bool:
        """Whether there are strategies after the flop."""
        return self.quantised.numbers is not None

    @cached_property
    def before(self) -> PreflopStrategies:
        """The part before the flop."""
        leaves = None
        if self.quantised.values is not None:
            leaves = np.einsum("k,apkh->aph", self.solver.leaves.weights, self.quantised.values)
        return PreflopStrategies.of(self.solver.preflop, leaves, self.quantised.ranges)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One row per flop."""
        flops, figures = self.solver.game.flops, self.quantised.figures
        evs = self._flop_evs()
        errors = figures.flop_exploitability
        return tuple(
            {
                "flop": flop.text,
                "weight": float(flops.weights[index]),
                "share": float(figures.flop_shares[index]),
                "exploitability_pct": None if errors is None else float(errors[index]),
                "ev_oop_bb": None if evs is None else _number(evs[0, index]),
                "ev_ip_bb": None if evs is None else _number(evs[1, index]),
            }
            for index, flop in enumerate(flops.flops)
        )

    def _flop_evs(self) -> Floats | None:
        """[2, F]: mean results in bb of the hands that see each flop."""
        values = self.quantised.values
        if values is None:
            return None
        totals = np.einsum("aph,apkh->ak", self._reach, values)
        dealt = self.solver.engine.dealt
        seen = np.sum(
            [dealt.reached(own, other) for own, other in zip(*self._reach, strict=True)], axis=0
        )
        none = np.full_like(totals, np.nan)
        means: Floats = np.divide(totals, seen * CHIPS_PER_BB, out=none, where=seen > 0)
        return means

    def arrays(self, flop: int) -> Arrays:
        """The arrays of a flop, by its index."""
        games, numbers = self.solver.engine, self.quantised.numbers
        if numbers is None:
            return {}
        assert self.quantised.values is not None
        packed = games.pack(flop, self._reach, [numbers] * games.pots)
        return {"values": self.quantised.values[:, :, flop], **packed}

    def write(self, folder: Place, token: str, names: Sequence[str]) -> list[dict[str, Any]] | None:
        """Let games that live elsewhere write the flops of a bundle; None: they are here."""
        games, quantised = self.solver.engine, self.quantised
        if not isinstance(games, ShardedEngine):
            return None
        assert quantised.values is not None
        assert quantised.numbers is not None, "this solution stores no flops to write"
        numbers = [quantised.numbers] * games.pots
        return games.write_packed(folder, token, names, quantised.values, self._reach, numbers)

    def facts(self, **others: Any) -> SolutionFacts:
        """The facts of the solution; `others` are facts that the solver does not know."""
        solver, figures = self.solver, self.quantised.figures
        return SolutionFacts(
            iterations=solver.iterations,
            algorithm=str(solver.schedule),
            exploitability=figures.exploitability,
            preflop_exploitability=figures.preflop_exploitability,
            values=figures.values,
            cards=solver.engine.model,
            seed=solver.batches.seed,
            **others,
        )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

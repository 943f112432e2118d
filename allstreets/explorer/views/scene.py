"""What is known of both players' hands at a place, whatever kind of solution it comes from.

H hands are combos, or the 169 classes. NaN stands for what does not exist: the EV of a hand that
meets nobody or was never learned, or an equity that a card model does not know.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Player
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, hand_combos
from allstreets.solvers.reached import Bools, LineReach

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Side:
    """One player's hands. Weights that are not told are those that are."""

    combos: Longs | None  # [H]: which combos they are; None: the hands are the 169 classes
    reach: Floats  # [H]: 0 … 1, the weight with which a hand gets here
    weights: Floats  # [H]: the same times what it meets of the other's: for means over the range
    evs: Floats  # [H]: in the unit of the place
    equity: Floats  # [H]: 0 … 1
    ev_weights: Floats | None = None  # [H]: for means of EVs over the range
    cell_weights: Floats | None = None  # [H]: for means over the combos of a class; None: reach
    cell_ev_weights: Floats | None = None  # [H]: for means of EVs over them; None: cell_weights
    range_ev: float | None = None  # of the whole range, where those of its hands are not known

    @property
    def classes(self) -> Longs:
        """[H]: the class of each hand."""
        if self.combos is None:
            return np.arange(HAND_COUNT)
        return HAND_OF_COMBO[self.combos].astype(np.int64)

    def cells(self, values: Floats, *, evs: bool = False) -> Floats:
        """[169]: values [H] averaged over the combos of each class; NaN where there are none."""
        if self.combos is None:
            return values
        weights = self.reach if self.cell_weights is None else self.cell_weights
        if evs and self.cell_ev_weights is not None:
            weights = self.cell_ev_weights
        live = np.where(np.isfinite(values), weights, 0.0)
        sums = class_sums(self.classes, live * np.nan_to_num(values))
        return quotient(sums, class_sums(self.classes, live))

    def mean(self, values: Floats, *, evs: bool = False, taken: Floats | None = None) -> float:
        """The mean of values [H] over the range, or over the part `taken` [H] of each hand."""
        weights = self.ev_weights if evs and self.ev_weights is not None else self.weights
        if taken is not None:
            weights = weights * np.nan_to_num(taken)
        live = (weights > 0) & np.isfinite(values)
        total = float(weights[live].sum())
        return float(values[live] @ weights[live]) / total if total > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Scene:
    """Both players' hands at a place; A actions of the player who acts."""

    board: tuple[int, ...]
    pot: float  # in the unit
    paid: tuple[float, float]  # what is added to EVs to count from here on
    sides: tuple[Side, Side]
    player: Player | None = None  # who acts; None: nobody does
    actions: tuple[str, ...] = ()  # [A]: as in a line
    strategy: Floats | None = None  # [A, H]
    action_evs: Floats | None = None  # [A, H]
    taken_evs: Floats | None = None  # [A]: of the range that takes each; None: as hands tell it
    share: float | None = None  # how often play gets here
    notes: tuple[str, ...] = ()
    starts: tuple[float, float] | None = None  # combos of both starting ranges; None: every hand
    settled: Bools | None = None  # [A]: whether nothing is chosen any more after an action
    locked: Bools | None = None  # [H] of who acts: whose strategy was given; None: nobody's

    @cached_property
    def line_reach(self) -> LineReach:
        """How much of both starting ranges gets here, and by the actions of who acts on."""
        starts = self.starts or 2 * (float(self.combos().sum()),)
        oop, ip = (self.sides[one].reach @ self.counts(one) / starts[one] for one in Player)
        shares = float(oop), float(ip)
        if self.player is None or self.strategy is None or self.settled is None:
            return LineReach(shares, np.zeros(0), np.zeros(0, np.bool_))
        own = self.sides[self.player].reach * self.counts(self.player) / starts[self.player]
        return LineReach(shares, np.nan_to_num(self.strategy) @ own, self.settled)

    def learned(self) -> "Scene":
        """The same without EVs that were never learned."""
        if not self.line_reach.reached:
            oop, ip = (
                replace(side, evs=np.full(len(side.evs), np.nan), range_ev=None)
                for side in self.sides
            )
            none = None if self.action_evs is None else np.full(self.action_evs.shape, np.nan)
            return replace(self, sides=(oop, ip), action_evs=none, taken_evs=None)
        if self.action_evs is None:
            return self
        known = self.line_reach.known
        evs = np.where(known[:, None], self.action_evs, np.nan)
        taken = None if self.taken_evs is None else np.where(known, self.taken_evs, np.nan)
        return replace(self, action_evs=evs, taken_evs=taken)

    def combos(self) -> Floats:
        """[169]: the combos of each class that the board leaves."""
        return hand_combos(self.board).astype(np.float64)

    def counts(self, player: Player) -> Floats:
        """[H]: how many combos each hand of a player stands for."""
        side = self.sides[player]
        return self.combos() if side.combos is None else np.ones(len(side.combos))

    def reach_cells(self, player: Player) -> Floats:
        """[169]: the mean weight with which the combos of a class get here."""
        side = self.sides[player]
        if side.combos is None:
            return side.reach
        return np.nan_to_num(quotient(class_sums(side.classes, side.reach), self.combos()))

    def eqr(self, player: Player, evs: Floats, equity: Floats) -> Floats:
        """EV from here on over equity times pot."""
        return quotient(evs + self.paid[player], equity * self.pot)

    def combo_weights(self, player: Player, action: int | None = None) -> Floats:
        """[1326]: the weight of every combo that the board leaves, all or the part that acts so."""
        side = self.sides[player]
        weights = side.reach
        if action is not None and self.strategy is not None:
            weights = weights * np.nan_to_num(self.strategy[action])
        if side.combos is None:
            return np.asarray(weights[HAND_OF_COMBO], np.float64)
        found = np.zeros(COMBO_COUNT)
        found[side.combos] = weights
        return found


def class_sums(classes: Longs, values: Floats) -> Floats:
    """[169]: values [H] added up by class [H]."""
    return np.bincount(classes, values, minlength=HAND_COUNT).astype(np.float64)


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator; NaN where that is not above 0."""
    none = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    with np.errstate(invalid="ignore"):
        found: Floats = np.divide(numerator, denominator, out=none, where=denominator > 0)
    return found

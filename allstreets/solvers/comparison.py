"""Two solutions at the same decision: what each does, what it is worth, and where they differ most.

The distance of two strategies of a hand is the share of the time that it does something else: half
the sum of the differences of its actions' frequencies, 0 to 1. A hand counts by its share of the
range that gets here, the mean of both solutions; so the distance of two ranges is that of a hand
drawn from them. Where nobody acts, there are EVs alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_NAMES, HAND_OF_COMBO, cards_text, combo_text
from allstreets.solvers.decision import CHIPS, Decision, Unit
from allstreets.solvers.hands import class_sums, quotient

Pair = tuple[float, float]  # of the first and the second solution


@dataclass(frozen=True)
class HandDifference:
    """A hand of the player who acts, in both solutions. NaN: not known."""

    name: str  # a combo, or one of the 169 hands
    hand: int  # which of the 169 it is
    share: float  # of the range that gets here
    frequencies: tuple[tuple[float, ...], tuple[float, ...]]  # [A] of both
    evs: Pair
    distance: float  # of its strategies, 0 … 1

    @property
    def weighted(self) -> float:
        """How much it adds to the distance of the ranges."""
        return self.share * self.distance

    @property
    def in_both(self) -> bool:
        """Whether it gets here in both solutions."""
        return not np.isnan([chances[0] for chances in self.frequencies]).any()

    @property
    def gain(self) -> float:
        """What it has more in the second solution."""
        return self.evs[1] - self.evs[0]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A place in two solutions."""

    line: str
    player: Player | None  # who acts; None: nobody, and there are neither actions nor hands
    unit: Unit
    actions: tuple[str, ...]
    labels: tuple[str, ...]
    frequencies: tuple[tuple[float, ...], tuple[float, ...]]  # [A] of both
    evs: tuple[Pair, Pair]  # of OOP and IP in both
    reached: tuple[bool, bool]
    hands: tuple[HandDifference, ...]  # the largest weighted difference first
    notes: tuple[str, ...] = ()  # what else differs between the solutions

    @property
    def distance(self) -> float:
        """How often a hand of the range does something else, 0 … 1; NaN where nobody acts."""
        return float("nan") if self.player is None else sum(hand.weighted for hand in self.hands)

    @property
    def seat(self) -> str:
        """Who acts, by the usual name."""
        return "nobody" if self.player is None else self.unit.seats[self.player]

    @property
    def gains(self) -> Pair:
        """What OOP and IP have more in the second solution."""
        oop, ip = (second - first for first, second in self.evs)
        return oop, ip

    def gain_text(self) -> str:
        """Who has more in the second solution, in words."""
        told, digits = [], 2 if self.unit is CHIPS else 3
        for player in self.unit.order:
            gain = round(self.gains[player], digits)
            if not np.isfinite(gain):
                return "EVs are not known."
            if gain:
                how = "gains" if gain > 0 else "loses"
                told.append(f"{self.unit.seats[player]} {how} {abs(gain):,.{digits}f}")
        return f"{', '.join(told)} {self.unit.name}." if told else "EVs are the same."

    def cells(self) -> Floats:
        """[169]: how often a hand of each class does something else; NaN: not in both solutions.

        Means over combos, so that the cells add up to the distance by their shares of the range.
        """
        classes = np.array([hand.hand for hand in self.hands], np.int64)
        weighted = class_sums(classes, np.array([hand.weighted for hand in self.hands]))
        shares = class_sums(classes, np.array([hand.share for hand in self.hands]))
        both = class_sums(classes, np.array([float(hand.in_both) for hand in self.hands]))
        return quotient(weighted, np.where(both > 0, shares, 0.0))

    def table(self) -> list[dict[str, Any]]:
        """One row per hand, for CSV and JSON; _a is the first solution, _b the second."""
        rows = []
        for hand in self.hands:
            row: dict[str, Any] = {"hand": hand.name, "share": hand.share}
            for place, word in enumerate(self.actions):
                row |= {f"{word}_a": hand.frequencies[0][place]}
                row |= {f"{word}_b": hand.frequencies[1][place]}
            unit = self.unit.column
            row |= {f"ev{unit}_a": hand.evs[0], f"ev{unit}_b": hand.evs[1]}
            rows.append({**row, "distance": hand.distance, "weighted": hand.weighted})
        return rows


def compare_decisions(first: Decision, second: Decision, notes: tuple[str, ...] = ()) -> Comparison:
    """A place in two solutions of a game; hands are combos where both solutions have them."""
    for what, one, other in (
        ("the board", cards_text(first.board), cards_text(second.board)),
        ("who acts", _seat(first), _seat(second)),
        ("the pot", first.pot, second.pot),
        ("the actions", ", ".join(first.actions), ", ".join(second.actions)),
    ):
        if one != other:
            raise InputError(f"the decisions differ in {what}: {one} and {other}")
    hands = () if first.actor is None else _hands(first, second)
    taken = first.frequencies(), second.frequencies()
    values = [(first.ev(player), second.ev(player)) for player in Player]
    return Comparison(
        first.line,
        first.actor,
        first.unit,
        first.actions,
        first.labels,
        (tuple(taken[0].tolist()), tuple(taken[1].tolist())),
        (values[0], values[1]),
        (first.reached, second.reached),
        hands,
        notes,
    )


def _seat(node: Decision) -> str:
    return "nobody" if node.actor is None else node.seat


def _hands(first: Decision, second: Decision) -> tuple[HandDifference, ...]:
    """The hands of who acts that get here in either, the largest weighted difference first."""
    by_combo = first.by_combo and second.by_combo
    names, shares, played, evs = [], [], [], []
    for node in (first, second):
        held = _combos(node) if by_combo else _classes(node)
        names.append(held[0])
        shares.append(held[1])
        played.append(held[2])
        evs.append(held[3])
    here = dict.fromkeys([*names[0].tolist(), *names[1].tolist()])
    hands = [_difference(hand, by_combo, names, shares, played, evs) for hand in here]
    return tuple(sorted(hands, key=lambda hand: -hand.weighted))


def _combos(node: Decision) -> tuple[Any, Floats, Floats, Floats]:
    """(combos, their shares of the range, strategy [A, H], EVs) of those that get here."""
    there = node.own.weights > 0
    share = node.own.weights / (node.own.weights.sum() or 1.0)
    return node.combos[there], share[there], node.strategy[:, there], node.evs()[there]


def _classes(node: Decision) -> tuple[Any, Floats, Floats, Floats]:
    """The same by hand class, means over the combos of each as they meet the other's range."""
    own = node.own
    weights = class_sums(own.classes, own.weights)

    def mean(values: Floats) -> Floats:
        live = np.where(np.isfinite(values), own.weights, 0.0)
        sums = class_sums(own.classes, np.nan_to_num(values) * live)
        return quotient(sums, class_sums(own.classes, live))

    there = np.flatnonzero(weights > 0)
    share = weights / (weights.sum() or 1.0)
    played = np.array([mean(row)[there] for row in node.strategy])
    assert len(weights) == HAND_COUNT
    return there, share[there], played, mean(node.evs())[there]


def _difference(
    hand: int,
    by_combo: bool,
    names: list[Any],
    shares: list[Floats],
    played: list[Floats],
    evs: list[Floats],
) -> HandDifference:
    """A hand in both; one that only gets here in one solution plays there alone."""
    share, chances, values = 0.0, [], []
    for side in range(2):
        places = np.flatnonzero(names[side] == hand)
        if len(places):
            share += float(shares[side][places[0]]) / 2
            chances.append(played[side][:, places[0]])
            values.append(float(evs[side][places[0]]))
        else:
            chances.append(np.full(played[side].shape[0], np.nan))
            values.append(float("nan"))
    apart = np.abs(chances[0] - chances[1]).sum() / 2
    return HandDifference(
        combo_text(hand) if by_combo else str(HAND_NAMES[hand]),
        int(HAND_OF_COMBO[hand]) if by_combo else hand,
        share,
        (tuple(chances[0].tolist()), tuple(chances[1].tolist())),
        (values[0], values[1]),
        0.0 if np.isnan(apart) else float(apart),
    )

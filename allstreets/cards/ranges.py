"""A range: how likely a player is to hold each of the 1,326 combos, as a weight from 0 to 1."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allstreets.base import Floats, InputError, shortened
from allstreets.cards.card import cards_text
from allstreets.cards.hands import (
    COMBO_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    HAND_SIZES,
    fitting,
    live_combos,
)
from allstreets.cards.range_kind import RangeKind
from allstreets.cards.range_reading import read_weights
from allstreets.cards.range_writing import write_weights

SHOWN_DIGITS = 4  # of weights in a solution: more would make texts long, and are not known


@dataclass(frozen=True, eq=False)
class Range:
    """Weights of all combos; reads and writes the usual texts.

    >>> r = Range.parse("QQ+, AKs:0.5")
    >>> r.combos, str(r)
    (20.0, 'QQ+,AKs:0.5')
    """

    weights: Floats  # [1326], read-only

    def __post_init__(self) -> None:
        if isinstance(self.weights, str):
            raise InputError(f"to read a text write Range.parse({shortened(self.weights)})")
        weights = np.array(self.weights, dtype=np.float64)
        if weights.shape != (COMBO_COUNT,):
            raise InputError(f"a range has {COMBO_COUNT} weights, not shape {weights.shape}")
        if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= 1):
            raise InputError("the weights of a range lie between 0 and 1")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def parse(cls, text: str) -> "Range":
        """Read a range such as "AA,AKs,ATs+,QQ-88,98s-65s,AsKh,76s:0.5".

        What PioSOLVER, GTO+ and MonkerSolver write is read as well, and JSON and CSV; see
        docs/ranges.md.
        """
        return cls(read_weights(text))

    @classmethod
    def full(cls) -> "Range":
        """Every combo with weight 1."""
        return cls(np.ones(COMBO_COUNT))

    @property
    def combos(self) -> float:
        """The sum of all weights."""
        return float(self.weights.sum())

    @property
    def fraction(self) -> float:
        """The share of all 1,326 combos, 0 to 1."""
        return self.combos / COMBO_COUNT

    @property
    def hand_weights(self) -> Floats:
        """[169]: the mean weight of each hand class's combos."""
        return np.bincount(HAND_OF_COMBO, self.weights, minlength=HAND_COUNT) / HAND_SIZES

    @property
    def largest(self) -> float:
        """The largest weight."""
        return float(self.weights.max())

    def normalised(self) -> "Range":
        """The same range with its largest weight 1: who holds what depends on ratios alone.

        >>> str(Range.parse("AA:0.5,KK:0.2").normalised())
        'AA,KK:0.4'
        """
        return Range(self.weights / self.largest)

    def on(self, board: tuple[int, ...]) -> "Range":
        """The range without the combos that the board blocks; it is an error if nothing is left."""
        live = np.where(live_combos(board), self.weights, 0.0)
        if not live.any():
            if not self.weights.any():
                raise InputError("the range is empty: no combo has a weight above 0")
            raise InputError(
                f"the range {shortened(str(self))} is blocked: "
                f"every combo shares a card with the board {cards_text(board)}"
            )
        return Range(live)

    def beside(self, board: tuple[int, ...]) -> "Range":
        """The range in which blocked combos weigh as the others of their hand, where those agree.

        That keeps texts short and changes nothing: a range read for a board leaves them out.

        >>> Range.parse("AA,KK:0.5").on((51,)).beside((51,)).text()
        'AA,KK:0.5'
        """
        live, weights = live_combos(board), self.weights
        low, high = np.full(HAND_COUNT, np.inf), np.full(HAND_COUNT, -np.inf)
        np.minimum.at(low, HAND_OF_COMBO[live], weights[live])
        np.maximum.at(high, HAND_OF_COMBO[live], weights[live])
        agree = (low == high)[HAND_OF_COMBO]
        return Range(np.where(~live & agree, low[HAND_OF_COMBO], weights))

    def rounded(self, digits: int = SHOWN_DIGITS) -> "Range":
        """The range with its weights rounded to some decimals."""
        return Range(np.round(self.weights, digits))

    def text(self, kind: RangeKind | str = RangeKind.text) -> str:
        """The range as text, pio, pio-1326, gto+, monker, json or csv has it.

        >>> Range.parse("QQ+,AKs:0.5").text("gto+")
        'AA-QQ,[50]AKs[/50]'
        """
        return write_weights(self.weights, kind)

    def __str__(self) -> str:
        """The canonical text: a short one that reads back as the same range."""
        return self._canonical

    @cached_property
    def _canonical(self) -> str:  # the shortest text of a wide range takes 30 ms to find
        return self.text()

    def __repr__(self) -> str:
        return f"Range.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(self.weights.tobytes())


def pairs_of(ranges: tuple[Range, Range], board: tuple[int, ...] = ()) -> float:
    """Σ of the weights of all pairs of combos that fit beside a board and each other."""
    live = live_combos(board)
    combos = [np.flatnonzero((held.weights > 0) & live) for held in ranges]
    oop, ip = (held.weights[some] for held, some in zip(ranges, combos, strict=True))
    return float(oop @ fitting(combos[0], combos[1]) @ ip)

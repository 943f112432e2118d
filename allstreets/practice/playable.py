"""A solution as something to play hands on: where play is, what follows, who does what there.

| solution                    | turn and river                                                   |
|-----------------------------|------------------------------------------------------------------|
| spot                        | real cards                                                       |
| whole game, `boards`        | real cards                                                       |
| whole game, `classes`,      | streets of betting without a card: the solution does not see it, |
| `buckets`, `sampled`        | and at the showdown the board is dealt                           |
| whole game, `exact`         | not stored: the hand ends with the flop                          |
| preflop, `store: preflop`   | not stored: the hand ends before the flop                        |
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from allstreets.base import Floats
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import Texture
from allstreets.solutions import Decision

BEFORE, AFTER = 0, 1
"""The trees of a whole game: before the flop and after it. A spot has the second alone."""

Place = tuple[int, int]  # (tree, node)


@dataclass(frozen=True)
class Position:
    """Where a hand is."""

    tree: int  # BEFORE or AFTER
    node: int
    pot: int = -1  # after the flop: the node before it that leads to this pot; of a spot −1
    cards: tuple[int, ...] = ()  # what was dealt: the flop of a whole game, turn, river

    @property
    def place(self) -> Place:
        """The node, without the cards."""
        return self.tree, self.node


@dataclass(frozen=True)
class Way:
    """What a line says: every place on it, the pot that it is in, and the cards that it names."""

    places: tuple[Place, ...]
    pot: int  # as in `Position`; −1: the line ends before the flop
    cards: tuple[int, ...]  # in the order in which they are dealt; ANY_CARD: any

    @property
    def end(self) -> Place:
        """Where the line leads."""
        return self.places[-1]


class Playable(Protocol):
    """A solution that hands are played on."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    @property
    def note(self) -> str:
        """What a player has to know of it; "": nothing."""

    @property
    def chips_per_bb(self) -> float:
        """What a big blind is in the chips of its trees."""

    @property
    def root(self) -> Position:
        """Where a hand begins."""

    @property
    def exploitability_bb(self) -> float | None:
        """What it can lose at most on average, of a hand that is dealt; None: not known."""

    @property
    def streets(self) -> tuple[Street, ...]:
        """The streets with decisions that it stores."""

    def tree(self, at: Position) -> BettingTree:
        """The betting that a position is in."""

    def board(self, at: Position) -> tuple[int, ...]:
        """All cards on the table."""

    def line(self, at: Position) -> str:
        """The way to a position, as the explorer and the report read it."""

    def read(self, line: str) -> Way:
        """The way that a line describes; an `InputError` says where it leaves the tree."""

    def decision(self, at: Position) -> Decision:
        """Both ranges and the strategy where a player acts, combos in the suits on the table."""

    def weights(self, at: Position) -> tuple[Floats, Floats]:
        """[1326] of OOP and IP: the ranges that get to a decision, a deal or the root."""

    def stored(self, at: Position) -> bool:
        """Whether what follows the card that is dealt at a position is known."""

    def cards_dealt(self, at: Position) -> int:
        """How many cards are dealt at a position: 3, 1, or 0 where the solution is blind."""

    def dealt(self, at: Position, cards: tuple[int, ...]) -> Position:
        """Where play goes on when these have been dealt."""

    def flop(
        self, chance: np.random.Generator, wanted: "TextureTest"
    ) -> tuple[int, int, int] | None:
        """Any flop of the solution that is wanted, in any suits; None: the spot has its own."""

    def pots(self) -> tuple[tuple[int, str], ...]:
        """The nodes that see a flop, with their kinds; empty: no pot does, or it is a spot."""

    def kind(self, at: Position) -> str:
        """The kind of pot: "limped", "raised", …; before the flop by the raises so far."""

    def payoffs(self, at: Position) -> Floats:
        """[2, 3]: what OOP and IP win at the end of a hand, in chips, by `Outcome`."""


class TextureTest(Protocol):
    """Which flops are wanted."""

    def __call__(self, texture: Texture) -> bool:
        """Whether one of this texture is."""


def seat_names(solution: Playable) -> tuple[str, str]:
    """What OOP and IP are called."""
    whole = solution.root.tree == BEFORE
    return (Player.OOP.seat, Player.IP.seat) if whole else (Player.OOP.name, Player.IP.name)


def path_places(tree: int, betting: BettingTree, node: int) -> tuple[Place, ...]:
    """The places from the root of a tree to a node."""
    return tuple((tree, one) for one in betting.path_to(node))

"""A solved spot to play hands on: real combos, every turn and river card."""

from functools import cached_property
from pathlib import Path

import numpy as np

from allstreets.base import Floats
from allstreets.betting import BettingTree, NodeKind, Player, Street, dealt, line_text, parse_line
from allstreets.practice.playable import AFTER, Position, TextureTest, Way, path_places
from allstreets.solutions import Decision, SpotSolution

NO_BIG_BLIND = "the spot does not say what a big blind is: a chip counts as one"


class PlayableSpot:
    """A `Playable` of a spot."""

    root = Position(AFTER, 0)

    def __init__(self, result: SpotSolution, name: str, folder: Path) -> None:
        self.result, self.name, self.folder = result, name, folder

    @property
    def note(self) -> str:
        """What amounts are in, where that is not known."""
        return NO_BIG_BLIND if self.result.spot.chips_per_bb is None else ""

    @property
    def chips_per_bb(self) -> float:
        """A chip, where the spot does not say."""
        return float(self.result.spot.chips_per_bb or 1.0)

    @property
    def exploitability_bb(self) -> float | None:
        """Of the whole spot."""
        found = self.result.exploitability * self.result.spot.pot / self.chips_per_bb
        return float(found) if np.isfinite(found) else None

    @property
    def streets(self) -> tuple[Street, ...]:
        """From that of the board on."""
        return tuple(street for street in Street if street >= self.result.spot.tree.first_street)

    def tree(self, at: Position) -> BettingTree:
        """There is one."""
        del at
        return self.result.spot.tree

    def board(self, at: Position) -> tuple[int, ...]:
        """The board of the spot, and what was dealt after it."""
        return (*self.result.spot.cards, *at.cards)

    def line(self, at: Position) -> str:
        """The way to a position."""
        return line_text(self.result.spot.tree, at.node, at.cards)

    def read(self, line: str) -> Way:
        """The way that a line describes."""
        tree, board = self.result.spot.tree, self.result.spot.cards
        found = parse_line(tree, line, board, any_card=True)
        return Way(path_places(AFTER, tree, found.node), -1, found.cards)

    def decision(self, at: Position) -> Decision:
        """A decision of the solution."""
        return self.result.at(self.line(at)).decision

    def weights(self, at: Position) -> tuple[Floats, Floats]:
        """The ranges that get to a position."""
        if self.tree(at).kind[at.node] == NodeKind.DECISION:
            here = self.decision(at)
            return here.combo_weights(Player.OOP), here.combo_weights(Player.IP)
        oop, ip = self.result.spot.ranges
        return oop.weights, ip.weights

    def stored(self, at: Position) -> bool:
        """Every street is."""
        del at
        return True

    def cards_dealt(self, at: Position) -> int:
        """One card a street."""
        del at
        return 1

    def dealt(self, at: Position, cards: tuple[int, ...]) -> Position:
        """The next street."""
        return Position(AFTER, dealt(self.tree(at), at.node), cards=(*at.cards, *cards))

    def flop(self, chance: np.random.Generator, wanted: TextureTest) -> tuple[int, int, int] | None:
        """The spot has its own."""
        del chance, wanted
        return None

    def pots(self) -> tuple[tuple[int, str], ...]:
        """There is one only."""
        return ()

    def kind(self, at: Position) -> str:
        """Nobody knows how the pot came about."""
        del at
        return "spot"

    def payoffs(self, at: Position) -> Floats:
        """What is won, less what was put in since the spot began."""
        found: Floats = self._won[at.node]
        return found

    @cached_property
    def _won(self) -> Floats:
        return self.result.spot.payoffs + self.result.spot.pot / 2

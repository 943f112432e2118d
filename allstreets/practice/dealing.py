"""Dealing a hand: both players' cards and the board, as often as the solution brings them there.

1. Where the hand begins: at the root, at the end of a line, or at a pot that sees a flop. Of
   several pots one is drawn by the product of both ranges that get there.
2. The flop of a whole game is drawn from its set by weight, in any of the suits that make it the
   same; both players' combos are drawn from the ranges that get there, each for itself.
3. Where two of all these cards are the same, everything is drawn again. So the chance of a deal is
   the weight of the flop times both reaches, over deals that fit: as the solution has it.
4. Turn and river are drawn from what is left of the deck, unless the line names them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import ANY_CARD, NodeKind, Player
from allstreets.cards import COMBO_CARDS, COMBO_COUNT, DECK_SIZE
from allstreets.practice.playable import AFTER, BEFORE, Playable, Position, Way
from allstreets.practice.wanted import Wanted

BOARD = 5
MOST_DRAWS = 20_000  # of cards that do not fit beside each other


@dataclass(frozen=True, eq=False)
class Start:
    """Where hands begin, and with what."""

    position: Position
    sums: tuple[Floats, Floats]
    """[1326] of OOP and IP: the weights of the ranges that get there, added up combo by combo."""

    @classmethod
    def at(cls, solution: Playable, position: Position) -> "Start":
        """A position with the ranges of a solution."""
        oop, ip = solution.weights(position)
        return cls(position, (np.cumsum(oop), np.cumsum(ip)))

    @property
    def size(self) -> float:
        """How much gets there, cards in common not counted out."""
        return float(self.sums[0][-1] * self.sums[1][-1])


@dataclass(frozen=True)
class Deal:
    """The cards of a hand."""

    start: Position
    combos: tuple[int, int]  # of OOP and IP
    board: tuple[int, ...]  # all five cards, also those that are never seen

    def cards(self, player: Player) -> tuple[int, int]:
        """The two cards of a player."""
        high, low = sorted(COMBO_CARDS[self.combos[player]].tolist(), reverse=True)
        return high, low


class Dealer:
    """Deals hands that a filter wants; the same chance gives the same hands."""

    def __init__(self, solution: Playable, wanted: Wanted) -> None:
        self.solution, self.wanted = solution, wanted
        self.way = solution.read(wanted.line)
        self.starts = tuple(
            Start.at(solution, position) for position in _positions(solution, wanted, self.way)
        )
        self._sums = np.cumsum([start.size for start in self.starts])
        if not self._sums[-1] > 0:
            raise InputError(f"the solution never gets to '{wanted.line}': choose another line")

    def deal(self, chance: np.random.Generator, held: tuple[Player, int] | None = None) -> Deal:
        """A hand; `held`: a player and the combo that he has."""
        combo = None if held is None else np.cumsum(np.arange(COMBO_COUNT) == held[1])
        for _ in range(MOST_DRAWS):
            start = self.starts[_draw(chance, self._sums)]
            sums = [*start.sums]
            if held is not None and combo is not None:
                sums[held[0]] = combo
            board = self._board(chance, start.position)
            oop, ip = (_draw(chance, ends) for ends in sums)
            named = [card for card in board if card != ANY_CARD]
            taken = [*named, *COMBO_CARDS[oop].tolist(), *COMBO_CARDS[ip].tolist()]
            if len(set(taken)) == len(taken):
                return Deal(start.position, (oop, ip), _filled(chance, board, taken))
        raise InputError("no two hands of both ranges fit beside this board and each other")

    def _board(self, chance: np.random.Generator, start: Position) -> list[int]:
        """Five cards; ANY_CARD for those that may be any."""
        known = list(self.solution.board(start))
        if not known:
            flop = self.solution.flop(chance, self.wanted.texture)
            known = list(flop or ())
        begun = len(self.solution.board(self.solution.root))
        later = self.way.cards[len(known) - begun :]
        board = [*known, *later]
        return board + [ANY_CARD] * (BOARD - len(board))


def _positions(solution: Playable, wanted: Wanted, way: Way) -> list[Position]:
    """Where hands begin, as late on the way as all cards are known."""
    tree, node = way.end
    if tree == BEFORE:
        if wanted.sees_flop:
            return _pots(solution, wanted, node)
        _refuse_end(solution, wanted, Position(BEFORE, node))
        return [Position(BEFORE, node)]
    if way.pot >= 0:
        kind = dict(solution.pots())[way.pot]
        if wanted.pots and kind not in wanted.pots:
            raise InputError(f"line '{wanted.line}' leads to a {kind} pot: leave one of both out")
        if way.cards[0] == ANY_CARD:
            return [Position(BEFORE, way.pot)]
        if wanted.names_flops:
            raise InputError(f"line '{wanted.line}' names its flop: leave textures out")
    return [_last_known(solution, wanted, way)]


def _pots(solution: Playable, wanted: Wanted, node: int) -> list[Position]:
    """The pots below a node that are wanted."""
    betting = solution.tree(solution.root)
    found = [
        Position(BEFORE, pot)
        for pot, kind in solution.pots()
        if node in betting.path_to(pot) and (not wanted.pots or kind in wanted.pots)
    ]
    if not found:
        raise InputError(f"no such pot sees a flop after '{wanted.line}': choose another line")
    return found


def _last_known(solution: Playable, wanted: Wanted, way: Way) -> Position:
    """The last decision on the way to which no card is left open."""
    flop = way.cards[:3] if way.pot >= 0 else ()
    root = Position(AFTER, 0, way.pot, flop)
    found, here = root, root
    betting = solution.tree(root)
    for place in [one for one in way.places if one[0] == AFTER][1:]:
        if betting.kind[here.node] == NodeKind.CHANCE:
            count = solution.cards_dealt(here)
            cards = way.cards[len(here.cards) : len(here.cards) + count]
            if ANY_CARD in cards:
                return found
            here = solution.dealt(here, cards)
        else:
            here = Position(AFTER, place[1], way.pot, here.cards)
        if betting.kind[here.node] == NodeKind.DECISION:
            found = here
    _refuse_end(solution, wanted, here)
    return found


def _refuse_end(solution: Playable, wanted: Wanted, at: Position) -> None:
    if solution.tree(at).is_terminal[at.node]:
        raise InputError(f"line '{wanted.line}': the hand is over there, and nothing is decided")


def _draw(chance: np.random.Generator, sums: Floats) -> int:
    """A place, by weights that are added up."""
    return int(np.searchsorted(sums, chance.random() * sums[-1], side="right"))


def _filled(
    chance: np.random.Generator, board: Sequence[int], taken: Sequence[int]
) -> tuple[int, ...]:
    """The board with cards that are left for those that may be any."""
    left = [card for card in range(DECK_SIZE) if card not in taken]
    drawn = iter(chance.choice(left, board.count(ANY_CARD), replace=False).tolist())
    return tuple(next(drawn) if card == ANY_CARD else card for card in board)

"""A hand in play at another program's table, as one of its players sees it.

The protocols (`acpc`, `slumbot`) read a hand from a table's messages and write the answering move;
a function from the hand to a move decides.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from allstreets.base import InputError, shortened
from allstreets.betting import ActionKind, Player
from allstreets.cards import parse_cards
from allstreets.interop.played_hands import Cards, HandError, Ledger, Move, PlayedHand

SEATS = ("OOP", "IP")
MOST_TEXT = 4000  # letters of a hand


@dataclass(frozen=True)
class TableRules:
    """The game of a table; amounts in chips."""

    stack: int = 20_000
    small_blind: int = 50
    big_blind: int = 100

    def __post_init__(self) -> None:
        if not 0 < self.small_blind <= self.big_blind <= self.stack:
            raise InputError(
                f"blinds of {self.small_blind}/{self.big_blind} and stacks of {self.stack} chips "
                "are not a game: the small blind comes first, and stacks cover the big one"
            )

    def ledger(self) -> Ledger:
        """The chips after both blinds."""
        stack = Fraction(self.stack)
        ledger = Ledger(SEATS, (stack, stack), Fraction(self.big_blind))
        ledger.post_blind(Player.OOP, Fraction(self.big_blind))
        ledger.post_blind(Player.IP, Fraction(self.small_blind))
        return ledger


@dataclass(frozen=True)
class LiveHand:
    """A hand in play, as seen by one player."""

    name: str
    player: Player
    cards: Cards | None  # None: not known yet
    board: tuple[int, ...]
    ledger: Ledger

    @property
    def is_mine(self) -> bool:
        """Whether the player has to act."""
        turn = self.ledger.to_act
        return turn is not None and turn[1] == self.player

    @property
    def so_far(self) -> PlayedHand:
        """The hand as played, in big blinds."""
        holes = (self.cards, None) if self.player == Player.OOP else (None, self.cards)
        return self.ledger.so_far(self.name, holes, self.board)


Decide = Callable[[LiveHand], Move]


@dataclass(frozen=True)
class TableResult:
    """A hand that is over."""

    hand: LiveHand
    won: Fraction | None  # in chips; None: the table did not show enough to know


def refuse(what: str, text: str) -> NoReturn:
    """Raise an error about a table's message."""
    raise InputError(f"the table sent {shortened(text, 80)}, {what}")


def read_cards(text: str) -> tuple[int, ...]:
    """Cards without anything between them: "9s8h"."""
    return tuple(parse_cards(text)) if text else ()


def live_hand(
    name: str,
    player: Player,
    holes: tuple[Cards | None, Cards | None],
    board: tuple[int, ...],
    ledger: Ledger,
) -> LiveHand:
    """A hand as a player sees it, if its cards and its betting fit; `holes` as far as shown."""
    if len(board) not in (0, 3, 4, 5):
        raise InputError(f"a board has 3, 4 or 5 cards, not {len(board)}")
    dealt = [*board, *(card for hole in holes if hole for card in hole)]
    if len(set(dealt)) < len(dealt):
        raise InputError("a card is dealt twice")
    turn = ledger.to_act
    if turn is not None and turn[0] != max(len(board) - 2, 0):
        raise InputError(f"the betting is on the {turn[0].text}, the board is not")
    return LiveHand(name, player, holes[player], board, ledger)


def follow(
    text: str,
    pattern: re.Pattern[str],
    rules: TableRules,
    read: Callable[[re.Match[str], Ledger], Move],
) -> Ledger:
    """The chips after the actions of a text, with slashes between streets.

    `pattern` matches an action or a slash, `read` interprets it.
    """
    ledger, position, slashes = rules.ledger(), 0, 0
    while match := pattern.match(text, position):
        position = match.end()
        if match.group() == "/":
            slashes += 1
            continue
        turn = ledger.to_act
        if turn is None or slashes != turn[0]:
            raise InputError("streets and slashes do not match")
        move = read(match, ledger)
        try:
            if move.kind >= ActionKind.BET and not ledger.left(turn[1].opponent):
                raise HandError(f"{ledger.players[turn[1]]} raises an all-in")
            ledger.act(*turn, move.kind, move.to)
        except HandError as error:
            raise InputError(error.reason) from None
    if position < len(text):
        raise InputError(f"'{text[position:][:20]}' is not an action")
    return ledger

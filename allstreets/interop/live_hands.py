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
from allstreets.betting import ActionKind, Player, Street
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
    cards = tuple(parse_cards(text)) if text else ()
    if len(set(cards)) < len(cards):
        raise InputError(f"{shortened(text)} names a card twice")
    return cards


def board_street(cards: tuple[int, ...]) -> Street:
    """The street of a board."""
    if len(cards) not in (0, 3, 4, 5):
        raise InputError(f"a board has 3, 4 or 5 cards, not {len(cards)}")
    return Street(max(len(cards) - 2, 0))


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


def won(hand: LiveHand, theirs: Cards | None, strengths: tuple[int, int] | None) -> Fraction | None:
    """The player's winnings; `strengths` of OOP's and IP's hands where cards were shown."""
    ledger, player = hand.ledger, hand.player
    if ledger.folded is not None:
        return ledger.matched if ledger.folded != player else -ledger.matched
    if theirs is None or strengths is None:
        return None
    lead = strengths[player] - strengths[player.opponent]
    return ledger.matched * ((lead > 0) - (lead < 0))

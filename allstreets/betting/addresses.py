"""Addresses of GTO Wizard's pages as lines of play.

    preflop_actions=R2.5-C&board=Ks7h2d5c&flop_actions=X-B1.5-C&turn_actions=X
    r2.5 c | Ks7h2d | x b1.5 c | 5c | x

| word             | action                                                                  |
|------------------|-------------------------------------------------------------------------|
| `F`, `X`, `C`    | fold, check, call                                                       |
| `R2.5`           | raise to 2.5 big blinds; after the flop the first one of a street bets  |
| `B1.5`           | bet 1.5 big blinds                                                      |
| `RAI`, `AI`      | all-in                                                                  |

Seats that fold before the small blind acts are left out: F-F-R2.5-C is R2.5-C. Amounts count in the
unit of the solution, which is big blinds in games and chips in spots. Other keys are ignored.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from allstreets.base import InputError
from allstreets.betting.table import POSTFLOP, Street
from allstreets.cards import cards_text, parse_board

BOARD = "board"
WORD = re.compile(r"([RB])(\d+(?:\.\d+)?)")
PLAIN = {"F": "f", "X": "x", "C": "c", "RAI": "a", "AI": "a"}
EXAMPLE = "preflop_actions=R2.5-C&board=Ks7h2d&flop_actions=X-B1.5-C"


@dataclass(frozen=True)
class Address:
    """The words of every street, as lines write them, and the board."""

    words: Mapping[Street, tuple[str, ...]]
    board: tuple[int, ...] = ()

    def words_on(self, street: Street) -> str:
        """The words of a street in a row."""
        return " ".join(self.words.get(street, ()))

    def line(self, *, named: bool) -> str:
        """The line of a whole game; `named`: whether it names turn and river cards.

        >>> read_address("preflop_actions=C-X&board=Ks7h2d5c&flop_actions=X-X").line(named=True)
        'c x | Ks7h2d | x x | 5c |'
        """
        root = self.words_on(Street.PREFLOP)
        if not self.board:
            after = self.words_on(Street.FLOP)
            return f"{root} | {after}" if after else root
        flop, rest = cards_text(self.board[:3]), self.line_after(3, named=named)
        return f"{root} | {flop} | {rest}" if rest else f"{root} | {flop}"

    def line_after(self, cards: int, *, named: bool) -> str:
        """The line from a street on, which the number of cards on the table names.

        >>> address = read_address("board=Ks7h2d5c&flop_actions=X-X&turn_actions=B3")
        >>> address.line_after(3, named=True), address.line_after(4, named=True)
        ('x x | 5c | b3', 'b3')
        """
        first = Street(cards - 2)
        text = self.words_on(first)
        for street in POSTFLOP[first:]:
            dealt = self.board[street + 1 : street + 2]
            if not (self.words.get(street) or (dealt and self._ends(Street(street - 1)))):
                break
            card = f" {cards_text(dealt)} |" if named else ""
            text = f"{text} |{card} {self.words_on(street)}".strip()
        return text

    def _ends(self, street: Street) -> bool:
        """Whether the betting of a street is over, and a card follows."""
        words = self.words.get(street, ())
        return "a" not in words and (words[-1:] == ("c",) or words == ("x", "x"))


def is_address(text: str) -> bool:
    """Whether a text is an address: no line has an equals sign."""
    return "=" in text or "%3d" in text.lower()


def read_address(text: str) -> Address:
    """An address, with or without the part before its question mark.

    >>> read_address("https://app.gtowizard.com/solutions?board=Ks7h2d&preflop_actions=F-R2.5-C")
    Address(words={<Street.PREFLOP: 0>: ('r2.5', 'c')}, board=(47, 22, 1))
    """
    text = text.strip() if "=" in text else unquote(text.strip())
    given = parse_qs(urlsplit(text).query or text.lstrip("?"), keep_blank_values=True)
    keys = {street: f"{street.text}_actions" for street in Street}
    if not given.keys() & {BOARD, *keys.values()}:
        raise InputError(f"'{text}' names neither a board nor actions: write {EXAMPLE}")
    words = {
        street: _words(street, key, given[key][-1])
        for street, key in keys.items()
        if given.get(key, [""])[-1].strip()
    }
    board = parse_board(given[BOARD][-1]) if given.get(BOARD, [""])[-1].strip() else ()
    return Address(words, board)


def _words(street: Street, key: str, text: str) -> tuple[str, ...]:
    """The words of a street as lines write them."""
    given = [word for word in re.split(r"[-\s,]+", text.strip().upper()) if word]
    while street == Street.PREFLOP and given[0] == "F" and len(given) > 1:
        given.pop(0)  # a seat that is not in the game
    words: list[str] = []
    for word in given:
        sized = WORD.fullmatch(word)
        if word not in PLAIN and sized is None:
            raise InputError(f"{key}: '{word}' is not an action: write F, X, C, R2.5, B1.5 or RAI")
        if sized is None:
            words.append(PLAIN[word])
            continue
        raised = street == Street.PREFLOP or any(other[0] in "bra" for other in words)
        words.append(f"{'r' if raised else 'b'}{sized[2]}")
    return tuple(words)


def write_address(words: Mapping[Street, Sequence[str]], board: Sequence[int] = ()) -> str:
    """The address of words with amounts.

    >>> write_address({Street.PREFLOP: ["r2.5", "c"], Street.FLOP: ["x", "a"]}, (47, 22, 1))
    'preflop_actions=R2.5-C&board=Ks7h2d&flop_actions=X-RAI'
    """
    parts = {
        f"{street.text}_actions": "-".join("RAI" if w == "a" else w.upper() for w in some)
        for street, some in words.items()
    }
    first = {key: parts.get(key, "") for key in ("preflop_actions",) if key in parts or not board}
    cards = {BOARD: cards_text(board)} if board else {}
    return "&".join(f"{key}={text}" for key, text in {**first, **cards, **parts}.items())

"""Leduc hold'em: six cards, two betting rounds, one public card between them.

Each player antes 1 chip and gets one of six different cards (J, Q, K in two suits). In each round
the first player opens; a bet or raise is 2 chips in round one and 4 in round two, at most two of
them per round. Between the rounds a public card is dealt. A pair with the public card wins, else
the higher rank; suits do not count, but a player can tell his two cards of one rank apart, so there
are 936 information sets. It is the game that OpenSpiel calls `leduc_poker`.

Southey et al. (2005), Bayes' bluff: opponent modelling in poker.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allstreets.cfr.game import FIRST, SECOND

CARDS = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
SUITS = 2
ANTE = 1
RAISE = (2, 4)  # chips, by round
RAISES_PER_ROUND = 2
LETTERS = {"fold": "f", "check": "k", "call": "c", "bet": "b", "raise": "r"}


@dataclass(frozen=True, slots=True)
class LeducState:
    """A history of Leduc hold'em.

    `cards` holds the dealt cards as indices into `CARDS`: first player's, second player's, public.
    `rounds` holds the betting of round one and two, one letter per action (f fold, k check, c call,
    b bet, r raise), and `invested` what each player has put in.
    """

    cards: tuple[int, ...] = ()
    rounds: tuple[str, str] = ("", "")
    invested: tuple[int, int] = (ANTE, ANTE)

    @property
    def is_terminal(self) -> bool:
        first, second = self.rounds
        return first[-1:] == "f" or second[-1:] == "f" or _is_closed(second)

    @property
    def is_chance(self) -> bool:
        due = 3 if _is_closed(self.rounds[0]) else 2
        return len(self.cards) < due

    @property
    def player(self) -> int:
        return FIRST if len(self._betting) % 2 == 0 else SECOND

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        left = self._undealt()
        return [(CARDS[card], 1 / len(left)) for card in left]

    def actions(self) -> Sequence[str]:
        facing = self._betting[-1:] in ("b", "r")
        raised = sum(letter in "br" for letter in self._betting)
        passive = ("fold", "call") if facing else ("check",)
        aggressive = ("raise" if facing else "bet",) if raised < RAISES_PER_ROUND else ()
        return passive + aggressive

    def child(self, index: int) -> "LeducState":
        if self.is_chance:
            return LeducState((*self.cards, self._undealt()[index]), self.rounds, self.invested)
        action = self.actions()[index]
        betting = self._betting + LETTERS[action]
        rounds = (self.rounds[0], betting) if len(self.cards) == 3 else (betting, "")
        paid = list(self.invested)
        if action in ("call", "bet", "raise"):
            paid[self.player] = paid[1 - self.player]
        if action in ("bet", "raise"):
            paid[self.player] += RAISE[self._round]
        return LeducState(self.cards, rounds, (paid[FIRST], paid[SECOND]))

    def information_set(self) -> str:
        """The player's card, round one, the public card, round two: "Ks kb", "Ks kbc Jh kb"."""
        words = [CARDS[self.cards[self.player]], self.rounds[0]]
        if len(self.cards) == 3:
            words += [CARDS[self.cards[2]], self.rounds[1]]
        return " ".join(word for word in words if word)

    def utility(self) -> float:
        if self._betting[-1] == "f":
            # The player to move after a fold is the one with the uncalled bet.
            winner = self.player
            return float(self.invested[SECOND] if winner == FIRST else -self.invested[FIRST])
        first, second, public = (card // SUITS for card in self.cards)
        if first == second:
            return 0.0
        first_wins = first == public or (second != public and first > second)
        return float(self.invested[SECOND] if first_wins else -self.invested[FIRST])

    @property
    def _round(self) -> int:
        return 1 if len(self.cards) == 3 else 0

    @property
    def _betting(self) -> str:
        return self.rounds[self._round]

    def _undealt(self) -> list[int]:
        return [card for card in range(len(CARDS)) if card not in self.cards]


def _is_closed(betting: str) -> bool:
    """Whether a round's betting is over without a fold: a call, or both checked."""
    return betting[-1:] == "c" or betting == "kk"


@dataclass(frozen=True)
class Leduc:
    """The game of Leduc hold'em; utilities in chips."""

    name: str = "leduc"
    unit: str = "chips"

    def root(self) -> LeducState:
        """The state before the deal."""
        return LeducState()

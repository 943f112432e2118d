"""Kuhn poker: three cards, one bet, the smallest poker with bluffing.

Each player antes 1 chip and gets one of J, Q, K. The first player checks or bets 1; after a check
the second may bet 1; a player who faces a bet folds or calls. The higher card wins.
The value for the first player is −1/18 chips.

Kuhn (1950), A simplified two-person poker.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allstreets.cfr.game import FIRST, SECOND

CARDS = "JQK"
ANTE = 1
BET = 1
LETTERS = {"check": "k", "bet": "b", "fold": "f", "call": "c"}


@dataclass(frozen=True, slots=True)
class KuhnState:
    """A history of Kuhn poker.

    `cards` holds the dealt cards as indices into `CARDS`, first player's first; `betting` the
    actions so far, one letter each (k check, b bet, f fold, c call).
    """

    cards: tuple[int, ...] = ()
    betting: str = ""

    @property
    def is_terminal(self) -> bool:
        return self.betting[-1:] in ("f", "c") or self.betting == "kk"

    @property
    def is_chance(self) -> bool:
        return len(self.cards) < 2

    @property
    def player(self) -> int:
        return FIRST if len(self.betting) % 2 == 0 else SECOND

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        left = self._undealt()
        return [(CARDS[card], 1 / len(left)) for card in left]

    def actions(self) -> Sequence[str]:
        return ("fold", "call") if self.betting[-1:] == "b" else ("check", "bet")

    def child(self, index: int) -> "KuhnState":
        if self.is_chance:
            return KuhnState((*self.cards, self._undealt()[index]))
        return KuhnState(self.cards, self.betting + LETTERS[self.actions()[index]])

    def information_set(self) -> str:
        """The player's card, then the betting: "K", "Q b", "J kb"."""
        return f"{CARDS[self.cards[self.player]]} {self.betting}".rstrip()

    def utility(self) -> float:
        if self.betting[-1] == "f":
            # The player to move after a fold is the one with the uncalled bet.
            return float(ANTE if self.player == FIRST else -ANTE)
        stake = ANTE + BET if self.betting[-1] == "c" else ANTE
        return float(stake if self.cards[FIRST] > self.cards[SECOND] else -stake)

    def _undealt(self) -> list[int]:
        return [card for card in range(len(CARDS)) if card not in self.cards]


@dataclass(frozen=True)
class Kuhn:
    """The game of Kuhn poker; utilities in chips."""

    name: str = "kuhn"
    unit: str = "chips"

    def root(self) -> KuhnState:
        """The state before the deal."""
        return KuhnState()

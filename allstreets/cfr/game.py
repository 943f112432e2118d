"""What a game must provide so that every solver here can play it.

The games are finite, sequential, for two players and zero-sum, with chance and hidden information.
A state is one history: it never changes, and `child` makes another one. States know the rules and
nothing else; solvers compile them once into flat arrays and leave them behind.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

FIRST = 0
SECOND = 1


@runtime_checkable
class State(Protocol):
    """One history of a game, immutable.

    Exactly one of three kinds: over (`is_terminal`), nature moves (`is_chance`), or `player` moves.
    A method that does not belong to the state's kind may return anything.
    """

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""

    @property
    def is_chance(self) -> bool:
        """Whether nature moves."""

    @property
    def player(self) -> int:
        """Who moves: `FIRST` or `SECOND`."""

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        """Nature's moves: (label, probability), the probabilities positive with sum 1."""

    def actions(self) -> Sequence[str]:
        """Labels of the player's legal actions; the same, in the same order, all over one set."""

    def child(self, index: int) -> "State":
        """The state after `actions()[index]`, or after `chance_outcomes()[index]`."""

    def information_set(self) -> str:
        """What the player who moves knows, as text; no text serves both players.

        Players have perfect recall: the text shows the player's own past moves and what he saw.
        """

    def utility(self) -> float:
        """What the first player wins at the end; the second player wins the negative of it."""


@runtime_checkable
class Game(Protocol):
    """A two-player zero-sum game."""

    @property
    def name(self) -> str:
        """The name that `load_game` knows the game by."""

    @property
    def unit(self) -> str:
        """The unit of utilities, as a person reads it ("chips")."""

    def root(self) -> State:
        """The state before anything has happened."""

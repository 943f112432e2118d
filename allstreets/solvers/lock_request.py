"""What a player is to be made to do at a decision, asked for in one of a few ways.

The same request makes locks of a spot, whose board and combos are known, and of a whole game, whose
decisions before the flop are by hand class and whose others hold on every flop.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.games import Bound, Lock
from allstreets.solvers.spot.frequency_locks import lock_as_played, observed_locks
from allstreets.solvers.spot.result import SpotResult
from allstreets.solvers.whole_game.frequency_locks import lock_game_as_played, observed_game_locks
from allstreets.solvers.whole_game.result import UnifiedResult


@dataclass(frozen=True)
class LockRequest:
    """One of: an action that all hands take, or some; the range as it plays; frequencies."""

    line: str = ""
    always: str | None = None
    as_is: bool = False
    hands: tuple[tuple[str, str], ...] = ()  # range text and action
    bounds: tuple[Bound, ...] = ()  # of this line, or of several

    def __post_init__(self) -> None:
        ways = [self.always is not None, self.as_is, bool(self.hands), bool(self.bounds)]
        if sum(ways) != 1:
            raise InputError(
                "give one way to lock: an action always, the range as it is, hands with an "
                "action, or frequencies"
            )

    @classmethod
    def often(cls, line: str, frequencies: Mapping[str, str]) -> "LockRequest":
        """Actions that are taken so often: {"fold": "55%", "r6": "<=10%"}."""
        where = f"line '{line}'"
        return cls(
            bounds=tuple(
                Bound.read(line, word, share, where) for word, share in frequencies.items()
            )
        )

    @property
    def lines(self) -> list[str]:
        """The lines to what is locked."""
        return list(dict.fromkeys(bound.line for bound in self.bounds)) or [self.line]

    def of_spot(self, result: SpotResult) -> tuple[Lock, ...]:
        """The locks of a spot that do so."""
        if self.bounds:
            return observed_locks(result, self.bounds)
        return (lock_as_played(result, self.line) if self.as_is else self._told(self.line),)

    def of_game(self, result: UnifiedResult, folder: str) -> tuple[Lock, ...]:
        """The locks of a whole game that do so; `folder` has the solution."""
        if self.bounds:
            return observed_game_locks(result, self.bounds, folder)
        if self.as_is:
            return (lock_game_as_played(result, self.line, folder),)
        return (self._told(result.game.node_at(self.line, "line").line),)

    def _told(self, line: str) -> Lock:
        if self.always is not None:
            return Lock(line, strategy={self.always: 1.0})
        return Lock(line, hands={some: {action: 1.0} for some, action in self.hands})

"""The range of a player at a node, also as text that other programs read."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from allstreets.base import Floats, InputError, suggest
from allstreets.cards import Range, RangeKind, live_combos
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.views.nodes import player_of
from allstreets.solutions import Decision

# Names of actions and the letters that they have in lines; all sizes of a bet share a name.
LETTERS = {
    "fold": "f",
    "check": "x",
    "call": "c",
    "limp": "c",
    "bet": "b",
    "raise": "r",
    "all-in": "a",
    "allin": "a",
}


@dataclass(frozen=True)
class Reaching:
    """The range with which a player gets to a node, or the part of it that takes an action."""

    range: Range  # weights of four decimals, of unblocked combos
    board: tuple[int, ...]

    @property
    def combos(self) -> float:
        """The sum of its weights."""
        return self.range.combos

    def text(self, kind: RangeKind | str = RangeKind.text) -> str:
        """The range as text in a format."""
        return _text(self.range.beside(self.board), RangeKind(kind))


def reaching(decision: Decision, player_name: PlayerName | None, action: str | None) -> Reaching:
    """A player's range, by default the acting player's, or the part of it that takes an action.

    An action is a word of a line ("r2.5") or a name ("raise": of every size, but the all-in).
    """
    player = decision.player if player_name is None else player_of(player_name)
    if action is None:
        weights = decision.combo_weights(player)
    else:
        if decision.actor != player:
            name = player_name or "this player"
            raise InputError(f"{name} does not act here: leave the action out")
        parts = [decision.combo_weights(player, index) for index in _indices(decision, action)]
        weights = np.sum(parts, axis=0)
    live = np.where(live_combos(decision.board), weights, 0.0)
    return Reaching(Range(np.clip(live, 0.0, 1.0)).rounded(), decision.board)


def _indices(decision: Decision, action: str) -> list[int]:
    """The indices of an action, or of all actions of that name, among those offered."""
    word = action.strip().lower()
    indices = [index for index, offered in enumerate(decision.actions) if offered == word]
    if not indices and word in LETTERS:
        letter = LETTERS[word]
        indices = [n for n, offered in enumerate(decision.actions) if offered.startswith(letter)]
    if not indices:
        raise InputError(f"'{action}' is not offered here: {suggest(action, decision.actions)}")
    return indices


def weights_text(weights: Floats, board: tuple[int, ...]) -> str:
    """The shortest text of weights [1326] on a board, for people."""
    return _text(Range(weights).beside(board), RangeKind.text)


@lru_cache(64)
def _text(held: Range, kind: RangeKind) -> str:
    """The shortest text takes a while to find."""
    return held.text(kind)

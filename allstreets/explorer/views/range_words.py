"""The range of a player at a place in words that other programs read."""

from functools import lru_cache

import numpy as np

from allstreets.base import InputError, suggest
from allstreets.cards import (
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    combo_text,
    format_weights,
    live_combos,
)
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import RangeText
from allstreets.explorer.views.betting import player_of
from allstreets.solvers import Decision, Floats

COMBOS_OF_HAND = [np.flatnonzero(hand == HAND_OF_COMBO).tolist() for hand in range(HAND_COUNT)]
DIGITS = 4  # of weights: more would make the text long, and are not known


def range_text(scene: Decision, player_name: PlayerName, action: str | None) -> RangeText:
    """A player's range, or the part of it that takes an action."""
    player = player_of(player_name)
    place = None
    if action is not None:
        if scene.actor != player:
            raise InputError(f"{player_name} does not act here: leave the action out")
        if action not in scene.actions:
            raise InputError(f"'{action}' is not offered here: {suggest(action, scene.actions)}")
        place = scene.actions.index(action)
    weights = np.round(scene.combo_weights(player, place), DIGITS)
    weights = np.where(live_combos(scene.board), weights, 0.0)
    return RangeText(text=plain_text(weights, scene.board), combos=float(weights.sum()))


def plain_text(weights: Floats, board: tuple[int, ...]) -> str:
    """Weights [1326] hand by hand, "AA,AKs:0.25,AhQd": the notation that every program reads."""
    whole = _as_on_an_empty_board(weights, board)
    words = []
    for hand, name in enumerate(HAND_NAMES):
        held = whole[COMBOS_OF_HAND[hand]]
        if held.min() == held.max():
            words.append(_word(name, held[0]))
        else:
            words += [_word(combo_text(combo), whole[combo]) for combo in COMBOS_OF_HAND[hand]]
    return ",".join(filter(None, words))


def _word(name: str, weight: float) -> str:
    if not weight:
        return ""
    return name if weight == 1 else f"{name}:{weight:.{DIGITS}g}"


def weights_text(weights: Floats, board: tuple[int, ...]) -> str:
    """The shortest text of weights [1326] on a board, for people."""
    return _text(_as_on_an_empty_board(weights, board).tobytes())


def _as_on_an_empty_board(weights: Floats, board: tuple[int, ...]) -> Floats:
    """Weights [1326] with combos that the board blocks as the others of their hand.

    That keeps texts short and changes nothing: a program that reads a range for a board leaves them
    out.
    """
    live = live_combos(board)
    low, high = np.full(HAND_COUNT, np.inf), np.full(HAND_COUNT, -np.inf)
    np.minimum.at(low, HAND_OF_COMBO[live], weights[live])
    np.maximum.at(high, HAND_OF_COMBO[live], weights[live])
    agree = (low == high)[HAND_OF_COMBO]
    found: Floats = np.where(~live & agree, low[HAND_OF_COMBO], weights)
    return found


@lru_cache(64)
def _text(weights: bytes) -> str:
    """The shortest text takes a while to find."""
    return format_weights(np.frombuffer(weights, np.float64))

"""Games small enough to prove a solver on, and the door to OpenSpiel's.

`load_game` knows them by name; `Game` and `State` say what a game of one's own must offer.
"""

from allstreets.games.base import FIRST, SECOND, Game, State
from allstreets.games.kuhn import Kuhn
from allstreets.games.leduc import Leduc
from allstreets.games.openspiel import load_openspiel
from allstreets.games.registry import game_names, load_game

__all__ = [
    "FIRST",
    "SECOND",
    "Game",
    "Kuhn",
    "Leduc",
    "State",
    "game_names",
    "load_game",
    "load_openspiel",
]

"""Games small enough to prove a solver on, known by name, and an adapter for OpenSpiel's."""

from collections.abc import Callable

from allstreets.base import InputError, suggest
from allstreets.cfr.game import Game
from allstreets.cfr.toys.kuhn import Kuhn
from allstreets.cfr.toys.leduc import Leduc
from allstreets.cfr.toys.openspiel import load_openspiel

OPENSPIEL_PREFIX = "openspiel:"
GAMES: dict[str, Callable[[], Game]] = {"kuhn": Kuhn, "leduc": Leduc}


def game_names() -> list[str]:
    """The names that `load_game` knows; `openspiel:NAME` stands for all of OpenSpiel's.

    >>> game_names()
    ['kuhn', 'leduc', 'openspiel:NAME']
    """
    return [*GAMES, f"{OPENSPIEL_PREFIX}NAME"]


def load_game(name: str) -> Game:
    """The game called `name`: "kuhn", "leduc" or "openspiel:NAME".

    >>> load_game("kuhn").name
    'kuhn'
    """
    word = name.strip()
    if word.lower().startswith(OPENSPIEL_PREFIX):
        return load_openspiel(word[len(OPENSPIEL_PREFIX) :].strip())
    if word.lower() in GAMES:
        return GAMES[word.lower()]()
    raise InputError(f"unknown game {name!r}: {suggest(word, game_names())}")

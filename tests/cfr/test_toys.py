"""Games by name."""

import subprocess
import sys

import pytest

from allstreets.base import InputError
from allstreets.cfr import Game, State, game_names, load_game


@pytest.mark.parametrize("name", ["kuhn", "leduc", " Kuhn ", "LEDUC"])
def test_known_games(name: str) -> None:
    game = load_game(name)
    assert isinstance(game, Game)
    assert isinstance(game.root(), State)
    assert game.name == name.strip().lower()
    assert game.unit == "chips"


def test_unknown_game_suggests() -> None:
    with pytest.raises(InputError, match="unknown game 'leduk': did you mean 'leduc'"):
        load_game("leduk")
    with pytest.raises(InputError, match="choose one of: kuhn, leduc, openspiel:NAME"):
        load_game("chess960")


def test_every_listed_name_loads() -> None:
    for name in game_names():
        assert not load_game(name.replace("NAME", "kuhn_poker")).root().is_terminal


def test_games_need_neither_numba_nor_openspiel() -> None:
    code = (
        "import sys, allstreets.cfr; allstreets.cfr.load_game('leduc'); "
        "sys.exit('numba' in sys.modules or 'pyspiel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

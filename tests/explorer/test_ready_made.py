"""The library on the home page: listed without being unpacked, opened by its ids."""

from pathlib import Path

import pytest
from builders.certificates import certificate
from builders.explorer_solutions import folder

from allstreets.explorer.library import Library
from allstreets.explorer.models.base import MissingError
from allstreets.explorer.ready_made import EXACTLY, ReadyMade, worth_in_words
from allstreets.storage import library


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "cache" / "library"))
    return tmp_path / "cache/library"


def test_formats_and_stacks(copies: Path) -> None:
    formats = ReadyMade().list()
    plain = next(each for each in formats if each.name == "Push or fold")
    assert [game.stack_bb for game in plain.games] == [1 + step / 2 for step in range(39)]
    assert plain.words == EXACTLY
    assert plain.tree.startswith("the small blind is all-in or folds")
    assert all(game.reaches_target and game.real is not None for game in plain.games)
    assert sum(len(each.games) for each in formats) == len(library())
    assert not copies.exists(), "nothing is copied to be listed"


def test_a_game_is_unpacked_when_it_is_opened(copies: Path) -> None:
    ready = ReadyMade({name: library()[name] for name in ("pf-10bb", "pf-8bb")})
    opened = Library([folder("turn")], ready_made=ready)
    (format,) = ready.list()
    eight, ten = format.games
    assert [eight.name, ten.name] == ["pf-8bb", "pf-10bb"]
    assert [card.kind for card in opened.cards()] == ["spot"]
    assert opened.detail(ten.id).name == "pf-10bb"
    assert opened.folder(ten.id) == library()["pf-10bb"].copy
    assert [path.name for path in copies.glob("*/*")] == ["pf-10bb"]
    assert opened.place(ten.id, "a").solution == ten.id
    # It is not one of the user's solutions until he opens it.
    assert [card.kind for card in opened.cards()] == ["spot"]
    named = Library([library()["pf-10bb"].copy], ready_made=ready)
    assert [card.name for card in named.cards()] == ["pf-10bb"]
    with pytest.raises(MissingError):
        Library([folder("turn")]).detail(eight.id)


def test_worth_in_words() -> None:
    assert worth_in_words(None) == "Not certified"
    # 216 mbb/hand, 201 to 230
    assert worth_in_words(certificate()) == (
        "A perfect opponent wins 22 bb in 100 hands (95 % sure: 20 to 23)"
    )

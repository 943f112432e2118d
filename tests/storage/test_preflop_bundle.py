"""A saved preflop solution is the one that was solved, or a clear error."""

from pathlib import Path

import pytest
from builders.whole_solution import classes, raked, result, same

import allstreets
from allstreets.base import InputError
from allstreets.solutions import PreflopRoots, WholeSolution
from allstreets.storage import load_preflop, save_preflop
from allstreets.storage.game_bundle import require_preflop_folder


def solution() -> WholeSolution:
    """The preflop part of a whole game, as a solver of that part would have it."""
    whole = result()
    return WholeSolution(PreflopRoots(whole.rules, whole.before), None, whole.facts)


def test_every_decision_comes_back(tmp_path: Path) -> None:
    save_preflop(solution(), tmp_path / "game", identity={"values": "abc"})
    loaded = load_preflop(tmp_path / "game")
    for line in ("", "c", "r2.5", "r2.5 r6.25"):
        first, second = loaded.at(line).decision, result().at(line).decision
        assert first.actions == second.actions
        assert same(first.strategy, second.strategy)
        assert first.ev() == pytest.approx(second.ev(), abs=1e-6)
    assert loaded.exploitability == result().exploitability
    assert loaded.values == result().values
    assert loaded.rules == classes().game.preflop
    assert loaded.opening_lines() == ["", "a"]


def test_it_ends_at_the_flop(tmp_path: Path) -> None:
    save_preflop(solution(), tmp_path / "game", identity={})
    loaded = allstreets.load(tmp_path / "game")
    assert isinstance(loaded, WholeSolution)
    assert not loaded.is_game
    with pytest.raises(InputError, match="this solution ends there"):
        loaded.at("c x", "Ks7h2d")


def test_another_game_is_refused(tmp_path: Path) -> None:
    save_preflop(solution(), tmp_path / "game", identity={"values": "abc"})
    with pytest.raises(InputError, match=r"another game: values differ \(values \"abc\" there"):
        save_preflop(solution(), tmp_path / "game", identity={"values": "def"})
    other = WholeSolution.of(raked())
    with pytest.raises(InputError, match="another game: preflop"):
        save_preflop(other, tmp_path / "game", identity={"values": "abc"})
    save_preflop(solution(), tmp_path / "game", identity={"values": "abc"})
    assert len(list((tmp_path / "game").iterdir())) == 2
    require_preflop_folder(tmp_path / "game", resume=True)
    with pytest.raises(InputError, match="already contains a solution"):
        require_preflop_folder(tmp_path / "game", resume=False)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_preflop(solution(), tmp_path / "game", identity={})
    before = sorted(path.name for path in (tmp_path / "game").iterdir())

    def dying(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for place in ("mapped", "manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(f"allstreets.storage.{place}.write_atomic", dying)
            with pytest.raises(InputError, match="No space left on device"):
                save_preflop(solution(), tmp_path / "game", identity={})
        assert sorted(path.name for path in (tmp_path / "game").iterdir()) == before
        assert load_preflop(tmp_path / "game").iterations == 30

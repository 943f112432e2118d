"""HUD numbers: the decisions that they count, and locks that meet them."""

import numpy as np
import pytest
from builders import whole_solution
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.analysis import (
    NUMBERS,
    GameExploit,
    GamePlay,
    LockRequest,
    decisions_of,
    hud_locks,
    hud_seat,
    read_hud,
)
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.games import changed_strategy

HEAD = "number,frequency\n"
BB, SB = Player.OOP, Player.IP

# What people mean by these numbers, decision by decision.
COUNTED = {
    ("vpip", SB): [""],
    ("pfr", SB): [""],
    ("limp", SB): [""],
    ("raise_limp", BB): ["c"],
    ("fold_to_open", BB): ["r2.5"],
    ("3bet", BB): ["r2.5"],
    ("limp_fold", SB): ["c r2.5"],
    ("fold_to_3bet", SB): ["r2.5 r6.25"],
    ("fold_to_3bet", BB): ["c r2.5 r6.25"],
    ("fold_to_4bet", BB): ["r2.5 r6.25 r15.63"],
    ("fold_to_jam", BB): ["a", "c r2.5 a", "c r2.5 r6.25 r15.63 a", "r2.5 r6.25 a"],
    ("cbet", SB): [
        "c r2.5 r6.25 c | * | x",
        "r2.5 c | * | x",
        "r2.5 r6.25 r15.63 c | * | x",
    ],
    ("cbet", BB): ["c r2.5 c | *", "c r2.5 r6.25 r15.63 c | *", "r2.5 r6.25 c | *"],
    ("fold_to_cbet", SB): [
        "c r2.5 c | * | b100%",
        "c r2.5 r6.25 r15.63 c | * | a",
        "r2.5 r6.25 c | * | b100%",
    ],
    ("donk", BB): ["c r2.5 r6.25 c | *", "r2.5 c | *", "r2.5 r6.25 r15.63 c | *"],
    ("vpip", BB): [],
    ("donk", SB): [],
    ("fold_to_open", SB): [],
}


@pytest.mark.parametrize(("key", "player"), COUNTED)
def test_numbers_count_what_people_mean(key: str, player: Player) -> None:
    number = next(each for each in NUMBERS if each.key == key)
    found = decisions_of(whole_solution.result().game, number, player)
    assert sorted(target.line for target in found.targets) == COUNTED[key, player]
    for target, flags in found.counted:
        assert target.tree.player_at(target.node) == player
        assert 0 < flags.sum() < len(flags)


@settings(max_examples=3)
@given(st.integers(40, 90), st.integers(10, 35), st.sampled_from(["", "<=", ">="]))
def test_every_number_holds(vpip: int, pfr: int, sign: str) -> None:
    result = whole_solution.result()
    asked = read_hud(f"{HEAD}VPIP,{vpip}\npfr,{pfr}%\nfold to 3-bet,{sign}0.{vpip}\n", "x.csv")
    numbers = hud_locks(result, asked, SB)
    locks = LockRequest(bounds=numbers.bounds).of_game(result, "")
    free, play = GamePlay(result, SB), GamePlay(result, SB, locks)
    for held, each in zip(numbers.held(free, play), asked, strict=True):
        assert each.bound.least - 1e-6 <= held.now <= each.bound.most + 1e-6
    parts = GameExploit.find(play).parts()
    assert min(part.gain for part in parts) >= -1e-3


def test_several_decisions_meet_a_number_together_at_the_least_cost() -> None:
    """On flops too; no cheaper than by moving, but cheaper than each decision by itself."""
    result = whole_solution.result()
    asked = read_hud(f"{HEAD}fold to all-in,90\nfold_to_cbet,70%\n", "x.csv")
    numbers = hud_locks(result, asked, BB)
    locks = LockRequest(bounds=numbers.bounds).of_game(result, "")
    free, play = GamePlay(result, BB), GamePlay(result, BB, locks)
    held = numbers.held(free, play)
    assert [each.now for each in held] == pytest.approx([0.9, 0.7], abs=2e-3)
    assert held[1].text.startswith("BB: fold to a c-bet: 70.0 % of the time (asked 70 %, ")
    (_, jams), _ = numbers.asked
    together = alone = 0.0
    for target, flags in jams.counted:
        ((strategy, evs, weights),) = free.plays_with_evs(target)
        if not np.isfinite(evs).all():
            continue
        least = np.where(flags, 0.9, 0.0)
        changed = changed_strategy(strategy, evs, weights, least, np.where(flags, 0.9, 1.0))
        ((told, _, _),) = play.plays_with_evs(target)
        alone += float(((strategy - changed) * evs).sum(axis=0) @ weights)
        together += float(((strategy - told) * evs).sum(axis=0) @ weights)
    assert 0 < together <= alone * (1 + 1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vpip,60%", "the first line names the columns number, frequency"),
        (f"{HEAD}fold_to_5bet,60", "line 2: 'fold_to_5bet' is not a known number"),
        (f"{HEAD}vpip,60\nVPIP,50", "line 3: vpip is given twice"),
        (f"{HEAD}vpip,often", "'often' is not a frequency"),
        (f"{HEAD}vpip,120", "more than 1"),
        (HEAD, "has no numbers"),
        (f"{HEAD}vpip", "write a number and its frequency"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_hud(text, "x.csv")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("vpip,60\npfr,20\nlimp,10", "contradict each other: vpip 60 %, pfr 20 %, limp 10 %"),
        ("vpip,20\npfr,40", "contradict each other"),
        ("vpip,>=20\npfr,10", "vpip is counted together with pfr: give one frequency"),
    ],
)
def test_numbers_that_cannot_be_are_refused(rows: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hud_locks(whole_solution.result(), read_hud(HEAD + rows, "x.csv"), SB)


def test_the_seat_follows_from_the_numbers() -> None:
    game = whole_solution.result().game
    assert hud_seat(game, read_hud(f"{HEAD}vpip,60\ncbet,50", "x")) == SB
    assert hud_seat(game, read_hud(f"{HEAD}3bet,6", "x")) == BB
    assert hud_seat(game, read_hud(f"{HEAD}cbet,6", "x"), SB) == SB
    with pytest.raises(InputError, match="count in both seats: name the player's seat"):
        hud_seat(game, read_hud(f"{HEAD}cbet,50", "x"))
    with pytest.raises(InputError, match="are of both seats"):
        hud_seat(game, read_hud(f"{HEAD}vpip,50\n3bet,6", "x"))
    numbers = "the numbers of BB here are raise_limp, fold_to_open, "
    with pytest.raises(InputError, match=f"no decision of BB 'first in'; {numbers}"):
        hud_seat(game, read_hud(f"{HEAD}vpip,50", "x"), BB)
    small = whole_solution.trips().game
    with pytest.raises(InputError, match="the tree has no decision 'facing a 3-bet'"):
        hud_seat(small, read_hud(f"{HEAD}fold_to_3bet,50", "x"))

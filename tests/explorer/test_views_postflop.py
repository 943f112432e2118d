"""The view of a model of flops has the solution's figures, and the EVs of hands."""

from typing import Any

import numpy as np
import pytest
from builders.explorer_solutions import folder, view
from builders.small_flops import TEXTS

from allstreets import Range
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import equity, hand_pairs, parse_board, parse_flop, parse_hand
from allstreets.explorer.models.place import CardsStep, Deal, Decision, End
from allstreets.solutions import NoNodeError
from allstreets.storage import load_flops

NAMES: tuple[Any, Any] = ("oop", "ip")
LINES = ("", "x", "x b75%", "x x | * | b75%", "x b75% c | * | x x | * | x")
EVERY = [("models", spr, line) for spr in (1, 2) for line in LINES[:: 1 if spr == 2 else 3]]
EVERY += [("bucket models", 2, line) for line in LINES]


def whole(spr: float, flop: str, line: str) -> str:
    return f"spr{spr:g} | {flop}" + (f" | {line}" if line else "")


@pytest.mark.parametrize(("name", "spr", "line"), EVERY)
def test_strategies_are_those_of_the_solution(name: str, spr: float, line: str) -> None:
    known = load_flops(folder(name)).at(whole(spr, "Ks7d2c", line)).decision
    place = view(name).place(whole(spr, "Ks7d2c", line))
    here = place.here
    assert isinstance(here, Decision)
    assert place.line == known.line
    assert (place.pot, here.to_call) == (known.pot, known.to_call)
    assert [action.word for action in here.actions] == list(known.actions)
    assert [action.label for action in here.actions] == list(known.labels)
    assert here.player == NAMES[known.player]
    taken = [action.frequency for action in here.actions]
    assert taken == pytest.approx(known.taken.tolist())
    for action, chances in zip(here.actions, known.strategy, strict=True):
        found = np.array([np.nan if c is None else c for c in action.chances])
        np.testing.assert_allclose(found, chances)
    grid = here.grids.oop if known.player == Player.OOP else here.grids.ip
    np.testing.assert_allclose(grid.reach, known.reach, atol=1e-12)
    pairs = hand_pairs(known.board)
    assert here.share == pytest.approx(known.own.weights.sum() / pairs.sum())


@pytest.mark.parametrize("flop", TEXTS)
@pytest.mark.parametrize("spr", [1, 2])
def test_evs_of_the_start_are_what_pairs_of_hands_are_worth(flop: str, spr: float) -> None:
    """The solution keeps what every hand wins of every other one; here they are added up."""
    solution = load_flops(folder("models"))
    here = view("models").place(whole(spr, flop, "")).here
    assert isinstance(here, Decision)
    pairs = hand_pairs(parse_board(flop))
    root, solved = solution.models.sprs.index(spr), parse_flop(flop).flop
    row = solution.models.row(root, solved)
    for player, grid in zip(Player, (here.grids.oop, here.grids.ip), strict=True):
        values = solution.models.pair_values(root, solved)[player].astype(np.float64)
        for hand in range(169):
            if not pairs[hand].sum():
                assert grid.ev[hand] is None
                continue
            expected = float(values[hand] @ pairs[hand]) / pairs[hand].sum()
            assert grid.ev[hand] == pytest.approx(expected, abs=1e-5)
        assert grid.summary.ev == pytest.approx(row[f"ev_{NAMES[player]}"], abs=1e-5)


def test_evs_of_buckets_are_those_of_the_model() -> None:
    row = load_flops(folder("bucket models")).models.row(0, parse_flop("Ks7d2c").flop)
    here = view("bucket models").place("spr2 | Ks7d2c").here
    assert isinstance(here, Decision)
    assert here.grids.oop.summary.ev == pytest.approx(row["ev_oop"], abs=1e-5)
    assert here.grids.ip.summary.ev == pytest.approx(row["ev_ip"], abs=1e-5)
    assert set(here.grids.oop.equity) == {None}
    assert here.notes


def test_equity_of_full_ranges() -> None:
    here = view("models").place("spr2 | Ks7d2c").here
    assert isinstance(here, Decision)
    expected = equity(Range.parse("AKs"), Range.full(), parse_board("Ks7d2c"))
    assert here.grids.oop.equity[parse_hand("AKs")] == pytest.approx(expected.first)
    assert here.grids.oop.summary.equity == pytest.approx(0.5)


def test_eqr_is_what_is_got_of_the_pot() -> None:
    """EV from here on over equity times pot: what was put in since the flop is not counted."""
    for line in ("", "x b75%"):
        place = view("models").place(whole(2, "Ks7d2c", line))
        assert isinstance(place.here, Decision)
        for player in NAMES:
            grid = getattr(place.here.grids, player)
            for ev, share, eqr in zip(grid.ev, grid.equity, grid.eqr, strict=True):
                if ev is not None and share:
                    assert eqr == pytest.approx(ev / (share * place.pot))


def test_the_ratio_is_picked_first() -> None:
    place = view("models").place("")
    assert (place.line, view("models").describe().root) == ("spr1", "spr1")
    assert [(one.label, one.line, one.chosen) for one in place.settings] == [
        ("SPR 1", "spr1", True),
        ("SPR 2", "spr2", False),
    ]
    assert isinstance(place.here, Deal)
    assert (place.here.pattern, place.here.flops) == ("spr1 | {cards}", 3)
    assert len(place.here.named) == 3  # so that the page offers no other ones
    for flop in place.here.named:
        assert view("models").place(f"spr1 | {flop}").board
    assert (place.pot, place.stacks["oop"], place.unit) == (1, 1, "pot")
    deep = view("models").place("SPR2.0 | QcQd5h | x x")
    assert deep.line == "spr2 | QcQd5h | x x | * |"
    assert [one.line for one in deep.settings] == ["spr1 | QcQd5h", "spr2 | QcQd5h"]
    steps = [step for step in deep.steps if isinstance(step, CardsStep)]
    assert [step.label for step in steps] == ["SPR 2", "flop QcQd5h", "turn: any card"]
    assert steps[1].same_as == ["Qh", "Qs", "5d"] or steps[1].same_as == ["Qs", "Qh", "5d"]
    # With one ratio it is part of the line all the same, and may be left out.
    assert view("bucket models").place("Ks7d2c | x").line == "spr2 | Ks7d2c | x"


@pytest.mark.parametrize("name", ["models", "bucket models"])
@pytest.mark.parametrize("line", ["", "spr2 | * | x", "spr2 | Ks7h2d | x b75%"])
def test_the_table_over_flops(name: str, line: str) -> None:
    solution = load_flops(folder(name))
    report = view(name).flops(line)
    spr = 2.0 if "spr2" in line or name != "models" else 1.0
    assert report.line.startswith(f"spr{spr:g} | *")
    assert sum(row.weight for row in report.rows) == pytest.approx(1)
    weights = []
    for row in report.rows:
        words = report.line.partition("*")[2].removeprefix(" | ")
        known = solution.at(whole(spr, row.flop, words)).decision
        root = solution.models.sprs.index(spr)
        figures = solution.models.row(root, parse_flop(row.flop).flop)
        assert row.frequencies == pytest.approx(known.taken.tolist())
        assert row.exploitability_pct == pytest.approx(100 * figures["exploitability"])
        assert row.ev_oop == (figures["ev_oop"] if not words else None)
        weights.append(figures["multiplicity"] * known.own.weights.sum())
        here = view(name).place(row.line).here
        assert isinstance(here, Decision)
        assert row.equity_oop == pytest.approx(here.grids.oop.summary.equity)
    expected = [weight / sum(weights) for weight in weights]
    assert [row.weight for row in report.rows] == pytest.approx(expected)


def test_where_hands_are_shown() -> None:
    place = view("models").place("spr2 | Ks7d2c | x x x x x x")
    assert isinstance(place.here, End)
    assert (place.here.how, place.here.text) == ("showdown", "Showdown for 1 pot")
    before = view("models").place("spr2 | Ks7d2c | x x x x x").here
    assert isinstance(before, Decision)
    for ev, expected in zip(place.here.grids.ip.ev, before.actions[0].evs, strict=True):
        assert ev is None or ev == pytest.approx(expected, abs=1e-5)


def test_what_is_not_there() -> None:
    with pytest.raises(NoNodeError, match="SPR 3 is not solved here, only 1, 2") as caught:
        view("models").place("spr3 | Ks7d2c")
    assert caught.value.hints[0][1] == "spr2"
    with pytest.raises(NoNodeError, match="not among the 3") as caught:
        view("models").place("spr2 | Kh7d3c | x")
    assert caught.value.hints[0][1] == "spr2 | Ks7h2d | x"
    with pytest.raises(InputError, match="neither a ratio nor a flop"):
        view("models").place("x b75%")
    with pytest.raises(InputError, match="averaged over"):
        next(view("models").cards("spr2 | Ks7d2c"))
    with pytest.raises(InputError, match="no flop is dealt yet"):
        view("models").hand("spr2", "oop", "AA")
    with pytest.raises(InputError, match="decisions on the flop only"):
        view("bucket models").flops("spr2 | * | x x")
    with pytest.raises(InputError, match="no player acts there"):
        view("models").flops("spr2 | * | b75% f")


def test_what_it_is() -> None:
    told = view("models").describe()
    facts = {fact.label: fact.value for fact in told.facts}
    assert told.title == "3 flops, SPR 1, 2, classes"
    assert facts["Flop"] == "bet 75%, raise 75%"
    assert told.features.flops
    assert told.features.equity
    assert not view("bucket models").describe().features.equity

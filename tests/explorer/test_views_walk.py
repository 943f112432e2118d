"""Walking through every solution: lines lead where they say, and messages are consistent."""

import json
from itertools import pairwise

import pytest
from builders.explorer_solutions import KINDS, view
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.explorer import area

from allstreets.base import InputError
from allstreets.cards import CARD_PERMUTATIONS, cards_text, parse_cards
from allstreets.explorer.models.place import ChoiceStep, Deal, Decision, Grids, Place
from allstreets.explorer.views.view import SolutionView

FEW = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])


def ways_on(here: SolutionView, place: Place, suits: int) -> list[str]:
    """The lines that a place offers; flops in some suits."""
    match place.here:
        case Decision(actions=actions):
            return [action.line for action in actions]
        case Deal(pattern=str(pattern), flops=count) if count:
            rows = here.flops(place.line).rows
            flops = [CARD_PERMUTATIONS[suits][list(parse_cards(row.flop))] for row in rows]
            return [pattern.replace("{cards}", cards_text(flop.tolist())) for flop in flops]
        case Deal(solves_again=False, cards=cards):
            return [option.line for option in cards if option.line is not None]
    return []


def assert_sound_grids(grids: Grids, place: Place) -> None:
    for grid in (grids.oop, grids.ip):
        lists = (grid.combos, grid.reach, grid.ev, grid.equity, grid.eqr)
        assert [len(numbers) for numbers in lists] == [169] * 5
        assert all(0 <= reach <= 1 + 1e-6 for reach in grid.reach)
        assert all(equity is None or -1e-9 <= equity <= 1 + 1e-9 for equity in grid.equity)
        told = [reach * combos for reach, combos in zip(grid.reach, grid.combos, strict=True)]
        assert grid.summary.combos == pytest.approx(sum(told), rel=1e-9, abs=1e-9)
    shares = grids.oop.summary.equity, grids.ip.summary.equity
    if shares[0] is not None and shares[1] is not None:
        assert sum(share or 0 for share in shares) == pytest.approx(1)
    evs = grids.oop.summary.ev, grids.ip.summary.ev
    assert (evs[0] is None) == (evs[1] is None)
    if evs[0] is not None and evs[1] is not None:
        total = place.pot
        # Numbers of whole games are kept in 32 bits, those before the flop as sums over flops.
        assert evs[0] + evs[1] <= total + 2e-4 * max(place.pot, 1)
        if "raked" not in place.solution:
            assert evs[0] + evs[1] == pytest.approx(total, abs=2e-4 * max(place.pot, 1))


def assert_sound(here: SolutionView, place: Place) -> None:
    """The properties of every place."""
    json.dumps(place.model_dump(mode="json"), allow_nan=False)
    assert place.pot > 0
    assert all(stack >= 0 for stack in place.stacks.values())
    if isinstance(place.here, Decision):
        actions = place.here.actions
        assert_sound_grids(place.here.grids, place)
        frequencies = [action.frequency for action in actions]
        if None not in frequencies:
            assert sum(share or 0 for share in frequencies) == pytest.approx(1)
        for chances in zip(*(action.chances for action in actions), strict=True):
            assert None in chances or sum(chances) == pytest.approx(1)
        bets = [action.shade for action in actions if action.tone == "aggressive"]
        assert bets == sorted(set(bets))
        assert (place.here.pot_odds is None) == (place.here.to_call == 0)
        assert here.rows(place.line)
    elif place.here.grids is not None:  # a model of flops has no ranges before its flop
        assert_sound_grids(place.here.grids, place)


def assert_steps_lead_back(here: SolutionView, place: Place) -> None:
    """Each step's line is a place, and what was chosen there leads on to the next step."""
    lines = [step.line for step in place.steps if isinstance(step, ChoiceStep)]
    for number, step in enumerate(place.steps):
        before = here.place(step.line)
        assert before.line == step.line
        if not isinstance(step, ChoiceStep):
            continue
        assert isinstance(before.here, Decision)
        assert before.here.player == step.player
        assert (before.pot, before.stacks[step.player]) == (step.pot, step.stack)
        assert before.steps == place.steps[:number]
        offered = [(action.word, action.line) for action in before.here.actions]
        assert offered == [(choice.word, choice.line) for choice in step.choices]
        after = here.place(step.choices[step.chosen].line)
        assert after.steps[: number + 1] == place.steps[: number + 1]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("name", KINDS)
@FEW
@given(data=st.data())
def test_walks(name: str, data: st.DataObject) -> None:
    here, line = view(name), view(name).describe().root
    suits = data.draw(st.integers(0, 23))
    for _ in range(40):
        place = here.place(line)
        assert place.line == line
        place = place.model_copy(update={"solution": name})
        assert_sound(here, place)
        ways = ways_on(here, place, suits)
        if not ways:
            break
        line = data.draw(st.sampled_from(ways))
    else:
        raise AssertionError("the walk does not end")
    assert_steps_lead_back(here, here.place(line))


@pytest.mark.parametrize("name", ["turn", "classes", "buckets", "exact", "models", "bucket models"])
@FEW
@given(data=st.data())
def test_what_else_can_be_asked_along_a_walk(name: str, data: st.DataObject) -> None:
    here, line = view(name), view(name).describe().root
    for _ in range(data.draw(st.integers(1, 8))):
        ways = ways_on(here, here.place(line), 0)
        if not ways:
            break
        line = data.draw(st.sampled_from(ways))
    place = here.place(line)
    if isinstance(place.here, Deal) and place.settings:
        with pytest.raises(InputError, match="no flop is dealt yet"):
            here.equity(line)
        return
    curves = here.equity(line)
    for player, points in (("oop", curves.oop), ("ip", curves.ip)):
        assert len(points) <= 400
        if not points:
            continue
        xs, ys = [x for x, _ in points], [y for _, y in points]
        assert (xs[0], xs[-1]) == (0, 1)
        assert xs == sorted(xs)
        assert all(a <= b + 1e-12 for a, b in pairwise(ys))
        if isinstance(place.here, Decision):
            grid = getattr(place.here.grids, player)
            assert area(points) == pytest.approx(grid.summary.equity)
    hand = data.draw(st.sampled_from(["AA", "72o", "AKs", "J7s", "77"]))
    for player in ("oop", "ip"):
        detail = here.hand(line, player, hand)  # type: ignore[arg-type]
        assert detail.hand == hand
        for row in detail.rows:
            assert len(row.chances) in (0, len(detail.actions))
        here.range(line, player, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["turn", "classes", "models"])
@pytest.mark.parametrize("line", ["zz", "f f f", "| |", "x x | 9z | x", "spr", "c | | | x", "*"])
def test_lines_that_lead_nowhere(name: str, line: str) -> None:
    try:
        view(name).place(line)
    except InputError as error:
        assert str(error)  # noqa: PT017


@given(line=st.text("xcbrfa|*0123456789.% AKhds{}", max_size=40))
@settings(max_examples=60)
def test_any_text_is_a_place_or_an_error(line: str) -> None:
    for name in ("turn", "classes", "exact", "models", "preflop"):
        try:
            place = view(name).place(line)
        except InputError:
            continue
        assert view(name).place(place.line).line == place.line

"""The range editor: text and grid say the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.cards import HAND_NAMES, Range, RangeKind, combo_text
from allstreets.explorer.models.base import FormError
from allstreets.explorer.models.solves import RangeForm
from allstreets.explorer.ranges import range_grid


def hand_name(combo: str) -> str:
    """AKs for AhKh; combos are written with the higher rank first."""
    high, first, low, second = tuple(combo)
    return high + low + ("" if high == low else "s" if first == second else "o")


NAMES = [hand_name(combo_text(combo)) for combo in range(1326)]


def naive_weights(text: str) -> list[list[float]]:
    """For every hand the weights of its combos, by asking for one combo after the other."""
    weights = Range.parse(text).weights.tolist()
    found: dict[str, list[float]] = {name: [] for name in HAND_NAMES}
    for name, weight in zip(NAMES, weights, strict=True):
        found[name].append(weight)
    return list(found.values())


def test_a_text_becomes_a_grid() -> None:
    grid = range_grid(RangeForm(text="AsAh, KK:0.5 AKs,AsKh:0.25"))
    assert grid.problem is None
    assert grid.weights[HAND_NAMES.index("AA")] == pytest.approx(1 / 6)
    assert grid.weights[HAND_NAMES.index("KK")] == 0.5
    assert grid.weights[HAND_NAMES.index("AKs")] == 1
    assert [HAND_NAMES[hand] for hand in grid.mixed] == ["AA", "AKo"]
    assert grid.combos == pytest.approx(1 + 3 + 4 + 0.25)
    assert grid.percent == pytest.approx(100 * 8.25 / 1326)
    assert Range.parse(grid.text) == Range.parse("AsAh,KK:0.5,AKs,AsKh:0.25")


@pytest.mark.parametrize("kind", list(RangeKind))
def test_a_text_of_any_program_is_read(kind: RangeKind) -> None:
    """The editor's result for a pasted text."""
    given = Range.parse("QQ+,AKs,AhKh:0.2,76s:0.3")
    grid = range_grid(RangeForm(text=given.text(kind)))
    assert (grid.problem, grid.text) == (None, str(given))


def test_changes_paint_whole_hands() -> None:
    grid = range_grid(RangeForm(text="AsAh,KK", changes={"AA": 0.75, "KK": 0, "kqS": 1}))
    assert grid.text == "AA:0.75,KQs"
    assert grid.mixed == []


def test_no_text_is_the_empty_range() -> None:
    for text in ("", " \n", ", ,"):
        grid = range_grid(RangeForm(text=text))
        assert (grid.text, grid.combos, grid.problem) == ("", 0, None)
    assert range_grid(RangeForm(text="", changes={"72o": 1})).text == "72o"
    assert range_grid(RangeForm(text="72o", changes={"72o": 0})).text == ""


def test_a_text_that_cannot_be_read_stays_as_it_is() -> None:
    grid = range_grid(RangeForm(text="[50]AA"))
    assert grid.problem is not None
    assert "'[50]' is never closed: write [/50]" in grid.problem.message
    grid = range_grid(RangeForm(text="AA,K", changes={"QQ": 1}))
    assert grid.text == "AA,K"
    assert grid.problem is not None
    assert grid.problem.field == "text"
    assert "character 4: 'K' is not a hand" in grid.problem.message
    assert grid.weights == [0] * 169


def test_hands_that_do_not_exist_are_refused() -> None:
    with pytest.raises(FormError, match="'AX' is not a hand") as caught:
        range_grid(RangeForm(text="AA", changes={"AX": 1, "77s": 1, "KK": 1}))
    assert [problem.field for problem in caught.value.problems] == ["changes", "changes"]


WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
HANDS = st.sampled_from(HAND_NAMES)
COMBOS = st.integers(0, 1325).map(combo_text)


@given(
    st.dictionaries(HANDS, WEIGHTS, max_size=20),
    st.dictionaries(HANDS, WEIGHTS, max_size=20),
)
def test_text_grid_and_changes_agree(first: dict[str, float], then: dict[str, float]) -> None:
    text = ",".join(f"{hand}:{weight!r}" for hand, weight in first.items())
    grid = range_grid(RangeForm(text=text, changes=then))
    wanted = {**first, **then}
    for hand, name in enumerate(HAND_NAMES):
        assert grid.weights[hand] == pytest.approx(wanted.get(name, 0.0), abs=1e-12)
    assert range_grid(RangeForm(text=grid.text)) == grid


@settings(max_examples=20)
@given(st.dictionaries(COMBOS, st.sampled_from([0.25, 0.5, 1.0]), min_size=1, max_size=30))
def test_hands_are_means_of_their_combos(combos: dict[str, float]) -> None:
    text = ",".join(f"{combo}:{weight}" for combo, weight in combos.items())
    grid = range_grid(RangeForm(text=text))
    for hand, weights in enumerate(naive_weights(text)):
        assert grid.weights[hand] == pytest.approx(sum(weights) / len(weights))
        assert (hand in grid.mixed) == (len(set(weights)) > 1)


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    grid = range_grid(RangeForm(text=text))
    assert grid.problem is None or grid.text == text

"""Bet sizes that cannot be read are reported with their line of the file."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import parse_raise_sizes, parse_sizes
from allstreets.jobs import read_train_config
from allstreets.jobs.config.model import WrongKeyError
from allstreets.jobs.config.values import check_raise_sizes, check_sizes, listed

FILE = """\
solver:
  type: {kind}
  models: {models}
  raise_sizes:
    - 2.5
    - [3x, {raised}]
  rake: 0
"""
UNIFIED = """\
solver:
  type: unified_cfr
  raise_sizes: {preflop}
  postflop_bet_sizes:
    - 0.5
    - {bet}
  postflop_raise_sizes: {raised}
  postflop_streets:
    turn:
      bet: [{turn_bet}]
      raise:
        - 60%

        - {turn_raise}
"""
GOOD = {"preflop": "2.5", "bet": "1", "raised": "2x", "turn_bet": "33%", "turn_raise": "a"}
FLOPS = """\
postflop_model:
  bet_sizes:
    flop: 50%
    turn:
      - 0.5
      - {bet}
    river: [1, 2]
  raise_sizes: [60%,
                {raised}]
"""


def problems(tmp_path: Path, text: str) -> list[str]:
    """The lines of the error, without the first."""
    (tmp_path / "game.yaml").write_text(text)
    with pytest.raises(InputError) as error:
        read_train_config(tmp_path / "game.yaml")
    head, *lines = str(error.value).splitlines()
    assert head.startswith(f"{tmp_path / 'game.yaml'}: {len(lines)} problem")
    return [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("preflop", "0.5", "line 3: solver.raise_sizes: '0.5' is not a raise: a plain number"),
        ("preflop", '"2.5, 3"', "line 3: solver.raise_sizes: '2.5, 3' could be the sizes of one "),
        ("preflop", "[2, [3, x]]", "line 3: solver.raise_sizes[1][1]: 'x' is not a bet size: "),
        ("preflop", "{sb: 2}", "line 3: solver.raise_sizes: has no bb: write bb: [] "),
        ("preflop", "{sb: 2, bb: [y]}", "line 3: solver.raise_sizes.bb[0]: 'y' is not a bet size"),
        ("preflop", "{sb: 2, bb: 3, hj: 2}", "line 3: solver.raise_sizes: has an unkn"),
        ("bet", "33", "line 6: solver.postflop_bet_sizes[1]: '33' without a unit is 33 times the"),
        ("bet", "2x", "line 6: solver.postflop_bet_sizes[1]: '2x': a multiple of the last bet"),
        ("raised", "half", "line 7: solver.postflop_raise_sizes: 'half' is not a bet size: write"),
        ("raised", "2x, 0%", "line 7: solver.postflop_raise_sizes: '0%' bets nothing: leave it"),
        ("turn_bet", "2x", "line 10: solver.postflop_streets.turn.bet[0]: '2x': a multiple of"),
        (
            "turn_raise",
            "1x",
            "line 14: solver.postflop_streets.turn.raise[1]: '1x' is not a raise:",
        ),
    ],
)
def test_sizes_of_a_whole_game(tmp_path: Path, key: str, value: str, told: str) -> None:
    (line,) = problems(tmp_path, UNIFIED.format(**{**GOOD, key: value}))
    assert line.startswith(told)


def test_good_sizes_are_read(tmp_path: Path) -> None:
    (tmp_path / "game.yaml").write_text(UNIFIED.format(**GOOD))
    assert read_train_config(tmp_path / "game.yaml").job == "unified_cfr"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = UNIFIED.format(preflop="x", bet="x", raised="x", turn_bet="x", turn_raise="x")
    assert [line.partition(":")[0] for line in problems(tmp_path, text)] == [
        f"line {number}" for number in (3, 6, 7, 10, 14)
    ]


def test_sizes_of_the_separated_pipeline(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, FILE.format(kind="preflop_cfr", models="m", raised="50"))
    assert line.startswith("line 6: solver.raise_sizes[1][1]: '50' without a unit is 50 times the ")


def test_sizes_of_flops(tmp_path: Path) -> None:
    bet, raised = problems(tmp_path, FLOPS.format(bet="2x", raised="big"))
    assert bet.startswith(
        "line 6: postflop_model.bet_sizes.turn[1]: '2x': a multiple of the last bet"
    )
    assert raised.startswith("line 9: postflop_model.raise_sizes[1]: 'big' is not a bet size: ")


# Checks and readers agree on what is good.

WORDS = st.sampled_from(
    ["50%", "0.5", "2x", "1x", "3bb", "100c", "e", "2e", "a", "x", "", "33", "2,3", " 2 ", "0%"]
)
ONE = st.one_of(WORDS, st.sampled_from([0.5, 1.0, 2.5, 33.0, 0.0, -1.0, 1e-9]))
LISTS = st.one_of(ONE, st.lists(ONE, max_size=3).map(tuple))
LEVELS = st.one_of(ONE, st.lists(LISTS, max_size=3).map(tuple))
RAISES = st.one_of(LEVELS, st.dictionaries(st.sampled_from(["sb", "bb", "co"]), LEVELS))


def refuses(check: object, *arguments: object, **keys: object) -> bool:
    try:
        check(*arguments, **keys)  # type: ignore[operator]
    except (InputError, WrongKeyError):
        return True
    return False


@given(LISTS, st.booleans())
def test_what_the_reader_of_sizes_refuses_is_refused(given_sizes: object, raises: bool) -> None:
    expected = refuses(parse_sizes, listed(given_sizes), raises=raises)
    assert refuses(check_sizes, given_sizes, raises=raises) == expected


@given(RAISES)
def test_what_the_reader_of_raises_refuses_is_refused(given_sizes: object) -> None:
    assert refuses(check_raise_sizes, given_sizes) == refuses(
        parse_raise_sizes, listed(given_sizes)
    )


@given(st.lists(ONE, min_size=1, max_size=4).map(tuple))
def test_the_first_wrong_entry_is_named(given_sizes: tuple[str | float, ...]) -> None:
    wrong = [place for place, one in enumerate(given_sizes) if refuses(parse_sizes, [one])]
    assume(wrong)
    with pytest.raises(WrongKeyError) as error:
        check_sizes(given_sizes, raises=False)
    assert error.value.path == (wrong[0],)
    assert str(error.value)

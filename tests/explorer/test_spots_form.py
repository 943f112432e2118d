"""Forms of spots: problems field by field, and the cost of solving."""

import math
from pathlib import Path
from typing import Any

import pytest
from builders.small_forms import flop, river, turn
from builders.small_spots import FLOP, RIVER, TURN, spot
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.betting import NodeKind, Player, Street
from allstreets.explorer.models.base import FormError
from allstreets.explorer.models.solves import SpotForm
from allstreets.explorer.solves import spots
from allstreets.explorer.solves.spots import (
    check_form,
    device_choices,
    edits_text,
    estimate,
    examples,
    read_edits,
    read_form,
    spot_title,
)
from allstreets.games.estimates import PROGRAM_BYTES, estimate_spot
from allstreets.games.spot import spot_mapping
from allstreets.jobs.config.spot import read_spot

SAMPLES = Path(__file__).parents[2] / "sample_spots"


def fields(form: SpotForm) -> list[str | None]:
    """The fields that are wrong."""
    return [problem.field for problem in estimate(form).problems]


def message(form: SpotForm) -> str:
    """The one problem of a form."""
    (problem,) = estimate(form).problems
    return problem.message


@pytest.mark.parametrize(
    ("made", "keys"), [(river(), RIVER), (turn(), TURN), (flop(), FLOP)], ids=str
)
def test_a_form_is_the_spot_of_a_file(made: SpotForm, keys: dict[str, Any]) -> None:
    assert spot_mapping(read_form(made)[1]) == spot_mapping(spot(keys))
    assert spot_mapping(check_form(made).spot) == spot_mapping(spot(keys))


@pytest.mark.parametrize(("number", "name"), list(enumerate(["river", "turn", "flop"])))
def test_examples_are_the_sample_spots(number: int, name: str) -> None:
    form = examples()[number].form
    assert spot_mapping(read_form(form)[1]) == spot_mapping(
        read_spot(SAMPLES / f"{name}.yaml", {})[1]
    )
    assert estimate(form).problems == []


def test_the_settings_arrive() -> None:
    form = river(
        name=" mine ",
        rake=0.05,
        rake_cap=3.5,
        add_allin_threshold=1.5,
        force_allin_threshold=0.2,
        merging_threshold=0.1,
        precision="int16",
        river_groups="suits",
        target_pct=0.25,
    )
    config, made = read_form(form)
    assert (config.name, config.precision, config.river_groups) == ("mine", "int16", "suits")
    assert config.exploitability_threshold == pytest.approx(0.0025)
    rules = made.rules
    assert (rules.rake, rules.rake_cap) == (0.05, 3.5)
    assert rules.add_allin_threshold == 1.5
    assert rules.force_allin_threshold == 0.2
    assert rules.merging_threshold == 0.1


def test_what_it_takes_is_what_the_solver_says() -> None:
    shared = turn(river_groups="suits")
    half = flop(precision="float16")
    for form, keys in ((river(), RIVER), (turn(), TURN), (shared, TURN), (half, FLOP)):
        told = estimate(form)
        need = estimate_spot(spot(keys), form.precision, river_groups=form.river_groups)
        assert told.problems == []
        assert told.memory_bytes == need.process_bytes
        assert {one.street: one.decisions for one in told.streets} == {
            street.text: count for street, count in need.decisions.items()
        }
        assert {one.street: one.boards for one in told.streets} == {
            street.text: count for street, count in need.boards.items()
        }
        assert told.oop_combos == spot(keys).ranges[0].combos
        assert told.ip_combos == spot(keys).ranges[1].combos


def test_the_first_actions_tell_how_sizes_were_understood() -> None:
    assert estimate(river()).first_actions == ["check", "bet 50 (50 %)", "all-in 300 (300 %)"]


def test_every_problem_is_told_at_once_with_its_field() -> None:
    sizes = {
        "flop": {"oop": {"bet": "2x", "raise": "0"}, "ip": {"donk": "33%"}},
        "turn": {"oop": {"donk": "quarter"}, "ip": {"raise": "33%, 75"}},
    }
    form = SpotForm.model_validate(
        {
            "board": "KsKs2h",
            "oop_range": "AA,ZZ",
            "ip_range": " ",
            "pot": 10,
            "stack": 0,
            "sizes": sizes,
            "rake_cap": math.inf,
            "max_seconds": math.inf,
        }
    )
    assert fields(form) == [
        "board",
        "oop_range",
        "ip_range",
        "sizes.flop.oop.bet",
        "sizes.flop.oop.raise",
        "sizes.flop.ip.donk",
        "sizes.turn.oop.donk",
        "sizes.turn.ip.raise",
        "rake_cap",
        "max_seconds",
        "stack",
    ]
    with pytest.raises(FormError) as caught:
        check_form(form)
    assert list(caught.value.problems) == estimate(form).problems


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"board": ""}, "board", "needs a board of 3"),
        ({"board": "KsQd"}, "board", "has 2 cards"),
        ({"board": "Ks7d4c9hXx"}, "board", "'Xx' is not a card"),
        ({"oop_range": "KsKd"}, "oop_range", "is blocked"),
        ({"ip_range": "AA:0"}, "ip_range", "the range is empty"),
        ({"stack": 0}, "stack", "no player has chips left"),
        ({"oop_range": "AsAh", "ip_range": "AhAd"}, None, "block each other"),
    ],
)
def test_problems_in_words(changes: dict[str, Any], field: str | None, words: str) -> None:
    form = river(**changes)
    assert fields(form) == [field]
    assert words in message(form)


def test_an_empty_text_of_sizes_is_no_bet_or_raise() -> None:
    sizes = {"river": {"oop": {"bet": "", "raise": ""}, "ip": {"bet": "50%", "raise": ""}}}
    tree = check_form(river(sizes=sizes)).tree
    assert [action.amount for action in tree.actions_at(0)] == [0]  # a check
    for node in range(tree.node_count):
        if tree.kind[node] == NodeKind.DECISION and tree.player[node] == Player.OOP:
            assert not any(action.is_aggressive for action in tree.actions_at(node))


def leads(donk: str) -> int:
    """How many river bets OOP is offered where IP bet the turn and was called."""
    both = {"bet": "50%, 75%", "raise": ""}
    sizes = {
        "turn": {"oop": both, "ip": both},
        "river": {"oop": {**both, "donk": donk}, "ip": both},
    }
    rules = read_form(turn(stack=5000, sizes=sizes))[1].rules
    sizes_there = rules.sizes_of(Street.RIVER, Player.OOP)
    assert len(sizes_there.bet) == 2
    return len(sizes_there.bet if sizes_there.donk is None else sizes_there.donk)


def test_donk_sizes() -> None:
    assert leads("33%") == 1
    assert leads("") == 2  # the bet sizes serve
    assert leads(" None ") == 0


def test_sizes_that_nobody_could_use_are_left_alone() -> None:
    wrong = {"oop": {"bet": "nonsense"}, "ip": {"donk": "1%"}}
    ours = {"oop": {"bet": "50%", "donk": "nonsense"}, "ip": {"bet": "50%"}}
    assert fields(river(sizes={"flop": wrong, "turn": wrong, "river": ours})) == []


def with_sizes(text: str) -> dict[str, Any]:
    """The same sizes everywhere."""
    both = {"bet": text, "raise": text}
    return {key: {"oop": both, "ip": both} for key in ("flop", "turn", "river")}


@pytest.mark.parametrize(
    "text", ["1c", "10%, 20%, 30%, 40%, 50%", "1c,2c,3c,4c,5c,6c,7c,8c,9c,10c"]
)
def test_trees_without_bound_are_refused(text: str) -> None:
    form = flop(pot=1, stack=10_000_000, sizes=with_sizes(text))
    assert "more than 30,000 nodes" in message(form)
    with pytest.raises(FormError, match="fewer sizes"):
        check_form(form)


def test_lists_without_bound_are_refused() -> None:
    sizes = with_sizes(",".join(["10%"] * 11))
    assert fields(river(sizes=sizes)) == [
        f"sizes.river.{player}.{kind}" for player in ("oop", "ip") for kind in ("bet", "raise")
    ]
    assert "11 are too many" in estimate(river(sizes=sizes)).problems[0].message


def test_what_does_not_fit_memory_says_what_would(monkeypatch: pytest.MonkeyPatch) -> None:
    need = estimate(flop()).memory_bytes
    assert need is not None
    half = estimate(flop(precision="float16")).memory_bytes
    assert half is not None
    monkeypatch.setattr(spots, "available_bytes", lambda: need - 1)
    told = estimate(flop())
    assert told.memory_bytes == need
    assert "With precision float16" in told.problems[0].message
    monkeypatch.setattr(spots, "available_bytes", lambda: half - 1)
    assert "river_groups suits" in message(flop())
    assert estimate(flop(precision="float16", river_groups="suits")).problems == []
    tight = PROGRAM_BYTES + 1_000_000
    monkeypatch.setattr(spots, "available_bytes", lambda: tight)
    assert "fewer bet and raise sizes" in message(flop())
    with pytest.raises(FormError, match="fewer bet and raise sizes"):
        check_form(flop(), tight)
    assert check_form(flop(), need).need.process_bytes == need


def test_a_gpu_is_offered_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_gpus() -> list[str]:
        return ["NVIDIA H200", "NVIDIA L4"]

    assert [one.device for one in device_choices()] == ["cpu"]  # of a machine without one
    assert "there is no cuda on this machine: choose cpu" in message(river(device="cuda"))
    monkeypatch.setattr(spots, "gpu_names", two_gpus)
    device_choices.cache_clear()
    try:
        found = [(one.device, one.name) for one in device_choices()]
        assert found[1:] == [("cuda", "NVIDIA H200"), ("cuda:1", "NVIDIA L4")]
        assert estimate(river(device="cuda:1")).problems == []
        assert read_form(river(device="cuda:1"))[0].device == "cuda:1"
        assert fields(river(device="cuda", river_groups="suits")) == []
        assert fields(river(device="cuda", precision="int16")) == ["device"]
        assert fields(river(device="cuda:2")) == ["device"]
    finally:
        device_choices.cache_clear()


def test_titles() -> None:
    assert spot_title(river(stack=1200)) == "Ks7d4c9h2s, pot 100, stack 1,200"


SIZE_TEXTS = st.sampled_from(["", "50%", "33%, a", "2.5x", "e", "3e200%", "100c", "x", "0", ","])
PLAYERS = st.fixed_dictionaries({"bet": SIZE_TEXTS, "raise": SIZE_TEXTS, "donk": SIZE_TEXTS})
SIZES = st.fixed_dictionaries({"oop": PLAYERS, "ip": PLAYERS})


@settings(max_examples=60)
@given(
    st.sampled_from(["Ks7d4c9h2s", "Ks7d4c9h", "", "KsKs4c", "7h"]) | st.text(max_size=12),
    st.sampled_from(["AA,KK", "22+", "AsAd", "", "KsKd"]) | st.text(max_size=12),
    st.integers(1, 10_000),
    st.integers(0, 10_000),
    SIZES,
    st.floats(0, 2) | st.just(math.inf),
)
def test_any_form_is_answered(
    board: str, ours: str, pot: int, stack: int, sizes: dict[str, Any], threshold: float
) -> None:
    form = SpotForm.model_validate(
        {
            "board": board,
            "oop_range": ours,
            "ip_range": "QQ-99,AJs+",
            "pot": pot,
            "stack": stack,
            "sizes": {"turn": sizes, "river": sizes},
            "force_allin_threshold": threshold,
        }
    )
    told = estimate(form)
    if told.problems:
        with pytest.raises(FormError):
            check_form(form, told.free_bytes)
    else:
        assert told.memory_bytes
        assert told.first_actions[0] == "check"
        assert check_form(form).spot.tree.node_count == check_form(form).tree.node_count


def test_sizes_of_single_nodes() -> None:
    edited = river().model_copy(update={"edits": "x: +25%, -b50%\n\nx b25%: +3x"})
    checked = check_form(edited)
    tree = checked.tree
    assert [one.mapping() for one in checked.spot.edit] == [
        {"line": "x", "add": "25%", "remove": "b50%"},
        {"line": "x b25%", "add": "3x"},
    ]
    assert len(tree.children_of(0)) == len(check_form(river()).tree.children_of(0))
    assert read_edits(edits_text(checked.spot.edit)) == [one.mapping() for one in checked.spot.edit]
    wrong = edited.model_copy(update={"edits": "x: 25%"})
    assert fields(wrong) == ["edits"]
    assert "line 1: write a line, a colon" in message(wrong)
    nowhere = edited.model_copy(update={"edits": "x b40: +a"})
    assert message(nowhere).startswith("edit 'x b40': 'b40' is not offered")

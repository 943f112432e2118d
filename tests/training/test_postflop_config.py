"""The section postflop_model: defaults, presets, old names, and what is refused."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from allstreets.base import InputError
from allstreets.cards import all_flops
from allstreets.subgames.buckets import BucketCounts
from allstreets.training import (
    ConfigWarning,
    PostflopModelConfig,
    TrainConfig,
    check_config,
    config_schema,
    read_train_config,
)
from allstreets.training.postflop_config import PRESETS


def section(**keys: Any) -> PostflopModelConfig:
    config = check_config({"postflop_model": keys}, TrainConfig)
    assert config.postflop_model is not None
    return config.postflop_model


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "train.yaml"
    path.write_text(text)
    return path


def test_defaults() -> None:
    config = section()
    assert config.bet_sizes == (0.5, 1.0)
    assert (config.max_raises_per_street, config.postflop_sprs) == (1, (3.5,))
    assert config.postflop_solve_iterations == 500
    assert config.cfr_exploitability_threshold == 0.01
    assert config.regret_threshold is None
    assert (config.max_flop_boards, config.fixed_flops) == (0, ())
    assert config.solve_type == "exhaustive"
    assert (config.prune_warmup, config.prune_explore_freq) == (0, 20)
    assert config.regret_floor == 1e6
    assert config.flops() == all_flops()
    (game,) = config.games()
    assert (game.spr, game.tree.stack, game.tree.node_count) == (3.5, 3500, 675)
    assert config.model().pruning is None
    assert str(config.model().schedule) == "tuned"


def test_a_file(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        """
name: three ratios
description: for a test
postflop_model:
  preset: fast
  bet_sizes: [33%, 0.75, a]
  raise_sizes: 2.5x
  postflop_sprs: [1, 3.5, 8]
  cfr_exploitability_threshold: 0.5%
  fixed_flops: [AhKd7s, 9h8h2c]
  threads: 2
""",
    )
    config = read_train_config(path)
    assert (config.name, config.job) == ("three ratios", "postflop_model")
    model = config.postflop_model
    assert model is not None
    assert model.solve_type == "bucketed"
    assert model.cfr_exploitability_threshold == 0.005
    assert [game.tree.stack for game in model.games()] == [1000, 3500, 8000]
    assert [flop.text for flop in model.flops()] == ["AsKh7d", "9s8s2h"]
    assert model.size_texts()["turn"] == {"bet": "33%,75%,a", "raise": "2.5x"}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_give_defaults_that_keys_override(name: str) -> None:
    config = section(preset=name)
    for key, value in PRESETS[name].items():
        assert getattr(config, key) == value
    changed = section(preset=name, postflop_solve_iterations=7, solve_type="exhaustive")
    assert (changed.postflop_solve_iterations, changed.solve_type) == (7, "exhaustive")
    rest = set(PRESETS[name]) - {"postflop_solve_iterations", "solve_type"}
    assert all(getattr(changed, key) == PRESETS[name][key] for key in rest)
    # Values of presets pass the checks that a file's values pass.
    assert section(**PRESETS[name]).model() == config.model()


def test_the_bucketed_presets() -> None:
    counts = {
        name: section(preset=name).model().buckets
        for name in ("fast", "medium", "standard", "accurate")
    }
    assert counts == {
        "fast": BucketCounts(10, 50, 50),
        "medium": BucketCounts(15, 200, 200),
        "standard": BucketCounts(20, 500, 500),
        "accurate": BucketCounts(30, 1000, 1000),
    }


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("raises_per_street", "max_raises_per_street", 2),
        ("postflop_spr", "postflop_sprs", 5.0),
        ("convergence_threshold", "regret_threshold", 0.001),
        ("explore_interval", "prune_explore_freq", 50),
    ],
)
def test_old_names(old: str, new: str, value: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = section(**{old: value})
    expected = (value,) if new == "postflop_sprs" else value
    assert getattr(config, new) == expected


@pytest.mark.parametrize("old", ["cfr_regret_threshold", "cfr_delta_threshold"])
def test_old_names_whose_unit_has_changed_warn(old: str) -> None:
    with pytest.warns(ConfigWarning, match="share of the pot now.*0.01 is 1 % of the pot"):
        config = section(**{old: 0.002})
    assert config.cfr_exploitability_threshold == 0.002


def test_an_old_name_goes_before_a_preset() -> None:
    with pytest.warns(ConfigWarning):
        config = section(preset="fast", cfr_regret_threshold=0.25)
    assert config.cfr_exploitability_threshold == 0.25


def test_sizes_by_street() -> None:
    config = section(
        bet_sizes={"flop": 0.33, "turn": ["50%", "100%"], "river": "75%,a"},
        raise_sizes=["60%", "a"],
        postflop_sprs=4,
    )
    texts = config.size_texts()
    assert [texts[street]["bet"] for street in ("flop", "turn", "river")] == [
        "33%", "50%,100%", "75%,a",
    ]  # fmt: skip
    assert {texts[street]["raise"] for street in texts} == {"60%,a"}
    (game,) = config.games()
    assert [action.amount for action in game.tree.actions_at(0)] == [0, 330]


def test_discounting_follows_the_model() -> None:
    assert str(section(solve_type="mccfr").schedule()) == "linear"
    assert section(prune_warmup=50).schedule().name == "dcfr"
    assert str(section(cfr_variant="cfr+").schedule()) == "cfr+(2)"
    assert section(cfr_variant="dcfr(1.5,0,2)", prune_warmup=5).schedule().beta == 0


def test_pruning_is_told_in_pots_and_handed_on_in_chips() -> None:
    model = section(prune_warmup=50, regret_floor=5000, explore_interval=30).model()
    assert model.pruning is not None
    assert (model.pruning.warmup, model.pruning.explore_interval) == (50, 30)
    assert model.pruning.regret_floor == 5_000_000
    assert model.pruning.threshold == "-1000000.0*sqrt(t)"
    constant = section(prune_warmup=1, prune_threshold=-2.5).model().pruning
    assert constant is not None
    assert constant.threshold == -2500


def test_some_of_all_flops() -> None:
    some, again = section(max_flop_boards=60).flops(), section(max_flop_boards=60).flops()
    assert some == again
    assert 50 <= len(some) <= 60
    assert {flop.texture.suits for flop in some} == {"rainbow", "two-tone", "monotone"}
    assert {"A", "K", "9", "5"} <= {flop.texture.high_card for flop in some}
    assert len(section(max_flop_boards=1).flops()) == 1
    assert section(max_flop_boards=1755).flops() == all_flops()


def test_a_flop_that_is_named_twice_is_solved_once() -> None:
    config = section(fixed_flops=["AhKd7s", "7c2d2h", "AsKd7h"])
    with pytest.warns(ConfigWarning, match="AhKd7s and AsKd7h are the same flop"):
        found = config.flops()
    assert [flop.text for flop in found] == ["AsKh7d", "7s2h2d"]


def test_what_makes_two_solutions_the_same() -> None:
    base = section().identity()
    for same in (
        {"threads": 3},
        {"fixed_flops": ["AhKd7s"]},
        {"max_flop_boards": 5},
        {"postflop_sprs": [1, 2]},
        {"bet_sizes": "50%,100%"},
        {"seed": 5},  # nothing random in this model
        {"num_hand_buckets_turn": 99},
        {"prune_threshold": -5},
        {"cfr_variant": "tuned"},
    ):
        assert section(**same).identity() == base
    for other in (
        {"bet_sizes": [0.5]},
        {"max_raises_per_street": 2},
        {"postflop_solve_iterations": 499},
        {"cfr_exploitability_threshold": 0.02},
        {"regret_threshold": 0.1},
        {"cfr_variant": "dcfr"},
        {"solve_type": "mccfr"},
        {"prune_warmup": 9},
    ):
        assert section(**other).identity() != base
    sampled = section(solve_type="mccfr").identity()
    assert section(solve_type="mccfr", seed=2).identity() != sampled
    assert section(solve_type="mccfr", mccfr_sample_pct=2).identity() != sampled
    buckets = section(preset="fast").identity()
    assert section(preset="fast", num_hand_buckets_turn=51).identity() != buckets


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bet_sizes: [33]", r"bet_sizes\[0\]: .*33 times the pot: write 33%"),
        ("bet_sizes: [50%, 3bb]", r"bet_sizes\[1\]: '3bb': there is no big blind here"),
        ("bet_sizes: [2x]", r"bet_sizes\[0\]: .*times the last bet only exists for raises"),
        ("bet_sizes: {flop: 0.5, turn: 1}", r"bet_sizes.river: is missing"),
        ("raise_sizes: [zz]", r"raise_sizes\[0\]: 'zz' is not a bet size"),
        ("postflop_sprs: [0]", r"postflop_sprs\[0\]: must be above 0"),
        ("postflop_sprs: []", "postflop_sprs: must have at least 1 entry"),
        ("postflop_sprs: [1, 1]", "postflop_sprs: an SPR is given twice"),
        ("cfr_exploitability_threshold: 5", "must be below 1, not 5, for example 0.01"),
        ("cfr_exploitability_threshold: x%", "'x%' is not a share of the pot; write 1% or 0.01"),
        ("solve_type: bucket", "'bucket' is not known; did you mean 'bucketed'"),
        ("preset: fastest", "'fastest' is not known; did you mean 'fast'"),
        ("solve_typ: mccfr", "unknown key; did you mean 'solve_type'"),
        ("cfr_variant: tund", "unknown algorithm 'tund': did you mean 'tuned'"),
        ("fixed_flops: [AhKd]", "fixed_flops: .*'AhKd' has 2 cards"),
        ("fixed_flops: [AhKd7x]", "fixed_flops: .*7x"),
        ("max_flop_boards: 1800", "must be at most 1755"),
        ("postflop_solve_iterations: 0", "must be at least 1"),
        ("prune_threshold: 3", "is not a threshold; write a negative number"),
        ("prune_threshold: -t", "is not a threshold; write a negative number"),
        ("mccfr_sample_pct: 0", "must be above 0"),
        ("num_hand_buckets_river: 99999", "must be at most 4096"),
        ("threads: 0", "must be at least 1"),
    ],
)
def test_bad_values_name_their_line_and_key(tmp_path: Path, line: str, message: str) -> None:
    path = file(tmp_path, f"postflop_model:\n  seed: 1\n  {line}\n")
    with pytest.raises(InputError, match=message) as caught:
        read_train_config(path)
    assert f"line 3: postflop_model.{line.partition(':')[0]}" in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ("fixed_flops: [AhKd7s]", "max_flop_boards: 5"),
            "max_flop_boards: give fixed_flops or max_flop_boards, not both",
        ),
        (
            ("cfr_variant: cfr+", "prune_warmup: 20"),
            r"cfr_variant: cfr\+\(2\) keeps no negative regrets",
        ),
        (
            ("cfr_regret_threshold: 0.1", "cfr_exploitability_threshold: 0.1"),
            "cfr_regret_threshold: an old name of 'cfr_exploitability_threshold', but",
        ),
    ],
)
def test_keys_that_do_not_go_together(tmp_path: Path, lines: tuple[str, str], message: str) -> None:
    path = file(tmp_path, "postflop_model:\n  " + "\n  ".join(lines) + "\n")
    with pytest.raises(InputError, match=message):
        read_train_config(path)


def test_a_file_has_one_job(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="there is no job in this file; add the section solver or postflop"
    ):
        read_train_config(file(tmp_path, "name: nothing\n"))
    with pytest.raises(InputError, match=r"postflop_model: is empty"):
        read_train_config(file(tmp_path, "postflop_model:\n"))
    assert read_train_config(file(tmp_path, "postflop_model: {}\n")).postflop_model == section()


def test_the_schema_has_every_key() -> None:
    schema = config_schema(TrainConfig)
    keys = schema["$defs"]["PostflopModelConfig"]["properties"]
    assert set(keys) == set(PostflopModelConfig.model_fields)
    assert all(keys[key].get("description") for key in keys)
    assert keys["cfr_exploitability_threshold"]["default"] == 0.01


def test_a_config_does_not_change() -> None:
    with pytest.raises(ValidationError):
        section().seed = 5

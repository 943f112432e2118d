"""The section postflop_model: defaults, presets, old names, and refusals."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from allstreets.base import InputError
from allstreets.cards import all_flops
from allstreets.cfr.schedules import dcfr
from allstreets.engines.matrix.buckets import BucketCounts
from allstreets.jobs import (
    ConfigWarning,
    PostflopModelConfig,
    TrainConfig,
    check_config,
    config_schema,
    read_train_config,
)
from allstreets.jobs.config.flops import PRESETS


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
    assert config.iterations == 500
    assert config.exploitability_threshold == 0.01
    assert config.regret_threshold is None
    assert config.flops == "all"
    assert config.cards == "classes"
    assert (config.prune_warmup, config.explore_interval) == (0, 20)
    assert config.regret_floor == 1e6
    assert config.chosen_flops() == all_flops()
    (pot,) = config.pots()
    assert (pot.pot.spr, pot.tree.stack, pot.tree.node_count) == (3.5, 3500, 675)
    assert config.pruning() is None
    assert str(config.schedule()) == "ahead"


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
  exploitability_threshold: 0.5%
  flops: [AhKd7s, 9h8h2c]
  threads: 2
""",
    )
    config = read_train_config(path)
    assert (config.name, config.job) == ("three ratios", "postflop_model")
    model = config.postflop_model
    assert model is not None
    assert model.cards == "buckets"
    assert model.exploitability_threshold == 0.005
    assert [pot.tree.stack for pot in model.pots()] == [1000, 3500, 8000]
    assert [flop.text for flop in model.chosen_flops()] == ["AsKh7d", "9s8s2h"]
    assert model.size_texts()["turn"] == {"bet": "33%,75%,a", "raise": "2.5x"}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_give_defaults_that_keys_override(name: str) -> None:
    config = section(preset=name)
    for key, value in PRESETS[name].items():
        assert getattr(config, key) == value
    changed = section(preset=name, iterations=7, cards="classes")
    assert (changed.iterations, changed.cards) == (7, "classes")
    rest = set(PRESETS[name]) - {"iterations", "cards"}
    assert all(getattr(changed, key) == PRESETS[name][key] for key in rest)
    # Values of presets pass the checks that a file's values pass.
    assert section(**PRESETS[name]).identity() == config.identity()


def test_the_bucketed_presets() -> None:
    counts = {
        name: BucketCounts(*section(preset=name).buckets)
        for name in ("fast", "medium", "standard", "accurate")
    }
    assert counts == {
        "fast": BucketCounts(10, 50, 50),
        "medium": BucketCounts(15, 200, 200),
        "standard": BucketCounts(20, 500, 500),
        "accurate": BucketCounts(30, 1000, 1000),
    }


@pytest.mark.parametrize(
    ("old", "value", "new", "today"),
    [
        ("raises_per_street", 2, "max_raises_per_street", 2),
        ("postflop_spr", 5.0, "postflop_sprs", (5.0,)),
        ("cfr_exploitability_threshold", "2%", "exploitability_threshold", 0.02),
        ("convergence_threshold", 0.001, "regret_threshold", 0.001),
        ("convergence_check_interval", 9, "check_interval", 9),
        ("postflop_solve_iterations", 9, "iterations", 9),
        ("prune_explore_freq", 50, "explore_interval", 50),
        ("cfr_variant", "linear", "algorithm", "linear"),
        ("mccfr_sample_pct", 2.0, "sample_pct", 2.0),
        ("solve_type", "exhaustive", "cards", "classes"),
        ("solve_type", "bucketed", "cards", "buckets"),
        ("solve_type", "mccfr", "cards", "sampled"),
        ("fixed_flops", ["AhKd7s"], "flops", ("AhKd7s",)),
        ("fixed_flops", [], "flops", "all"),
        ("max_flop_boards", 50, "flops", 50),
        ("max_flop_boards", 0, "flops", "all"),
        ("preset", "exhaustive_fast", "preset", "classes_fast"),
        ("preset", "mccfr_standard", "preset", "sampled_standard"),
    ],
)
def test_old_names(old: str, value: Any, new: str, today: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(section(**{old: value}), new) == today


def test_no_limit_of_flops_beside_a_list_of_them() -> None:
    assert section(fixed_flops=["AhKd7s"], max_flop_boards=0).flops == ("AhKd7s",)


@pytest.mark.parametrize("old", ["cfr_regret_threshold", "cfr_delta_threshold"])
def test_old_names_whose_unit_has_changed_warn(old: str) -> None:
    with pytest.warns(ConfigWarning, match="share of the pot now.*0.01 is 1 % of the pot"):
        config = section(**{old: 0.002})
    assert config.exploitability_threshold == 0.002


def test_an_old_name_overrides_a_preset() -> None:
    with pytest.warns(ConfigWarning):
        config = section(preset="fast", cfr_regret_threshold=0.25)
    assert config.exploitability_threshold == 0.25


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
    (pot,) = config.pots()
    assert [action.amount for action in pot.tree.actions_at(0)] == [0, 330]


def test_discounting_follows_the_model() -> None:
    assert str(section(cards="sampled").schedule()) == "linear"
    assert section(prune_warmup=50).schedule().name == "dcfr"
    assert str(section(algorithm="cfr+").schedule()) == "cfr+(2)"
    assert section(algorithm="dcfr(1.5,0,2)", prune_warmup=5).schedule().beta == 0
    assert section(dcfr_beta=0.0).schedule() == dcfr(beta=0)
    assert str(section(dcfr_gamma=3, dcfr_warmup=9).schedule()) == "dcfr(1.5,0.5,3)@9"


def test_pruning_is_told_in_pots_and_handed_on_in_chips() -> None:
    pruning = section(prune_warmup=50, regret_floor=5000, explore_interval=30).pruning()
    assert pruning is not None
    assert (pruning.warmup, pruning.explore_interval) == (50, 30)
    assert pruning.regret_floor == 5_000_000
    assert pruning.threshold == "-1000000.0*sqrt(t)"
    constant = section(prune_warmup=1, prune_threshold=-2.5).pruning()
    assert constant is not None
    assert constant.threshold == -2500


def test_some_of_all_flops() -> None:
    some, again = section(flops=60).chosen_flops(), section(flops=60).chosen_flops()
    assert some == again
    assert 50 <= len(some) <= 60
    assert {flop.texture.suits for flop in some} == {"rainbow", "two-tone", "monotone"}
    assert {"A", "K", "9", "5"} <= {flop.texture.high_card for flop in some}
    assert len(section(flops=1).chosen_flops()) == 1
    assert section(flops=1755).chosen_flops() == all_flops()


def test_a_flop_that_is_named_twice_is_solved_once() -> None:
    config = section(flops=["AhKd7s", "7c2d2h", "AsKd7h"])
    with pytest.warns(ConfigWarning, match="AhKd7s and AsKd7h are the same flop"):
        found = config.chosen_flops()
    assert [flop.text for flop in found] == ["AsKh7d", "7s2h2d"]


def test_what_makes_two_solutions_the_same() -> None:
    base = section().identity()
    for same in (
        {"threads": 3},
        {"flops": ["AhKd7s"]},
        {"flops": 5},
        {"postflop_sprs": [1, 2]},
        {"bet_sizes": "50%,100%"},
        {"seed": 5},  # nothing random in this model
        {"num_hand_buckets_turn": 99},
        {"prune_threshold": -5},
        {"algorithm": "ahead"},
    ):
        assert section(**same).identity() == base
    for other in (
        {"bet_sizes": [0.5]},
        {"max_raises_per_street": 2},
        {"iterations": 499},
        {"exploitability_threshold": 0.02},
        {"regret_threshold": 0.1},
        {"algorithm": "dcfr"},
        {"cards": "sampled"},
        {"prune_warmup": 9},
    ):
        assert section(**other).identity() != base
    sampled = section(cards="sampled").identity()
    assert section(cards="sampled", seed=2).identity() != sampled
    assert section(cards="sampled", sample_pct=2).identity() != sampled
    buckets = section(preset="fast").identity()
    assert section(preset="fast", num_hand_buckets_turn=51).identity() != buckets


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bet_sizes: [33]", r"bet_sizes\[0\]: .*33 times the pot: write 33%"),
        ("bet_sizes: [50%, 3bb]", r"bet_sizes\[1\]: '3bb': there is no big blind here"),
        ("bet_sizes: [2x]", r"bet_sizes\[0\]: .*a multiple of the last bet is for raises only"),
        ("bet_sizes: {flop: 0.5, turn: 1}", r"bet_sizes.river: is missing"),
        ("raise_sizes: [zz]", r"raise_sizes\[0\]: 'zz' is not a bet size"),
        ("postflop_sprs: [0]", r"postflop_sprs\[0\]: must be above 0"),
        ("postflop_sprs: []", "postflop_sprs: must have at least 1 entry"),
        ("postflop_sprs: [1, 1]", "postflop_sprs: an SPR is given twice"),
        ("exploitability_threshold: 5", "must be below 1, not 5, for example 0.01"),
        ("exploitability_threshold: x%", "'x%' is not a share of the pot; write 0.3% or 0.003"),
        (
            "exploitability_threshold: 5 mbb",
            "'5 mbb' is mbb/hand, but exploitability is a share of the pot here; write 0.3% or",
        ),
        ("cards: bucket", "'bucket' is not known; did you mean 'buckets'"),
        ("solve_type: bucket", "'bucket' is not known; did you mean 'buckets'"),
        ("cards: exact", "'exact' is not known; choose one of: classes, buckets, sampled"),
        ("preset: fastest", "'fastest' is not known; did you mean 'fast'"),
        ("card: sampled", "unknown key; did you mean 'cards'"),
        ("algorithm: tund", "unknown algorithm 'tund': did you mean 'tuned'"),
        ("cfr_variant: tund", "unknown algorithm 'tund': did you mean 'tuned'"),
        ("flops: [AhKd]", "flops: .*'AhKd' has 2 cards"),
        ("fixed_flops: [AhKd7x]", "fixed_flops: .*7x"),
        ("flops: most", "flops 'most': write all, subset_95, spread_25, or a list"),
        ("flops: []", "the list of flops is empty"),
        ("flops: 0", "flops: 0 flops: choose between 1 and 1755"),
        ("max_flop_boards: 1800", "1800 flops: choose between 1 and 1755"),
        ("iterations: 0", "must be at least 1"),
        ("prune_threshold: 3", "is not a threshold; write a negative number"),
        ("prune_threshold: -t", "is not a threshold; write a negative number"),
        ("sample_pct: 0", "must be above 0"),
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
            "max_flop_boards: an old name of 'flops', but 'fixed_flops' is given too; keep one",
        ),
        (
            ("flops: all", "max_flop_boards: 5"),
            "max_flop_boards: an old name of 'flops', but 'flops' is given too; keep one of them",
        ),
        (
            ("cfr_variant: cfr+", "prune_warmup: 20"),
            r"cfr_variant: cfr\+\(2\) keeps no negative regrets",
        ),
        (
            ("algorithm: tuned", "dcfr_alpha: 1"),
            "dcfr_alpha: belongs to algorithm dcfr, not to tuned",
        ),
        (
            ("cfr_regret_threshold: 0.1", "exploitability_threshold: 0.1"),
            "cfr_regret_threshold: an old name of 'exploitability_threshold', but",
        ),
        (
            ("seed: 1", "exploitability_threshold_mbb: 0.1"),
            "exploitability_threshold_mbb: unknown key; did you mean 'exploitability_threshold'",
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
    assert keys["exploitability_threshold"]["default"] == 0.01


def test_a_config_does_not_change() -> None:
    with pytest.raises(ValidationError):
        section().seed = 5

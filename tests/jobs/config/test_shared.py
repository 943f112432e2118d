"""Keys that several sections share mean the same in each."""

from typing import Any

import pytest

from allstreets.base import InputError
from allstreets.cards import all_flops
from allstreets.cards.flop_sets import spread_flops, subset_flops
from allstreets.cfr.schedules import dcfr
from allstreets.jobs import PostflopModelConfig, TrainConfig, check_config, config_schema
from allstreets.jobs.config.shared import scaled
from allstreets.jobs.config.whole_game import UnifiedConfig

SECTIONS = ("solver", "postflop_model")


def section(name: str, **keys: Any) -> UnifiedConfig | PostflopModelConfig:
    job = {"type": "unified_cfr"} if name == "solver" else {}
    found = getattr(check_config({name: {**job, **keys}}, TrainConfig), name)
    assert isinstance(found, UnifiedConfig | PostflopModelConfig)
    return found


@pytest.mark.parametrize("name", SECTIONS)
def test_algorithms(name: str) -> None:
    assert section(name, dcfr_alpha=2).schedule() == dcfr(alpha=2)
    assert section(name, algorithm="dcfr", dcfr_beta=0, dcfr_gamma=3).schedule() == dcfr(1.5, 0, 3)
    assert str(section(name, algorithm="linear", dcfr_warmup=7).schedule()) == "linear@7"


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"algorithm": "tund"}, "algorithm: unknown algorithm 'tund': did you mean 'tuned'"),
        ({"algorithm": "tuned", "dcfr_alpha": 1}, "dcfr_alpha: belongs to algorithm dcfr"),
        ({"algorithm": "dcfr+", "prune_warmup": 3}, "algorithm: dcfr+ keeps no negative regrets"),
        ({"prune_threshold": 0}, "prune_threshold: 0.0 is not a threshold; write a negative"),
        ({"explore_interval": 0}, "explore_interval: must be at least 1"),
        ({"num_hand_buckets_turn": 4097}, "num_hand_buckets_turn: must be at most 4096"),
        ({"max_raises_per_street": -1}, "max_raises_per_street: must be at least 0"),
        ({"flops": 1756}, "flops: 1756 flops: choose between 1 and 1755"),
        ({"flops": -1}, "flops: flops 'spread_-1': write all"),
        ({"flops": "subset_33"}, "flops: there is no subset_33: there are subset_15, subset_25"),
        ({"flops": "fitted_9"}, "flops: fitted_9 is chosen by a solution on all flops: name its"),
        ({"flops": "fitted_1755", "fitted_from": "x"}, "flops: 1755 flops: choose between 1 and"),
        ({"flops": "subset_25", "fitted_from": "x"}, "fitted_from: is for flops fitted_95"),
    ],
)
def test_wrong_values(name: str, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        section(name, **keys)
    assert f"{name}.{message}" in str(error.value)
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize(("name", "stake"), [("solver", 100), ("postflop_model", 1000)])
def test_pruning_counts_in_the_stake_of_the_section(name: str, stake: float) -> None:
    config = section(name, prune_warmup=9, prune_threshold=-2, regret_floor=50)
    found = config.pruning_in_chips(stake)
    assert found is not None
    assert (found.threshold, found.regret_floor, found.warmup) == (-2 * stake, 50 * stake, 9)
    assert section(name).pruning_in_chips(stake) is None
    assert scaled("-1.5 * sqrt(t)", stake) == f"{-1.5 * stake}*sqrt(t)"


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("all", [flop.text for flop in all_flops()]),
        ("spread_7", [flop.text for flop in spread_flops(7).flops]),
        (7, [flop.text for flop in spread_flops(7).flops]),
        ("subset_25", [flop.text for flop in subset_flops(25).flops]),
        (["AhKd7s", "9h8h2c"], ["AsKh7d", "9s8s2h"]),
        ("AhKd7s, 9h8h2c", ["AsKh7d", "9s8s2h"]),
    ],
)
def test_flops(given: Any, texts: list[str]) -> None:
    whole, models = section("solver", flops=given), section("postflop_model", flops=given)
    assert isinstance(whole, UnifiedConfig)
    assert isinstance(models, PostflopModelConfig)
    assert [flop.text for flop in whole.flop_set().flops] == texts
    assert [flop.text for flop in models.chosen_flops()] == texts


def test_raises_until_all_in() -> None:
    limited, free = (
        section("postflop_model", max_raises_per_street=raises, postflop_sprs=[3], bet_sizes=[1])
        for raises in (0, None)
    )
    assert isinstance(limited, PostflopModelConfig)
    assert isinstance(free, PostflopModelConfig)
    assert limited.pots()[0].tree.node_count < free.pots()[0].tree.node_count


def test_keys_of_one_idea_are_described_once() -> None:
    """A key of two sections has the same description in both."""
    shared = UnifiedConfig.model_fields.keys() & PostflopModelConfig.model_fields.keys()
    # Other choices, another unit; raises before the flop and after it.
    own = {"cards", "exploitability_threshold", "raise_sizes"}
    assert {"algorithm", "check_interval", "flops", "prune_threshold", "seed"} < shared
    whole, flops = (
        config_schema(kind)["properties"] for kind in (UnifiedConfig, PostflopModelConfig)
    )
    for key in shared - own:
        assert whole[key]["description"] == flops[key]["description"], key

"""The section solver: the meaning of every key, refusals, and complete docs."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import small_config

from allstreets.base import InputError
from allstreets.betting import PreflopRules, sizes_text
from allstreets.cards.flop_sets import every_flop, spread_flops
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import dcfr, parse_schedule
from allstreets.jobs import TrainConfig, check_config, config_schema, read_train_config
from allstreets.jobs.config.model import ConfigModel
from allstreets.jobs.config.whole_game import PreflopConfig, UnifiedConfig, WholeGameConfig
from allstreets.jobs.stopping import ExploitabilityThreshold, Iterations, RegretThreshold, TimeLimit
from allstreets.jobs.whole_game import plan_unified
from allstreets.solvers.leaves import VisitPlan

DOCS = Path(__file__).parents[3] / "docs" / "training.md"
WHOLE_FILE = """
solver:
  type: unified_cfr
  stack_depth: 20
  raise_sizes: [2.5]
  raise_cap: 4
  postflop_bet_sizes: [0.5, 1.0]
  max_raises_per_street: 1
  cards: classes
  epochs: 10
  flop_batch_size: 50
  iterations_per_batch: 200
  flops: all
  dcfr_alpha: 1.5
  dcfr_beta: 0.5
  dcfr_gamma: 2.0
  dcfr_warmup: 30
  prune_threshold: -1000.0
  prune_warmup: 100
  explore_interval: 50
"""


def unified(**keys: Any) -> UnifiedConfig:
    """A config by hand classes, unless it says otherwise."""
    return written(**keys) if "solve_type" in keys else written(**{"cards": "classes", **keys})


def written(**keys: Any) -> UnifiedConfig:
    """A config with just these keys."""
    config = check_config({"solver": {"type": "unified_cfr", **keys}}, TrainConfig)
    assert isinstance(config.solver, UnifiedConfig)
    return config.solver


def preflop(**keys: Any) -> PreflopConfig:
    solver = {"type": "preflop_cfr", "models": "models", **keys}
    config = check_config({"solver": solver}, TrainConfig)
    assert isinstance(config.solver, PreflopConfig)
    return config.solver


def read(tmp_path: Path, text: str) -> TrainConfig:
    path = tmp_path / "game.yaml"
    path.write_text(text)
    return read_train_config(path)


def test_a_whole_file_means_what_it_says(tmp_path: Path) -> None:
    config = read(tmp_path, WHOLE_FILE)
    solver = config.solver
    assert isinstance(solver, UnifiedConfig)
    assert config.job == "unified_cfr"
    job = plan_unified(solver)
    game, rules = job.game, job.game.preflop
    assert (rules.stack, rules.big_blind, rules.small_blind, rules.ante) == (2000, 100, 50, 0)
    opened = [
        action.amount for action in game.tree.actions_at(0) if action.kind.name in ("RAISE", "BET")
    ]
    assert 250 in opened  # 2.5 times the big blind
    assert rules.raise_cap == 4
    texts = {str(size) for street in game.sizes for player in street for size in player.bet}
    assert texts == {"50%", "100%"}
    assert all(player.raises == player.bet for street in game.sizes for player in street)
    assert game.max_raises == 1
    assert game.flops.is_all
    assert job.need.flops == 1755
    assert solver.batches() == VisitPlan(50, 200, "shuffled", 1)
    # 36 batches of 50 flops, the last smaller, 200 iterations each, 10 times.
    assert job.iterations == 10 * 36 * 200
    assert str(solver.schedule()) == "dcfr(1.5,0.5,2)@30"
    schedule = solver.schedule()
    assert (schedule.at(30).positive, schedule.at(30).average) == (1.0, 1.0)
    assert schedule.at(31).positive == pytest.approx(30**1.5 / (30**1.5 + 1))
    assert schedule.at(31).negative == pytest.approx(30**0.5 / (30**0.5 + 1))
    assert schedule.at(31).average == pytest.approx((30 / 31) ** 2)
    # A big blind has 100 chips.
    assert solver.pruning() == Pruning(100, -100_000.0, 50, 100_000_000.0)
    assert (solver.cards, solver.memory, solver.precision) == ("classes", "resident", "float32")
    assert solver.stop_rules(job.iterations) == (Iterations(72_000),)


def test_what_may_be_done_before_the_flop() -> None:
    named = {"open": 2.5, "over_limp": ["3bb"], "3bet": {"bb": [4, "a"], "sb": 3}}
    rules = unified(
        raise_sizes=named, limp=False, preflop_allin=4, ante=0.125, bb_ante=1, rake="5%"
    ).preflop_rules()
    assert rules == PreflopRules.parse(
        20, named, limp=False, allin=4, ante=0.125, bb_ante=1, rake=0.05
    )
    assert unified(raise_sizes=[]).preflop_rules().raise_sizes == ((), ())
    assert preflop(preflop_allin="never").preflop_rules().allin_spr == 0


def test_sizes_by_kind_of_pot_go_before_those_of_streets() -> None:
    config = unified(
        postflop_bet_sizes=["50%"],
        postflop_streets={"river": {"bet": ["a"]}},
        postflop_pots={
            "limped": {"bet": "25%", "turn": {"bet": ["40%"], "raise": ["a"]}},
            "4bet": {"flop": {"bet": []}},
        },
    )
    game = config.game()

    def told(kind: str) -> list[tuple[str, str]]:
        return [
            (sizes_text(street[0].bet), sizes_text(street[0].raises))
            for street in game.pot_sizes[kind]
        ]

    assert told("limped") == [("25%", "25%"), ("40%", "a"), ("25%", "25%")]
    assert told("4bet") == [("", ""), ("50%", "50%"), ("a", "a")]
    assert set(game.pot_sizes) == {"limped", "4bet"}
    by_kind = {pot.pot.kind: pot.rules.sizes for pot in game.pots}
    assert by_kind["limped"] == game.pot_sizes["limped"]
    assert by_kind["raised"] == by_kind["3bet"] == game.sizes


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"stack_depth": 0.5},
            "solver.stack_depth: antes and blinds take all 0.5 bb of both stacks: there is "
            "nothing to decide; make stack_depth larger than 0.5",
        ),
        ({"ante": 19.6}, "solver.ante: antes and blinds take all 20 bb of both stacks"),
        ({"bb_ante": 20}, "solver.bb_ante: antes and blinds take all 20 bb of both stacks"),
        (
            {"limp": False, "raise_sizes": [], "preflop_allin": "never"},
            "solver.limp: without limp, raise_sizes and all-in the small blind could only fold",
        ),
        ({"preflop_allin": 0}, "solver.preflop_allin: an SPR is above 0, not 0; write never"),
        ({"preflop_allin": "allways"}, "solver.preflop_allin: 'allways' is not known; did you"),
        ({"rake": "5"}, "solver.rake: must be below 1, not "),
        ({"rake": "much"}, "solver.rake: rake 'much' is not a share of the pot: write 5% or 0.05"),
        ({"raise_sizes": {"opn": 2}}, "solver.raise_sizes: has an unknown key 'opn': did you mean"),
        ({"raise_sizes": {"open": [2, 0.5]}}, "solver.raise_sizes.open[1]: '0.5' is not a raise"),
        (
            {"raise_sizes": {"open": 2, "3bet": {"bb": "3y", "sb": 2}}},
            "solver.raise_sizes.3bet.bb: '3y' is not a bet size",
        ),
        (
            {"postflop_pots": {"3-bet": {}}},
            "solver.postflop_pots.3-bet: must be 'limped', 'raised'",
        ),
        ({"postflop_pots": {"3bet": {"bets": []}}}, "solver.postflop_pots.3bet.bets: unknown key"),
        (
            {"postflop_pots": {"3bet": {"raise": ["a"]}}},
            "solver.postflop_pots.3bet.raise: give bet",
        ),
        (
            {"postflop_pots": {"raised": {"turn": {"bet": ["33"]}}}},
            "solver.postflop_pots.raised.turn.bet[0]: '33' without a unit",
        ),
    ],
)
def test_games_that_cannot_be_played(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        unified(**keys)
    assert message in str(error.value)


def test_defaults() -> None:
    config = unified()
    assert str(config.schedule()) == "ahead"
    assert config.pruning() is None
    assert config.drop_unplayed_every == 0
    assert config.batches() == VisitPlan()
    assert config.flop_set().is_all
    assert config.card_model().buckets == (20, 500, 500)
    assert str(preflop().schedule()) == "tuned"
    assert preflop().preflop_rules() == config.preflop_rules()


def test_algorithms() -> None:
    assert unified(algorithm="cfr+").schedule() == parse_schedule("cfr+")
    assert unified(cfr_variant="linear").schedule() == parse_schedule("linear")
    assert unified(dcfr_alpha=2).schedule() == dcfr(alpha=2.0)
    assert unified(dcfr_beta=0).schedule() == dcfr(beta=0.0)
    assert unified(algorithm="dcfr", dcfr_gamma=4).schedule() == dcfr(gamma=4.0)
    assert unified(algorithm="dcfr(1,0,3)").schedule() == dcfr(1.0, 0.0, 3.0)
    warmed = unified(algorithm="tuned", dcfr_warmup=5).schedule()
    assert (warmed.at(5).positive, warmed.at(5).negative) == (1.0, 1.0)
    assert warmed.at(6) == parse_schedule("tuned").at(6)


def test_stop_rules() -> None:
    config = unified(
        exploitability_threshold=5, stable_epochs=3, regret_threshold=0.1, time_limit_seconds=60
    )
    assert config.stop_rules(7) == (
        Iterations(7),
        ExploitabilityThreshold(5.0, 3),
        RegretThreshold(0.1),
        TimeLimit(60.0),
    )


def test_how_often_charts_are_drawn() -> None:
    assert [unified().charts_every(total) for total in (1, 4, 200, 201)] == [1, 1, 50, 51]
    assert unified(chart_interval=7).charts_every(200) == 7
    assert unified(chart_interval=0).charts_every(200) == 0
    assert preflop().charts_every(1000) == 250


def test_pruning_is_told_in_big_blinds() -> None:
    assert unified(prune_threshold=-5).pruning() is None  # the warm-up switches it on
    found = unified(prune_warmup=3, prune_threshold="-2*sqrt(t)", regret_floor=50).pruning()
    assert found is not None
    np.testing.assert_allclose(found.thresholds(np.array([4, 25])), [-400, -1000])
    assert (found.regret_floor, found.explore_interval) == (5000, 20)
    default = unified(prune_warmup=3).pruning()
    assert default is not None
    assert default.threshold == -100_000


def test_sizes_by_street() -> None:
    config = unified(
        postflop_bet_sizes=["33%", 1.0],
        postflop_raise_sizes="2.5x",
        postflop_streets={"turn": {"bet": ["75%"]}, "river": {"bet": [0.5, "a"], "raise": "a"}},
    )
    texts = [
        ([str(size) for size in street[0].bet], [str(size) for size in street[0].raises])
        for street in config.street_sizes()
    ]
    assert texts == [
        (["33%", "100%"], ["2.5x"]),
        (["75%"], ["75%"]),
        (["50%", "a"], ["a"]),
    ]
    assert all(street[0] == street[1] for street in config.street_sizes())
    assert plan_unified(small_config(max_raises_per_street=None)).game.max_raises is None


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ({"flops": ["AhKd7s", "9h8h2c:2"]}, ["AsKh7d", "9s8s2h"]),
        ({"flops": "AhKd7s, 9h8h2c:2"}, ["AsKh7d", "9s8s2h"]),
        ({"flops": "AhKd7s"}, ["AsKh7d"]),
        ({"flops": "spread_7"}, [flop.text for flop in spread_flops(7).flops]),
        ({"flops": 7}, [flop.text for flop in spread_flops(7).flops]),
        ({"flops": "all"}, [flop.text for flop in every_flop().flops]),
    ],
)
def test_flops(keys: dict[str, Any], names: list[str]) -> None:
    found = unified(**keys).flop_set()
    assert [flop.text for flop in found.flops] == names
    if len(names) == 2:
        assert found.weights.tolist() == [24.0, 24.0]  # of 12, counted twice


def test_rules_before_the_flop() -> None:
    rules = unified(
        stack_depth=50,
        ante=0.25,
        small_blind=0.4,
        raise_sizes=[[2, 3], "4bb"],
        raise_cap=2,
        rake=0.05,
        rake_cap=3,
        no_flop_no_drop=False,
        preflop_force_allin_threshold=0.2,
    ).preflop_rules()
    assert (rules.stack, rules.ante, rules.small_blind, rules.raise_cap) == (5000, 25, 40, 2)
    assert (rules.rake, rules.rake_cap, rules.no_flop_no_drop) == (0.05, 300, False)
    assert rules.force_allin_threshold == 0.2


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("convergence_threshold", "regret_threshold", 0.001),
        ("exploitability_threshold_mbb", "exploitability_threshold", 5.0),
        ("convergence_check_interval", "check_interval", 50),
        ("cfr_variant", "algorithm", "linear"),
        ("prune_explore_freq", "explore_interval", 50),
        ("batch_size", "flop_batch_size", 50),
        ("max_canonical_flops", "flops", 50),
        ("postflop_max_raises_per_street", "max_raises_per_street", None),
        ("close_after", "drop_unplayed_every", 50),
    ],
)
def test_old_names(old: str, new: str, value: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(unified(**{old: value}), new) == value
    with pytest.raises(InputError, match=f"an old name of '{new}', but '{new}' is given too"):
        unified(**{old: value, new: value})


def test_old_values() -> None:
    assert unified(memory="per_batch", flop_batch_size=5).memory == "per_batch"
    assert unified(max_canonical_flops=0).flops == "all"
    assert unified(max_canonical_flops=0, flops=["AhKd7s"]).flops == ("AhKd7s",)


def test_thresholds_with_their_unit() -> None:
    for given in (5, 5.0, "5", "5 mbb", "5mbb/hand"):
        assert unified(exploitability_threshold=given).exploitability_threshold == 5
    assert preflop(exploitability_threshold="0.1 mbb").exploitability_threshold == 0.1


def test_everything_that_is_wrong_comes_at_once_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(
            tmp_path,
            "solver:\n"
            "  type: unified_cfr\n"
            "  stackdepth: 20\n"
            "  raise_cap: 2.0\n"
            "  epochs: 0\n"
            "  cards: exakt\n"
            "  postflop_streets:\n"
            "    turn: {bets: [0.5]}\n",
        )
    assert str(error.value).splitlines()[1:] == [
        "  line 3: solver.stackdepth: unknown key; did you mean 'stack_depth'?",
        "  line 4: solver.raise_cap: must be a whole number, not 2.0; write 2",
        "  line 5: solver.epochs: must be at least 1, not 0, for example 10",
        "  line 6: solver.cards: 'exakt' is not known; did you mean 'exact'?",
        "  line 8: solver.postflop_streets.turn.bet: is missing; add it, for example "
        "['33%', '75%']",
        "  line 8: solver.postflop_streets.turn.bets: unknown key; did you mean 'bet'?",
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"stack_depth": 0}, "stack_depth: must be above 0"),
        ({"stack_depth": "20"}, "must be a number, not '20'; remove the quotes"),
        ({"type": "unified"}, "solver.type: 'unified' is not known; did you mean 'unified_cfr'?"),
        ({"iterations": 5}, "solver.iterations: unknown key"),
        ({"seed": -1}, "seed: must be at least 0"),
        ({"rake": 5}, "rake: must be below 1"),
        ({"flops": 2.5}, "flops: must be a whole number or text or a list, not 2.5"),
        ({"flops": 1756}, "flops: 1756 flops: choose between 1 and 1755"),
        ({"flops": "spread_0"}, "flops: 0 flops: choose between 1 and 1755"),
        ({"flops": "most"}, "flops 'most': write all, subset_95, spread_25, or a list"),
        ({"flops": ["AhKd"]}, "a flop has 3"),
        ({"flops": ["AhKd7s", "AsKh7d"]}, "is listed twice"),
        ({"flops": ["AhKd7s:0"]}, "the weight after the colon must be a positive number"),
        ({"flops": []}, "the list of flops is empty"),
        ({"flop_choice": "random"}, "flop_choice: 'random' is not known"),
        ({"precision": "float64"}, "precision: 'float64' is not known"),
        (
            {"river_groups": "suits"},
            "river_groups: is a number of buckets for cards boards, or sui",
        ),
        ({"cards": "exact", "river_groups": 64}, "or suits for cards exact"),
        ({"cards": "boards", "river_groups": "suits"}, "a number of buckets for cards boards"),
        ({"regroup": 2}, "regroup: is for cards boards"),
        (
            {"prune_threshold": 5},
            "prune_threshold: 5.0 is not a threshold; write a negative number",
        ),
        ({"prune_threshold": 0.0}, "prune_threshold: 0.0 is not a threshold; write a neg"),
        (
            {"flops": "all", "max_canonical_flops": 5},
            "max_canonical_flops: an old name of 'flops', but 'flops' is given too; keep one",
        ),
        ({"memory": "per_batch"}, "flop_batch_size: memory per_batch needs batches; write 50, say"),
        (
            {"memory": "per_batch", "flop_batch_size": 5, "exploitability_threshold": 5},
            "exploitability_threshold: is not known with memory per_batch, where flops restart",
        ),
        (
            {"memory": "per_batch", "flop_batch_size": 5, "regret_threshold": 0.1},
            "with every batch; use epochs or time_limit_seconds, or memory memmap",
        ),
        ({"cards": "exact", "memory": "memmap"}, "memory: must be resident for cards exact"),
        (
            {"cards": "exact", "memory": "per_batch", "flop_batch_size": 1},
            "memory: must be resident for cards exact",
        ),
        (
            {"drop_unplayed_every": 50, "cards": "buckets"},
            "drop_unplayed_every: is for cards classes",
        ),
        (
            {"close_after": 50, "memory": "per_batch", "flop_batch_size": 5},
            "others store all hands",
        ),
        ({"close_after": -1}, "close_after: must be at least 0"),
        (
            {"exploitability_threshold": "0.3%"},
            "'0.3%' is a share of the pot, but exploitability is a number of mbb/hand here; write",
        ),
        ({"exploitability_threshold": "low"}, "'low' is not a number of mbb/hand; write 5 mbb"),
        ({"exploitability_threshold": 0}, "exploitability_threshold: must be above 0, not 0"),
        ({"target": 0}, "target: must be above 0, not 0"),
        ({"cfr_exploitability_threshold": 0.1}, "cfr_exploitability_threshold: unknown key"),
        ({"solve_type": "mccfr"}, "solve_type: 'mccfr' is not known; choose one of: classes, bu"),
        ({"algorithm": "cfr+", "prune_warmup": 5}, "algorithm: cfr+(2) keeps no negative"),
        ({"algorithm": "dcfrr"}, "did you mean 'dcfr'"),
        ({"algorithm": "dcfr(1,2)"}, "write dcfr(α, β, γ) with numbers"),
        ({"algorithm": "tuned", "dcfr_alpha": 1.5}, "belongs to algorithm dcfr, not to tuned"),
        ({"algorithm": "dcfr(1,0,2)", "dcfr_beta": 1.0}, "dcfr_beta: belongs to algorithm dcfr"),
        ({"postflop_streets": {"preflop": {"bet": 1}}}, "postflop_streets.preflop: must be 'flop'"),
        ({"raise_sizes": [0.5]}, "solver.raise_sizes[0]: '0.5' is not a raise"),
        ({"raise_sizes": ["big"]}, "solver.raise_sizes[0]: 'big' is not a bet size"),
        ({"postflop_bet_sizes": [33]}, "solver.postflop_bet_sizes[0]: '33' without a unit is 33 "),
        ({"chart_interval": -1}, "chart_interval: must be at least 0, not -1"),
    ],
)
def test_wrong_values(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        unified(**keys)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"small_blind": 2}, "small_blind 2 bb is larger than big_blind 1 bb"),
    ],
)
def test_wrong_games(keys: dict[str, Any], message: str) -> None:
    """Problems that only the game can detect come before anything is solved."""
    with pytest.raises(InputError) as error:
        plan_unified(unified(**keys))
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


# The sections of a file.

UNIFIED, PREFLOP = {"type": "unified_cfr"}, {"type": "preflop_cfr"}


@pytest.mark.parametrize(
    ("data", "job"),
    [
        ({"solver": UNIFIED}, "unified_cfr"),
        ({"postflop_model": {}}, "postflop_model"),
        ({"solver": PREFLOP, "postflop_model": {}}, "preflop_cfr"),
        ({"solver": {**PREFLOP, "models": "m"}}, "preflop_cfr"),
    ],
)
def test_the_sections_say_the_job(data: dict[str, Any], job: str) -> None:
    assert check_config(data, TrainConfig).job == job


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "solver: there is no job in this file"),
        ({"solver": None}, "solver: is empty"),
        ({"solver": UNIFIED, "postflop_model": None}, "postflop_model: is empty"),
        ({"solver": UNIFIED, "postflop_model": {}}, "postflop_model: has no effect in a unified"),
        ({"solver": PREFLOP}, "solver: preflop_cfr needs postflop_model or models"),
        (
            {"solver": {**PREFLOP, "models": "m"}, "postflop_model": {}},
            "solver: preflop_cfr needs postflop_model or models, one of the two",
        ),
        ({"solver": {}}, "solver: the key 'type' is missing"),
        ({"solver": {"stack_depth": 3}}, "solver: the key 'type' is missing"),
        ({"solver": {**PREFLOP, "epochs": 3}}, "solver.epochs: unknown key"),
    ],
)
def test_sections_that_do_not_fit(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        check_config(data, TrainConfig)
    assert message in str(error.value)


# What the docs and the schema say.


def documented() -> dict[str, tuple[str, str]]:
    """key → (default, what it is) of all tables of keys in the docs."""
    section = DOCS.read_text().partition("## Keys of `solver`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", section, re.MULTILINE)
    assert len(rows) == len({key for key, _, _ in rows})
    return {key: (default, text) for key, default, text in rows}


def told(default: Any) -> Any:
    """A default as JSON has it."""
    return "–" if default is None else json.loads(json.dumps(default))


def test_the_docs_have_every_key_with_its_default() -> None:
    rows = documented()
    kinds = (PreflopConfig, UnifiedConfig)
    fields = {key: field for kind in kinds for key, field in kind.model_fields.items()}
    schema = {key: one for kind in kinds for key, one in config_schema(kind)["properties"].items()}
    assert set(rows) == set(fields) - {"type"}
    for key, (default, text) in rows.items():
        expected = told(fields[key].default)
        if key == "algorithm":
            expected = UnifiedConfig.default_algorithm
        try:
            found = json.loads(default)
        except ValueError:
            found = default
        assert found == expected, key
        assert text.replace("…", "...") == " ".join(schema[key]["description"].split()), key


def test_the_docs_say_which_keys_the_two_jobs_share() -> None:
    order = list(documented())
    shared = order[order.index("stack_depth") : order.index("threads") + 1]
    assert set(shared) == set(WholeGameConfig.model_fields)
    assert set(order[-2:]) == set(PreflopConfig.model_fields) - set(shared) - {"type"}
    assert PreflopConfig.default_algorithm == "tuned"


@pytest.mark.parametrize("model", [UnifiedConfig, PreflopConfig])
def test_the_schema_has_every_key(model: type[ConfigModel]) -> None:
    schema = config_schema(TrainConfig)["$defs"][model.__name__]
    assert set(schema["properties"]) == set(model.model_fields)
    assert schema["additionalProperties"] is False
    for key, entry in schema["properties"].items():
        assert entry["description"], key
        if "default" in entry:
            assert told(model.model_fields[key].default) == told(entry["default"])

"""Estimates of games, against the arrays that are made, and the advice."""

from typing import Any

import numpy as np
import pytest
from builders.small_games import BUCKETS, EXACT, small_config

from allstreets.base import InputError
from allstreets.betting import NodeKind, TreeSize
from allstreets.cards import runouts
from allstreets.cards.hands import live_combos
from allstreets.engines import hands_by_board
from allstreets.engines.card_model import CLASSES
from allstreets.games.estimates import (
    EXACT_SECONDS_PER_SLOT,
    PREFLOP_SECONDS_PER_DECISION,
    PROGRAM_BYTES,
    WholeGameEstimate,
    estimate_exact,
    estimate_whole_game,
    require_room,
)
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.whole_game import plan_unified

BOARDS: dict[str, Any] = {
    "cards": "boards", "river_groups": 32, "turn_rows": 16, "flops": ["KsKhKd"], "stack_depth": 4,
}  # fmt: skip
GAMES: list[dict[str, Any]] = [
    {},
    {"stack_depth": 20, "raise_cap": 4, "postflop_bet_sizes": [0.5, 1.0], "flops": "spread_3"},
    {"postflop_streets": {"turn": {"bet": [0.33, 0.75]}}, "ante": 0.2},
    {"stack_depth": 1},
    {**BUCKETS},
    {**EXACT},
    {**EXACT, "precision": "float16"},
    {**EXACT, "flops": ["KsKhKd"], "stack_depth": 3},
    {**BOARDS},
]


def need_of(config: UnifiedConfig, **others: Any) -> WholeGameEstimate:
    return estimate_whole_game(config.game(), config.card_model(), **others)


@pytest.mark.parametrize("keys", GAMES)
def test_the_bytes_are_those_of_the_solver(keys: dict[str, Any]) -> None:
    job = plan_unified(small_config(**keys))
    solver = job.solver()
    assert job.need.memory_bytes == solver.memory_bytes
    assert job.need.resident_bytes >= solver.memory_bytes + PROGRAM_BYTES
    stored = sum(
        array.nbytes
        for name, array in solver.engine.state().items()
        if "regret" in name or "average" in name
    )
    assert stored == solver.memory_bytes
    game = job.game
    assert job.need.flops == solver.engine.flops
    assert job.need.pots == solver.engine.pots
    decisions = [pot.tree.kind == NodeKind.DECISION for pot in game.pots]
    assert job.need.postflop_decisions == sum(int(one.sum()) for one in decisions)
    actions = [
        len(pot.tree.children_of(node))
        for pot in game.pots
        for node in range(pot.tree.node_count)
        if pot.tree.kind[node] == NodeKind.DECISION
    ]
    assert job.need.slots == sum(actions)
    assert job.need.preflop_decisions == len(solver.preflop.regrets)
    assert job.need.seconds_per_iteration > 0
    assert job.need.seconds_to(10) > job.need.seconds_to(1) > 0


def test_flops_that_differ_by_ranks_alone_take_the_same() -> None:
    """Exact games flop by flop, each with a count of its own, from trees that are built."""
    config = small_config(**{**EXACT, "flops": "spread_30", "stack_depth": 6}, precision="float16")
    game = config.game()
    stored, tables, slots = 0, 0, 0
    for flop in game.flops.flops:
        combos = np.flatnonzero(live_combos(flop.cards))
        hands = hands_by_board(runouts(flop.cards, [np.ones(1326)]), [combos, combos], 3)
        alone = [estimate_exact(TreeSize.of(pot.tree), hands, "float16") for pot in game.pots]
        stored += sum(need.memory_bytes for need in alone)
        slots += sum(need.slots for need in alone)
        tables += max(n.process_bytes - n.memory_bytes - PROGRAM_BYTES for n in alone) // 2
    need = need_of(config)
    assert need.memory_bytes == stored
    assert need.resident_bytes == stored + tables + PROGRAM_BYTES
    preflop = need.preflop_decisions * PREFLOP_SECONDS_PER_DECISION
    assert need.seconds_per_iteration == pytest.approx(slots * EXACT_SECONDS_PER_SLOT + preflop)


def test_no_tree_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an estimate counts; it builds nothing")

    monkeypatch.setattr("allstreets.games.whole_game.build_postflop_tree", refuse)
    for cards in ("classes", "buckets", "exact"):
        config = small_config(postflop_bet_sizes=[0.5, 1.0], cards=cards)
        need = need_of(config)
        with pytest.raises(InputError, match="one bet size fewer"):
            require_room(config.game(), need, config.card_model(), config.memory, free=1)


def test_what_is_kept_where() -> None:
    config = small_config(flops="spread_8")
    resident = need_of(config)
    disk = need_of(config, memory="memmap")
    values = need_of(config, memory="per_batch", batch=2)
    assert disk.memory_bytes == resident.memory_bytes
    assert disk.resident_bytes == resident.resident_bytes - resident.memory_bytes
    assert values.memory_bytes == resident.memory_bytes // 4
    assert values.resident_bytes < disk.resident_bytes
    fresh = plan_unified(small_config(flops="spread_8", memory="per_batch", batch_size=2)).solver()
    assert fresh.memory_bytes == 0
    fresh.train_batch(1)
    assert fresh.memory_bytes == values.memory_bytes


def test_time_goes_with_flops_and_threads() -> None:
    config = small_config(flops="spread_8", stack_depth=20, raise_cap=4)
    whole, batch, two = need_of(config), need_of(config, batch=2), need_of(config, threads=2)
    assert batch.seconds_per_iteration < 0.5 * whole.seconds_per_iteration
    assert two.seconds_per_iteration < 0.7 * whole.seconds_per_iteration
    assert batch.memory_bytes == whole.memory_bytes


def test_half_precision_is_half_the_memory() -> None:
    full, half = (need_of(small_config(**EXACT, precision=p)) for p in ("float32", "float16"))
    assert half.memory_bytes * 2 == full.memory_bytes


def test_hands_that_share_strategies_take_less() -> None:
    job = plan_unified(small_config(**EXACT, river_groups="suits"))
    plain = need_of(small_config(**EXACT))
    assert job.need.memory_bytes < 0.3 * plain.memory_bytes
    assert job.need.memory_bytes == pytest.approx(job.solver().memory_bytes, rel=0.15)


def test_what_fits_is_not_refused() -> None:
    config = small_config()
    game, need = config.game(), need_of(config)
    require_room(game, need, CLASSES, "resident", free=need.resident_bytes)
    with pytest.raises(InputError, match="this game needs"):
        require_room(game, need, CLASSES, "resident", free=need.resident_bytes - 1)
    require_room(game, need, CLASSES, "resident", free=None)


@pytest.mark.parametrize(
    ("keys", "there", "not_there"),
    [
        ({}, ["memory: memmap", "flops: spread_"], ["float16", "one bet size fewer"]),
        ({"postflop_bet_sizes": [0.5, 1.0]}, ["one bet size fewer ("], []),
        ({"memory": "memmap"}, ["flops: spread_"], ["memory: memmap"]),
        (
            {"memory": "per_batch", "flop_batch_size": 5},
            ["a smaller flop_batch_size"],
            ["memory: memmap", "spread_"],
        ),
        ({**EXACT, "flops": "spread_9"}, ["float16", "river_groups: suits", "boards"], ["memmap"]),
    ],
)
def test_advice(keys: dict[str, Any], there: list[str], not_there: list[str]) -> None:
    config = small_config(**{"flops": "spread_9", **keys})
    need = need_of(config, memory=config.memory, batch=config.flop_batch_size)
    free = (need.resident_bytes + PROGRAM_BYTES) // 2
    with pytest.raises(InputError) as error:
        require_room(config.game(), need, config.card_model(), config.memory, free=free)
    told = str(error.value)
    assert len(told.splitlines()) == 2
    assert all(part in told for part in there)
    assert not any(part in told for part in not_there)


def test_a_smaller_stack_is_the_last_advice() -> None:
    config = small_config(memory="memmap", flops="AhKd7s")
    need = need_of(config, memory="memmap")
    with pytest.raises(InputError, match="Ways to make it smaller: a smaller stack"):
        require_room(config.game(), need, CLASSES, "memmap", free=PROGRAM_BYTES)


def test_fewer_groups_are_advised_where_they_fit() -> None:
    many, few = (small_config(**BOARDS | {"river_groups": count}) for count in (128, 64))
    free = need_of(few).resident_bytes
    with pytest.raises(InputError, match="river_groups: 64"):
        require_room(many.game(), need_of(many), many.card_model(), "resident", free=free)

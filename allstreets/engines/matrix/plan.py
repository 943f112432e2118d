"""Trees, hands and pots as the matrix kernels read them: the rows and their order.

A game may store only some hands of a player: those with which he can reach it. Their numbers have
the same layout, [node][hand / 16][action][16], with hands counted by their position in the list, so
that kernels work on whole vectors of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Floats, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Outcome, Player, Street
from allstreets.engines.card_model import stage_of_nodes
from allstreets.engines.matrix.cards import padded
from allstreets.engines.matrix.kernels.layout import (
    MOST_STAGES,
    StageHands,
    StagePlan,
    StageStore,
    filled,
)
from allstreets.engines.matrix.kernels.pots import PotTables
from allstreets.engines.simd.matrix_product import TILE_ROWS
from allstreets.engines.simd.vectors import LANES

SPLIT_FLOPS = 2  # for each thread: the last ones are handed out pot by pot, so that no thread waits

HandSelection = Literal["kept", "rest", "all"]
"""Own hands of a pass: those that are stored, the others, or all."""


@dataclass
class _Stage:
    """The lists of one stage while they grow."""

    lines: int
    reach_rows: int
    value_rows: int
    other: list[tuple[int, int, int, int]] = field(default_factory=list)
    own: list[tuple[int, int, int, int]] = field(default_factory=list)
    locked: list[bool] = field(default_factory=list)  # own nodes
    folds: list[tuple[int, int, float]] = field(default_factory=list)
    shows: list[tuple[int, int, float]] = field(default_factory=list)
    exits: list[tuple[int, int]] = field(default_factory=list)


def node_slots(tree: BettingTree, stages: Longs) -> Longs:
    """[N]: actions of the same player's nodes of the same stage before each decision."""
    slots = np.full(tree.node_count, -1, np.int64)
    for stage in range(int(stages.max()) + 1):
        for player in Player:
            decisions = tree.kind == NodeKind.DECISION
            nodes = np.flatnonzero(decisions & (stages == stage) & (tree.player == player))
            counts = tree.child_count[nodes]
            slots[nodes] = np.cumsum(counts) - counts
    return slots


def slot_counts(tree: BettingTree, stages: Longs) -> Longs:
    """[stages, 2]: how many actions OOP and IP have in all."""
    counts = np.zeros((int(stages.max()) + 1, 2), np.int64)
    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION)
    np.add.at(counts, (stages[decisions], tree.player[decisions]), tree.child_count[decisions])
    return counts


def build_plans(
    tree: BettingTree, payoffs: Floats, own: Player, streets: tuple[tuple[Street, ...], ...]
) -> tuple[StagePlan, ...]:
    """The plans of one player, stage by stage."""
    numbers = stage_of_nodes(tree, streets)
    entries = _entries(tree, numbers)
    grown = [_Stage(len(nodes), len(nodes) + 1, len(nodes) + 1) for nodes in entries]
    line_of = {node: line for nodes in entries for line, node in enumerate(nodes)}
    # Lists: reading single numbers of arrays takes many times as long.
    stages, slots = numbers.tolist(), node_slots(tree, numbers).tolist()
    kinds, players, results = tree.kind.tolist(), tree.player.tolist(), payoffs[:, own].tolist()
    below, first, counts = (
        tree.children.tolist(),
        tree.first_child.tolist(),
        tree.child_count.tolist(),
    )
    reach_row, value_row = [0] * tree.node_count, [0] * tree.node_count
    for node in range(tree.node_count):
        stage = grown[stages[node]]
        if node in line_of:
            reach_row[node] = value_row[node] = line_of[node]
        reach, value = reach_row[node], value_row[node]
        children = below[first[node] : first[node] + counts[node]]
        kind = kinds[node]
        if kind == NodeKind.DECISION:
            here = len(children), slots[node]
            acts = players[node] == own
            if acts:
                stage.own.append((value, stage.value_rows, *here))
                stage.locked.append(node in tree.locks)
            else:
                stage.other.append((reach, stage.reach_rows, *here))
            for place, child in enumerate(children):
                reach_row[child] = reach if acts else stage.reach_rows + place
                value_row[child] = stage.value_rows + place if acts else value
            if acts:
                stage.value_rows += len(children)
            else:
                stage.reach_rows += len(children)
        elif kind == NodeKind.CHANCE:
            if children[0] in line_of:
                stage.exits.append((reach, value))
            else:
                for child in children:
                    reach_row[child], value_row[child] = reach, value
        elif kind == NodeKind.FOLD:
            stage.folds.append((reach, value, results[node][Outcome.WIN]))
        else:
            win, _, loss = results[node]
            stage.shows.append((reach, value, (win - loss) / 2))
            if win + loss:  # half the rake, whichever player wins
                stage.folds.append((reach, value, (win + loss) / 2))
    lines = [*(stage.lines for stage in grown[1:]), 0]
    return tuple(_plan(stage, below) for stage, below in zip(grown, lines, strict=True))


def _entries(tree: BettingTree, stages: Longs) -> list[list[int]]:
    """The first nodes of every stage, in pre-order: the root, and what follows on other stages."""
    begins = np.ones(tree.node_count, np.bool_)
    begins[1:] = stages[1:] != stages[tree.parent[1:]]
    return [
        np.flatnonzero(begins & (stages == stage)).tolist()
        for stage in range(int(stages.max()) + 1)
    ]


def _plan(stage: _Stage, lines_below: int) -> StagePlan:
    other, own = _columns(stage.other, 4), _columns(stage.own[::-1], 4)
    spare = stage.lines
    folds = _filled(stage.folds, (spare, spare, 0.0), 16)
    shows = _filled(stage.shows, (spare, spare, 0.0), TILE_ROWS)
    exits = [(*rows, line) for line, rows in enumerate(stage.exits)]
    exits = _filled(exits, (spare, spare, lines_below), TILE_ROWS)
    return StagePlan(
        lines=stage.lines,
        reach_rows=stage.reach_rows,
        value_rows=stage.value_rows,
        other_reach=other[0],
        other_child=other[1],
        other_actions=other[2],
        other_slot=other[3],
        own_value=own[0],
        own_child=own[1],
        own_actions=own[2],
        own_slot=own[3],
        own_locked=np.array(stage.locked[::-1], np.int64),
        fold_reach=_longs(folds, 0),
        fold_value=_longs(folds, 1),
        fold_factor=np.array([fold[2] for fold in folds], np.float32),
        show_reach=_longs(shows, 0),
        show_value=_longs(shows, 1),
        show_factor=np.array([show[2] for show in shows], np.float32),
        exit_reach=_longs(exits, 0),
        exit_value=_longs(exits, 1),
        exit_line=_longs(exits, 2),
        lanes=np.arange(16),
        ones=np.ones(len(exits), np.float32),
    )


def _columns(rows: list[tuple[int, int, int, int]], width: int) -> Longs:
    table = np.array(rows, np.int64).reshape(-1, width)
    return np.ascontiguousarray(table.T)


def _filled(rows: list[Any], spare: tuple[Any, ...], group: int) -> list[Any]:
    """The list filled up to whole groups."""
    return rows + [spare] * (-len(rows) % group)


def _longs(rows: list[Any], column: int) -> Longs:
    return np.array([row[column] for row in rows], np.int64)


def listed(flags: Flags) -> Longs:
    """The hands that are marked [H]; all of them, with the padding, where none is left out."""
    return np.arange(padded(len(flags))) if flags.all() else np.flatnonzero(flags)


def stage_hands(own: Longs, other: Longs, lengths: Sequence[int]) -> tuple[StageHands, ...]:
    """The hands of a pass: these in the first stage, all in the later ones."""
    every = [np.arange(length) for length in lengths[1:]]
    stages = [(own, other), *zip(every, every, strict=True)]
    return tuple(_stage(*pair, length) for pair, length in zip(stages, lengths, strict=True))


def _stage(own: Longs, other: Longs, length: int) -> StageHands:
    present = np.zeros(length, np.int64)
    present[own] = 1
    by_block = present.reshape(-1, LANES)
    counts = by_block.sum(axis=1)
    return StageHands(
        own=own,
        own_length=padded(len(own)),
        own_bits=by_block @ (1 << np.arange(LANES)),
        own_place=np.cumsum(counts) - counts,
        other=other,
        other_length=padded(len(other)),
    )


def stored_places(slots: Longs, actions: Longs, count: int) -> Longs:
    """[S, count]: the offsets of every action of every hand in the row of a flop.

    `slots` [N] are the actions of earlier nodes, `actions` [N] those of each; S is their sum.
    """
    starts, widths = np.repeat(slots, actions), np.repeat(actions, actions)
    number = np.concatenate([np.arange(0), *(np.arange(count) for count in actions.tolist())])
    hands = np.arange(count)
    block, lane = hands // LANES, hands % LANES
    by_node = (starts * padded(count))[:, None] + block * (LANES * widths)[:, None]
    places: Longs = by_node + (LANES * number)[:, None] + lane
    return places


def sources(slots: Longs, actions: Longs, before: Longs, after: Longs) -> Longs:
    """The old index of each number in the new row of a flop; −1: none.

    The stored hands were `before` and are `after`.
    """
    source = np.full(int(actions.sum()) * padded(len(after)), -1, np.int64)
    _, old, new = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    to = stored_places(slots, actions, len(after))[:, new]
    source[to] = stored_places(slots, actions, len(before))[:, old]
    return source


def blocks_of_hands(hands: Flags) -> Bytes:
    """[…, H / 16]: the blocks that hold any of these hands [… , H]."""
    padding = [(0, 0)] * (hands.ndim - 1) + [(0, -hands.shape[-1] % LANES)]
    by_block = np.pad(hands, padding).reshape(*hands.shape[:-1], -1, LANES)
    return np.asarray(by_block.any(axis=-1), np.uint8)


class _Lists:
    """Lists of one type, one after the other."""

    def __init__(self, dtype: Any) -> None:
        self.parts: list[NDArray[Any]] = [np.zeros(0, dtype)]
        self.length = 0

    def place(self, array: NDArray[Any]) -> tuple[int, int]:
        """Append an array and return its place."""
        start = self.length
        self.parts.append(array)
        self.length += len(array)
        return start, self.length

    def joined(self) -> NDArray[Any]:
        """All of them."""
        return np.concatenate(self.parts)


def pot_tables(
    pots: Sequence[tuple[tuple[StagePlan, ...], tuple[StageHands, ...], tuple[StageStore, ...]]],
) -> PotTables:
    """Each pot's stages as the kernels read them; good as long as the same hands are stored.

    The tables contain addresses: keep the stores alive with them.
    """
    longs, floats = _Lists(np.int64), _Lists(np.float32)

    def places(record: Iterable[Any]) -> list[tuple[int, int]]:
        offsets = []
        for part in record:
            if not isinstance(part, np.ndarray):
                offsets.append((int(part), 0))
            else:
                offsets.append((longs if part.dtype == np.int64 else floats).place(part))
        return offsets

    def table(records: list[list[list[tuple[int, int]]]], fields: int) -> Longs:
        return np.array(records, np.int64).reshape(len(pots), MOST_STAGES, fields, 2)

    return PotTables(
        stages=np.array([len(plans) for plans, _, _ in pots], np.int64),
        plans=table(
            [[places(plan) for plan in filled(plans)] for plans, _, _ in pots],
            len(StagePlan._fields),
        ),
        hands=table(
            [[places(each) for each in filled(hands)] for _, hands, _ in pots],
            len(StageHands._fields),
        ),
        stores=table(
            [
                [[_address(array) for array in store] for store in filled(stores)]
                for _, _, stores in pots
            ],
            len(StageStore._fields),
        ),
        longs=longs.joined(),
        floats=floats.joined(),
    )


def _address(array: Singles) -> tuple[int, int]:
    assert array.flags.c_contiguous
    assert array.dtype == np.float32
    return array.ctypes.data, array.shape[1]


@lru_cache(maxsize=32)
def cut_pieces(flops: int, pots: int, threads: int) -> Longs:
    """[…, 4]: (first flop, last, first pot, last) of each piece, the largest first.

    A flop's pots go together, so that its matrices are read once. Near the end every pot is a
    separate piece; pots are numbered from the largest to the smallest.
    """
    apart = min(flops, SPLIT_FLOPS * threads) if threads > 1 else 0
    whole = np.arange(flops - apart)
    together = np.stack([whole, whole + 1, 0 * whole, 0 * whole + pots], axis=1)
    pot, flop = np.divmod(np.arange(pots * apart), max(apart, 1))
    flop += flops - apart
    alone = np.stack([flop, flop + 1, pot, pot + 1], axis=1)
    return np.concatenate([together, alone]).astype(np.int64)

"""From a betting tree to the plans of a matrix game: which row holds what, in which order."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Outcome, Player, Street
from allstreets.engines.card_model import stage_of_nodes
from allstreets.engines.matrix.kernels.layout import StagePlan
from allstreets.engines.simd.matrix_product import TILE_ROWS


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
    tree: BettingTree,
    payoffs: Floats,
    own: Player,
    streets: tuple[tuple[Street, ...], ...],
) -> tuple[StagePlan, ...]:
    """The plans of one player, stage by stage."""
    numbers = stage_of_nodes(tree, streets)
    entries = _entries(tree, numbers)
    grown = [_Stage(len(nodes), len(nodes) + 1, len(nodes) + 1) for nodes in entries]
    line_of = {node: line for nodes in entries for line, node in enumerate(nodes)}
    # Lists: to look at single numbers of arrays takes many times as long.
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

"""A decision as rows of figures, for CSV and JSON. Names of amounts end with the unit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from allstreets.betting import Player
from allstreets.cards import HAND_NAMES, cards_text, combo_text

if TYPE_CHECKING:
    from allstreets.solutions.decision import Decision

Row = dict[str, Any]


def action_rows(node: "Decision") -> list[Row]:
    """One row per action: its frequency, its EV for the hands that take it and for the whole range.

    `ev` is the mean over the hands that take it, where enough do; `known`: whether EVs of the
    action were learned at all.
    """
    taken, evs, whole = node.taken, node.taken_evs(), node.range_evs()
    unit = node.unit.column
    rows = []
    for index, (word, label) in enumerate(zip(node.actions, node.labels, strict=True)):
        row: Row = {"action": word, "label": label, "frequency": float(taken[index])}
        if node.by_combo:
            row["combos"] = float(node.reach @ node.strategy[index])
        row[f"ev{unit}"], row[f"ev_range{unit}"] = float(evs[index]), float(whole[index])
        rows.append({**row, "known": bool(node.known_actions[index])})
    return rows


def player_rows(node: "Decision") -> list[Row]:
    """One row per player: combos and EV of his range; for hands by combo, equity and EQR too."""
    rows = []
    for player in Player:
        row: Row = {"player": node.unit.seats[player], "combos": node.hands[player].size}
        ev = node.ev(player)
        if node.by_combo:
            equity = node.mean(node.equity(player), player)
            (eqr,) = node.eqr(player, np.array([ev]), np.array([equity])).tolist()
            row |= {"equity": equity, f"ev{node.unit.column}": ev, "eqr": eqr}
        else:
            row[f"ev{node.unit.column}"] = ev
        rows.append(row)
    return rows


def hand_rows(node: "Decision") -> list[Row]:
    """One row per hand of the player who acts, of those that fit beside the board."""
    own, unit, evs = node.own, node.unit.column, node.evs()
    facts: dict[str, list[Any]] = {"hand": [HAND_NAMES[hand] for hand in own.classes.tolist()]}
    if own.combos is None:
        facts |= {"combos": np.rint(own.counts).astype(int).tolist(), "reach": own.reach.tolist()}
        facts[f"ev{unit}"] = evs.tolist()
    else:
        equity = node.equity()
        facts["combo"] = [combo_text(combo) for combo in own.combos.tolist()]
        if len(node.locked):
            facts["locked"] = node.locked.tolist()
        if node.alike is not None:
            facts["bucket"] = node.alike[node.player].tolist()
        facts |= {
            "reach": own.reach.tolist(),
            "equity": equity.tolist(),
            f"ev{unit}": evs.tolist(),
            "eqr": node.eqr(node.player, evs, equity).tolist(),
        }
    for word, chances, values in zip(node.actions, node.strategy, node.action_evs, strict=True):
        facts |= {word: chances.tolist(), f"ev{unit}_{word}": values.tolist()}
    columns = zip(*facts.values(), strict=True)
    rows = [dict(zip(facts, cells, strict=True)) for cells in columns]
    return [row for row, count in zip(rows, own.counts.tolist(), strict=True) if count]


def reached_rows(node: "Decision") -> list[Row]:
    """The rows of classes, or of the combos that get here in the order AA, KK, …, AKs, …, AKo, …"""
    rows = hand_rows(node)
    if not node.by_combo:
        return rows
    order = np.lexsort((node.combos, node.own.classes)).tolist()
    return [rows[index] for index in order if rows[index]["reach"] > 0]


def node_report(node: "Decision") -> Row:
    """Everything about a decision as JSON data; a number that does not exist is None."""
    unit, seats = node.unit.column, node.unit.seats
    head: Row = {
        "line": node.line,
        "board" if node.by_combo else "flop": cards_text(node.board) or None,
        "street": node.street.text,
        "player": node.seat,
        f"pot{unit}": node.pot,
        f"stacks{unit}": dict(zip(seats, node.stacks, strict=True)),
        f"to_call{unit}": node.to_call,
        "share": node.share,
        "reached": node.reached,
        "evs": node.counted,
    }
    if node.by_combo:
        held = float(node.reach[node.locked].sum()) if len(node.locked) else 0.0
        head |= {"behind": " ".join(node.notes) or None, "locked_combos": held}
    return {
        **head,
        "players": [without_nan(row) for row in player_rows(node)],
        "actions": [without_nan(row) for row in action_rows(node)],
        "combos" if node.by_combo else "hands": [without_nan(row) for row in reached_rows(node)],
    }


def without_nan(row: Row) -> Row:
    """A row with None instead of numbers that do not exist."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in row.items()
    }

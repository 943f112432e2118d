"""A node of a solution in figures: what the command prints and a program reads."""

import math
from typing import Any, Protocol

from allstreets.betting import Player
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO, cards_text
from allstreets.solvers.class_node import without_nan
from allstreets.solvers.spot.result import NodeResult


class HasActions(Protocol):
    """Anything at which a player chooses."""

    @property
    def actions(self) -> tuple[str, ...]:
        """As in a line: "x", "b33", "r120", "a"."""


def action_symbols(node: HasActions) -> tuple[str, ...]:
    """One letter for each action: f, x, c, b or r, a; several sizes become 1, 2, 3 by size.

    A letter is what is left of an action where there is neither room nor colour.
    """
    sized = [action for action in node.actions if action[0] in "br"]
    if len(sized) <= 1:
        return tuple(action[0] for action in node.actions)
    return tuple(
        str(1 + sized.index(action)) if action in sized else action[0] for action in node.actions
    )


def action_rows(node: NodeResult) -> list[dict[str, Any]]:
    """One row an action: how often it is taken, its EV for those hands and for the whole range.

    `ev` is the mean over the hands that take it, where enough do; `known` tells whether EVs of the
    action were learned at all.
    """
    taken, evs, whole = node.frequencies(), node.taken_evs(), node.range_evs()
    return [
        {
            "action": word,
            "label": label,
            "frequency": float(taken[place]),
            "combos": float(node.reach @ node.strategy[place]),
            "ev": float(evs[place]),
            "ev_range": float(whole[place]),
            "known": bool(node.known_actions[place]),
        }
        for place, (word, label) in enumerate(zip(node.actions, node.labels, strict=True))
    ]


def player_rows(node: NodeResult) -> list[dict[str, Any]]:
    """One row a player: combos, equity, EV and EQR of his range."""
    rows = []
    for player in Player:
        equity = node.total(node.equity(player), player)
        ev = node.total(node.evs(player), player)
        rows.append(
            {
                "player": player.name,
                "combos": float(node.numbers.reach[player].sum()),
                "equity": equity,
                "ev": ev,
                "eqr": ev / (equity * node.pot) if equity > 0 else math.nan,
            }
        )
    return rows


def combo_rows(node: NodeResult) -> list[dict[str, Any]]:
    """One row a combo that gets here, hands in the order AA, KK, …, AKs, …, AKo, …"""
    hands = HAND_OF_COMBO[node.combos]
    rows = [
        {"hand": HAND_NAMES[hand], **row}
        for hand, row in zip(hands.tolist(), node.table(), strict=True)
    ]
    order = sorted(range(len(rows)), key=lambda place: (hands[place], node.combos[place]))
    return [rows[place] for place in order if rows[place]["reach"] > 0]


def node_report(node: NodeResult) -> dict[str, Any]:
    """Everything about a node as JSON data; a number that does not exist is None."""
    report: dict[str, Any] = {
        "line": node.line,
        "board": cards_text(node.board),
        "pot": node.pot,
        "player": node.player.name,
        "to_call": node.to_call,
        "reached": node.reached,
        "behind": node.behind or None,
        "locked_combos": float(node.reach[node.locked].sum()),
        "actions": action_rows(node),
        "players": player_rows(node),
        "combos": combo_rows(node),
    }
    for key in ("actions", "players", "combos"):
        report[key] = [without_nan(row) for row in report[key]]
    return report

"""A solved spot and its decisions in a few plain lines: what `print` shows."""

from typing import TYPE_CHECKING

import numpy as np

from allstreets.betting import Player
from allstreets.cards import cards_text
from allstreets.solvers.words import mix_lines, number_text, percent_text

if TYPE_CHECKING:
    from allstreets.solvers.spot.result import NodeResult, SpotResult
    from allstreets.solvers.spot.spot import Spot

SEATS = tuple(player.name for player in Player)


def node_text(node: "NodeResult") -> str:
    """A decision: where, who, both ranges, and what is done how often."""
    where = node.line.strip() or "first decision"
    call = f", {node.to_call} to call" if node.to_call else ""
    ranges = "; ".join(
        f"{player.name} {node.numbers.reach[player].sum():.1f} combos, "
        f"EV {number_text(node.total(node.evs(player), player))}"
        for player in Player
    )
    evs = node.taken_evs(), node.range_evs()
    lines = [
        f"{where} on {cards_text(node.board)}: {node.player.name} to act, "
        f"pot {node.pot} chips{call}",
        f"{ranges} (chips from here on)",
        *node_notes(node),
        *mix_lines(node.labels, node.frequencies(), evs, node.line_reach.action_notes()),
    ]
    return "\n".join(lines)


def node_notes(node: "NodeResult") -> list[str]:
    """What one must know to read the numbers of a decision."""
    notes = (node.behind, locked_text(node), node.line_reach.why_not(SEATS))
    return [note for note in notes if note]


def locked_text(node: "NodeResult") -> str:
    """Whose strategy at a decision was given; "" where nobody's was."""
    if not node.locked.any():
        return ""
    seat = node.player.name
    if node.locked.all():
        return f"locked: what {seat} does here was given for all hands, not found"
    held, all_held = float(node.reach[node.locked].sum()), float(node.reach.sum())
    return f"locked: what {seat} does here was given for {held:.1f} of {all_held:.1f} combos"


def locks_text(spot: "Spot") -> str:
    """Where a spot has locks; "" where it has none."""
    if not spot.lock:
        return ""
    lines = dict.fromkeys(lock.line.strip() for lock in spot.lock)
    places = ", ".join(f"'{line}'" if line else "the first decision" for line in lines)
    return f"strategies are locked at {places}"


def result_line(result: "SpotResult") -> str:
    """Which spot, and how well it is solved."""
    spot = result.spot
    known = np.isfinite(result.exploitability)
    error = percent_text(result.exploitability, 3) if known else "an unknown part"
    locks = f", {len(spot.lock)} lock{'s' * (len(spot.lock) > 1)}" if spot.lock else ""
    return (
        f"{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}{locks}: exploitable for "
        f"{error} of the pot after {result.iterations:,} iterations"
    )


def result_text(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    oop, ip = result.evs
    lines = [
        result_line(result),
        f"EV OOP {number_text(oop)}, IP {number_text(ip)} chips",
        *([locks_text(result.spot)] if result.spot.lock else []),
    ]
    if result.spot.tree.child_count[0]:
        lines += ["", node_text(result.node(""))]
    else:
        lines.append("all-in already: there is no decision")
    return "\n".join(lines)

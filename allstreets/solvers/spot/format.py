"""A solved spot in a few plain lines, or as HTML for notebooks."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from allstreets.cards import cards_text
from allstreets.games import Lock
from allstreets.solvers.format import number_text, percent_text

if TYPE_CHECKING:
    from allstreets.solvers.spot.result import SpotResult

SHOWN_PLACES = 4  # of a lock on every card there are dozens
NO_DECISION = "all-in already: there is no decision"


def locks_text(locks: Sequence[Lock]) -> str:
    """Where a solution has locks; "" where it has none."""
    if not locks:
        return ""
    lines = dict.fromkeys(lock.line.strip() for lock in locks)
    places = [f"'{line}'" if line else "the first decision" for line in lines]
    more = len(places) - SHOWN_PLACES
    rest = f" and {more} more places" if more > 0 else ""
    return f"strategies are locked at {', '.join(places[:SHOWN_PLACES])}{rest}"


def result_line(result: "SpotResult") -> str:
    """Which spot, and how well it is solved."""
    spot = result.spot
    known = np.isfinite(result.exploitability)
    error = percent_text(result.exploitability, 3) if known else "an unknown part"
    locks = f", {len(spot.lock)} lock{'s' * (len(spot.lock) > 1)}" if spot.lock else ""
    made = result.simplified
    simple = "" if made is None else f", {made.head}"
    return (
        f"{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}{locks}{simple}: "
        f"exploitable for {error} of the pot after {result.iterations:,} iterations"
    )


def result_text(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    oop, ip = result.evs
    lines = [
        result_line(result),
        f"EV OOP {number_text(oop)}, IP {number_text(ip)} chips",
        *([locks_text(result.spot.lock)] if result.spot.lock else []),
        *([] if result.simplified is None else result.simplified.lines()),
    ]
    if result.spot.tree.child_count[0]:
        lines += ["", str(result.node(""))]
    else:
        lines.append(NO_DECISION)
    return "\n".join(lines)


def result_html(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    evs = result.evs
    head = (
        f"<div>exploitability {100 * result.exploitability:.3f} % of pot after "
        f"{result.iterations:,} iterations · EV OOP {evs[0]:.2f}, IP {evs[1]:.2f} chips</div>"
    )
    if result.spot.lock:
        head += f"<div>{html.escape(locks_text(result.spot.lock))}</div>"
    if result.simplified is not None:
        head += f"<div>{html.escape(result.simplified.text)}</div>"
    if not result.spot.tree.child_count[0]:
        return f"{head}<div>{NO_DECISION}</div>"
    return head + result.node("")._repr_html_()

"""When a decision that was missed comes back: boxes, as with flash cards.

A missed decision goes into the first box and comes back after `HANDS` other hands. Whoever plays it
right then moves it on by a box, and it comes back after 1, 3, 7 and 21 days; behind the last box
it is learned. Missed again, it starts anew.
"""

from dataclasses import dataclass

HANDS = 8
DAYS = (1, 3, 7, 21)
DAY = 86_400.0  # seconds


@dataclass(frozen=True)
class Due:
    """When a decision comes back."""

    box: int
    at: float  # seconds since 1970: not before
    hands: int  # and not before so many hands have been played in all


def after_miss(now: float, hands: int) -> Due:
    """The first box; `hands` have been played so far."""
    return Due(0, now, hands + HANDS)


def after_success(due: Due, now: float) -> Due | None:
    """The next box; None: learned."""
    if due.box >= len(DAYS):
        return None
    return Due(due.box + 1, now + DAYS[due.box] * DAY, 0)

"""The places of a solution as the page shows them: cached records, and notes."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from allstreets.solutions import Decision

CACHED = 96  # places

RARE = "play hardly ever gets here: the numbers are rough"
FLOP_EQUITY = "turn and river are averaged over: equity is that of the flop"
NO_EQUITY = "hands of a bucket play alike: their equity is not known here"
BUCKET_EVS = (
    "EVs of actions do not quite add up to the EV of the range: buckets meet without regard to the "
    "cards they hold, while frequencies are counted over real pairs of hands; and a hand lies in "
    "several buckets: the EV of its action is that of taking it in all of them"
)
BEHIND = (
    "allstreets report FOLDER --line … --behind solves what would follow by itself, as if the "
    "whole range came here"
)

Where = TypeVar("Where", bound=Hashable)


def cached_scenes(find: Callable[[Where], Decision]) -> Callable[[Where], Decision]:
    """`find` with a cache of places.

    Their numbers are computed at once, so that their sources need not stay in memory.
    """

    @lru_cache(CACHED)
    def scene(where: Where) -> Decision:
        record = find(where)
        evs, equities, pairs = record.learned, record.equities, record.deal()
        return replace(record, evaluate=lambda: evs, equate=lambda: equities, deal=lambda: pairs)

    return scene

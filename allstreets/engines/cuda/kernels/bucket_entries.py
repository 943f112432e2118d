"""Lists of places that are summed: combos of a group on the turn, groups of a hand on the rivers.

Every list is filled up to fours with a place that holds zeros, and bounds count fours, so that they
are read four at a time.
"""

from allstreets.base import Ints, Longs, kernel
from allstreets.engines.exact.kernels.layout import Shorts

FOUR = 4


@kernel
def list_dealt(
    children: Longs,
    hand_start: Longs,
    combo_start: Longs,
    first: Shorts,
    parent: Shorts,
    groups: int,
    start: Ints,
    bounds: Shorts,
    places: Shorts,
) -> None:
    """Fill `places` with the hands on the turn of the combos of each group of the river boards.

    `children` [T+1] are the river boards of each turn, whose hands begin at `hand_start` [T+1];
    `combo_start`, `first` and `parent` are those of `BucketCombos`. The fours of board b begin at
    start[b], those of its groups from there at bounds[b, group]. The place behind the last hand
    holds zeros. `places` has room for three more than its combos in each group.
    """
    end = 0
    for turn in range(len(children) - 1):
        spare = hand_start[turn + 1] - hand_start[turn]
        for board in range(children[turn], children[turn + 1]):
            start[board] = end
            for group in range(groups):
                at = board * (groups + 1) + group
                bounds[at] = end - start[board]
                count = first[at + 1] - first[at]
                combo = combo_start[board] + first[at]
                for place in range((count + 3) // FOUR * FOUR):
                    found = parent[combo + place] if place < count else spare
                    places[FOUR * end + place] = found
                end += (count + 3) // FOUR
            bounds[board * (groups + 1) + groups] = end - start[board]
    start[children[-1]] = end


@kernel
def list_entries(
    children: Longs,
    hand_start: Longs,
    combo_start: Longs,
    first: Shorts,
    parent: Shorts,
    groups: int,
    part: int,
    parts: int,
    start: Ints,
    used: Ints,
    entries: Shorts,
) -> None:
    """Fill `entries` with the combos of all river boards, by hand of the turn and part.

    The river boards `children` [T+1] of a turn are taken in `parts` of `part` boards; the rest is
    as in `list_dealt`. An entry is groups · board of the part + group; that behind the last one of
    a part holds zeros, and `entries` come in as it. The fours of a hand h in part p begin at
    start[h · parts + p]; within them boards and groups rise. `start` has one number more than that;
    it and `used` come in as zeros.
    """
    for counting in range(2):  # how many there are, and then where they stand
        for turn in range(len(children) - 1):
            for board in range(children[turn], children[turn + 1]):
                local = board - children[turn]
                for group in range(groups):
                    place = board * (groups + 1) + group
                    for combo in range(
                        combo_start[board] + first[place], combo_start[board] + first[place + 1]
                    ):
                        key = (hand_start[turn] + parent[combo]) * parts + local // part
                        if counting == 0:
                            start[key + 1] += 1
                        else:
                            entry = groups * (local % part) + group
                            entries[FOUR * start[key] + used[key]] = entry
                            used[key] += 1
        if counting == 0:
            for key in range(len(start) - 1):
                start[key + 1] = start[key] + (start[key + 1] + 3) // FOUR

"""Folds and showdowns, sixteen at a time, card removal exact.

One tile holds the other player's reach at sixteen places as [hand][place], the same for each of a
hand's combos. With P(k) the reach of his k weakest combos, and P_c(k) that of those among them that
hold card c, a hand with cards a and b that beats the first `below` of them and does not lose to the
first `upto` has

    won − lost = S(below) + S(upto) − S(all),    S(k) = P(k) − P_a(k) − P_b(k)

(the combo itself, held by him, ties and drops out), and it meets the reach F = S(all) + that of its
twin, the one combo that holds both a and b and was taken off twice. A showdown is worth
stake · (won − lost) + rake · F, a fold a fixed amount times F.
"""

from typing import Any, NamedTuple

import numpy as np

from allstreets.base import Bytes, Longs, Singles, inner_kernel, kernel
from allstreets.engines.exact.kernels.layout import (
    Boards,
    Forest,
    Shorts,
    Storage,
    Workspace,
)
from allstreets.engines.simd.vectors import (
    fma,
    load,
    pick,
    prefetch,
    splat,
    store,
    transpose_from,
    transpose_to,
)

CARDS = 53  # the last one is held by padding
ZERO = np.float32(0.0)
ONE = np.float32(1.0)


class Ahead(NamedTuple):
    """Numbers that the backward pass will need, prefetched while the tiles leave memory idle."""

    place: int  # of the next stored numbers
    regrets: int  # 16: one vector further per hand; 0: nothing is needed
    average: int


class Regions(NamedTuple):
    """The offsets of regions in a thread's tile buffer, in elements; a row is sixteen elements."""

    reach: int  # his hands, and a row of zeros
    folds: int  # the same
    net: int  # own hands
    sums: int  # cards
    fold_sums: int  # cards
    out: int  # 2 × 16 rows, to be turned


TILE_ROWS = 144
"""Rows that a tile buffer needs beyond three times the longest list of hands."""


@inner_kernel
def lay_out(own: int, other: int) -> Regions:
    """Regions for hand lists of these lengths."""
    folds = 16 * (other + 1)
    net = folds + folds
    sums = net + 16 * own
    fold_sums = sums + 16 * CARDS
    return Regions(0, folds, net, sums, fold_sums, fold_sums + 16 * CARDS)


class Source(NamedTuple):
    """The reach rows that are turned into the columns of a tile."""

    reach: Singles
    row: Longs  # of each lane
    lane: int  # the first of sixteen


@inner_kernel
def clear_sums(rows: Singles, sums: int) -> Any:
    """Zero the sums of all cards; returns a zero for the sum of all combos."""
    zero = splat(ZERO)
    for card in range(CARDS):
        store(rows, sums + 16 * card, zero)
    return zero


@inner_kernel
def add_combo(boards: Boards, combo: int, rows: Singles, at: int, sums: int) -> Any:
    """Add the reach of his hand at `at` that holds a combo to the sums of its cards; returned."""
    reach = load(rows, at + 16 * pick(boards.combo_hand, combo))
    a = sums + 16 * pick(boards.combo_cards, 2 * combo)
    store(rows, a, load(rows, a) + reach)
    b = sums + 16 * pick(boards.combo_cards, 2 * combo + 1)
    store(rows, b, load(rows, b) + reach)
    return reach


@inner_kernel
def without_cards(boards: Boards, hand: int, rows: Singles, sums: int, total: Any) -> Any:
    """S of an own hand: a sum over combos less those that hold one of its cards."""
    rest = total - load(rows, sums + 16 * pick(boards.own_cards, 2 * hand))
    return rest - load(rows, sums + 16 * pick(boards.own_cards, 2 * hand + 1))


@inner_kernel
def sum_by_card(
    boards: Boards, board: int, rows: Singles, at: int, sums: int, other: int, source: Source
) -> Any:
    """Bring his reach to `at`; its total, returned, and that of the combos with each card."""
    total = clear_sums(rows, sums)
    combo, last = boards.combo_start[board], boards.combo_start[board + 1]
    for block in range(0, other, 16):
        to = at + 16 * block
        transpose_from(source.reach, source.row, source.lane, other, block, rows, to, 16)
        while combo < last and pick(boards.combo_hand, combo) < block + 16:
            total = total + add_combo(boards, combo, rows, at, sums)
            combo += 1
    return total


@inner_kernel
def net_wins(
    boards: Boards,
    board: int,
    rows: Singles,
    regions: Regions,
    own: int,
    other: int,
    source: Source,
    storage: Storage,
    ahead: Ahead,
) -> Any:
    """S(below) + S(upto) of every own hand into the region `net`; the total reach is returned.

    Sums grow by the other's combos from the weakest up, those of each card in the region `sums`. An
    own hand reads them twice: after all combos that it beats, and after all that it ties with.
    """
    net, sums = regions.net, regions.sums
    first, mine = boards.combo_start[board], boards.own_start[board]
    count = boards.combo_start[board + 1] - first
    total = clear_sums(rows, sums)
    begun = done = combo = brought = 0
    while True:
        while begun < own and pick(boards.below, mine + begun) <= combo:
            rest = without_cards(boards, mine + begun, rows, sums, total)
            store(rows, net + 16 * begun, rest)
            begun += 1
        while done < own and pick(boards.upto, mine + done) <= combo:
            rest = without_cards(boards, mine + done, rows, sums, total)
            store(rows, net + 16 * done, load(rows, net + 16 * done) + rest)
            done += 1
        if combo == count:
            return total
        until = count
        if done < own:
            until = pick(boards.upto, mine + done)
        if begun < own:
            until = min(until, pick(boards.below, mine + begun))
        needed = pick(boards.combo_hand, first + until - 1)
        while brought <= needed:
            to = regions.reach + 16 * brought
            transpose_from(source.reach, source.row, source.lane, other, brought, rows, to, 16)
            brought += 16
        while combo < until:
            prefetch(storage.own_regrets, ahead.place + ahead.regrets * combo)
            prefetch(storage.own_average, ahead.place + ahead.average * combo)
            total = total + add_combo(boards, first + combo, rows, regions.reach, sums)
            combo += 1


@inner_kernel
def all_in(
    boards: Boards,
    board: int,
    rows: Singles,
    regions: Regions,
    own: int,
    other: int,
    stakes: Singles,
    lane: int,
) -> None:
    """net[own hand] = Σ over his hands of equity · reach, zero where the tile has no all-in."""
    zero = splat(ZERO)
    played_for = ZERO
    for terminal in range(lane, lane + 16):
        played_for += stakes[terminal]
    if played_for == ZERO:
        for hand in range(own):
            store(rows, regions.net + 16 * hand, zero)
        return
    for hand in range(0, own, 4):  # four sums at once keep the multipliers busy
        first = second = third = fourth = zero
        row = boards.equity_start[board] + hand * other
        for against in range(other):
            reach = load(rows, regions.reach + 16 * against)
            first = fma(splat(boards.equity[row + against]), reach, first)
            second = fma(splat(boards.equity[row + other + against]), reach, second)
            third = fma(splat(boards.equity[row + 2 * other + against]), reach, third)
            fourth = fma(splat(boards.equity[row + 3 * other + against]), reach, fourth)
        offset = regions.net + 16 * hand
        store(rows, offset, first)
        store(rows, offset + 16, second)
        store(rows, offset + 32, third)
        store(rows, offset + 48, fourth)


@inner_kernel
def showdowns(
    boards: Boards,
    board: int,
    rows: Singles,
    regions: Regions,
    own: int,
    other: int,
    source: Source,
    storage: Storage,
    ahead: Ahead,
    stakes: Singles,
    river: bool,
) -> Any:
    """won − lost of every own hand into `net`, on the river still plus S(all); the total reach.

    Either way the reach of the hands that hold each card stands in `sums` afterwards.
    """
    store(rows, regions.reach + 16 * other, splat(ZERO))  # the twin that he does not hold
    if river:
        return net_wins(boards, board, rows, regions, own, other, source, storage, ahead)
    total = sum_by_card(boards, board, rows, regions.reach, regions.sums, other, source)
    all_in(boards, board, rows, regions, own, other, stakes, source.lane)
    return total


@inner_kernel
def own_tile(
    forest: Forest,
    boards: Boards,
    board: int,
    tile: int,
    space: Workspace,
    own: int,
    other: int,
    storage: Storage,
    ahead: Ahead,
    river: bool,
) -> None:
    """A tile of own nodes: value of the fold, and of the call or check to a showdown."""
    rows, regions, lane = space.tile, lay_out(own, other), 16 * tile
    stakes = forest.terminal_stake
    source = Source(space.reach, forest.shown_reach, lane)
    total = showdowns(
        boards, board, rows, regions, own, other, source, storage, ahead, stakes, river
    )
    mine = boards.own_start[board]
    stake, rake = load(stakes, lane), load(forest.terminal_rake, lane)
    loss = load(forest.terminal_loss, lane)
    excess = splat(ONE if river else ZERO)  # of S(all) in `net`
    for block in range(0, own, 16):
        for k in range(16):
            hand = mine + block + k
            every = without_cards(boards, hand, rows, regions.sums, total)
            met = every + load(rows, regions.reach + 16 * pick(boards.own_twin, hand))
            net = load(rows, regions.net + 16 * (block + k)) - excess * every
            store(rows, regions.out + 16 * k, fma(stake, net, rake * met))
            store(rows, regions.out + 256 + 16 * k, loss * met)
        transpose_to(rows, regions.out, space.values, forest.terminal_value, lane, own, block)
        transpose_to(rows, regions.out + 256, space.values, forest.own_fold_value, lane, own, block)


@inner_kernel
def other_tile(
    forest: Forest,
    boards: Boards,
    board: int,
    tile: int,
    space: Workspace,
    own: int,
    other: int,
    storage: Storage,
    ahead: Ahead,
    river: bool,
) -> None:
    """A tile of the other's nodes: value of his fold and of his call or check together."""
    rows, regions, lane = space.tile, lay_out(own, other), 16 * tile
    stakes = forest.terminal_stake
    source = Source(space.reach, forest.shown_reach, lane)
    total = showdowns(
        boards, board, rows, regions, own, other, source, storage, ahead, stakes, river
    )
    stake, rake = load(stakes, lane), load(forest.terminal_rake, lane)
    gain = load(forest.terminal_gain, lane)
    store(rows, regions.folds + 16 * other, splat(ZERO))
    source = Source(space.reach, forest.folded_reach, lane)
    fold_total = sum_by_card(boards, board, rows, regions.folds, regions.fold_sums, other, source)
    # The value of each card's hands when they fold, and when they call, without won and lost.
    called = rake - stake if river else rake
    for card in range(CARDS):
        offset = regions.sums + 16 * card
        folded = gain * load(rows, regions.fold_sums + 16 * card)
        store(rows, offset, fma(called, load(rows, offset), folded))
    total = fma(called, total, gain * fold_total)
    mine = boards.own_start[board]
    for block in range(0, own, 16):
        for k in range(16):
            hand = mine + block + k
            rest = without_cards(boards, hand, rows, regions.sums, total)
            twin = 16 * pick(boards.own_twin, hand)  # taken off twice, whether it folds or calls
            rest = fma(gain, load(rows, regions.folds + twin), rest)
            rest = fma(rake, load(rows, regions.reach + twin), rest)
            net = load(rows, regions.net + 16 * (block + k))
            store(rows, regions.out + 16 * k, fma(stake, net, rest))
        transpose_to(rows, regions.out, space.values, forest.terminal_value, lane, own, block)


@inner_kernel
def mixed_tile(
    forest: Forest,
    boards: Boards,
    board: int,
    tile: int,
    space: Workspace,
    own: int,
    other: int,
    storage: Storage,
    ahead: Ahead,
    river: bool,
) -> None:
    """A tile of nodes of both players, for what is left of either kind."""
    rows, regions, lane = space.tile, lay_out(own, other), 16 * tile
    stakes = forest.terminal_stake
    source = Source(space.reach, forest.shown_reach, lane)
    total = showdowns(
        boards, board, rows, regions, own, other, source, storage, ahead, stakes, river
    )
    stake, rake = load(stakes, lane), load(forest.terminal_rake, lane)
    gain, loss = load(forest.terminal_gain, lane), load(forest.terminal_loss, lane)
    store(rows, regions.folds + 16 * other, splat(ZERO))
    source = Source(space.reach, forest.folded_reach, lane)
    fold_total = sum_by_card(boards, board, rows, regions.folds, regions.fold_sums, other, source)
    excess = splat(ONE if river else ZERO)
    mine = boards.own_start[board]
    for block in range(0, own, 16):
        for k in range(16):
            hand = mine + block + k
            twin = 16 * pick(boards.own_twin, hand)
            every = without_cards(boards, hand, rows, regions.sums, total)
            met = every + load(rows, regions.reach + twin)
            folded = without_cards(boards, hand, rows, regions.fold_sums, fold_total)
            folded = folded + load(rows, regions.folds + twin)
            net = load(rows, regions.net + 16 * (block + k)) - excess * every
            value = fma(stake, net, fma(rake, met, gain * folded))
            store(rows, regions.out + 16 * k, value)
            store(rows, regions.out + 256 + 16 * k, loss * met)
        transpose_to(rows, regions.out, space.values, forest.terminal_value, lane, own, block)
        transpose_to(rows, regions.out + 256, space.values, forest.own_fold_value, lane, own, block)


@kernel
def place_hands(
    own_strengths: Shorts,
    own_cards: Bytes,
    own_start: Longs,
    own_count: Longs,
    other_start: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_hand: Shorts,
    combo_start: Longs,
    below: Shorts,
    upto: Shorts,
    own_twin: Shorts,
) -> None:
    """Fill the tables of all boards; hands and combos stand in order of strength, weakest first."""
    twin = np.full(53 * 53, -1, np.int64)
    for board in range(len(own_count)):
        combos, mine = combo_start[board], own_start[board]
        last = combo_start[board + 1]
        beaten = tied = 0
        for hand in range(mine, mine + own_count[board]):
            strength = own_strengths[hand]
            while combos + beaten < last and combo_strengths[combos + beaten] < strength:
                beaten += 1
            while combos + tied < last and combo_strengths[combos + tied] <= strength:
                tied += 1
            below[hand], upto[hand] = beaten, tied
        for combo in range(combos, last):
            cards = 53 * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]
            twin[cards] = combo_hand[combo]
        own_twin[mine : own_start[board + 1]] = other_start[board + 1] - other_start[board]  # none
        for hand in range(mine, mine + own_count[board]):
            other_hand = twin[53 * np.int64(own_cards[2 * hand]) + own_cards[2 * hand + 1]]
            if other_hand >= 0:
                own_twin[hand] = other_hand
        for combo in range(combos, last):
            twin[53 * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]] = -1

"""The bucket model of a flop: hands that play alike form one bucket, street by street.

Situations (a combo beside a board) of similar equity form a *bucket*; `bucket_features` defines
similarity, and the text below says how buckets are found. On every street buckets are numbered from
the weakest to the strongest. Between two streets a bucket's combos move to several buckets, with
chances counted over every card.

The players' cards are in *product form*: each player's next bucket is drawn from his own bucket
alone, as if the other held no cards and saw another card fall. So a player needs to know only the
current bucket, and CFR and best response are exact in that game. It leaves out card removal between
the players, and that a turn card which completes one player's flush may complete the other's too.
Folds, showdowns and all-ins before the river are all paid by the cards of that game: a pot is worth
the same on whichever street the money goes in.

A bucket's weight is the number of combos expected in it. A combo weighs 1 on the flop; it sees each
of 47 turn cards with the same chance, and then each of 46 river cards. So all weights of a street
sum to 1,176.

**Clusters** are found by k-means for points of many dimensions, and as the best intervals on a
line. Points are rows of whole numbers, and equal rows are one point that weighs more: suits that
play the same make most rows of a flop equal. Clusters depend on the set of points and on the seed,
not on the order of the points.

k-means (Lloyd 1957, with the greedy seeding of Arthur and Vassilvitskii 2007):
1. Draw the first centre by weight, each further one by weight × squared distance to the nearest;
   of four draws take the one that lowers the sum of squared distances most.
2. Every point goes to its nearest centre, every centre to the mean of its points, until no point
   changes its centre. A centre that lost all its points goes to the farthest point.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError, Ints, Longs
from allstreets.betting import Street
from allstreets.cards import (
    DECK_SIZE,
    HAND_COUNT,
    HAND_OF_COMBO,
    Flop,
    cards_text,
    combo_strengths,
    live_combos,
)
from allstreets.engines.matrix.bucket_features import (
    FLOP_RUNOUTS,
    TURN_RUNOUTS,
    FlopBoards,
    dealt_on,
    flop_boards,
    flop_features,
    mean_equity,
    river_net,
    river_points,
    river_totals,
    turn_features,
)
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.kernels.bucket_means import BLOCK, cut_line, lloyd, seed_centres
from allstreets.engines.matrix.kernels.bucket_rivers import MOST_POINTS, count_moves

ROUNDS = 100
"""Rounds stop by themselves, mostly after 10 to 30."""

CANDIDATES = 4
"""Draws for each centre. On the turn, four leave 2 to 18 % less spread than one."""
TURN_CHANCES = 47
"""Turn cards that a combo can see."""
RIVER_CHANCES = 46
"""River cards that a combo can see after a turn card."""
STREETS = (Street.FLOP, Street.TURN, Street.RIVER)
MOST_BUCKETS = 4096


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row."""

    labels: Longs  # [N]: 0 .. K − 1, each of them in use
    centres: Floats  # [K, D]: the means of the clusters' rows
    spread: float  # mean squared distance between a row and its centre

    @property
    def count(self) -> int:
        """K."""
        return len(self.centres)


def k_means(rows: Ints, count: int, seed: int, rounds: int = ROUNDS) -> Clusters:
    """Cluster rows [N, D] of whole numbers 0 .. 2²⁴; at most `count` clusters, none empty.

    There are fewer clusters when there are fewer different rows.
    """
    points, point_of, sizes = distinct_rows(rows)
    count = min(count, len(points))
    padding = -len(points) % BLOCK
    padded = np.pad(points, ((0, padding), (0, 0)), mode="edge").astype(np.float32)
    blocks = np.ascontiguousarray(padded.reshape(-1, BLOCK, rows.shape[1]).transpose(0, 2, 1))
    weights = np.pad(sizes, (0, padding)).astype(np.float64)
    centres = np.empty((count, rows.shape[1]), np.float32)
    draws = np.random.default_rng(seed).random((count, CANDIDATES))
    seed_centres(blocks, weights, draws, centres)
    labels = np.empty(len(weights), np.float32)
    lloyd(blocks, weights, centres, rounds, labels)
    # When the rounds run out, a centre may have no points.
    _, numbers = np.unique(labels[: len(points)], return_inverse=True)
    return _clusters(points, sizes, numbers, point_of)


def _clusters(points: Ints, sizes: Longs, numbers: Longs, point_of: Longs) -> Clusters:
    """Means and spread in double precision, from whole numbers that it holds exactly."""
    mass = np.bincount(numbers, sizes)
    sums = np.stack([np.bincount(numbers, sizes * column) for column in points.T], axis=1)
    centres = sums / mass[:, None]
    squares = ((points - centres[numbers]) ** 2).sum(axis=1)
    return Clusters(numbers[point_of], centres, float((sizes * squares).sum() / sizes.sum()))


def distinct_rows(rows: Ints) -> tuple[Ints, Longs, Longs]:
    """The different rows in rising order [M, D], which one each row is [N], how many are each [M].

    Whole numbers ≥ 0 with their highest byte first sort like strings, and sorting strings is ten
    times as fast as NumPy's sorting of rows.
    """
    texts = np.ascontiguousarray(rows, dtype=">u4").view(f"S{4 * rows.shape[1]}").reshape(-1)
    _, first, point_of, sizes = np.unique(
        texts, return_index=True, return_inverse=True, return_counts=True
    )
    return rows[first], point_of, sizes


def best_intervals(weights: Longs, count: int) -> Longs:
    """[V]: the cluster of each of the values 0 .. V − 1, which occur `weights` [V] times.

    The clusters are intervals, and no others have a smaller spread. There are fewer than `count`
    when fewer values occur. A value that does not occur belongs to the cluster below it.

    >>> best_intervals(np.array([5, 1, 0, 0, 1, 0, 5]), 2).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    values = np.flatnonzero(weights)
    starts = np.empty(min(count, len(values)), np.int32)
    # Counted from the middle, squares are smaller and differences of sums more precise.
    cut_line(values - values.mean(), weights[values].astype(np.float64), starts)
    first = np.zeros(len(weights), np.int64)
    first[values[starts[1:]]] = 1
    return np.cumsum(first)


@dataclass(frozen=True)
class BucketCounts:
    """The largest number of buckets of each street: a street has no more than it has different
    situations.
    """

    flop: int
    turn: int
    river: int

    def __post_init__(self) -> None:
        for street, count in zip(STREETS, (self.flop, self.turn, self.river), strict=True):
            if not 1 <= count <= MOST_BUCKETS:
                raise InputError(
                    f"{count} buckets on the {street.name.lower()}: "
                    f"write a number from 1 to {MOST_BUCKETS}"
                )


@dataclass(frozen=True, eq=False)
class BucketModel:
    """The buckets of one flop, and everything that the game between them needs.

    K is the number of buckets of a street; tuples of three hold an array each for flop, turn and
    river. Bucket 0 is the weakest.
    """

    flop: tuple[int, int, int]
    counts: BucketCounts  # as requested
    seed: int
    flop_buckets: NDArray[np.int16]  # [1326]: −1 where the board blocks the combo
    turn_buckets: NDArray[np.int16]  # [52, 1326]: by turn card
    river_buckets: NDArray[np.int16]  # [1981]: by points on the river; see `bucket_features`
    weights: tuple[Floats, ...]  # 3 × [K]: combos expected in each bucket, Σ = 1,176
    equity: tuple[Floats, ...]  # 3 × [K]: mean equity against any two cards, rising
    moves: tuple[Floats, ...]  # flop to turn, turn to river: [K, K'], rows sum to 1
    net: tuple[Floats, ...]  # 3 × [K, K]: share won − share lost, antisymmetric

    def __post_init__(self) -> None:
        for array in (self.flop_buckets, self.turn_buckets, self.river_buckets):
            array.setflags(write=False)
        for array_of_street in (*self.weights, *self.equity, *self.moves, *self.net):
            array_of_street.setflags(write=False)

    def buckets_on(self, board: Sequence[int]) -> NDArray[np.int16]:
        """[1326]: the bucket of every combo on a board of 3 to 5 cards, −1 where it is blocked."""
        cards = tuple(int(card) for card in board)
        fits = len(set(cards)) == len(cards) <= 5 and set(cards[:3]) == set(self.flop)
        if not fits or not all(0 <= card < DECK_SIZE for card in cards):
            raise InputError(
                f"the cards {cards} are no board of the flop {cards_text(self.flop)}: "
                "give its three cards first, then different ones 0..51 for turn and river"
            )
        if len(cards) == 3:
            return self.flop_buckets
        if len(cards) == 4:
            on_turn: NDArray[np.int16] = self.turn_buckets[cards[3]]
            return on_turn
        points = river_points(combo_strengths([cards]))[0]
        return _river_buckets(points, self.river_buckets)


def build_bucket_model(flop: Sequence[int], counts: BucketCounts, seed: int = 0) -> BucketModel:
    """Find the buckets of a flop and count their transitions over every turn and river card.

    The same flop, counts and seed give the same model; so does a flop with its suits renamed, apart
    from the names of cards.
    """
    boards = flop_boards(flop)
    live = live_combos(boards.flop)
    seeds = np.random.SeedSequence(seed).generate_state(2)
    flop_buckets, flop_equity = _cluster(
        flop_features(boards), live, FLOP_RUNOUTS, counts.flop, int(seeds[0])
    )
    turn_live = np.stack([live_combos((*boards.flop, card)) for card in range(DECK_SIZE)])
    turn_live[list(boards.flop)] = False
    turn_buckets, turn_equity = _cluster(
        turn_features(boards), turn_live, TURN_RUNOUTS, counts.turn, int(seeds[1])
    )
    occurring = np.bincount(boards.points[boards.points >= 0], minlength=MOST_POINTS + 1)
    river_of_points = best_intervals(occurring, counts.river).astype(np.int16)
    river_buckets = _river_buckets(boards.points, river_of_points)

    turn_moves, river_moves = _count_all_moves(boards, flop_buckets, turn_buckets, river_buckets)
    weights = (
        np.bincount(flop_buckets[live]).astype(np.float64),
        turn_moves.sum(axis=0) / TURN_CHANCES,
        river_moves.sum(axis=0) / (TURN_CHANCES * RIVER_CHANCES),
    )
    moves = (_shares(turn_moves), _shares(river_moves))
    net_on_river = river_net(river_totals(boards.strengths, river_buckets, len(weights[2])))
    net_on_turn = dealt_on(moves[1], net_on_river)
    return BucketModel(
        flop=boards.flop,
        counts=counts,
        seed=seed,
        flop_buckets=flop_buckets,
        turn_buckets=turn_buckets,
        river_buckets=river_of_points,
        weights=weights,
        equity=(flop_equity, turn_equity, _river_equity(occurring, river_of_points)),
        moves=moves,
        net=(dealt_on(moves[0], net_on_turn), net_on_turn, net_on_river),
    )


def _cluster(
    features: Ints, live: Flags, runouts: int, count: int, seed: int
) -> tuple[NDArray[np.int16], Floats]:
    """Buckets of the live situations, −1 elsewhere, weakest first, and their mean equities [K]."""
    clusters = k_means(features[live], count, seed)
    equity = mean_equity(clusters.centres, runouts)
    weakest_first = np.argsort(equity, kind="stable")
    rank = np.empty(clusters.count, np.int16)
    rank[weakest_first] = np.arange(clusters.count)
    buckets = np.full(live.shape, -1, np.int16)
    buckets[live] = rank[clusters.labels]
    return buckets, equity[weakest_first]


def _river_buckets(points: NDArray[np.int16], of_points: NDArray[np.int16]) -> NDArray[np.int16]:
    """The bucket of each number of points, −1 for those of a collision."""
    return np.append(of_points, np.int16(-1))[points]  # −1 is the last entry


def _river_equity(occurring: Longs, of_points: NDArray[np.int16]) -> Floats:
    shares = np.arange(len(occurring)) / MOST_POINTS
    return np.bincount(of_points, occurring * shares) / np.bincount(of_points, occurring)


def _count_all_moves(
    boards: FlopBoards,
    flop_buckets: NDArray[np.int16],
    turn_buckets: NDArray[np.int16],
    river_buckets: NDArray[np.int16],
) -> tuple[Ints, Ints]:
    """Count the combos with a next card that go from bucket to bucket: turn, then river."""
    sizes = [int(buckets.max()) + 1 for buckets in (flop_buckets, turn_buckets, river_buckets)]
    to_turn = np.zeros((sizes[0], sizes[1]), np.int32)
    count_moves(flop_buckets, turn_buckets, to_turn)
    to_river = np.zeros((sizes[1], sizes[2]), np.int32)
    for card in boards.deck:
        count_moves(turn_buckets[card], river_buckets[boards.after_turn(card)], to_river)
    return to_turn, to_river


def _shares(moves: Ints) -> Floats:
    shares: Floats = moves / moves.sum(axis=1, keepdims=True)
    return shares


def bucket_stages(model: BucketModel) -> tuple[Stage, Stage, Stage]:
    """Flop, turn and river as the matrix engine reads them, in product form."""
    stages = []
    for number, (street, weights, net) in enumerate(
        zip(STREETS, model.weights, model.net, strict=True)
    ):
        down = None
        if number > 0:
            arriving = model.weights[number - 1][:, None] * model.moves[number - 1]
            down = (arriving / weights).astype(np.float32)
        margin = (weights[:, None] * weights * net).astype(np.float32)
        stages.append(Stage((street,), weights, None, margin, down))
    return stages[0], stages[1], stages[2]


def down_from_hands(model: BucketModel) -> Floats:
    """[169, K]: the map of reach and values between hand classes before the flop and flop buckets.

    As between two stages: reach of the buckets = reach of the hands @ down, a mean weight for each
    bucket; values of the hands = down @ values of the buckets, totals over combos.
    """
    live = np.flatnonzero(model.flop_buckets >= 0)
    combos = np.zeros((HAND_COUNT, len(model.weights[0])))
    np.add.at(combos, (HAND_OF_COMBO[live], model.flop_buckets[live]), 1.0)
    down: Floats = combos / model.weights[0]
    return down


def bucket_flops(
    flops: Sequence[Flop], counts: BucketCounts, seed: int, threads: int
) -> tuple[list[tuple[Stage, ...]], Floats, NDArray[np.int16]]:
    """The stages of every flop, the roots [F, 169, H] that lead from classes to buckets, and the
    bucket of every combo [F, 1326] on the flop, −1 where it is blocked.
    """
    with ThreadPoolExecutor(threads) as pool:
        models = list(pool.map(lambda flop: build_bucket_model(flop.cards, counts, seed), flops))
    stages: list[tuple[Stage, ...]] = [bucket_stages(model) for model in models]
    # As wide as requested: some flops have a few buckets fewer.
    roots = np.zeros((len(models), HAND_COUNT, counts.flop))
    for flop, model in enumerate(models):
        root = down_from_hands(model)
        roots[flop, :, : root.shape[1]] = root
    return stages, roots, np.stack([model.flop_buckets for model in models])

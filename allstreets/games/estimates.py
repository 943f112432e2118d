"""Memory and time of spots and whole games, computed before anything is built.

The bytes of regrets and strategies are exact; where river hands share them on more boards than a
turn has, they are counted on some boards that stand for all. The rest (tables by board, all-in
matrices, workspaces, the program itself) is close, and the time is a guess from the speed of a
typical core.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args

import numpy as np

from allstreets import engines  # each is loaded when it is used
from allstreets.base import Floats, InputError, Longs, available_bytes
from allstreets.betting import (
    POSTFLOP,
    NodeKind,
    Player,
    PlayerSizes,
    Street,
    StreetSizes,
    TreeSize,
)
from allstreets.cards import (
    COMBO_MASKS,
    HAND_COUNT,
    Flop,
    Runouts,
    canonical_flop,
    card_rank,
    card_suit,
    combo_orbits,
    fitting_subset,
    live_combos,
    make_card,
    spread_flops,
)
from allstreets.engines import (
    CLASSES,
    PRECISIONS,
    CardModel,
    HandsByBoard,
    MemoryMode,
    RiverGroups,
    every_combo,
    hands_by_board,
    open_device,
    suit_buckets,
    whole_vectors,
)
from allstreets.games.spot import Spot, spot_root
from allstreets.games.whole_game import WholeGame

PROGRAM_BYTES = 250_000_000  # Python, Numba and the compiled kernels
TABLE_BYTES = 40  # of a hand on a board: cards, indices, strengths, for both points of view
CHECK_SECONDS_PER_SLOT = 1.3e-9  # of a draft: one core, both players' best responses
CHECK_SECONDS_PER_BOARD = 0.0002  # of a draft: tables for the first check
COUNTED_BOARDS = 64  # rivers on which shared rows are counted: all of a turn's, some of a flop's
GROUPING_BYTES = 400_000_000  # what a thread needs while it groups the hands of a flop
DEVICE_ROWS = 2_200_000_000  # the most that is worked on at a time on a GPU
DEVICE_TABLES = 300_000_000
HANDS_OF_BUCKET = 5  # on a river board, with `river_groups: suits`
RIVER_COMBOS = 1081

# Seconds on one core: of an action of a hand at a node, in an iteration or a half-iteration.
EXACT_SECONDS_PER_SLOT = 3.8e-9  # an iteration
BOARDS_SECONDS_PER_SLOT = 1.0e-9  # an iteration
MATRIX_SECONDS_PER_SLOT = 1.0e-9  # a half-iteration
SECONDS_PER_PRODUCT = 1 / 80e9  # a multiplication and an addition
SECONDS_PER_GROUP_PRODUCT = SECONDS_PER_PRODUCT / 2  # small matrices stay in the nearest cache
SECONDS_PER_MOVE = 2.2e-9  # sixteen lines of a combo into its group or back
PREFLOP_SECONDS_PER_DECISION = 1e-4  # an iteration; one thread only
# Seconds before the first iteration.
SETUP_SECONDS_PER_BOARD = 0.0008  # of a spot
SETUP_SECONDS_PER_FLOP = 0.02
BOARDS_SECONDS = 0.15  # a flop's turn and river boards
GROUPING_SECONDS = 0.00027  # the buckets of a river board, for one pair of ranges
MEAN_RIVERS = 1_500  # of a flop, alike ones taken together
RANGES_SECONDS = 2.0  # a quick solve for the ranges that hands are grouped by
GPU_CORES = {"classes": 90, "buckets": 90, "exact": 65, "boards": 250}
"""The number of cores that equal a GPU, an H200; buckets are taken to gain as much as classes."""

"""For each street the padded number of hands [B] of OOP and of IP on every board."""


@dataclass(frozen=True)
class Estimate:
    """The size of a spot; streets from the board's on."""

    decisions: dict[Street, int]  # of the betting tree, cards not counted
    boards: dict[Street, int]  # after folding suits that play alike
    slots: int  # actions of all hands of all nodes on all boards, padding included
    memory_bytes: int  # regrets and average strategies
    process_bytes: int  # everything, the program itself included
    threads: int

    @property
    def nodes(self) -> int:
        """Decisions of the betting tree."""
        return sum(self.decisions.values())

    @property
    def seconds_per_iteration(self) -> float:
        """A guess; the boards of one street are shared out over the threads."""
        shared = self.threads if len(self.boards) > 1 else 1
        return self.slots * EXACT_SECONDS_PER_SLOT / shared

    def seconds_to(self, iterations: int) -> float:
        """Seconds for this many iterations, set-up included."""
        return SETUP_SECONDS_PER_BOARD * sum(self.boards.values()) + (
            (iterations + 2) * self.seconds_per_iteration  # a check costs about two
        )


def usual_iterations(target_pct: float) -> int:
    """The number of iterations that a spot takes to its target, in % of the pot.

    A straight line, in logarithms, through measurements of flops and turns with the default
    algorithm: 45 to 0.9 %, 108 to 0.18 % (docs/any-flop.md). Single spots take between half and
    twice as many.
    """
    return max(10, int(42.0 * math.pow(target_pct, -0.55) + 0.5))


def estimate_spot(
    spot: Spot, precision: str = "float32", threads: int = 1, river_groups: RiverGroups = "none"
) -> Estimate:
    """The size of a spot; nothing is allocated, and a flop takes milliseconds."""
    combos = [np.flatnonzero(of_player.weights) for of_player in spot.ranges]
    root, streets = spot_root(spot), len(spot.size.dealt_streets)
    hands = hands_by_board(root, combos, streets)
    rows = rows_by_board(root, combos, hands, river_groups)
    return estimate_exact(spot.size, hands, precision, threads, rows)


def estimate_saved(
    spot: Spot, precision: str, saved: str = "full", river_groups: RiverGroups = "none"
) -> int:
    """The bytes of a bundle that keeps the streets up to "flop" or "turn", or all of it ("full").

    A street that is stored for viewing has both players' numbers at every decision in 64 bits, as
    in `solutions.stored_streets`.
    """
    total = 0
    if saved == "full":
        total = estimate_spot(spot, precision, river_groups=river_groups).memory_bytes
    size, root = spot.size, spot_root(spot)
    last = size.first_street if saved == "full" else Street[saved.upper()]
    for level, street in enumerate(size.dealt_streets[:2]):
        if level and street > last:
            break
        boards = [(*root.board, card) for card in root.representatives] if level else [root.board]
        nodes = int(size.nodes[street, NodeKind.DECISION]) * (2 if level else 3)
        live = np.sum([live_combos(board) for board in boards], axis=0)  # [1326]
        for player in Player:
            rows = nodes + 2 * int(size.actions[street, player])
            total += 8 * rows * int(live[spot.ranges[player].weights > 0].sum())
    return total


def estimate_exact(
    size: TreeSize,
    hands: HandsByBoard,
    precision: str = "float32",
    threads: int = 1,
    rows: HandsByBoard | None = None,
) -> Estimate:
    """The size of an exact subgame; `hands` are those of its streets, or of more.

    `rows` are the stored rows, if there is not a row for each hand.
    """
    require_precision(precision)
    boards, slots, stored_slots, held, matrices = {}, 0, 0, 0, 0
    for street, counts, stored in zip(size.dealt_streets, hands, rows or hands, strict=False):
        boards[street] = len(counts[0])
        actions = size.actions[street].tolist()
        slots += sum(int(counts[player].sum()) * actions[player] for player in Player)
        stored_slots += sum(int(stored[player].sum()) * actions[player] for player in Player)
        held += int(counts[0].sum() + counts[1].sum())
        if street < Street.RIVER and size.nodes[street, NodeKind.SHOWDOWN]:  # all-ins
            matrices += 2 * 4 * int(counts[0] @ counts[1])
    memory = 2 * stored_slots * np.dtype(PRECISIONS[precision]).itemsize
    process = memory + matrices + held * TABLE_BYTES + PROGRAM_BYTES
    return Estimate(size.decision_counts(), boards, slots, memory, process, threads)


def rows_by_board(
    root: Runouts, combos: Sequence[Longs], hands: HandsByBoard, river_groups: RiverGroups
) -> HandsByBoard:
    """The stored rows on every board where `hands` are the hands."""
    dealt = len(hands) - 1
    if river_groups == "none" or len(root.board) + dealt < 5:
        return hands
    before = [root]
    for _ in range(dealt - 1):
        before = [runouts.after(card) for runouts in before for card in runouts.representatives]
    last = [(runouts, card) for runouts in before for card in runouts.representatives]
    if len(last) > COUNTED_BOARDS:
        counted = np.random.default_rng(0).choice(len(last), COUNTED_BOARDS, replace=False)
    else:
        counted = np.arange(len(hands[-1][0]))
    boards = [last[board][0].after(last[board][1]) for board in counted] if dealt else [root]
    rivers = []
    for player in Player:
        rows = np.array([_row_count(board, combos[player]) for board in boards])
        held = hands[-1][player]
        share = rows.sum() / held[counted].sum()  # of all boards, where only some are counted
        rivers.append(rows if len(rows) == len(held) else np.rint(share * held).astype(np.int64))
    return [*hands[:-1], (rivers[0], rivers[1])]


def _row_count(river: Runouts, combos: Longs) -> int:
    """Rows of a river board, padding included."""
    blocked = np.uint64(sum(1 << card for card in river.board))
    first = combos[combo_orbits(river.symmetries)[combos] == combos]
    live = first[(COMBO_MASKS[first] & blocked) == 0]
    return whole_vectors(int(suit_buckets(river.board, live).max(initial=-1)) + 1)


@dataclass(frozen=True)
class WholeGameEstimate:
    """The size of a whole game."""

    preflop_decisions: int
    pots: int
    postflop_decisions: int  # of all pots, on one flop, cards not counted
    slots: int  # actions of all these decisions
    flops: int
    memory_bytes: int  # regrets and average strategies, in memory or on disk
    resident_bytes: int  # what must fit into memory, the program itself included
    setup_seconds: float  # before the first iteration
    seconds_per_iteration: float

    def seconds_to(self, iterations: int) -> float:
        """Seconds for this many iterations, set-up included."""
        return self.setup_seconds + iterations * self.seconds_per_iteration


def estimate_whole_game(
    game: WholeGame,
    model: CardModel = CLASSES,
    *,
    memory: MemoryMode = "resident",
    threads: int = 1,
    batch: int = 0,
    gpu: bool = False,
) -> WholeGameEstimate:
    """The size of a game; `batch` flops are visited at a time, 0 = all."""
    cores = GPU_CORES.get(model.kind, threads) if gpu else threads
    flops = len(game.flops.flops)
    visited = min(batch or flops, flops)
    stored_flops = visited if memory == "per_batch" else flops
    setup = flops * SETUP_SECONDS_PER_FLOP
    if model.kind == "exact":
        stored, seconds, tables = _exact(game, model)
        seconds *= visited / flops
    elif model.kind == "boards":
        stored, seconds, tables = _boards(game, model)
        seconds *= visited / flops
        tables += min(threads, flops) * GROUPING_BYTES  # again as ranges move, beside all the rest
        sets = min(model.sets, len(game.flop_pots))
        buckets = sets * MEAN_RIVERS * GROUPING_SECONDS
        setup = flops * (BOARDS_SECONDS + buckets) / threads + RANGES_SECONDS
    else:
        lengths = matrix_lengths(model)
        stored, seconds = _matrices(game, lengths if len(lengths) > 1 else 3 * lengths)
        stored, seconds = stored * stored_flops, seconds * visited
        tables = 4 * engines.matrix_cells(lengths) * stored_flops
        tables += 8 * 2 * len(game.flop_pots) * flops * HAND_COUNT
    resident = tables + PROGRAM_BYTES + (0 if memory == "memmap" else stored)
    preflop = int((game.tree.kind == NodeKind.DECISION).sum())
    return WholeGameEstimate(
        preflop_decisions=preflop,
        pots=len(game.flop_pots),
        postflop_decisions=sum(size.decision_count for size in game.tree_sizes),
        slots=sum(size.slots for size in game.tree_sizes),
        flops=flops,
        memory_bytes=stored,
        resident_bytes=resident,
        setup_seconds=setup,
        seconds_per_iteration=seconds / cores + preflop * PREFLOP_SECONDS_PER_DECISION,
    )


def _matrices(game: WholeGame, lengths: list[int]) -> tuple[int, float]:
    """(bytes, seconds of an iteration on one core) of one flop."""
    stored, seconds = 0, 0.0
    for size in game.tree_sizes:
        for street, length in enumerate(lengths, start=1):
            acts = int(size.actions[street].sum())
            shows = int(size.nodes[street, NodeKind.SHOWDOWN])
            stored += 8 * acts * length
            seconds += 2 * acts * length * MATRIX_SECONDS_PER_SLOT
            seconds += 2 * shows * 2 * length * length * SECONDS_PER_PRODUCT
    return stored, seconds


def matrix_lengths(model: CardModel) -> list[int]:
    """Hands of each matrix, padding included, where the cards of a flop are matrices."""
    return [
        engines.padded(hands)
        for hands in (model.buckets if model.kind == "buckets" else [HAND_COUNT])
    ]


def _exact(game: WholeGame, model: CardModel) -> tuple[int, float, int]:
    """(bytes stored, seconds of an iteration on one core, bytes of tables) of all flops.

    Rows that hands share depend on ranks as well: one flop stands for all of its shape.
    """
    stored, seconds, tables = 0, 0.0, 0
    flop_of_shape = {_rank_free(flop): flop.cards for flop in game.flops.flops}
    for shape, count in Counter(map(_rank_free, game.flops.flops)).items():
        hands = _hands_of_shape(shape)
        rows = rows_by_board(*every_combo(flop_of_shape[shape]), hands, model.river_groups)
        shared = 0  # tables by board and all-in matrices, for all pots and both players
        for size in game.tree_sizes:
            need = estimate_exact(size, hands, model.precision, rows=rows)
            stored += count * need.memory_bytes
            shared = max(shared, (need.process_bytes - need.memory_bytes - PROGRAM_BYTES) // 2)
            seconds += count * need.slots * EXACT_SECONDS_PER_SLOT
        tables += count * shared
    return stored, seconds, tables


def _boards(game: WholeGame, model: CardModel) -> tuple[int, float, int]:
    """(bytes stored, seconds of an iteration on one core, bytes of tables) of all flops."""
    stored, seconds, tables = 0, 0.0, 0
    for count, hands in hands_of_flops(game.flops.flops):
        of_flop = _boards_of_flop(game.tree_sizes, hands, model)
        stored += count * of_flop[0]
        seconds += count * of_flop[1]
        tables += count * of_flop[2]
    return stored, seconds, tables


def _boards_of_flop(
    sizes: Sequence[TreeSize], hands: HandsByBoard, model: CardModel
) -> tuple[int, float, int]:
    """(bytes stored, seconds of an iteration on one core, bytes of tables) of pots on a flop."""
    flops, turns, rivers = hands
    stored, seconds, lines, groups = 0, 0.0, 0, model.groups
    river_boards = len(rivers[0])
    grouped = np.full(river_boards, groups)
    rows = np.full(len(turns[0]), engines.padded(model.rows)) if model.rows else turns[0]
    for size in sizes:
        need = estimate_exact(size, [flops, (rows, rows), (grouped, grouped)], "float16")
        stored += need.memory_bytes
        all_ins = int(size.nodes[:-1, NodeKind.SHOWDOWN].sum())
        terminals = int(size.nodes[-1, [NodeKind.SHOWDOWN, NodeKind.FOLD]].sum()) + all_ins
        lines += int(size.nodes[-2, NodeKind.CHANCE]) + all_ins
        seconds += need.slots * BOARDS_SECONDS_PER_SLOT
        seconds += 2 * river_boards * terminals * groups**2 * 2 * SECONDS_PER_GROUP_PRODUCT
    sets = min(model.sets, len(sizes))
    moves = lines // 16 + sets  # sixteen lines of a set at a time
    seconds += 2 * river_boards * moves * 2 * RIVER_COMBOS * SECONDS_PER_MOVE
    tables = sets * river_boards * (2 * groups**2 + 4 * groups + 6 * RIVER_COMBOS)
    tables += TABLE_BYTES * int(turns[0].sum() + turns[1].sum())
    return stored, seconds, tables


@dataclass(frozen=True)
class DraftEstimate:
    """The size of a draft."""

    memory_bytes: int  # regrets and average strategies
    process_bytes: int  # everything, the program and the exact evaluation included
    setup_seconds: float  # boards and buckets
    seconds_per_iteration: float
    check_seconds: float  # of a true best response, the tables of the first one included

    def seconds_to(self, iterations: int) -> float:
        """Seconds for this many iterations, set-up and one check included."""
        iterating = iterations * self.seconds_per_iteration
        return self.setup_seconds + iterating + self.check_seconds


def estimate_draft(spot: Spot, model: CardModel, threads: int = 1) -> DraftEstimate:
    """The size of a draft of a flop.

    Threads share its turn boards: their buckets, their iterations and their evaluation.
    """
    ((_, hands),) = hands_of_flops([canonical_flop(spot.cards).flop])
    stored, seconds, tables = _boards_of_flop([spot.size], hands, model)
    exact = estimate_exact(spot.size, hands, "float32")
    boards = sum(exact.boards.values())
    threads = min(threads, len(hands[1][0]))  # turn boards
    setup = BOARDS_SECONDS + boards * GROUPING_SECONDS / threads
    check = boards * CHECK_SECONDS_PER_BOARD + exact.slots * CHECK_SECONDS_PER_SLOT / threads
    shown = exact.process_bytes - exact.memory_bytes  # tables of every board
    process = 2 * stored + tables + shown
    return DraftEstimate(stored, process, setup, seconds / threads, check)


def hands_of_flops(flops: Sequence[Flop]) -> list[tuple[int, HandsByBoard]]:
    """Counts of flops with the same hands on their boards, and these; both hold every combo."""
    shapes = Counter(map(_rank_free, flops))
    return [(count, _hands_of_shape(shape)) for shape, count in shapes.items()]


def flop_costs(flops: Sequence[Flop], model: CardModel) -> Floats:
    """[F]: the time that each flop takes, in any unit: by its river boards where cards are real."""
    if model.kind not in ("exact", "boards"):
        return np.ones(len(flops))
    rivers = [_hands_of_shape(_rank_free(flop))[-1] for flop in flops]
    return np.array([float(len(oop_hands)) for oop_hands, _ in rivers])


def _rank_free(flop: Flop) -> tuple[int, ...]:
    """A flop with other ranks on which every count of boards and hands is the same.

    Both players hold every combo, so ranks could be renamed throughout without changing which
    cards block what and which suits play alike. All flops together have a dozen such shapes.
    """
    ranks = list(dict.fromkeys(card_rank(card) for card in flop.cards))
    return tuple(make_card(ranks.index(card_rank(c)), card_suit(c)) for c in flop.cards)


@cache
def _hands_of_shape(flop: tuple[int, ...]) -> HandsByBoard:
    return hands_by_board(*every_combo(flop), len(POSTFLOP))


def device_bytes(stored: int, river_groups: RiverGroups = "none") -> int:
    """The bytes on a GPU, rows and tables included, for these bytes of regrets and strategies.

    Rows have all hands, whether or not they share what is stored.
    """
    rows = 2 * stored * (1 if river_groups == "none" else HANDS_OF_BUCKET)
    return stored + min(rows, DEVICE_ROWS) + DEVICE_TABLES


def game_device_bytes(game: WholeGame, model: CardModel, need: WholeGameEstimate) -> int:
    """Bytes that a game takes on a GPU: regrets, strategies, and what comes on top."""
    if model.kind != "boards" or not game.flop_pots:
        return device_bytes(need.memory_bytes, model.river_groups)
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    counted = hands_of_flops(game.flops.flops)
    flops = [(count, engines.FlopCounts.of(hands)) for count, hands in counted]
    sets = min(model.sets, len(trees))
    return engines.BoardsMemory(trees, flops, model.groups, model.rows, sets).whole


def require_device_room(device: str, need: int) -> None:
    """Refuse a game whose bytes, rows and tables included, do not fit on a GPU."""
    gpu = open_device(device)
    if gpu is not None and need > gpu.free_bytes:
        raise InputError(
            f"device: this needs {need / 1e9:.1f} GB on {gpu.name}, of which "
            f"{gpu.free_bytes / 1e9:.1f} GB are free.\nWays to make it smaller: "
            "precision: float16, one bet size fewer, fewer flops; or device: cpu"
        )


def require_precision(precision: str) -> None:
    """Refuse a precision that is not offered."""
    if precision not in PRECISIONS:
        raise InputError(f"precision: '{precision}' is not known: use {' or '.join(PRECISIONS)}")


def require_river_groups(river_groups: str) -> None:
    """Refuse groups that are not offered."""
    if river_groups not in get_args(RiverGroups):
        known = " or ".join(get_args(RiverGroups))
        raise InputError(f"river_groups: '{river_groups}' is not known: use {known}")


def require_memory(
    spot: Spot, precision: str, need: Estimate, free: int | None, river_groups: RiverGroups = "none"
) -> None:
    """Refuse a spot that does not fit into `free` bytes; name one that would."""
    if free is None or need.process_bytes <= free:
        return
    problem = f"this spot needs {_size(need.process_bytes)} and {_size(free)} are free"
    half = estimate_spot(spot, "float16", need.threads, river_groups)
    if precision == "float32" and half.process_bytes <= free:
        raise InputError(
            f"{problem}.\nWith precision float16 it needs {_size(half.process_bytes)}."
        )
    grouped = estimate_spot(spot, "float16", need.threads, "suits")
    if grouped.process_bytes <= free:
        raise InputError(
            f"{problem}.\nWith precision float16 and river_groups suits it needs "
            f"{_size(grouped.process_bytes)}."
        )
    factor = (grouped.process_bytes - PROGRAM_BYTES) / max(free - PROGRAM_BYTES, 1)
    raise InputError(
        f"{problem}.\nUse float16, river_groups suits and fewer bet and raise sizes, most of all "
        f"on the river: {factor:,.1f} times fewer actions would fit."
    )


def require_room(
    game: WholeGame,
    need: WholeGameEstimate,
    model: CardModel,
    memory: MemoryMode,
    free: int | None = None,
) -> None:
    """Refuse a game that does not fit into memory; name one that would."""
    free = available_bytes() if free is None else free
    if free is None or need.resident_bytes <= free:
        return
    per_flop = (need.resident_bytes - PROGRAM_BYTES) / need.flops
    fitting = int((free - PROGRAM_BYTES) / per_flop)
    advice = []
    if memory == "per_batch":
        advice.append("a smaller flop_batch_size")  # regrets are those of one batch
    elif fitting >= 1:
        subset = fitting_subset(fitting)
        advice.append(f"flops: {f'subset_{subset}' if subset else f'spread_{fitting}'}")
    if model.kind == "exact":
        advice.append("precision: float16 (half the memory)")
        if model.river_groups == "none":
            advice.append("river_groups: suits (about a fifth)")
        advice.append("cards: boards")
    elif model.kind == "boards":
        advice += [f"river_groups: {fewer}" for fewer in _fitting_groups(game, model, free)]
    elif memory == "resident":
        advice.append("memory: memmap (regrets on disk, slower)")
    smaller = _one_size_less(game)
    if smaller is not None:
        advice.append(f"one bet size fewer ({smaller / max(need.slots, 1):.0%} of the actions)")
    raise InputError(
        f"this game needs {need.resident_bytes / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are "
        f"free.\nWays to make it smaller: {'; '.join(advice) or 'a smaller stack'}."
    )


def _fitting_groups(game: WholeGame, model: CardModel, free: int) -> list[int]:
    """The largest of some smaller numbers of groups with which the game fits, if any does."""
    for groups in (128, 96, 64, 48, 32, 16):
        fewer = replace(model, groups=groups)
        if groups < model.groups and estimate_whole_game(game, fewer).resident_bytes <= free:
            return [groups]
    return []


def _one_size_less(game: WholeGame) -> int | None:
    """Actions of all pots, with one size fewer in each list of bets or raises that has several."""
    sizes = _without_the_first(game.sizes)
    by_pot = {kind: _without_the_first(sizes) for kind, sizes in game.pot_sizes.items()}
    if (sizes, by_pot) == (game.sizes, game.pot_sizes):
        return None
    smaller = replace(game, sizes=sizes, pot_sizes=by_pot, flops=spread_flops(1))
    return sum(size.slots for size in smaller.tree_sizes)


def _without_the_first(sizes: tuple[StreetSizes, ...]) -> tuple[StreetSizes, ...]:
    """Every list of several bet or raise sizes with one fewer."""

    def fewer(given: PlayerSizes) -> PlayerSizes:
        return replace(
            given, bet=given.bet[1:] or given.bet, raises=given.raises[1:] or given.raises
        )

    return tuple((fewer(oop), fewer(ip)) for oop, ip in sizes)


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"

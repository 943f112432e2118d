"""What solving a whole game takes: nodes, memory and time, computed before anything is built.

The bytes of regrets and strategies are exact; what comes on top is close, and the time is a guess
from the speed of a usual core.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allstreets.base import Floats, InputError, available_bytes
from allstreets.betting import POSTFLOP, NodeKind, PlayerSizes, StreetSizes
from allstreets.cards import (
    HAND_COUNT,
    Flop,
    card_rank,
    card_suit,
    fitting_subset,
    make_card,
    spread_flops,
)
from allstreets.engines import (
    CLASSES,
    BoardsMemory,
    CardModel,
    FlopCounts,
    MemoryMode,
    every_combo,
    matrix_cells,
    padded,
)
from allstreets.games.spot_estimate import (
    PROGRAM_BYTES,
    TABLE_BYTES,
    HandsByBoard,
    device_bytes,
    estimate_exact,
    hands_by_board,
    rows_by_board,
)
from allstreets.games.whole_game import WholeGame

SECONDS_PER_PRODUCT = 1 / 80e9  # one core, one multiplication and addition of two
SECONDS_PER_SLOT = 1.0e-9  # one core, one action of one hand in a half-iteration
EXACT_SECONDS_PER_SLOT = 3.8e-9
BOARDS_SECONDS_PER_SLOT = 2.9e-9
SECONDS_PER_GROUP_PRODUCT = 1.5 * SECONDS_PER_PRODUCT  # small matrices, read board by board
SECONDS_PER_MOVE = 2.0e-9  # one core, sixteen lines of a combo into its group or back
RIVER_COMBOS = 1081
PREFLOP_SECONDS_PER_DECISION = 1e-4  # per iteration; one thread only
SETUP_SECONDS_PER_FLOP = 0.02
BOARDS_SECONDS = 1.0  # a flop's turn and river boards
GROUPING_SECONDS = 1.6  # the groups of a flop's river boards, for one pair of ranges
GROUPING_BYTES = 400_000_000  # what a thread needs meanwhile
GPU_CORES = {"classes": 90, "buckets": 90, "exact": 65, "boards": 250}
"""Cores that get as much done as a GPU, an H200; buckets are taken to gain what classes do."""
RANGES_SECONDS = 5.0  # a quick solve for the ranges that hands are grouped by


@dataclass(frozen=True)
class UnifiedEstimate:
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
        """Seconds for so many iterations, set-up included."""
        return self.setup_seconds + iterations * self.seconds_per_iteration


def estimate_unified(
    game: WholeGame,
    model: CardModel = CLASSES,
    *,
    memory: MemoryMode = "resident",
    threads: int = 1,
    batch: int = 0,
    gpu: bool = False,
) -> UnifiedEstimate:
    """What a game takes; `batch` flops are visited at a time, 0 = all."""
    cores = GPU_CORES.get(model.kind, threads) if gpu else threads
    flops = len(game.flops.flops)
    visited = min(batch or flops, flops)
    kept = visited if memory == "per_batch" else flops
    setup = flops * SETUP_SECONDS_PER_FLOP
    if model.kind == "exact":
        stored, seconds, tables = _exact(game, model)
        seconds *= visited / flops
    elif model.kind == "boards":
        stored, seconds, tables = _boards(game, model)
        seconds *= visited / flops
        tables += min(threads, flops) * GROUPING_BYTES  # again as ranges move, beside all the rest
        sets = min(model.sets, len(game.flop_pots))
        setup = flops * (BOARDS_SECONDS + sets * GROUPING_SECONDS) / threads + RANGES_SECONDS
    else:
        lengths = matrix_lengths(model)
        stored, seconds = _matrices(game, lengths if len(lengths) > 1 else 3 * lengths)
        stored, seconds = stored * kept, seconds * visited
        tables = 4 * matrix_cells(lengths) * kept + 8 * 2 * len(game.flop_pots) * flops * HAND_COUNT
    resident = tables + PROGRAM_BYTES + (0 if memory == "memmap" else stored)
    preflop = int((game.tree.kind == NodeKind.DECISION).sum())
    return UnifiedEstimate(
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
            seconds += 2 * acts * length * SECONDS_PER_SLOT
            seconds += 2 * shows * 2 * length * length * SECONDS_PER_PRODUCT
    return stored, seconds


def matrix_lengths(model: CardModel) -> list[int]:
    """Hands of each stage, padding included, where the cards of a flop are matrices."""
    return [padded(hands) for hands in (model.buckets if model.kind == "buckets" else [HAND_COUNT])]


def _exact(game: WholeGame, model: CardModel) -> tuple[int, float, int]:
    """(bytes stored, seconds of an iteration on one core, bytes of tables) of all flops.

    Rows that hands share depend on ranks as well: those of one flop stand for all of its shape.
    """
    stored, seconds, tables = 0, 0.0, 0
    real = {_rank_free(flop): flop.cards for flop in game.flops.flops}
    for shape, like in Counter(map(_rank_free, game.flops.flops)).items():
        flop = real[shape]
        root, both = every_combo(flop)
        hands = hands_by_board(root, both, len(POSTFLOP))
        rows = rows_by_board(root, both, hands, model.river_groups)
        shared = 0  # tables by board and all-in matrices, for all pots and both players
        for size in game.tree_sizes:
            need = estimate_exact(size, hands, model.precision, rows=rows)
            stored += like * need.memory_bytes
            own = (need.process_bytes - need.memory_bytes - PROGRAM_BYTES) // 2
            shared = max(shared, own)
            seconds += like * need.slots * EXACT_SECONDS_PER_SLOT
        tables += like * shared
    return stored, seconds, tables


def _boards(game: WholeGame, model: CardModel) -> tuple[int, float, int]:
    """(bytes stored, seconds of an iteration on one core, bytes of tables) of all flops."""
    stored, seconds, tables = 0, 0.0, 0
    groups = model.groups
    for like, (flops, turns, rivers) in hands_of_flops(game.flops.flops):
        count = len(rivers[0])
        grouped = np.full(count, groups)
        rows = np.full(len(turns[0]), padded(model.rows)) if model.rows else turns[0]
        lines = 0
        for size in game.tree_sizes:
            need = estimate_exact(size, [flops, (rows, rows), (grouped, grouped)], "float16")
            stored += like * need.memory_bytes
            all_ins = int(size.nodes[:-1, NodeKind.SHOWDOWN].sum())
            ends = int(size.nodes[-1, [NodeKind.SHOWDOWN, NodeKind.FOLD]].sum()) + all_ins
            lines += int(size.nodes[-2, NodeKind.CHANCE]) + all_ins
            seconds += like * need.slots * BOARDS_SECONDS_PER_SLOT
            seconds += like * 2 * count * ends * groups**2 * 2 * SECONDS_PER_GROUP_PRODUCT
        sets = min(model.sets, len(game.tree_sizes))
        moves = lines // 16 + sets  # sixteen lines of a set at a time
        seconds += like * 2 * count * moves * 2 * RIVER_COMBOS * SECONDS_PER_MOVE
        tables += like * sets * count * (2 * groups**2 + 4 * groups + 6 * RIVER_COMBOS)
        tables += like * TABLE_BYTES * int(turns[0].sum() + turns[1].sum())
    return stored, seconds, tables


def game_device_bytes(game: WholeGame, model: CardModel, need: UnifiedEstimate) -> int:
    """What a game takes of the memory of a GPU: regrets, strategies, and what comes on top."""
    if model.kind != "boards" or not game.flop_pots:
        return device_bytes(need.memory_bytes)
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    flops = [(like, FlopCounts.of(hands)) for like, hands in hands_of_flops(game.flops.flops)]
    sets = min(model.sets, len(trees))
    return BoardsMemory(trees, flops, model.groups, model.rows, sets).whole


def hands_of_flops(flops: Sequence[Flop]) -> list[tuple[int, HandsByBoard]]:
    """How many flops have the same hands on their boards, and which; both hold every combo."""
    found = []
    for flop, like in Counter(map(_rank_free, flops)).items():
        found.append((like, hands_by_board(*every_combo(flop), len(POSTFLOP))))
    return found


def flop_costs(flops: Sequence[Flop], model: CardModel) -> Floats:
    """[F]: the time that each flop takes, in any unit: by its river boards where cards are real."""
    if model.kind not in ("exact", "boards"):
        return np.ones(len(flops))
    known: dict[tuple[int, ...], float] = {}
    for flop in map(_rank_free, flops):
        if flop not in known:
            *_, rivers = hands_by_board(*every_combo(flop), len(POSTFLOP))
            known[flop] = float(len(rivers[0]))
    return np.array([known[_rank_free(flop)] for flop in flops])


def _rank_free(flop: Flop) -> tuple[int, ...]:
    """A flop with other ranks on which every count of boards and hands is the same.

    Both players hold every combo, so ranks could be renamed throughout without changing which
    cards block what and which suits play alike. All flops together have a dozen such shapes.
    """
    ranks = list(dict.fromkeys(card_rank(card) for card in flop.cards))
    return tuple(make_card(ranks.index(card_rank(c)), card_suit(c)) for c in flop.cards)


def require_room(
    game: WholeGame,
    need: UnifiedEstimate,
    model: CardModel,
    memory: MemoryMode,
    free: int | None = None,
) -> None:
    """Refuse a game that does not fit into memory, with what would."""
    free = available_bytes() if free is None else free
    if free is None or need.resident_bytes <= free:
        return
    per_flop = (need.resident_bytes - PROGRAM_BYTES) / need.flops
    fitting = int((free - PROGRAM_BYTES) / per_flop)
    ways = []
    if memory == "per_batch":
        ways.append("a smaller flop_batch_size")  # regrets are those of one batch
    elif fitting >= 1:
        subset = fitting_subset(fitting)
        ways.append(f"flops: {f'subset_{subset}' if subset else f'spread_{fitting}'}")
    if model.kind == "exact":
        ways.append("precision: float16 (half the memory)")
        if model.river_groups == "none":
            ways.append("river_groups: suits (about a fifth)")
        ways.append("cards: boards")
    elif model.kind == "boards":
        ways += [f"river_groups: {fewer}" for fewer in _fitting_groups(game, model, free)]
    elif memory == "resident":
        ways.append("memory: memmap (regrets on disk, slower)")
    smaller = _one_size_less(game)
    if smaller is not None:
        ways.append(f"one bet size less ({smaller / max(need.slots, 1):.0%} of the actions)")
    raise InputError(
        f"this game needs {_gigabytes(need.resident_bytes)} of memory and {_gigabytes(free)} are "
        f"free.\nWhat would make it smaller: {'; '.join(ways) or 'a smaller stack'}."
    )


def _fitting_groups(game: WholeGame, model: CardModel, free: int) -> list[int]:
    """The largest of some smaller numbers of groups with which the game fits, if any does."""
    for groups in (128, 96, 64, 48, 32, 16):
        fewer = replace(model, groups=groups)
        if groups < model.groups and estimate_unified(game, fewer).resident_bytes <= free:
            return [groups]
    return []


def _one_size_less(game: WholeGame) -> int | None:
    """Actions of all pots when every street has one bet and raise size less, if it has several."""
    sizes = _without_the_first(game.sizes)
    own = {kind: _without_the_first(sizes) for kind, sizes in game.pot_sizes.items()}
    if (sizes, own) == (game.sizes, game.pot_sizes):
        return None
    less = replace(game, sizes=sizes, pot_sizes=own, flops=spread_flops(1))
    return sum(size.slots for size in less.tree_sizes)


def _without_the_first(sizes: tuple[StreetSizes, ...]) -> tuple[StreetSizes, ...]:
    """Every list of several bet or raise sizes with one less."""

    def fewer(one: PlayerSizes) -> PlayerSizes:
        return replace(
            one,
            bet=one.bet[1:] if len(one.bet) > 1 else one.bet,
            raises=one.raises[1:] if len(one.raises) > 1 else one.raises,
        )

    return tuple((fewer(oop), fewer(ip)) for oop, ip in sizes)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"

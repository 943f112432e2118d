"""A street of a played hand as a spot: the real pot and stack, and the sizes that were bet.

The sizes are the solution's for this kind of pot; every bet and raise of the hand on this street is
offered besides them, in chips. Where that is too large for the memory or the time that is given,
one size of each list stays, and then no raises but those that were made (`Trimmed`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

import numpy as np

from allstreets.base import Floats, InputError, StopWhen, available_bytes, thread_count
from allstreets.betting import (
    CHIPS_PER_BB,
    POSTFLOP,
    POT_KINDS,
    ActionKind,
    Player,
    PlayerSizes,
    Sizes,
    Street,
    neat,
    parse_sizes,
)
from allstreets.cards import HAND_OF_COMBO, Range, cards_text
from allstreets.engines import RiverGroups
from allstreets.games import Spot, WholeGame, estimate_spot
from allstreets.interop import Moment, PlayedHand
from allstreets.solutions import SpotSolution, solve_on
from allstreets.solvers import SpotSolver, Timer

SHARED = ", river hands alike in strength and suits sharing a strategy"
WAYS: tuple[tuple[str, RiverGroups, str], ...] = (
    ("float32", "none", ""),
    ("float16", "none", ", stored in 16 bits"),
    ("float32", "suits", SHARED),
    ("float16", "suits", f", stored in 16 bits{SHARED}"),
)
"""How strategies are stored, the largest first, and what is said of it."""
LEAST_ITERATIONS = 60  # fewer say little: a tree is made smaller rather than solved so badly
MOST_ITERATIONS = 10_000
WORST = 0.05  # of the pot: what is solved no better grades nobody
ADDED = 1e-4
"""The weight, of the largest, of a hand that the solution does not bring: the other player does not
notice it, and what it is worth does not depend on its own weight."""


class Trimmed(IntEnum):
    """What is left of the solution's sizes; those that were played always stay."""

    ALL = 0
    ONE_SIZE = 1
    NO_RAISES = 2


TRIMMED_WORDS = (
    "",
    ", with one size of each list besides those that were bet",
    ", with one size and no raises besides those that were made",
)


@dataclass(frozen=True, eq=False)
class SolvedStreet:
    """A street that was solved, and what was left out for that, in words that go on a sentence."""

    result: SpotSolution
    how: str


class StoppedError(Exception):
    """The user has asked for the end."""


@dataclass(frozen=True)
class Effort:
    """How well a spot is solved."""

    target: float = 0.001  # exploitability, of the pot
    seconds: float = 20.0  # of one spot at most
    threads: int | None = None
    stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class StreetStart:
    """Where a street of a hand begins."""

    hand: PlayedHand
    street: Street
    moments: tuple[Moment, ...]  # of this street
    raised_last: Player | None  # who made the last bet or raise of the street before


def street_spot(
    game: WholeGame,
    start: StreetStart,
    ranges: tuple[Floats, Floats],
    trimmed: Trimmed = Trimmed.ALL,
) -> Spot:
    """The spot; `ranges` [1326] are what both players bring."""
    first, hand = start.moments[0], start.hand
    kind = POT_KINDS[min(hand.raises, len(POT_KINDS) - 1)]
    sizes = game.pot_sizes.get(kind, game.sizes)
    raises = sum(one.action.kind >= ActionKind.BET for one in start.moments) - 1
    limit = game.max_raises
    oop, ip = (Range(weights / weights.max()) for weights in ranges)
    return Spot(
        board=cards_text(hand.board_on(start.street)),
        oop=oop,
        ip=ip,
        pot=_chips(first.pot),
        stack=_chips(min(first.left)),
        bet_sizes={
            f"{street.text}_{player.name.lower()}": _lists(
                sizes[street - Street.FLOP][player], start, street, player, trimmed
            )
            for street in POSTFLOP
            for player in Player
        },
        add_allin_threshold=game.add_allin_threshold,
        force_allin_threshold=game.force_allin_threshold,
        merging_threshold=game.merging_threshold,
        rake=game.preflop.rake,
        rake_cap=game.preflop.rake_cap,
        max_raises=None if limit is None else max(limit, raises),
        chips_per_bb=CHIPS_PER_BB,
    )


def with_hand(weights: Floats, combo: int) -> Floats:
    """A range [1326] that holds a hand: its class at least a little, so that suits stay alike."""
    least = np.where(HAND_OF_COMBO[combo] == HAND_OF_COMBO, ADDED * weights.max(), 0.0)
    found: Floats = np.maximum(weights, least)
    return found


def solve_street(
    game: WholeGame, start: StreetStart, ranges: tuple[Floats, Floats], effort: Effort
) -> SolvedStreet:
    """Solve a street to the target, or for as long as there is time."""
    solver, how = _solver(game, start, ranges, effort)
    result = _solve(solver, effort)
    if result.exploitability > WORST:
        raise InputError(
            f"{100 * result.exploitability:.0f} % of the pot is as near as {effort.seconds:g} s "
            "get; --seconds-per-spot gives it more"
        )
    return SolvedStreet(result, how)


def _solver(
    game: WholeGame, start: StreetStart, ranges: tuple[Floats, Floats], effort: Effort
) -> tuple[SpotSolver, str]:
    """The largest tree, and the best way to store it, for which there is memory and time."""
    threads, free = thread_count(effort.threads), available_bytes()
    for trimmed in Trimmed:
        spot = street_spot(game, start, ranges, trimmed)
        for precision, groups, words in WAYS:
            need = estimate_spot(spot, precision, threads, groups)
            in_time = need.seconds_per_iteration * LEAST_ITERATIONS <= effort.seconds
            fits = free is None or need.process_bytes <= free
            if fits and (in_time or trimmed == max(Trimmed)):
                solver = SpotSolver(
                    spot, threads=effort.threads, precision=precision, river_groups=groups
                )
                return solver, TRIMMED_WORDS[trimmed] + words
    raise InputError(
        f"it takes {need.process_bytes / 1e9:.1f} GB of memory, and {(free or 0) / 1e9:.1f} GB "
        "are free"
    )


def _solve(solver: SpotSolver, effort: Effort) -> SpotSolution:
    solver.train_batch(1)  # not timed: kernels may be compiled for it
    timer = Timer(effort.seconds)
    result = solve_on(solver, timer, effort.target, MOST_ITERATIONS, control=StopWhen(effort.stop))
    if effort.stop():
        raise StoppedError
    return result


def _lists(
    sizes: PlayerSizes, start: StreetStart, street: Street, player: Player, trimmed: Trimmed
) -> dict[str, Sizes]:
    """The sizes of a player on a street of the spot."""
    bet, raises, donk = sizes.bet, sizes.raises, sizes.donk
    if street == start.street:
        # Its first street has no donks: where there would be one, that is what OOP may bet.
        if donk is not None and start.raised_last == Player.IP:
            bet = donk
        donk = None
    if trimmed >= Trimmed.ONE_SIZE:
        bet, raises = bet[:1], raises[:1]
        donk = None if donk is None else donk[:1]
    if trimmed >= Trimmed.NO_RAISES:
        raises = ()
    if street == start.street:
        bet = (*bet, *_played(start.moments, player, facing_bet=False))
        raises = (*raises, *_played(start.moments, player, facing_bet=True))
    lists = {"bet": bet, "raise": raises}
    return lists if donk is None else {**lists, "donk": donk}


def _played(moments: Sequence[Moment], player: Player, *, facing_bet: bool) -> Sizes:
    """The totals that a player has bet, or raised to, on a street."""
    bets = [
        one
        for one in moments
        if one.action.player == player
        and one.action.kind >= ActionKind.BET
        and bool(one.bets[player.opponent]) == facing_bet
    ]
    sizes = ["a" if one.is_all_in else f"{_chips(one.counted)}c" for one in bets]
    return parse_sizes(sizes, raises=facing_bet)


def _chips(big_blinds: Fraction) -> float:
    return neat(float(big_blinds * CHIPS_PER_BB))

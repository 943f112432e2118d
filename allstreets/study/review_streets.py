"""Postflop streets of a played hand, each solved again for its real ranges, pot and stack.

1. A street begins with the ranges that earlier streets left, its real pot and stack, and the rake
that the hand paid, as a share of the pot.
2. It is solved exactly, or drafted (`solvers.draft`) if an exact flop takes longer than allowed.
Its sizes are the solution's for this kind of pot; every bet and raise of the hand on this street is
offered as well, in chips. If that is too large for memory or time, one size of each list stays, and
then only the raises that were made (`Trimmed`). A flop that still cannot be solved is evaluated by
the whole game itself, if it stores that flop, with its own pot, stack and sizes.
3. The actions are followed; the hero's are graded, and every action narrows its player's range.

If a player takes an action that the solution never takes, his range would be empty. The rest is
then solved as if the whole range had taken it (`solutions.solve_behind`), and a note says so.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from itertools import groupby

import numpy as np

from allstreets.base import (
    Floats,
    InputError,
    StopWhen,
    available_bytes,
    processors,
    thread_count,
)
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    POSTFLOP,
    POT_KINDS,
    ActionKind,
    NodeKind,
    Player,
    PlayerSizes,
    Sizes,
    Street,
    action_text,
    neat,
    parse_sizes,
)
from allstreets.cards import HAND_OF_COMBO, Range, cards_text, combo_index, live_combos
from allstreets.engines import RiverGroups
from allstreets.games import Spot, WholeGame, estimate_draft, estimate_spot
from allstreets.interop import Moment, PlayedHand
from allstreets.jobs import StoppedError
from allstreets.solutions import (
    BehindResult,
    Decision,
    Node,
    SpotSolution,
    accuracy_text,
    is_reached,
    solve_behind,
    solve_on,
)
from allstreets.solvers import DRAFT, Completion, SpotSolver, Timer, can_draft
from allstreets.study.games import SolvedGame, has_other_rake
from allstreets.study.grading import NEVER, SHADE, GradedDecision, within
from allstreets.study.played_actions import Draws, Mapped, bare_decision, graded_as, map_action

SHARED = ", river hands alike in strength and suits sharing a strategy"
WAYS: tuple[tuple[str, RiverGroups, str], ...] = (
    ("float32", "none", ""),
    ("float16", "none", ", stored in 16 bits"),
    ("float32", "suits", SHARED),
    ("float16", "suits", f", stored in 16 bits{SHARED}"),
)
"""Storage formats of strategies, the largest first, each with a note in words."""
DRAFT_ALLOWANCE = 2.0  # of the time of a spot: estimates include the set-up, and are high
LEAST_ITERATIONS = 60  # fewer say little: a tree is made smaller rather than solved so badly
MOST_ITERATIONS = 10_000
WORST = 0.05  # of the pot: a street with a larger error is not graded
ADDED = 1e-4
"""The weight, relative to the largest, of a hand that never gets there: it does not affect
the opponent, and its value does not depend on its own weight."""

Ranges = tuple[Floats, Floats]  # [1326] of OOP and IP


class Trimmed(IntEnum):
    """The trimming of the solution's sizes; sizes that were played always stay."""

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
    """A solved street; `how` completes a sentence with what was left out to solve it."""

    result: SpotSolution
    how: str


def never() -> bool:
    """Never asks for the end."""
    return False


@dataclass(frozen=True)
class Effort:
    """The target and limits for solving a spot."""

    target: float = 0.001  # exploitability, of the pot
    seconds: float = 5.0  # of one spot at most
    threads: int | None = None
    stop: Callable[[], bool] = never
    at_once: int = 1  # hands that are reviewed at a time, which share cores and memory
    draft: Completion | None = DRAFT  # of flops that take longer; None: none is drafted
    worst: float = WORST  # of the pot: a street with a larger error is refused

    def shared(self, at_once: int) -> "Effort":
        """The effort for one of several hands that are reviewed at a time."""
        if at_once == 1:
            return self
        threads = self.threads or max(1, processors() // at_once)
        return replace(self, threads=threads, at_once=at_once)


@dataclass(frozen=True)
class StreetStart:
    """The start of a street of a hand."""

    hand: PlayedHand
    street: Street
    moments: tuple[Moment, ...]  # of this street
    raised_last: Player | None  # who made the last bet or raise of the street before

    @property
    def pot(self) -> Fraction:
        """The pot when the street begins."""
        return self.hand.before(self.street)[0]

    @property
    def left(self) -> Fraction:
        """The chips behind of the shorter stack at that time."""
        return min(self.hand.before(self.street)[1])


class LostError(Exception):
    """The rest of a hand is unknown; the message says why."""


def follow_postflop(
    hand: PlayedHand,
    hero: Player,
    game: SolvedGame,
    root: Node,
    ranges: Ranges,
    effort: Effort,
    draws: Draws,
) -> Iterator[GradedDecision]:
    """Grade the hero's decisions after the flop, which is dealt at `root` to both ranges."""
    why, assumed = "", tuple[str, ...]()
    raised_last: Player | None = None
    for number, group in groupby(hand.moments(), key=lambda each: each.action.street):
        moments = tuple(group)
        start = StreetStart(hand, Street(number), moments, raised_last)
        raised = [each.action.player for each in moments if each.action.kind >= ActionKind.BET]
        raised_last = raised[-1] if raised else None
        if number == Street.PREFLOP:
            continue
        street: _Street | None = None
        for moment in moments:
            graded: GradedDecision | None = None
            try:
                if not why:
                    if street is None:
                        street = _Street(start, hero, ranges, assumed)
                        street.open(game, root, effort)
                    graded = street.take(moment, draws.at(moment.place))
            except LostError as error:
                why = str(error)
            if moment.action.player == hero:
                yield graded or bare_decision(hand, moment, why)
        if street is not None and not why:
            ranges, assumed = street.left, tuple(street.notes)


class SolvedAgain:
    """Both players' strategies on a street, solved for its real ranges, pot and stack.

    Where play gets to a line that the solution never takes, the rest is solved separately, as if
    the action given to `assume` were taken by its player's whole range.
    """

    def __init__(self, solved: SolvedStreet, effort: Effort, assume: Callable[[int], None]) -> None:
        self._solved, self._effort, self._assume = solved, effort, assume
        self._behind: BehindResult | None = None
        self.start = solved.result.at()

    @property
    def evaluated_by(self) -> str:
        """The way in which the street was solved, in words."""
        drafted = self._latest.draft is not None
        how = accuracy_text(self.solved_to, draft=drafted)
        return f"{how if drafted else how.replace('solved', 'solved again')}{self._solved.how}"

    @property
    def solved_to(self) -> float:
        """Exploitability of the solution that evaluates the latest decision."""
        return round(self._latest.exploitability, 6)

    @property
    def _latest(self) -> SpotSolution:
        return self._solved.result if self._behind is None else self._behind.solved

    def decision(self, node: int) -> Decision:
        """The decision, solved separately if the solution does not get there."""
        result, effort = self._solved.result, self._effort
        position = replace(self.start.position, node=node)
        line = result.line(position)
        if self._behind is None:
            decision = result.decision(position)
            if decision.reached:
                return decision
            self._behind = solve_behind(
                result,
                line,
                effort.target,
                effort.threads,
                seconds=effort.seconds,
                completion=None if result.draft is None else effort.draft,
            )
            if self._behind.exploitability > effort.worst:
                raise InputError(
                    f"the solution never gets here, and {effort.seconds:g} s are too few to solve "
                    "the rest separately; allow more with --seconds-per-spot"
                )
            self._assume(result.read(self._behind.line).node)
        return self._behind.node(line)

    def within(self, decision: Decision) -> float | None:
        """Gain of better play at a decision, averaged over the range, in bb."""
        latest, spot = self._latest, self._latest.spot
        return within(
            latest.exploitability * spot.pot / CHIPS_PER_BB,
            float(decision.own.weights.sum()) / spot.pairs,
        )


class StoredFlop:
    """Both players' strategies on a flop from the whole game itself."""

    solved_to = None

    def __init__(self, game: SolvedGame, start: Node, why: str) -> None:
        """`why`: the reason why it is not solved again."""
        self._game, self._why, self.start = game, why, start

    @property
    def evaluated_by(self) -> str:
        """The card model of its strategies, and the reason why they are used here."""
        kind = f"cards: {self._game.solution.cards.kind}{self._game.worth_text}"
        return f"the solution's own play of this flop ({self.start.source or kind}); {self._why}"

    def decision(self, node: int) -> Decision:
        """The stored decision, in the suits of the table."""
        return self.start.solution.decision(replace(self.start.position, node=node))

    def within(self, decision: Decision) -> float | None:
        """The bound by the whole game's exploitability; None: the flop was solved separately."""
        worth = self._game.exploitability
        if worth is None or self.start.source:
            return None
        return within(worth / 1000, decision.share)


class _Street:
    """A street, its evaluation, and the position of play on it."""

    _play: SolvedAgain | StoredFlop

    def __init__(
        self, start: StreetStart, hero: Player, ranges: Ranges, assumed: tuple[str, ...]
    ) -> None:
        self._start, self._hero, self._node = start, hero, 0
        hole = start.hand.holes[hero]
        assert hole is not None
        self._combo = combo_index(*hole)
        self._board = start.hand.board_on(start.street)
        live = live_combos(self._board)
        held = [weights * live for weights in ranges]
        for player in Player:
            if not held[player].max() > 0:
                raise LostError(f"{NEVER}: {player.seat} has no hand left beside this board")
        self._outside = bool(held[hero][self._combo] < SHADE * held[hero].max())
        held[hero] = with_hand(held[hero], self._combo) * live
        self.notes = list(assumed)
        self.left: Ranges = held[0], held[1]

    def open(self, game: SolvedGame, root: Node, effort: Effort) -> None:
        """Choose its evaluation: solved again, or a flop from the whole game itself."""
        try:
            solved = solve_street(game.solution.game, self._start, self.left, effort)
            self._play = SolvedAgain(solved, effort, self._assume)
        except InputError as error:  # ranges that block each other; too little memory or time
            why = f"not solved: {error}"
            if self._start.street != Street.FLOP:
                raise LostError(why) from None
            try:
                flop = root.solution.at(root.line, cards_text(self._board))
            except InputError:
                raise LostError(f"{why}; the solution does not store this flop") from None
            self._play = StoredFlop(game, flop, why)
        self._tree = self._play.start.tree

    def take(self, moment: Moment, draw: float) -> GradedDecision | None:
        """Follow an action; return its grade if it is the hero's."""
        tree, node = self._tree, self._node
        if tree.kind[node] != NodeKind.DECISION or tree.player_at(node) != moment.action.player:
            raise LostError("there is no decision here: the sizes of the tree led to an all-in")
        try:
            decision = self._play.decision(node)
        except InputError as error:
            raise LostError(f"not solved: {error}") from None
        mapped = map_action(tree, node, moment, draw)
        if mapped is None:
            raise LostError(f"{NEVER}: no similar action is in the tree")
        graded = None
        if moment.action.player == self._hero:
            graded = graded_as(
                bare_decision(self._start.hand, moment),
                mapped,
                decision,
                self._combo,
                outside=self._outside,
                within_bb=self._play.within(decision),
                evaluated_by=self._play.evaluated_by,
                notes=self.notes,
                solved_to=self._play.solved_to,
            )
        self._node = mapped.node
        self._narrow(decision, mapped)
        return graded

    def _narrow(self, decision: Decision, mapped: Mapped) -> None:
        """Both ranges after an action; the player's stays whole if the solution never takes it."""
        actor = decision.player
        share = float(decision.line_reach.taken[mapped.place])
        seldom = not is_reached((share, 1.0))
        ranges = [decision.combo_weights(player) for player in Player]
        if not seldom:
            ranges[actor] = decision.combo_weights(actor, mapped.place)
        elif self._tree.kind[mapped.node] == NodeKind.CHANCE:  # else `_play` says so
            self._assume(mapped.node)
        self.left = ranges[0], ranges[1]

    def _assume(self, node: int) -> None:
        """Record that the whole range of a player takes the action that leads to a node."""
        action = self._tree.actions[node]
        assert action is not None
        seat = self._tree.player_at(int(self._tree.parent[node])).seat
        word = action_text(action, BIG_BLINDS)
        self.notes.append(f"{NEVER}: as if {seat} took '{word}' with his whole range")


def street_spot(
    game: WholeGame,
    start: StreetStart,
    ranges: tuple[Floats, Floats],
    trimmed: Trimmed = Trimmed.ALL,
) -> Spot:
    """The spot of a street; `ranges` [1326] are those of both players at its start."""
    hand = start.hand
    kind = POT_KINDS[min(hand.raises, len(POT_KINDS) - 1)]
    sizes = game.pot_sizes.get(kind, game.sizes)
    raises = sum(moment.action.kind >= ActionKind.BET for moment in start.moments) - 1
    limit = game.max_raises
    oop, ip = (Range(weights / weights.max()) for weights in ranges)
    raked = has_other_rake(game.preflop, hand)
    return Spot(
        board=cards_text(hand.board_on(start.street)),
        oop=oop,
        ip=ip,
        pot=_chips(start.pot),
        stack=_chips(start.left),
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
        rake=hand.rake_share if raked else game.preflop.rake,
        rake_cap=None if raked else game.preflop.rake_cap,
        max_raises=None if limit is None else max(limit, raises),
        chips_per_bb=CHIPS_PER_BB,
    )


def with_hand(weights: Floats, combo: int) -> Floats:
    """A range [1326] with at least a little of a hand's class, so that suits stay alike."""
    least = np.where(HAND_OF_COMBO[combo] == HAND_OF_COMBO, ADDED * weights.max(), 0.0)
    raised: Floats = np.maximum(weights, least)
    return raised


def solve_street(
    game: WholeGame, start: StreetStart, ranges: tuple[Floats, Floats], effort: Effort
) -> SolvedStreet:
    """Solve a street to the target, or for as long as there is time."""
    solver, how = _solver(game, start, ranges, effort)
    result = _solve(solver, effort)
    if result.exploitability > effort.worst:
        raise InputError(
            f"{effort.seconds:g} s reach {100 * result.exploitability:.0f} % of the pot; "
            "allow more with --seconds-per-spot"
        )
    return SolvedStreet(result, how)


def _solver(
    game: WholeGame, start: StreetStart, ranges: tuple[Floats, Floats], effort: Effort
) -> tuple[SpotSolver, str]:
    """The largest tree, and the best storage for it, that memory and time allow."""
    threads, free = thread_count(effort.threads), available_bytes()
    free = None if free is None else free // effort.at_once
    draft = effort.draft

    def exactly(spot: Spot, seconds: float) -> tuple[SpotSolver, str] | None:
        for precision, groups, words in WAYS:
            need = estimate_spot(spot, precision, threads, groups)
            in_time = need.seconds_per_iteration * LEAST_ITERATIONS <= seconds
            if in_time and (free is None or need.process_bytes <= free):
                solver = SpotSolver(
                    spot, threads=effort.threads, precision=precision, river_groups=groups
                )
                return solver, words
        return None

    def drafted(spot: Spot, seconds: float) -> tuple[SpotSolver, str] | None:
        if draft is None or not can_draft(spot):
            return None
        need = estimate_draft(spot, draft.model, threads)
        in_time = need.seconds_to(draft.iterations) <= DRAFT_ALLOWANCE * seconds
        if in_time and (free is None or need.process_bytes <= free):
            return draft.solver(spot, effort.threads), ""
        return None

    spots = {trimmed: street_spot(game, start, ranges, trimmed) for trimmed in Trimmed}
    tries = [(trimmed, effort.seconds) for trimmed in Trimmed]
    for trimmed, seconds in [*tries, (max(Trimmed), math.inf)]:
        for way in (exactly, drafted) if seconds < math.inf else (drafted, exactly):
            solver = way(spots[trimmed], seconds)
            if solver is not None:
                return solver[0], TRIMMED_WORDS[trimmed] + solver[1]
    need = estimate_spot(spots[max(Trimmed)], WAYS[-1][0], threads, WAYS[-1][1])
    raise InputError(
        f"it takes {need.process_bytes / 1e9:.1f} GB of memory, and {(free or 0) / 1e9:.1f} GB "
        "are free"
    )


def _solve(solver: SpotSolver, effort: Effort) -> SpotSolution:
    solver.train_batch(1)  # not timed: kernels may be compiled for it
    timer = Timer(effort.seconds)
    check = None
    if solver.draft_cards is not None and effort.draft is not None:
        check = effort.draft.iterations
    control = StopWhen(effort.stop)
    result = solve_on(solver, timer, effort.target, MOST_ITERATIONS, check, control)
    if effort.stop():
        raise StoppedError
    return result


def _lists(
    sizes: PlayerSizes, start: StreetStart, street: Street, player: Player, trimmed: Trimmed
) -> dict[str, Sizes]:
    """The sizes of a player on a street of the spot."""
    bet, raises, donk = sizes.bet, sizes.raises, sizes.donk
    if street == start.street:
        # Its first street has no donk bets: where one is possible, OOP's bets have donk sizes.
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
        moment
        for moment in moments
        if moment.action.player == player
        and moment.action.kind >= ActionKind.BET
        and bool(moment.bets[player.opponent]) == facing_bet
    ]
    sizes = ["a" if moment.is_all_in else f"{_chips(moment.counted)}c" for moment in bets]
    return parse_sizes(sizes, raises=facing_bet)


def _chips(big_blinds: Fraction) -> float:
    return neat(float(big_blinds * CHIPS_PER_BB))

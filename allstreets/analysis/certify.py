"""Flops evaluated with real cards: as the solution plays them, or as they are completed.

Where a solution stores no strategies of a flop, because it was not trained on it or because its
model keeps none after the flop, the flop is completed: solved for the ranges that the solution
sends there, or for its entry ranges where a pot is off-path (`solvers.entry_ranges`). Its preflop
strategy stays unchanged; the rest is the play of someone who studies that flop.
`estimate_certificate` estimates memory and time before anything is evaluated.

`class_values` gives every flop a cheap likeness of its true values: all 1,755 flops solved with
hand classes, a part of them at a time. Such play sees neither turn nor river, so its values are
wrong; but where a hand's true value on a flop is high, this value is high too
(`certificate_figures`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from allstreets.base import Arrays, Floats
from allstreets.betting import Player
from allstreets.cards import FLOP_COUNT, Flop, FlopSet, all_flops, spread_flops
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.engines import (
    CPU,
    TWO_BYTES,
    CardModel,
    EngineSpec,
    Lift,
    LiftedValues,
    evaluate_flop,
    lift_flop,
    open_device,
    release_memory,
    solved_lifts,
)
from allstreets.games import (
    DEVICE_ROWS,
    PROGRAM_BYTES,
    WholeGame,
    estimate_exact,
    estimate_whole_game,
    game_device_bytes,
    hands_of_flops,
)
from allstreets.solutions import WholeSolution
from allstreets.solvers import DRAFT, Completion

SCHEDULE = "ahead"
AT_ONCE = 4  # flops that are completed side by side at most, for the sake of memory
DRAFTS_AT_ONCE = 24  # on a device: enough boards for all of it
DRAFT_BYTES = 100_000_000  # of a flop that is drafted, beside the program


@dataclass(frozen=True, eq=False)
class FlopSolver:
    """Solves flops of a game for given ranges: by a completion, or as drafts.

    It is small enough to be sent to other processes.
    """

    game: WholeGame
    ranges: Floats  # [2, P, 169]: the ranges that flops are solved for, off-path pots included
    reach: Floats  # [2, P, 169]: both players' reach at the roots of the pots
    completion: Completion
    threads: int = 1
    device: str = CPU  # where flops are solved exactly, and drafts of flops
    draft: Completion = DRAFT  # how the flops that exact ones are compared with are solved

    @property
    def iteration_weights(self) -> list[IterationWeights]:
        """The weights of each iteration of a completion."""
        return parse_schedule(SCHEDULE).run(1, self.completion.iterations)

    @property
    def solved_in_place(self) -> list[Lift]:
        """The pots of a flop, solved where they are evaluated."""
        return solved_lifts(self.completion.model, self.ranges, self.iteration_weights)

    def values(self, flop: Flop, lifts: Sequence[Lift] | None = None) -> LiftedValues:
        """Evaluate the pots of a flop with real cards, as `lifts` play them; solved by default."""
        own = self.game.preflop.rake > 0  # without, one player's gain is the other's loss
        trees = [(pot.tree, pot.payoffs) for pot in self.game.pots]
        values = evaluate_flop(
            trees,
            flop,
            self.solved_in_place if lifts is None else lifts,
            self.reach,
            own=own,
            threads=self.threads,
            device=open_device(self.device),
        )
        release_memory(self.device)
        return values

    def best_values(self, flop: Flop) -> Floats:
        """[1, 2, P, 169]: the values of both players' best responses on a flop that is solved."""
        return self.values(flop).best[None]

    def draft_values(self, flops: Sequence[Flop]) -> Floats:
        """[F, 2, P, 169]: values of flops that are solved quickly, side by side."""
        game, draft = self.game, self.draft
        spec = game.engine(
            draft.model, threads=self.threads, ranges=self.ranges, device=self.device
        )
        (values,) = quick_values(
            game, spec, self.ranges, self.reach, flops, len(flops), draft.iterations
        )
        release_memory(self.device)
        return values

    def processes(self, worth: int, free: int | None, bytes_here: int, on_device: int = 0) -> int:
        """Processes that are `worth` their start, and fit into half of the `free` memory.

        `bytes_here` and `on_device` are those of each.
        """
        fit = 1 if free is None else free // 2 // bytes_here
        device = open_device(self.device)
        if device is not None and on_device:
            fit = min(fit, device.free_bytes // 2 // on_device)
        return max(1, min(self.threads, worth, fit))

    def exact_processes(self, flops: Sequence[Flop], free: int | None) -> int:
        """Processes that solve flops exactly, each of them one pot at a time."""
        needs = [
            estimate_exact(size, hands, self.completion.model.precision)
            for _, hands in hands_of_flops(flops)
            for size in self.game.tree_sizes
        ]
        stored = max(need.memory_bytes for need in needs)
        program = max(need.process_bytes for need in needs)
        return self.processes(len(flops), free, program, stored + DEVICE_ROWS)

    def drafts_at_once(self, flops: Sequence[Flop], processes: int) -> int:
        """Flops that each of several processes drafts together.

        On a device they share half of its memory; here each thread drafts a flop.
        """
        device = open_device(self.device)
        if device is None or not flops:
            return max(1, min(self.threads // processes, AT_ONCE))
        some = replace(self.game, flops=FlopSet("drafts", tuple(flops), np.ones(len(flops))))
        need = estimate_whole_game(some, self.draft.model, gpu=True)
        each = game_device_bytes(some, self.draft.model, need) // len(flops)
        room = device.free_bytes // 2 // processes // max(each, 1)
        return max(1, min(DRAFTS_AT_ONCE, -(-len(flops) // processes), room))

    def draft_processes(self, flops: int, free: int | None) -> int:
        """Processes that draft this many flops."""
        each, worth = PROGRAM_BYTES + DRAFT_BYTES, flops
        if self.device != CPU:  # laying out boards takes a processor as long as the rest
            each += DRAFTS_AT_ONCE * DRAFT_BYTES
            worth = flops // (DRAFTS_AT_ONCE // 4)
        return self.processes(worth, free, each)

    def draft_seconds(self, flops: int) -> float:
        """Seconds that drafts of this many flops take, a guess."""
        if not flops:
            return 0.0
        some = replace(self.game, flops=spread_flops(min(flops, FLOP_COUNT)))
        gpu = self.device != CPU
        need = estimate_whole_game(some, self.draft.model, threads=self.threads, gpu=gpu)
        return need.seconds_to(self.draft.iterations)


@dataclass(frozen=True, eq=False)
class FlopEvaluator:
    """Plays a solution with real cards."""

    result: WholeSolution
    completion: Completion = field(default_factory=Completion)
    threads: int = 1
    device: str = CPU
    draft: Completion = DRAFT
    _ahead: dict[int, Arrays] = field(default_factory=dict)  # completed and not evaluated yet

    @cached_property
    def solver(self) -> FlopSolver:
        """Solves the flops that are not stored."""
        before = self.result.before
        return FlopSolver(
            self.result.game,
            before.pot_ranges,
            before.pot_reach,
            self.completion,
            self.threads,
            self.device,
            self.draft,
        )

    @cached_property
    def stored(self) -> dict[int, int]:
        """The indices, by number, of the flops whose every decision is stored."""
        if not self.result.has_flops or not self.result.cards.stores_all_streets:
            return {}
        return {flop.number: place for place, flop in enumerate(self.result.game.flops.flops)}

    def completes(self, flop: Flop) -> str | None:
        """The way in which a flop is solved before it is evaluated; None: it is stored."""
        return None if flop.number in self.stored else self.completion.text

    @cached_property
    def spec(self) -> EngineSpec:
        """The engine spec that completes flops."""
        model, threads = self.completion.model, self.threads
        return self.result.game.engine(model, threads=threads, ranges=self.solver.ranges)

    def values(self, flop: Flop, following: Sequence[Flop] = ()) -> LiftedValues:
        """Evaluate the pots of a flop; some of the `following` are completed with it."""
        return self.solver.values(flop, self._plays(flop, following))

    def _plays(self, flop: Flop, following: Sequence[Flop]) -> list[Lift]:
        """The play of the pots of a flop."""
        if flop.number not in self.stored and not self.completion.model.stores_all_streets:
            return self.solver.solved_in_place
        model, arrays = self._strategies(flop, following)
        return lift_flop(model, flop, [pot.tree for pot in self.result.game.pots], arrays)

    def _strategies(self, flop: Flop, following: Sequence[Flop]) -> tuple[CardModel, Arrays]:
        stored_at = self.stored.get(flop.number)
        if stored_at is not None:
            return self.result.cards, self.result.stored.source.arrays(stored_at)
        if flop.number not in self._ahead:
            others = [other for other in following if other.number not in self.stored]
            count = min(self.threads, AT_ONCE)
            self._ahead.update(self.completed([flop, *others][:count]))
        return self.completion.model, self._ahead.pop(flop.number)

    def completed(self, flops: Sequence[Flop]) -> dict[int, Arrays]:
        """The strategies of flops that are solved for the solution's ranges, by their numbers.

        They are as in a bundle. Pots that both players hardly ever reach are solved as well: a best
        response may reach them.
        """
        game, pots = self.result.game, len(self.result.game.pots)
        engine = game.build(replace(self.spec, flops=tuple(flops)))
        visited = np.ones((pots, len(flops)), np.bool_)
        engine.iterate(self.solver.ranges, visited, self.solver.iteration_weights)
        return {
            flop.number: engine.pack(place, self.solver.reach, [TWO_BYTES] * pots)
            for place, flop in enumerate(flops)
        }


SETUP_SECONDS_PER_BOARD = 0.0007  # of one flop, for all of its pots; one thread only
SECONDS_PER_BOARD = 0.00003  # of one pot
SECONDS_PER_SLOT = 3e-9  # one core, both players' best responses, one action of one hand
WORKER_SECONDS = 4.0  # of work that justify another process
SHARED = 0.2  # of what is stored where every hand has its own row: hands of a row share theirs


@dataclass(frozen=True)
class CertificateEstimate:
    """The size of a job."""

    known: int  # flops that are evaluated already
    seconds: float  # for the others, a guess
    memory_bytes: int  # the program itself included
    at_once: int = 1  # flops that are evaluated side by side, each by a process


def estimate_certificate(
    evaluator: FlopEvaluator, flops: Sequence[Flop], known: int, free: int | None = None
) -> CertificateEstimate:
    """Estimate the evaluation of these flops; `known` were evaluated before.

    With `free` memory several are evaluated side by side, as many as fit into half of it.
    """
    game, seconds, memory, stored_there = evaluator.result.game, 0.0, 0, 0
    unknown = [flop for flop in flops if flop.number not in evaluator.stored]
    model = evaluator.completion.model
    in_place = bool(unknown) and not model.stores_all_streets  # solved where they are evaluated
    for like, hands in hands_of_flops(flops):
        boards = sum(len(street[0]) for street in hands)
        setup, passes, largest = boards * SETUP_SECONDS_PER_BOARD, 0.0, 0
        for size in game.tree_sizes:
            need = estimate_exact(size, hands, model.precision if in_place else "float32")
            passes += need.slots * SECONDS_PER_SLOT + boards * SECONDS_PER_BOARD
            tables = need.process_bytes - need.memory_bytes - PROGRAM_BYTES
            stored = need.memory_bytes if in_place else int(SHARED * need.memory_bytes / 2)
            largest = max(largest, tables + stored)
            stored_there = max(stored_there, stored)
        seconds += like * (setup + passes)
        memory = max(memory, largest)
    if unknown:
        some = FlopSet("some", tuple(unknown), np.ones(len(unknown)))
        solving = estimate_whole_game(replace(game, flops=some), model)
        seconds += solving.seconds_to(evaluator.completion.iterations)
        if not in_place:
            memory = max(memory, (solving.resident_bytes - PROGRAM_BYTES) // len(unknown))
    per_process = memory + PROGRAM_BYTES
    worth = min(len(flops), 1 + int(seconds / WORKER_SECONDS))
    on_device = stored_there + DEVICE_ROWS if in_place else 0
    at_once = evaluator.solver.processes(worth, free, per_process, on_device)
    return CertificateEstimate(known, seconds / evaluator.threads, per_process * at_once, at_once)


ITERATIONS = 60
PART_BYTES = 1 << 28  # of regrets and strategies that are in memory at a time, about
SLOT_BYTES = 8 * 169  # of an action: regrets and average of every class, in 32 bits


def class_values(
    game: WholeGame,
    reach: Floats,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    flops: Sequence[Flop] | None = None,
    part_bytes: int = PART_BYTES,
) -> Floats:
    """[F, 2, P, 169]: values of best responses to hand classes, given reach [2, P, 169].

    In chips times pairs of combos; of all 1,755 flops unless some are named.
    `progress` receives the flops done and their total.
    """
    game = game.roughly
    flops = all_flops() if flops is None else flops
    a_flop = SLOT_BYTES * sum(size.slots for size in game.tree_sizes)
    count = max(threads, part_bytes // max(a_flop, 1))
    parts, done = [], 0
    for values in quick_values(game, game.engine(threads=threads), reach, reach, flops, count):
        parts.append(values)
        done += len(values)
        if progress is not None:
            progress(done, len(flops))
    return np.concatenate(parts)


def quick_values(
    game: WholeGame,
    spec: EngineSpec,
    ranges: Floats,
    reach: Floats,
    flops: Sequence[Flop],
    at_once: int,
    iterations: int = ITERATIONS,
) -> Iterator[Floats]:
    """Solve flops by an engine and yield values [F, 2, P, 169] of `at_once` after another.

    Flops are solved for `ranges` [2, P, 169]; the values are those of best responses in the
    engine's own game, against the `reach` of their roots, in chips times pairs of combos.
    """
    every = parse_schedule(SCHEDULE).run(1, iterations)
    for first in range(0, len(flops), at_once):
        part = flops[first : first + at_once]
        engine = game.build(replace(spec, flops=tuple(part)))
        engine.iterate(ranges, np.ones((engine.pots, len(part)), np.bool_), every)
        best = [
            np.asarray(engine.best_response(player, reach[player.opponent], np.arange(len(part))))
            for player in Player
        ]
        yield np.stack(best).astype(np.float64).transpose(2, 0, 1, 3)

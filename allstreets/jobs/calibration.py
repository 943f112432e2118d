"""Measuring the corrections of a run: flops are solved exactly, side by side.

The run waits meanwhile, and its arrays stay in memory, on a GPU perhaps. Flops are solved by
separate processes where memory allows, as for a certificate. Corrections are for the flops of the
run, or for all 1,755: all of these are drafted then, with the same ranges.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np

from allstreets.analysis import Calibrated, FlopSolver, Likeness, calibrated
from allstreets.base import Floats, available_bytes
from allstreets.betting import BIG_BLINDS, Player, line_text
from allstreets.cards import Flop, all_flops
from allstreets.engines import CPU, DealtPairs, release_memory
from allstreets.games import WholeGame, largest_one
from allstreets.jobs.executors import Executor, in_order, on_this_machine
from allstreets.jobs.job import NO_CALLBACKS, Callbacks
from allstreets.solvers import (
    DRAFT,
    EXACTLY,
    Calibration,
    Completion,
    WholeGameSolver,
    some_flops,
)

EXACT = Completion(EXACTLY, 120)

Item = TypeVar("Item")

Over = Literal["own", "all"]
"""The flops that corrections are for: those of the run, or all 1,755."""


def planned_calibration(
    flops: int,
    iteration: int,
    threads: int,
    device: str,
    callbacks: Callbacks = NO_CALLBACKS,
    over: Over = "own",
) -> Calibration:
    """The calibration of a run on this many flops, before an iteration."""

    def measure(solver: WholeGameSolver) -> Floats:
        measured = measure_corrections(solver, flops, threads, device, callbacks, over=over)
        callbacks.say(calibration_text(solver.game, measured))
        return measured.corrections

    return Calibration(flops, iteration, measure, over)


def measure_corrections(
    solver: WholeGameSolver,
    flops: int,
    threads: int = 1,
    device: str = CPU,
    callbacks: Callbacks = NO_CALLBACKS,
    exactly: Completion = EXACT,
    draft: Completion = DRAFT,
    over: Over = "own",
) -> Calibrated:
    """Compare the values of a solver with exact ones, on this many flops."""
    game, weights, dealt = solver.game, solver.leaves.weights, solver.engine.dealt
    reach = solver.preflop.pot_reach(solver.preflop.average())
    every = np.arange(solver.engine.flops)
    values = np.stack(
        [solver.engine.best_response(player, reach[player.opponent], every) for player in Player]
    ).transpose(2, 0, 1, 3)
    release_memory(device)
    flop_solver = FlopSolver(game, largest_one(reach), reach, exactly, threads, device, draft)
    population: Sequence[Flop] = game.flops.flops
    own = Likeness.of(reach, dealt, weights, values)
    if over == "all" and len(population) < len(all_flops()):
        population = all_flops()
        weights = np.array([flop.multiplicity for flop in population], np.float64)
        dealt = DealtPairs.of([flop.cards for flop in population])
        values = _drafts(flop_solver, population, callbacks)
    chosen = some_flops(population, weights, flops).tolist()
    exact = _exact_values(flop_solver, [population[number] for number in chosen], callbacks)
    likeness = Likeness.of(reach, dealt, weights, values, chosen)
    return calibrated(reach, own, likeness, exact, raked=game.preflop.rake > 0)


def _exact_values(solver: FlopSolver, flops: Sequence[Flop], callbacks: Callbacks) -> Floats:
    """[D, 2, P, 169]: values of best responses on flops that are solved exactly."""
    executor = on_this_machine(solver.exact_processes(flops, available_bytes()))
    count = callbacks.counter("flops solved exactly")
    return _values(executor, _shared(solver, executor).best_values, flops, len(flops), count)


def _drafts(solver: FlopSolver, flops: Sequence[Flop], callbacks: Callbacks) -> Floats:
    """[F, 2, P, 169]: values of flops that are drafted."""
    executor = on_this_machine(solver.draft_processes(len(flops), available_bytes()))
    size = solver.drafts_at_once(flops, executor.at_once)
    parts = [flops[first : first + size] for first in range(0, len(flops), size)]
    count = callbacks.counter("drafts of flops")
    return _values(executor, _shared(solver, executor).draft_values, parts, len(flops), count)


def _shared(solver: FlopSolver, executor: Executor) -> FlopSolver:
    """The same with the share of the threads that each process has."""
    return replace(solver, threads=max(1, solver.threads // executor.at_once))


def _values(
    executor: Executor,
    solve: Callable[[Item], Floats],
    items: Sequence[Item],
    flops: int,
    count: Callable[[int, int], None],
) -> Floats:
    """[F, 2, P, 169]: values of this many flops, solved item by item."""
    done: dict[int, Floats] = {}

    def keep(number: int, values: Floats) -> None:
        done[number] = values
        count(sum(map(len, done.values())), flops)

    executor.map(solve, items, keep)
    return np.concatenate(in_order(done))


def calibration_text(game: WholeGame, measured: Calibrated) -> str:
    """The errors of the values of pots, in words."""
    lines = ["Calibrated. Mean error of the value of a pot to a hand, in % of the pot:"]
    for number, pot in enumerate(game.flop_pots):
        line = line_text(game.tree, pot.node, notation=BIG_BLINDS)
        if not measured.played[number]:
            lines.append(f"  {line}: off-path, not corrected")
            continue
        sizes, luck = (100 / pot.pot * each[:, number] for each in (measured.sizes, measured.luck))
        lines.append(
            f"  {line}: BB {sizes[0]:.2f}, SB {sizes[1]:.2f} "
            f"(sampling error {luck[0]:.2f} and {luck[1]:.2f})"
        )
    return "\n".join(lines)

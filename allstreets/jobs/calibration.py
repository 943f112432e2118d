"""Measuring the corrections of a run: some of its flops are solved exactly, side by side.

The run stays where it is, on a GPU perhaps, and waits. Flops are solved by processes of their own
where memory allows, as for a certificate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.analysis import Calibrated, calibrated
from allstreets.base import Floats, available_bytes
from allstreets.betting import BIG_BLINDS, BettingTree, Player, line_text
from allstreets.cards import Flop
from allstreets.cfr import parse_schedule
from allstreets.engines import CPU, evaluate_flop, open_device, release_memory, solved_lifts
from allstreets.games import (
    DEVICE_ROWS,
    WholeGame,
    estimate_exact,
    hands_of_flops,
    largest_one,
)
from allstreets.jobs.executors import Executor, Here, Processes, in_order
from allstreets.jobs.job import NO_CALLBACKS, Callbacks
from allstreets.solvers import EXACTLY, Calibration, WholeGameSolver, some_flops

ITERATIONS = 120  # of an exact flop
SCHEDULE = "ahead"


@dataclass(frozen=True, eq=False)
class ExactFlop:
    """Solves the pots of a flop exactly, for the reach [2, P, 169] of their roots."""

    trees: tuple[tuple[BettingTree, Floats], ...]
    reach: Floats
    threads: int
    device: str
    iterations: int = ITERATIONS

    def __call__(self, flop: Flop) -> Floats:
        """[2, P, 169]: the values of both players' best responses."""
        device = open_device(self.device)
        weights = parse_schedule(SCHEDULE).run(1, self.iterations)
        lifts = solved_lifts(EXACTLY, largest_one(self.reach), weights)
        values = evaluate_flop(
            self.trees, flop, lifts, self.reach, own=False, threads=self.threads, device=device
        )
        release_memory(self.device)
        return values.best


def planned_calibration(
    flops: int,
    iteration: int,
    threads: int,
    device: str,
    callbacks: Callbacks = NO_CALLBACKS,
) -> Calibration:
    """The calibration of a run on so many of its flops, before an iteration."""

    def measure(solver: WholeGameSolver) -> Floats:
        measured = measure_corrections(solver, flops, threads, device, callbacks)
        callbacks.say(calibration_text(solver.game, measured))
        return measured.corrections

    return Calibration(flops, iteration, measure)


def measure_corrections(
    solver: WholeGameSolver,
    flops: int,
    threads: int = 1,
    device: str = CPU,
    callbacks: Callbacks = NO_CALLBACKS,
    iterations: int = ITERATIONS,
) -> Calibrated:
    """Compare the values of a solver with exact ones, on so many of its flops."""
    game, weights = solver.game, solver.leaves.weights
    reach = solver.preflop.pot_reach(solver.preflop.average())
    every = np.arange(solver.engine.flops)
    own = np.stack(
        [solver.engine.best_response(player, reach[player.opponent], every) for player in Player]
    )
    chosen = some_flops(game.flops.flops, weights, flops)
    drawn = [game.flops.flops[place] for place in chosen.tolist()]
    release_memory(device)
    executor = _executor(game, drawn, threads, device)
    trees = tuple((pot.tree, pot.payoffs) for pot in game.pots)
    solve = ExactFlop(trees, reach, max(1, threads // executor.at_once), device, iterations)
    exact: dict[int, Floats] = {}
    count = callbacks.counter("flops solved exactly")

    def keep(number: int, values: Floats) -> None:
        exact[number] = values
        count(len(exact), len(drawn))

    executor.map(solve, drawn, keep)
    return calibrated(
        reach,
        solver.engine.dealt,
        weights,
        chosen.tolist(),
        own,
        np.stack(in_order(exact)),
        raked=game.preflop.rake > 0,
    )


def _executor(game: WholeGame, flops: Sequence[Flop], threads: int, device: str) -> Executor:
    """As many processes as half of the free memory has room for."""
    program, stored = 0, 0
    for _, hands in hands_of_flops(flops):
        for size in game.tree_sizes:  # a process plays one pot at a time
            need = estimate_exact(size, hands, EXACTLY.precision)
            program, stored = max(program, need.process_bytes), max(stored, need.memory_bytes)
    free, there = available_bytes(), open_device(device)
    fit = threads if free is None else free // 2 // program
    if there is not None:
        fit = min(fit, there.free_bytes // 2 // (stored + DEVICE_ROWS))
    at_once = max(1, min(threads, len(flops), fit))
    return Processes(at_once) if at_once > 1 else Here()


def calibration_text(game: WholeGame, measured: Calibrated) -> str:
    """For people: how far the values of the pots were off."""
    lines = ["Calibrated: what pots were worth to a hand was off by, in % of the pot,"]
    for number, pot in enumerate(game.flop_pots):
        line = line_text(game.tree, pot.node, notation=BIG_BLINDS)
        if not measured.played[number]:
            lines.append(f"  {line}: off-path, not corrected")
            continue
        sizes, luck = (100 / pot.pot * each[:, number] for each in (measured.sizes, measured.luck))
        lines.append(
            f"  {line}: BB {sizes[0]:.2f}, SB {sizes[1]:.2f} "
            f"({luck[0]:.2f} and {luck[1]:.2f} of it by the luck of the draw)"
        )
    return "\n".join(lines)

"""The betting before the flop as a job, on top of models of flops that were solved before.

FOLDER/models/             the flops, where the file has a section postflop_model
       manifest.json, …    the preflop solution
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError, duration, figure
from allstreets.betting import Player, build_preflop_tree
from allstreets.cards import FlopSet, parse_flop
from allstreets.games import preflop_locks
from allstreets.jobs.config.whole_game import PreflopConfig
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Plan, TrainingOutcome
from allstreets.jobs.loop import CHECKPOINTS, TrainedOutcome, train_into
from allstreets.jobs.stopping import Intervals
from allstreets.jobs.whole_game import charts_every
from allstreets.solutions import (
    PreflopRoots,
    PreflopStrategies,
    SolutionFacts,
    WholeSolution,
    row_weight,
)
from allstreets.solvers import MBB_PER_CHIP, PairValues, PreflopSolver, mean_over_flops, refuse_rake
from allstreets.storage import load_flops, require_preflop_folder, save_preflop

CHECK_INTERVAL = 50
CHECKPOINT_INTERVAL = 1000


@dataclass(frozen=True)
class PreflopJob:
    """A config that has been read, and where its models of flops are or will be."""

    config: PreflopConfig
    models: Path
    output: Path
    resume: bool = False
    name: str | None = None
    description: str | None = None

    def require(self) -> None:
        """Refuse settings that cannot work, before anything is computed."""
        require_preflop_folder(self.output, resume=self.resume)
        rules = self.config.preflop_rules()
        refuse_rake(rules)
        preflop_locks(build_preflop_tree(rules), self.config.locks())  # errors are raised now
        self.config.schedule()
        if self.config.models and not self.models.exists():
            raise InputError(f"solver.models: {self.models} does not exist; solve flops first")

    def plan(self) -> Plan:
        """State the plan: before the flop a game is small."""
        return Plan(())

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> "PreflopOutcome":
        """Train on top of the models until a rule holds or the user interrupts."""
        config = self.config
        values = model_values(load_flops(self.models))
        solver = PreflopSolver(config.preflop_rules(), values, config.schedule(), config.locks())

        def finish(training: TrainingOutcome) -> PreflopOutcome:
            outcome = PreflopOutcome(self, solver, training, preflop_result(self, solver, training))
            try:
                outcome.save(self.output)
            except InputError as error:
                return replace(outcome, unsaved=str(error))
            return outcome

        charts = config.charts_every(config.iterations)
        return train_into(
            self.output,
            solver,
            config.stop_rules(config.iterations),
            Intervals(
                min(config.check_interval or CHECK_INTERVAL, config.iterations),
                config.checkpoint_interval or CHECKPOINT_INTERVAL,
            ),
            finish,
            # The run may have ended during the flops, or before its first checkpoint.
            resume=self.resume and any((self.output / CHECKPOINTS).glob("checkpoint-*")),
            callbacks=callbacks,
            regularly=charts_every(charts, solver, solver.rules, callbacks.charts),
        )


@dataclass(frozen=True, eq=False)
class PreflopOutcome(TrainedOutcome):
    """The outcome of a job."""

    job: PreflopJob
    solver: PreflopSolver
    training: TrainingOutcome
    solution: WholeSolution
    unsaved: str | None = None  # the reason why the solution could not be saved, in words

    def lines(self) -> list[str]:
        """The quality of the solution."""
        return [
            f"Exploitability within the models of flops: "
            f"{figure(self.solution.exploitability)} mbb/hand, {self.solver.iterations:,} "
            f"iterations in {duration(self.training.progress.seconds)}. In the whole game it is "
            "larger."
        ]

    @property
    def opening(self) -> WholeSolution:
        """The solution whose first decisions are shown."""
        return self.result()

    def look(self) -> list[str]:
        """A decision for a report."""
        lines = self.solution.opening_lines()[1:]
        return ["--line", lines[0]] if lines else []

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""
        return {
            "exploitability_mbb": self.solution.exploitability,
            "iterations": self.solver.iterations,
            "seconds": self.training.progress.seconds,
            "reason": self.training.reason,
        }

    def result(self) -> WholeSolution:
        """The solution."""
        return self.solution

    def save(self, output: Path) -> None:
        """Save the solution as a bundle."""
        save_preflop(self.solution, output, identity=dict(self.solver.identity))


def model_values(result: WholeSolution) -> PairValues:
    """The values of pairs of hands after the flop, over a folder's flops, at each of its SPRs."""
    models = result.models
    by_flop = {str(row["flop"]): row_weight(row) for row in models.rows}
    texts = sorted(by_flop)
    flops = tuple(parse_flop(text).flop for text in texts)
    weights = np.array([by_flop[text] for text in texts], np.float64)

    def values(root: int) -> Iterator[Floats]:
        for flop in flops:
            yield np.asarray(models.pair_values(root, flop)[0], np.float64)

    chosen = FlopSet("models", flops, weights)
    return mean_over_flops(chosen, {spr: values(root) for root, spr in enumerate(models.sprs)})


def preflop_result(
    job: PreflopJob, solver: PreflopSolver, training: TrainingOutcome
) -> WholeSolution:
    """The solution as a result that can be walked."""
    reach = solver.preflop.pot_reach(solver.preflop.average())
    leaves = np.stack(
        [solver.preflop.leaves.evaluate(player, reach[player.opponent]) for player in Player]
    )
    before = PreflopStrategies.of(solver.preflop, leaves)
    assert before.values is not None
    scale = MBB_PER_CHIP / solver.preflop.game.weight
    oop, ip = (float(before.values[player, 0].sum()) * scale for player in Player)
    facts = SolutionFacts(
        iterations=solver.iterations,
        algorithm=str(solver.schedule),
        exploitability=solver.exploitability(),
        values=(oop, ip),
        seconds=training.progress.seconds,
        config=job.config.model_dump(mode="json", by_alias=True),
        metrics=tuple(check.to_row() for check in training.history),
        name=job.name,
        description=job.description,
    )
    return WholeSolution(PreflopRoots(job.config.preflop_rules(), before), None, facts)

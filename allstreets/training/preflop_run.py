"""The separated pipeline as a job: models of flops, then the betting before the flop on top.

FOLDER/models/             the flops, where the file has a section postflop_model
       manifest.json, …    the preflop solution
       checkpoints/, metrics.jsonl
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.base.interrupt import interrupt_request
from allstreets.betting import Player
from allstreets.cards import parse_flop
from allstreets.cards.flop_sets import FlopSet
from allstreets.solvers.flops.result import PostflopResult
from allstreets.solvers.preflop.pair_values import PairValues, mean_over_flops
from allstreets.solvers.preflop.solution import PreflopSolution
from allstreets.solvers.preflop.solver import PreflopSolver, refuse_rake
from allstreets.solvers.preflop.training import MBB_PER_CHIP
from allstreets.solvers.unified.result import PreflopResult
from allstreets.solvers.unified.source import SolutionFacts
from allstreets.training.loop import Intervals, Observer, RunFiles, train
from allstreets.training.preflop_charts import charts_every
from allstreets.training.records import TrainingOutcome
from allstreets.training.solver_config import PreflopConfig
from allstreets.training.train_config import TrainConfig
from allstreets.training.unified_run import CHECKPOINTS, METRICS

if TYPE_CHECKING:
    from allstreets.training.preflop_charts import ChartObserver

MODELS = "models"
CHECK_INTERVAL = 50
CHECKPOINT_INTERVAL = 1000


@dataclass(frozen=True)
class PreflopJob:
    """A config that has been read, and where its models of flops are or will be."""

    config: PreflopConfig
    models: Path
    name: str | None
    description: str | None


@dataclass(frozen=True, eq=False)
class PreflopOutcome:
    """What a job came to."""

    solver: PreflopSolver
    training: TrainingOutcome
    result: PreflopResult
    unsaved: str | None = None  # why the solution could not be kept, for people

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.training.reason == "interrupted"

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""
        return {
            "exploitability_mbb": self.result.exploitability,
            "iterations": self.solver.iterations,
            "seconds": self.training.progress.seconds,
            "reason": self.training.reason,
        }


def plan_preflop(config: TrainConfig, output: Path) -> PreflopJob:
    """Read the job out of a training file."""
    assert isinstance(config.solver, PreflopConfig)
    models = Path(config.solver.models) if config.solver.models else output / MODELS
    return PreflopJob(config.solver, models, config.name, config.description)


def require_preflop(job: PreflopJob, output: Path, resume: bool) -> None:
    """Refuse what cannot work, before anything is computed."""
    from allstreets.storage.preflop_bundle import require_preflop_folder

    require_preflop_folder(output, resume=resume)
    refuse_rake(job.config.preflop_rules())
    job.config.schedule()
    if job.config.models and not job.models.exists():
        raise InputError(f"solver.models: {job.models} does not exist; solve flops first")


def model_values(result: PostflopResult) -> PairValues:
    """What pairs of hands win after the flop, over the flops of a folder, at each of its SPRs."""
    texts = sorted({str(row["flop"]) for row in result.flops})
    flops = tuple(parse_flop(text).flop for text in texts)
    weights = np.array([flop.multiplicity for flop in flops], np.float64)

    def values(spr: float) -> Iterator[NDArray[np.float64]]:
        for flop in flops:
            yield np.asarray(result.values(flop.text, spr)[0], np.float64)

    sprs = sorted({float(row["spr"]) for row in result.flops})
    chosen = FlopSet("models", flops, weights)
    return mean_over_flops(chosen, {spr: values(spr) for spr in sprs})


def run_preflop(
    job: PreflopJob,
    *,
    output: Path,
    resume: bool = False,
    observers: Sequence[Observer] = (),
    on_charts: "ChartObserver | None" = None,
) -> PreflopOutcome:
    """Train on top of the models until a rule holds or the user interrupts.

    `on_charts` gets the strategy at the intervals of the config.
    """
    from allstreets.storage import claim
    from allstreets.storage.flop_bundle import load_postflop
    from allstreets.storage.solution_files import clear_unfinished

    config = job.config
    values = model_values(load_postflop(job.models))
    solver = PreflopSolver(config.preflop_rules(), values, config.schedule())
    # The run may have ended among the flops, or before its first checkpoint.
    again = resume and any((output / CHECKPOINTS).glob("checkpoint-*"))
    with (
        claim(output),
        interrupt_request(f"saving to {output}", "the solution") as request,
    ):
        clear_unfinished(output)
        training = train(
            solver,
            config.stop_rules(config.iterations),
            intervals=Intervals(
                min(config.check_interval or CHECK_INTERVAL, config.iterations),
                config.checkpoint_interval or CHECKPOINT_INTERVAL,
            ),
            files=RunFiles(
                output / CHECKPOINTS,
                output / METRICS,
                again,
                own_folder=True,
                former_identities=(solver.former_identity,),
            ),
            observers=observers,
            regularly=charts_every(
                config.charts_every(config.iterations), solver, solver.rules, on_charts
            ),
            request=request,
        )
        outcome = PreflopOutcome(solver, training, preflop_result(job, solver, training))
        try:
            save_outcome(outcome, output)
        except InputError as error:
            return replace(outcome, unsaved=str(error))
        return outcome


def preflop_result(
    job: PreflopJob, solver: PreflopSolver, training: TrainingOutcome
) -> PreflopResult:
    """The solution as people look at it."""
    reach = solver.preflop.pot_reach(solver.preflop.average())
    leaves = np.stack(
        [
            solver.preflop.leaves.judge(player, reach[player.opponent], best=False)
            for player in Player
        ]
    )
    before = PreflopSolution.of(solver.preflop, leaves)
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
    return PreflopResult(job.config.preflop_rules(), before, facts)


def save_outcome(outcome: PreflopOutcome, output: Path) -> None:
    """Keep the solution as a bundle."""
    from allstreets.storage.preflop_bundle import save_preflop

    save_preflop(outcome.result, output, identity=dict(outcome.solver.identity))

"""From a training file to jobs: one or more, run one after the other, each in its own folder.

| the file has                              | jobs                                              |
|-------------------------------------------|---------------------------------------------------|
| `solver: {type: unified_cfr}`             | the whole game                                    |
| `postflop_model`                          | flops one by one                                  |
| `solver: {type: preflop_cfr}` and models  | the betting before the flop                       |
| `solver: {type: preflop_cfr}` and         | flops one by one, in `models/`, then the betting  |
| `postflop_model`                          | before the flop on top of them                    |
"""

from pathlib import Path
from typing import Any, Protocol, TypeVar

from allstreets.base import InputError, Place, Remote
from allstreets.solutions import WholeSolution
from allstreets.training.config import check_config
from allstreets.training.flops_run import FlopsJob, plan_flops
from allstreets.training.postflop_config import PostflopModelConfig
from allstreets.training.preflop_run import PreflopJob
from allstreets.training.solver_config import PreflopConfig, UnifiedConfig
from allstreets.training.train_config import TrainConfig
from allstreets.training.unified_run import UnifiedJob, plan_unified
from allstreets.training.watch import NOBODY, Watch

MODELS = "models"

Job = UnifiedJob | PreflopJob | FlopsJob


class Outcome(Protocol):
    """The outcome of a job."""

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""

    @property
    def problem(self) -> str | None:
        """Why no other job can build on it, for people."""

    def result(self) -> WholeSolution:
        """The solution."""

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""


def plan(
    config: TrainConfig,
    output: Place | None,
    *,
    resume: bool = False,
    threads: int | None = None,
    device: str | None = None,
    cluster: str | None = None,
) -> list[Job]:
    """The jobs of a training file; `threads`, `device` and `cluster` override its own.

    The last one has the solution.
    """
    labels: dict[str, Any] = {"name": config.name, "description": config.description}
    solver, models = config.solver, config.postflop_model
    for key, value in (("device", device), ("cluster", cluster)):
        if value is None:
            continue
        if key == "cluster" and models is None and not isinstance(solver, UnifiedConfig):
            raise InputError("--cluster: whole games and flops one by one run on a cluster")
        solver = changed(solver, key, value) if isinstance(solver, UnifiedConfig) else solver
        models = changed(models, key, value) if models is not None else None
    if isinstance(solver, UnifiedConfig):
        if threads is not None:
            solver = solver.model_copy(update={"threads": threads})
        return [plan_unified(solver, output, resume=resume, **labels)]
    if output is None:
        raise InputError("this job needs --output, the folder of its solution")
    if solver is None:
        assert models is not None
        return [plan_flops(models, output, resume=resume, threads=threads, **labels)]
    assert isinstance(solver, PreflopConfig)
    if isinstance(output, Remote):
        raise InputError(
            f"--output {output}: type preflop_cfr is solved on this machine.\nName a folder of it."
        )
    folder = Path(solver.models) if solver.models else output / MODELS
    preflop = PreflopJob(solver, folder, output, resume, **labels)
    preflop.require()
    jobs: list[Job] = [preflop]
    if models is not None:
        again = resume and folder.exists()
        jobs.insert(0, plan_flops(models, folder, resume=again, threads=threads, **labels))
    return jobs


Config = TypeVar("Config", UnifiedConfig, PostflopModelConfig)


def changed(config: Config, key: str, value: str) -> Config:
    """The same with another `device` or `cluster`, if it can be solved there."""
    given = config.model_dump(exclude_unset=True, by_alias=True)
    return check_config({**given, key: value}, type(config), f"--{key}")


def run(jobs: list[Job], watch: Watch = NOBODY) -> WholeSolution:
    """Run jobs to their end; an `InputError` or a `KeyboardInterrupt` where one fails to."""
    outcome: Outcome
    for job in jobs:
        outcome = job.run(watch)
        if job is jobs[-1]:
            break
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.problem:
            raise InputError(outcome.problem)
    return outcome.result()

"""Training into a folder: one writer, checkpoints and metrics, and a solution saved at the end.

FOLDER/manifest.json, …      the solution, whole at every moment
       checkpoints/          to go on from
       metrics.jsonl         the figures of every check
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeVar

from allstreets.base import Place, interrupt_request
from allstreets.storage import claim, clear_unfinished
from allstreets.training.loop import Every, Intervals, RunFiles, train
from allstreets.training.records import TrainingOutcome
from allstreets.training.solver import TrainingSolver
from allstreets.training.stopping import StopRule
from allstreets.training.watch import Watch

CHECKPOINTS = "checkpoints"
METRICS = "metrics.jsonl"

Outcome = TypeVar("Outcome")


def train_into(
    output: Place | None,
    solver: TrainingSolver,
    rules: Sequence[StopRule],
    intervals: Intervals,
    finish: Callable[[TrainingOutcome], Outcome],
    *,
    resume: bool = False,
    save_finished: bool = True,
    watch: Watch,
    regularly: Sequence[Every] = (),
) -> Outcome:
    """Train until a rule holds or the user interrupts, then `finish`, which saves the solution.

    Without `output` nothing is stored; without `save_finished` no checkpoint of a run that has come
    to its end. Until `finish` has returned, signals only request a stop.
    """
    files = RunFiles()
    if output is not None:
        files = RunFiles(
            output / CHECKPOINTS, output / METRICS, resume, True, save_finished=save_finished
        )
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))
            clear_unfinished(output)
        doing = "stopping" if output is None else f"saving to {output}"
        request = watch.control or stack.enter_context(interrupt_request(doing, "the solution"))
        training = train(
            solver,
            rules,
            intervals=intervals,
            files=files,
            observers=watch.progress,
            regularly=regularly,
            control=request,
        )
        return finish(training)

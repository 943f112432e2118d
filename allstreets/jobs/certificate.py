"""Certifying a whole game as a job: choose flops, evaluate them one by one, store the figures.

Half of evaluating a flop is laying out its boards in Python, where the threads of one process wait
for each other. So this machine evaluates flops in processes where memory allows, and else one after
the other with all threads. On a cluster every flop is a task for any machine.

A worker opens the solution in its folder, which all machines must see under the same name (a copy
will do). Its results are small: they travel here and are stored beside the solution.
"""

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.analysis import (
    CertificateEstimate,
    DraftValues,
    Draw,
    FlopEvaluator,
    RealGame,
    class_values,
    draw_flops,
    estimate_certificate,
    evaluated_flops,
    everything,
    needs_class_values,
)
from allstreets.base import (
    Control,
    Floats,
    InputError,
    available_bytes,
    data_size,
    duration,
    interrupt_request,
    thread_count,
)
from allstreets.cards import FLOP_COUNT, Flop, flop_table, preflop_equity, spread_flops
from allstreets.cluster import Need
from allstreets.engines import CPU, CardModel, LiftedValues, open_device
from allstreets.jobs.executors import (
    Executor,
    Here,
    KilledError,
    in_order,
    on_cluster,
    on_this_machine,
)
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Plan, Progress, Tally
from allstreets.jobs.reports.solution import certificate_lines
from allstreets.solutions import ALL, OWN, OWN_GAME, Certificate, WholeSolution
from allstreets.solvers import DRAFT, Completion
from allstreets.storage import (
    CertificateWork,
    claim,
    copy_solution,
    folder_kind,
    load_unified,
    mirrored,
    origin,
    packed_name,
    write_certificate,
)
from allstreets.version import __version__

DRAWN = 32  # flops of either kind, trained and not
MOST_DRAWN = 877  # half of all flops: with more, evaluating all of them is as quick
DRAFTS = 4  # for each flop that is solved exactly, unless their number is given
DRAWN_BESIDE_DRAFTS = 12  # flops at least: fewer cannot determine four slopes
MOST_DRAFTS = 384
DRAFT_SEED = 1 << 20  # added to the seed of the draw: drafts are drawn independently


Evaluated = tuple[LiftedValues, float]  # a flop, and the seconds that it took
Drafted = tuple[Floats, float]  # the values [F, 2, P, 169] of some flops, and their seconds


@dataclass(frozen=True)
class EvaluateFlop:
    """Evaluates flops of a solution in another process, which opens it there."""

    folder: Path
    judged: str  # the hash of its strategies
    completion: Completion
    threads: int
    device: str
    draft: Completion = DRAFT

    def require(self) -> None:
        """Refuse to work where the solution is missing or differs."""
        try:
            stored = CertificateWork.of(self.folder).facts["judged"]
        except InputError:
            stored = None
        if stored != self.judged:
            state = "not there" if stored is None else "another one"
            raise InputError(
                f"the solution in {self.folder} is {state} on {socket.gethostname()}.\n"
                "Workers open it themselves: all machines of the cluster must see its folder."
            )

    def __call__(self, flop: Flop) -> Evaluated:
        """A flop's values."""
        return timed_values(_open_evaluator(self), flop)


@lru_cache(1)
def _open_evaluator(solution: EvaluateFlop) -> FlopEvaluator:
    """The evaluator of a solution, opened once by each process."""
    solution.require()
    opened = load_unified(solution.folder)
    return FlopEvaluator(
        opened, solution.completion, solution.threads, solution.device, solution.draft
    )


@dataclass(frozen=True)
class DraftFlops:
    """Solves flops quickly in another process."""

    solution: EvaluateFlop

    def __call__(self, flops: tuple[Flop, ...]) -> Drafted:
        """Their values."""
        return timed_drafts(_open_evaluator(self.solution), flops)


def timed_drafts(evaluator: FlopEvaluator, flops: Sequence[Flop]) -> Drafted:
    """Values [F, 2, P, 169] of flops that are solved quickly, and the time that took."""
    start = time.monotonic()
    values = evaluator.solver.draft_values(flops)
    return values, time.monotonic() - start


def certify_figures(progress: Progress) -> list[str]:
    """The figures beside the count: pace, time, memory, the latest flop."""
    pace = progress.seconds_per_piece
    parts = [] if pace is None else [f"{pace:.1f} s per flop"]
    if progress.latest is None:
        return [*parts, data_size(progress.process_bytes)]
    eta, size = duration(progress.eta_seconds), data_size(progress.process_bytes)
    return [*parts, f"ETA {eta}", size, progress.latest]


def timed_values(evaluator: FlopEvaluator, flop: Flop, following: Sequence[Flop] = ()) -> Evaluated:
    """A flop's values, and the time that took."""
    start = time.monotonic()
    values = evaluator.values(flop, following)
    return values, time.monotonic() - start


@dataclass(frozen=True)
class CertifyOnCluster:
    """The machines of a cluster: auto, local or HOST:PORT."""

    where: str
    threads: int = 1  # of a flop
    device: str = CPU


@dataclass(frozen=True, eq=False)
class CertifyJob:
    """A solution, and the flops on which it is evaluated."""

    folder: Path
    evaluator: FlopEvaluator
    draws: tuple[Draw, ...]
    chosen: str  # "all", "own" or a number
    seed: int = 1
    cluster: CertifyOnCluster | None = None
    drafts: tuple[Draw, ...] = ()  # more flops, solved quickly: exact ones are compared with them

    @property
    def result(self) -> WholeSolution:
        """The solution."""
        return self.evaluator.result

    @cached_property
    def flops(self) -> list[Flop]:
        """The flops of the draws, each once."""
        return _each_once(self.draws)

    @cached_property
    def drafted(self) -> list[Flop]:
        """The flops that are solved quickly as well: those of drafts, and of the draws."""
        return _each_once([*self.drafts, *self.draws]) if self.drafts else []

    @property
    def completed(self) -> int:
        """The number of flops for which the solution stores no strategies."""
        return sum(self.evaluator.completes(flop) is not None for flop in self.flops)

    @cached_property
    def work(self) -> CertificateWork:
        """The flops that were evaluated so far."""
        return CertificateWork.of(self.folder)

    @cached_property
    def _new_flops(self) -> list[Flop]:
        """The flops that were not evaluated before."""
        known = self.work.have((flop.text, self.evaluator.completes(flop)) for flop in self.flops)
        return [flop for flop, done in zip(self.flops, known, strict=True) if not done]

    @cached_property
    def _new_drafts(self) -> int:
        """The number of flops that were not drafted before."""
        known = self.work.have((flop.text, self._draft_name) for flop in self.drafted)
        return known.count(False)

    def estimate(self) -> CertificateEstimate:
        """Estimate the work on the new flops, as many of them at a time as memory allows."""
        new = self._new_flops
        return estimate_certificate(
            self.evaluator, new, len(self.flops) - len(new), available_bytes()
        )

    def plan(self) -> Plan:
        """State the flops to evaluate, the use of earlier work, and the memory and time."""
        lines, differs = [], self.work.differs()
        if differs:
            changed = "the solution has changed"
            why = changed if "judged" in differs else f"{', '.join(differs)} differ"
            lines.append(
                f"{self.folder} was certified before, and {why} since: all flops are evaluated "
                "again."
            )
        need, completed, threads = self.estimate(), self.completed, self.evaluator.threads
        known = f", {need.known:,} of them evaluated before" if need.known else ""
        how = self.evaluator.completion.text
        solved = f", {completed:,} of them solved first ({how})" if completed else ""
        lines.append(f"{len(self.flops):,} flops{known}{solved}")
        seconds = need.seconds
        if self.drafted:
            draft = self.evaluator.draft.text
            lines.append(f"{len(self.drafted):,} drafts of flops to compare with ({draft})")
            seconds += self.evaluator.solver.draft_seconds(self._new_drafts)
        if self.cluster is not None:  # its machines are not known yet
            lines.append(f"about {duration(need.seconds * threads)} of one core, on the cluster")
        else:
            lines.append(
                f"about {duration(seconds)} on {threads} thread{'' if threads == 1 else 's'}, "
                f"{data_size(need.memory_bytes)} of memory"
            )
        kernels = "certify" if need.known < len(self.flops) else None
        return Plan(tuple(lines), need.memory_bytes, seconds, kernels)

    @property
    def _draft_name(self) -> str:
        """The name under which the values of drafts are stored."""
        return f"draft: {self.evaluator.draft.text}"

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> "CertifyOutcome":
        """Evaluate the missing flops; write the certificate when none is missing."""
        callbacks.begin()
        with self._executor() as executor:
            return self._run(executor, callbacks)

    def _executor(self) -> AbstractContextManager[Executor]:
        """The executor, ready before anything is written."""
        if self.cluster is not None:
            evaluator = replace(self.evaluator, threads=self.cluster.threads)
            memory_bytes = estimate_certificate(evaluator, self.flops, 0).memory_bytes
            gpus = int(self.cluster.device != CPU)
            need = Need(self.cluster.threads, gpus, memory_bytes)
            return on_cluster(self.cluster.where, need, "a flop")
        drafting = self.evaluator.solver.draft_processes(self._new_drafts, available_bytes())
        return nullcontext(on_this_machine(max(self.estimate().at_once, drafting)))

    def _run(self, executor: Executor, callbacks: Callbacks) -> "CertifyOutcome":
        regressed = needs_class_values(self.draws, self.drafts)
        if regressed:
            flop_table().build(self.evaluator.threads, callbacks.counter("tables of flops"))
        first = "stopping the flops" if executor.remote else "finishing the flop"
        stopping = f"{first} in progress"
        with claim(self.folder), interrupt_request(stopping, "the flop in progress") as request:
            self.work.begin()
            known = self.work.load(
                (flop.text, self.evaluator.completes(flop)) for flop in self.flops
            )
            evaluated = {place: each for place, each in enumerate(known) if each is not None}
            tally = Tally(
                "flops",
                len(self.flops),
                len(evaluated),
                callbacks.progress,
                executor.nodes,
                certify_figures,
            )
            request.hold()
            if len(evaluated) < len(self.flops):
                tally.tell(len(evaluated))
                self._evaluate(executor, evaluated, tally, request)
            if len(evaluated) < len(self.flops):
                return CertifyOutcome(self, None, len(evaluated))
            tally.tell(len(evaluated))
            played = None
            if regressed:
                game, evaluator = self.result.game, self.evaluator
                count = callbacks.counter("flops with hand classes")
                played = class_values(
                    game, evaluator.solver.reach, evaluator.threads, progress=count
                )
            drafts = self._draft(executor, callbacks, request)
            if len(drafts) < len(self.drafted):
                return CertifyOutcome(self, None, len(evaluated))
            certificate = self._certificate(in_order(evaluated), played, drafts)
            write_certificate(self.folder, certificate)
        return CertifyOutcome(self, certificate, len(evaluated))

    def _draft(
        self, executor: Executor, callbacks: Callbacks, control: Control
    ) -> dict[int, Floats]:
        """Values [2, P, 169] of quick solutions by the numbers of the flops, stored as they come.

        Some are missing where `control` asked to stop.
        """
        known = self.work.load((flop.text, self._draft_name) for flop in self.drafted)
        drafts = zip(self.drafted, known, strict=True)
        values = {flop.number: each[0].best for flop, each in drafts if each is not None}
        missing = [flop for flop in self.drafted if flop.number not in values]
        if not missing:
            return values
        count = callbacks.counter("drafts of flops")
        size = self.evaluator.solver.drafts_at_once(missing, executor.at_once)
        parts = [tuple(missing[first : first + size]) for first in range(0, len(missing), size)]

        def keep(number: int, drafted: Drafted) -> None:
            part, (best, seconds) = parts[number], drafted
            for flop, each in zip(part, best, strict=True):
                values[flop.number] = each
                self.work.save(flop.text, self._draft_name, LiftedValues(each), seconds / len(part))
            count(len(values), len(self.drafted))

        def here(part: tuple[Flop, ...]) -> Drafted:
            return timed_drafts(self.evaluator, part)

        def fail(number: int, error: Exception) -> None:
            first, last = parts[number][0].text, parts[number][-1].text
            raise _refusal(f"{first} to {last} could not be drafted", error) from error

        inside = isinstance(executor, Here)
        function = here if inside else DraftFlops(self._elsewhere(executor))
        executor.map(function, parts, keep, control=control, on_error=fail)
        return values

    def _evaluate(
        self, executor: Executor, found: dict[int, Evaluated], tally: Tally, control: Control
    ) -> None:
        """Evaluate the flops that are missing in `found`, and store them as they come."""

        def evaluate(executor: Executor, function: Callable[[Flop], Evaluated]) -> None:
            missing = self._missing(found)

            def keep(number: int, evaluated: Evaluated) -> None:
                place, (values, seconds) = missing[number], evaluated
                flop = self.flops[place]
                self.work.save(flop.text, self.evaluator.completes(flop), values, seconds)
                found[place] = evaluated
                if len(found) < len(self.flops):
                    tally.tell(len(found), flop.text)

            def fail(number: int, error: Exception) -> None:
                if isinstance(error, KilledError):
                    raise error
                flop = self.flops[missing[number]]
                raise _refusal(f"{flop.text} could not be evaluated", error) from error

            flops = [self.flops[place] for place in missing]
            executor.map(function, flops, keep, control=control, on_error=fail)

        if not isinstance(executor, Here):
            try:
                evaluate(executor, self._elsewhere(executor))
                return
            except KilledError:
                pass  # this process may have room where others have none
        following = [self.flops[place] for place in self._missing(found)]

        def here(flop: Flop) -> Evaluated:
            following.remove(flop)
            return timed_values(self.evaluator, flop, following)

        evaluate(Here(), here)

    def _missing(self, evaluated: dict[int, Evaluated]) -> list[int]:
        """The indices of flops that are not evaluated."""
        return [index for index in range(len(self.flops)) if index not in evaluated]

    def _elsewhere(self, executor: Executor) -> EvaluateFlop:
        """Evaluates flops in other processes; on this machine with a share of its threads."""
        if self.cluster is not None:
            threads = self.cluster.threads
            device = CPU if self.cluster.device == CPU else "cuda"  # the one that Ray lends
        else:
            threads = max(1, self.evaluator.threads // executor.at_once)
            device = self.evaluator.device
        judged = self.work.facts["judged"]
        evaluator = self.evaluator
        return EvaluateFlop(
            self.folder.resolve(), judged, evaluator.completion, threads, device, evaluator.draft
        )

    def _certificate(
        self, evaluated: Sequence[Evaluated], played: Floats | None, drafts: dict[int, Floats]
    ) -> Certificate:
        """The figures, from the values of all flops in order."""
        result, evaluator = self.result, self.evaluator
        dealt = self._dealt()
        numbers = (flop.number for flop in self.flops)
        of_flops = dict(zip(numbers, evaluated, strict=True))
        values = [of_flops[draw.flop.number][0] for draw in self.draws]
        more = DraftValues(self.drafts, drafts) if drafts else None
        judged = evaluated_flops(self.draws, values, evaluator.solver.reach, dealt, played, more)
        game = RealGame(result.game.before_the_flop(dealt), result.before.strategies, judged)
        figures = game.figures()
        completed = self.completed
        own = result.facts.judged == OWN_GAME  # not of simple strategies on real boards
        return Certificate(
            real_exploitability_mbb=figures.exploitability,
            interval_mbb=figures.interval,
            after_flop_mbb=figures.after_flop,
            unseen_gap_mbb=figures.before_flop,
            own_exploitability_mbb=result.exploitability if own else None,
            chosen=self.chosen,
            flops=len(self.flops),
            trained_flops=len(self.flops) - completed,
            completion=evaluator.completion.text if completed else None,
            seed=self.seed,
            seconds=sum(seconds for _, seconds in evaluated),
            code_version=__version__,
            judged=self.work.facts["judged"],
            leaks=figures.leaks,
            pots=figures.pots,
            drafts=len(self.drafted),
        )

    def _dealt(self) -> Floats:
        """[169, 169]: the pairs of combos before the flop; of its own flops only, in that game."""
        if self.chosen == OWN:
            return self.result.game.dealt()
        return preflop_equity().pairs.astype(np.float64)


@dataclass(frozen=True, eq=False)
class CertifyOutcome:
    """The outcome of a certification."""

    job: CertifyJob
    certificate: Certificate | None  # None: interrupted
    done: int  # flops that are evaluated

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.certificate is None

    @property
    def problem(self) -> str | None:
        """None: nothing builds on a certificate."""
        return None

    def lines(self) -> list[str]:
        """The certificate, in words; nothing if it was interrupted."""
        return [] if self.certificate is None else certificate_lines(self.certificate)

    def to_json(self) -> dict[str, Any] | None:
        """The certificate as JSON data; None if it was interrupted."""
        return None if self.certificate is None else self.certificate.to_json()


def plan_certify(
    folder: Path,
    flops: str | int | None = None,
    *,
    output: Path | None = None,
    completion: Callable[[CardModel], Completion] = Completion.like,
    seed: int = 1,
    threads: int | None = None,
    device: str = CPU,
    cluster: str | None = None,
    drafts: int | None = None,
    draft: Completion = DRAFT,
) -> CertifyJob:
    """Open a solution and choose the flops: "all", "own" (those trained), or a number to draw.

    Flops that it does not store are completed as `completion` says for the solution's cards. On a
    `cluster` (auto, local or HOST:PORT) every flop has one core, or `threads`. `drafts` of more
    flops narrow the interval. By default all flops are drafted on a GPU; without one there are four
    drafts for each flop that is solved exactly.

    With an `output` a copy in that folder is certified, and the solution stays as it is.
    """
    folder = mirrored(folder)
    kind = folder_kind(folder)
    if kind != "unified":
        raise InputError(
            f"{folder} does not hold a whole game: certificates are for solutions of "
            "solver: {type: unified_cfr}"
        )
    if output is not None:
        folder = copy_solution(folder, output)
    elif packed_name(folder) is not None:
        raise InputError(
            f"{origin(folder)} is a ready-made solution, and allstreets report shows its "
            "certificate.\nTo certify it yourself, name a folder for a copy of it: --output DIR"
        )
    result = load_unified(folder)
    evaluator_device = device if cluster is None else CPU
    open_device(evaluator_device)  # report a missing device before anything is evaluated
    evaluator = FlopEvaluator(
        result, completion(result.cards), thread_count(threads), evaluator_device, draft
    )
    if device != CPU and evaluator.completion.model.kind != "exact":
        raise InputError(f"--device {device} is for flops that are solved with --cards exact")
    chosen, draws = _draws(evaluator, DRAWN if flops is None else flops, seed)
    on_cluster = None if cluster is None else CertifyOnCluster(cluster, threads or 1, device)
    more = _draft_draws(evaluator, draws, drafts, seed)
    return CertifyJob(folder, evaluator, draws, chosen, seed, on_cluster, more)


def _draft_draws(
    evaluator: FlopEvaluator, draws: Sequence[Draw], drafts: int | None, seed: int
) -> tuple[Draw, ...]:
    drawn = sum(draw.pair is not None for draw in draws)
    if drafts and 0 < drawn < DRAWN_BESIDE_DRAFTS:
        raise InputError(
            f"--drafts {drafts}: drafts are compared with at least {DRAWN_BESIDE_DRAFTS} flops, "
            f"and {drawn} are drawn.\nDraw more of them: --flops {DRAWN_BESIDE_DRAFTS}"
        )
    if drafts is None and evaluator.completion.model.kind == "exact":
        on_gpu = evaluator.device != CPU
        drafts = FLOP_COUNT if on_gpu else min(DRAFTS * drawn, MOST_DRAFTS)
    if not drafts or drawn < DRAWN_BESIDE_DRAFTS:
        return ()
    if drafts > MOST_DRAWN:
        return everything(spread_flops(FLOP_COUNT))
    return draw_flops((), drafts, seed + DRAFT_SEED)


def _refusal(what: str, error: Exception) -> InputError:
    """One line on what failed, and why."""
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return InputError(f"{what}: {kind}{error}")


def _each_once(draws: Sequence[Draw]) -> list[Flop]:
    return list({draw.flop.number: draw.flop for draw in draws}.values())


def _draws(evaluator: FlopEvaluator, flops: str | int, seed: int) -> tuple[str, tuple[Draw, ...]]:
    text, game = str(flops).strip().lower(), evaluator.result.game
    if not game.pots:
        return ALL, ()  # nobody sees a flop
    if game.locks.by_flop and (text != OWN or not evaluator.stored):
        raise InputError(
            "the locks of this solution differ by flop, and are known only on the flops that it "
            "stores: evaluate only these, with --flops own"
        )
    if text == ALL:
        return ALL, everything(spread_flops(FLOP_COUNT))
    if text == OWN:
        return OWN, everything(game.flops)
    if not text.isdecimal() or int(text) < 2:
        raise InputError(
            f"--flops {flops}: write all, own (those that it was trained on), or how many to draw, "
            "at least 2"
        )
    if int(text) > MOST_DRAWN:
        return ALL, everything(spread_flops(FLOP_COUNT))
    return text, draw_flops(evaluator.stored, int(text), seed)

"""Certifying a whole game as a job: choose flops, judge them one by one, keep the figures.

Who judges them is handed in: this machine, with processes where they are worth it, or the machines
of a cluster (`certify_cluster`).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from allstreets.analysis import (
    CertificateEstimate,
    Completion,
    Draw,
    Judge,
    RealGame,
    class_values,
    draw_flops,
    estimate_certificate,
    everything,
    judged_flops,
    needs_class_values,
)
from allstreets.base import Floats, InputError, available_bytes, interrupt_request, thread_count
from allstreets.cards import FLOP_COUNT, Flop, flop_table, preflop_equity, spread_flops
from allstreets.engines import CPU, CardModel, DealtPairs, LiftedValues, open_device
from allstreets.solutions import ALL, OWN, OWN_GAME, Certificate, WholeSolution
from allstreets.storage import CertificateWork, claim, folder_kind, load_unified, write_certificate
from allstreets.training.certify_cluster import CertifyOnCluster
from allstreets.training.certify_workers import Workers, judge_and_keep
from allstreets.training.cluster_nodes import NodeWork
from allstreets.training.estimate import process_bytes
from allstreets.version import __version__

DRAWN = 32  # flops of either kind, trained and not
MOST_DRAWN = 877  # half of all flops: with more of them all are as quick


@dataclass(frozen=True)
class CertifyProgress:
    """How far a certification is."""

    done: int  # flops, those of earlier runs included
    total: int
    before: int  # flops that were judged in earlier runs
    flop: str | None  # judged last
    seconds: float  # of this run
    process_bytes: int | None
    nodes: tuple[NodeWork, ...] = ()  # what the machines of a cluster do

    @property
    def eta_seconds(self) -> float | None:
        """Seconds that are left, by the mean of the flops of this run."""
        judged = self.done - self.before
        return self.seconds / judged * (self.total - self.done) if judged else None


CertifyObserver = Callable[[CertifyProgress], None]


class Judges(Protocol):
    """Who judges flops: `JudgesHere`, `certify_cluster.JudgesThere`."""

    @property
    def stopping(self) -> str:
        """What becomes of those at work when the user ends the job."""

    def judge(self, flops: Sequence[Flop], stop: Callable[[], bool]) -> Iterator[Flop]:
        """The flops in the order in which they are judged and stored; after `stop`, no more."""

    def nodes(self) -> tuple[NodeWork, ...]:
        """What the machines of a cluster have done."""


class CertifyCrew(Protocol):
    """Where flops are judged: `CertifyHere`, `CertifyOnCluster`."""

    def begin(self, job: "CertifyJob") -> AbstractContextManager[Judges]:
        """Get ready, before anything is written."""


@dataclass(frozen=True)
class CertifyHere:
    """This machine."""

    def begin(self, job: "CertifyJob") -> AbstractContextManager[Judges]:
        """There is nothing to prepare."""
        return nullcontext(JudgesHere(job))


HERE = CertifyHere()


@dataclass(frozen=True, eq=False)
class CertifyJob:
    """A solution, and the flops on which it is judged."""

    folder: Path
    judge: Judge
    draws: tuple[Draw, ...]
    chosen: str  # "all", "own" or a number
    seed: int = 1
    crew: CertifyCrew = HERE

    @property
    def result(self) -> WholeSolution:
        """The solution."""
        return self.judge.result

    @cached_property
    def flops(self) -> list[Flop]:
        """The flops of the draws, each once."""
        return list({draw.flop.number: draw.flop for draw in self.draws}.values())

    @property
    def completed(self) -> int:
        """How many of them the solution stores no strategies of."""
        return sum(self.judge.completes(flop) is not None for flop in self.flops)

    @cached_property
    def work(self) -> CertificateWork:
        """The flops that were judged so far."""
        return CertificateWork.of(self.folder)

    def estimate(self) -> CertificateEstimate:
        """What judging the missing flops takes, on as many of them at a time as memory allows."""
        missing = [
            flop for flop in self.flops if not self.work.has(flop.text, self.judge.completes(flop))
        ]
        return estimate_certificate(
            self.judge, missing, len(self.flops) - len(missing), available_bytes()
        )

    def run(
        self,
        observers: Sequence[CertifyObserver] = (),
        tables: Callable[[int, int], None] | None = None,
        classes: Callable[[int, int], None] | None = None,
    ) -> "CertifyOutcome":
        """Judge what is missing; a certificate is written when nothing is.

        `tables` is called with the flops counted, of how many, where the matrices of all flops are
        needed and not stored yet; `classes` likewise, while these are played with hand classes.
        """
        with self.crew.begin(self) as judges:
            return self._run(judges, observers, tables, classes)

    def _run(
        self,
        judges: Judges,
        observers: Sequence[CertifyObserver],
        tables: Callable[[int, int], None] | None,
        classes: Callable[[int, int], None] | None,
    ) -> "CertifyOutcome":
        regressed = needs_class_values(self.draws)
        if regressed:
            flop_table().build(self.judge.threads, tables)
        with (
            claim(self.folder),
            interrupt_request(judges.stopping, "the flop at work") as request,
        ):
            self.work.begin()
            found: dict[int, tuple[LiftedValues, float]] = {}
            for flop in self.flops:
                known = self._known(flop)
                if known is not None:
                    found[flop.number] = known
            missing = [flop for flop in self.flops if flop.number not in found]
            before, began = len(found), time.monotonic()

            def tell(flop: Flop | None) -> None:
                progress = CertifyProgress(
                    len(found),
                    len(self.flops),
                    before,
                    flop.text if flop else None,
                    time.monotonic() - began,
                    process_bytes(),
                    judges.nodes(),
                )
                for observer in observers:
                    observer(progress)

            request.hold()
            if missing:
                tell(None)
            for flop in judges.judge(missing, request.wants_to_stop):
                judged = self._known(flop)
                assert judged is not None, "what was stored a moment ago can be read"
                found[flop.number] = judged
                if len(found) < len(self.flops):
                    tell(flop)
            if len(found) < len(self.flops):
                return CertifyOutcome(self, None, len(found))
            tell(None)
            played = None
            if regressed:
                game, judge = self.result.game, self.judge
                played = class_values(game, judge.reach, judge.threads, progress=classes)
            certificate = self._certificate(found, played)
            write_certificate(self.folder, certificate)
        return CertifyOutcome(self, certificate, len(found))

    def _known(self, flop: Flop) -> tuple[LiftedValues, float] | None:
        """What a flop is worth and its seconds, if it was judged."""
        return self.work.load(flop.text, self.judge.completes(flop))

    def _certificate(
        self, found: dict[int, tuple[LiftedValues, float]], played: Floats | None
    ) -> Certificate:
        result, judge = self.result, self.judge
        dealt = self._dealt()
        values = [found[draw.flop.number][0] for draw in self.draws]
        judged = judged_flops(self.draws, values, judge.reach, dealt, played)
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
            completion=judge.completion.text if completed else None,
            seed=self.seed,
            seconds=sum(seconds for _, seconds in found.values()),
            code_version=__version__,
            judged=self.work.facts["judged"],
            leaks=figures.leaks,
            pots=figures.pots,
        )

    def _dealt(self) -> Floats:
        """[169, 169]: the pairs of combos before the flop; of its own flops only, in that game."""
        whole = preflop_equity().pairs.astype(np.float64)
        if self.chosen != OWN or not self.result.game.pots:
            return whole
        flops = self.result.game.flops
        pairs = DealtPairs.of([flop.cards for flop in flops.flops]).sum(flops.weights)
        pairs *= whole.sum() / pairs.sum()
        return pairs


@dataclass(frozen=True, eq=False)
class JudgesHere:
    """This machine: flop after flop, or side by side where memory allows."""

    job: CertifyJob
    stopping = "finishing the flop at work"

    def nodes(self) -> tuple[NodeWork, ...]:
        """There are no others."""
        return ()

    def judge(self, flops: Sequence[Flop], stop: Callable[[], bool]) -> Iterator[Flop]:
        """Judge flops, and store what they are worth."""
        judge, left = self.job.judge, list(flops)
        workers = self.job.estimate().at_once
        if workers > 1:
            threads = max(1, judge.threads // workers)
            several = Workers(judge, self.job.folder, workers, threads)
            for flop in several.judge(flops, stop):
                left.remove(flop)
                yield flop
        for place, flop in enumerate(left):
            if stop():
                return
            judge_and_keep(judge, self.job.work, flop, left[place + 1 :])
            yield flop


@dataclass(frozen=True, eq=False)
class CertifyOutcome:
    """The outcome of a certification."""

    job: CertifyJob
    certificate: Certificate | None  # None: interrupted
    done: int  # flops that are judged

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.certificate is None

    def to_json(self) -> dict[str, Any] | None:
        """The certificate as JSON data; None where it was interrupted."""
        return None if self.certificate is None else self.certificate.to_json()


def plan_certify(
    folder: Path,
    flops: str | int | None = None,
    *,
    completion: Callable[[CardModel], Completion] = Completion.like,
    seed: int = 1,
    threads: int | None = None,
    device: str = CPU,
    cluster: str | None = None,
) -> CertifyJob:
    """Open a solution and choose the flops: "all", "own" (those trained), or a number to draw.

    Flops that it does not store are completed as `completion` says for the solution's cards. On a
    `cluster` (auto, local or HOST:PORT) every flop has one core, or `threads`.
    """
    kind = folder_kind(folder)
    if kind != "unified":
        raise InputError(
            f"{folder} does not hold a whole game: certificates are for solutions of "
            "solver: {type: unified_cfr}"
        )
    result = load_unified(folder)
    here = device if cluster is None else CPU
    open_device(here)  # one that is not there is told before anything is judged
    judge = Judge(result, completion(result.cards), thread_count(threads), here)
    if device != CPU and judge.completion.model.kind != "exact":
        raise InputError(f"--device {device} is for flops that are solved with --cards exact")
    chosen, draws = _draws(judge, DRAWN if flops is None else flops, seed)
    crew = HERE if cluster is None else CertifyOnCluster(cluster, threads or 1, device)
    return CertifyJob(folder, judge, draws, chosen, seed, crew)


def _draws(judge: Judge, flops: str | int, seed: int) -> tuple[str, tuple[Draw, ...]]:
    text, game = str(flops).strip().lower(), judge.result.game
    if not game.pots:
        return ALL, ()  # nobody sees a flop
    if game.locks.by_flop and (text != OWN or not judge.stored):
        raise InputError(
            "what is locked here goes by the solution's own flops, and is known where it stores "
            "them: judge these alone, with --flops own"
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
    return text, draw_flops(judge.stored, int(text), seed)

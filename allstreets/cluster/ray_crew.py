"""Workers on the machines of a Ray cluster: one for each, or one for each GPU.

Ray starts an actor on every machine that has cores to lend, which takes all of them. The actor
opens a line and serves it until the asker hangs up. Ray tells when an actor has died; a line that
breaks off tells it sooner.
"""

import os
import secrets
import selectors
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from allstreets.base import InputError
from allstreets.cluster.connect import THIS_MACHINE, Cluster
from allstreets.cluster.crew import Crew, Station
from allstreets.cluster.line import Answer, Exchange, Line
from allstreets.cluster.lost import WorkerLost
from allstreets.cluster.worker import Worker

START_SECONDS = 180.0  # until a worker has been started
START_ATTEMPTS = 3  # of a worker that dies before it answers
TICK_SECONDS = 1.0  # between two looks at what Ray says


class Host:
    """An actor in which a worker lives."""

    def open(self, address: str, key: bytes) -> tuple[tuple[str, int], int]:
        """Open a line at an address of this machine; where, and the number of this process."""
        self._exchange = Exchange(address, key)
        return self._exchange.address, os.getpid()

    def serve(self) -> None:
        """Answer until the asker hangs up."""
        self._exchange.serve(Worker())


@dataclass(eq=False)
class RayStation(Station):
    """A worker that Ray has started."""

    lent: float = 1.0  # cores that Ray counts as taken
    actor: Any = None
    line: Line | None = None
    ended: Any = None  # what Ray fills when the actor ends


class RayCrew(Crew):
    """A worker on every machine, or on every GPU."""

    def __init__(self, cluster: Cluster, *, gpus: bool = False, per_machine: int = 1) -> None:
        """`gpus`: a worker for every GPU; else so many on each machine, which share its cores."""
        super().__init__()
        self._cluster, self._gpus, self._per_machine = cluster, gpus, per_machine
        self._selector = selectors.DefaultSelector()
        self._avoided: dict[str, str] = {}  # machines on which no worker could be started, and why
        self._stations: list[RayStation] = []
        self._stations = self._start(self._vacant())
        if not self._stations:
            what = "a GPU" if gpus else "a core"
            reasons = [why for why in self._avoided.values() if why]
            raise InputError(
                f"no worker could be started on the cluster: {reasons[0]}"
                if reasons
                else f"no machine of the cluster has {what} to lend"
            )

    @property
    def stations(self) -> Sequence[RayStation]:
        """Where the workers live."""
        return self._stations

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Do without these workers, and start others where there is room."""
        for number in lost:
            self._end(self._stations[number])
        left = [number for number in range(len(self._stations)) if number not in lost]
        self._stations = [self._stations[number] for number in left]
        new = self._start(self._vacant())
        self._stations += new
        if not self._stations:
            raise InputError(
                "no machine of the cluster is left.\n"
                "Start others, then go on with the same command and --resume."
            )
        return [*left, *[None] * len(new)]

    def close(self) -> None:
        """End all workers."""
        for station in self._stations:
            self._end(station)
        self._stations = []
        self._selector.close()

    def _vacant(self) -> list[RayStation]:
        """Stations of machines, or GPUs, that nobody works at."""
        taken = [station.node for station in self._stations]
        found = []
        for node in self._cluster.nodes():
            seats = node.gpus if self._gpus else self._per_machine
            for _ in range(0 if node.key in self._avoided else seats - taken.count(node.key)):
                cores = max(1, node.cores // seats)
                found.append(RayStation(node.key, node.address, cores, lent=node.cores / seats))
        return found

    def _start(self, stations: Sequence[RayStation]) -> list[RayStation]:
        """Start workers side by side, and others for those that die on the way.

        Machines on which none starts are left out from then on.
        """
        started, left = [], list(stations)
        for _ in range(START_ATTEMPTS):
            failed = self._try_to_start(left)
            started += [station for station in left if station not in failed]
            left = [station for station, why in failed.items() if why]
            self._avoided |= {station.node: why for station, why in failed.items() if not why}
            if not left:
                break
        self._avoided |= {station.node: failed[station] for station in left}
        return [station for station in stations if station in started]

    def _try_to_start(self, stations: Sequence[RayStation]) -> dict[RayStation, str]:
        """Start workers; those that do not start, and why: nothing where Ray has no room."""
        ray, key = self._cluster.ray, secrets.token_bytes(32)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for station in stations:
            host = ray.remote(Host).options(
                num_cpus=station.lent,
                num_gpus=1 if self._gpus else 0,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(station.node, soft=False),
            )
            station.actor = host.remote()
        opened = [station.actor.open.remote(self._bind(station), key) for station in stations]
        until = time.monotonic() + START_SECONDS
        failed = {}
        for station, reference in zip(stations, opened, strict=True):
            try:
                left = max(0.0, until - time.monotonic())
                address, station.process = ray.get(reference, timeout=left)
                station.ended = station.actor.serve.remote()
                station.line = Line(address, key, self.traffic)
            except (ray.exceptions.RayError, OSError) as error:
                late = isinstance(error, ray.exceptions.GetTimeoutError)
                why = str(error).strip().partition("\n")[0] or type(error).__name__
                failed[station] = "" if late else f"{station.address}: {why}"
                self._end(station)
            else:
                self._selector.register(station.line.fileno(), selectors.EVENT_READ, station)
        return failed

    def _bind(self, station: RayStation) -> str:
        return THIS_MACHINE if self._cluster.is_local else station.address

    def _end(self, station: RayStation) -> None:
        if station.line is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(station.line.fileno())
            station.line.close()
            station.line = None
        with suppress(Exception):  # it may be gone, and so may the cluster
            self._cluster.ray.kill(station.actor, no_restart=True)

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        lost: dict[int, str] = {}
        for number, data in asked.items():
            line = self._stations[number].line
            try:
                if line is None:
                    raise BrokenPipeError
                line.send(data)
            except OSError:
                lost[number] = "is gone"
        until = time.monotonic() + limit
        numbers = {station: number for number, station in enumerate(self._stations)}
        waiting = set(asked) - set(lost)
        while waiting:
            ready = self._selector.select(TICK_SECONDS)
            for key, _ in ready:
                number = numbers[key.data]
                waiting.discard(number)
                try:
                    answers[number] = key.data.line.receive()
                except (EOFError, OSError):
                    self._selector.unregister(key.data.line.fileno())
                    key.data.line.close()
                    key.data.line = None
                    lost[number] = "has died"
            if not ready:
                late = time.monotonic() >= until
                ended = self._ended(waiting)
                lost |= dict.fromkeys(ended, "has died")
                waiting -= set(ended)
                if late:
                    lost |= dict.fromkeys(waiting, f"has not answered for {limit:,.0f} s")
                    waiting.clear()
        if lost:
            raise WorkerLost(sorted(lost), self._told(lost))
        return answers

    def _ended(self, numbers: Iterable[int]) -> list[int]:
        """Those of whom Ray says that they have ended."""
        found = []
        for number in numbers:
            done, _ = self._cluster.ray.wait([self._stations[number].ended], timeout=0)
            if done:
                found.append(number)
        return found

    def _told(self, lost: Mapping[int, str]) -> str:
        parts = [
            f"the worker on {self._stations[number].address} (process "
            f"{self._stations[number].process}) {what}"
            for number, what in sorted(lost.items())
        ]
        return "; ".join(parts)

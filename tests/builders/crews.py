"""Workers in this process: everything of a cluster but the cluster."""

from collections.abc import Callable, Mapping, Sequence

from allstreets.cluster.crew import Crew, Station
from allstreets.cluster.line import Answer, answer, read_answer
from allstreets.cluster.lost import WorkerLost
from allstreets.cluster.worker import Worker

Fault = Callable[[int], BaseException | None]


class CrewHere(Crew):
    """Workers that answer through the same bytes as those of other machines.

    `faults`: asked before every answer with the number of answers so far; a `WorkerLost` is raised
    for the worker that was to give it, any other exception as it is.
    """

    def __init__(self, count: int, faults: Fault | None = None, spare: int = 0) -> None:
        super().__init__()
        self._workers = [Worker() for _ in range(count)]
        self._stations = [Station(f"node {k}", f"10.0.0.{k}", 1) for k in range(count)]
        self._faults, self._spare = faults, spare
        self.answers = 0
        self.closed = False

    @property
    def stations(self) -> Sequence[Station]:
        return self._stations

    def replace(self, lost: Sequence[int]) -> list[int | None]:
        left = [number for number in range(len(self._workers)) if number not in lost]
        new = min(len(lost), self._spare)
        self._spare -= new
        self._workers = [*(self._workers[k] for k in left), *(Worker() for _ in range(new))]
        added = [Station(f"new {k}", "10.0.1.0", 1) for k in range(new)]
        self._stations = [*(self._stations[k] for k in left), *added]
        return [*left, *[None] * new]

    def close(self) -> None:
        self.closed = True

    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        del limit
        answers, lost = {}, []
        for number, data in asked.items():
            self.answers += 1
            fault = self._faults(self.answers) if self._faults else None
            if isinstance(fault, WorkerLost):
                lost.append(number)
                continue
            if fault is not None:
                raise fault
            told = answer(self._workers[number], data)
            self.traffic.messages += 1
            self.traffic.sent_bytes += len(data)
            self.traffic.received_bytes += len(told)
            answers[number] = read_answer(told)
        if lost:
            raise WorkerLost(lost, f"worker {lost[0]} has died")
        return answers

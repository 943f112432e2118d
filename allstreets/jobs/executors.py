"""Independent pieces of work, done in this process, in processes of this machine or on a cluster.

    executor.map(function, items, on_result)

calls `function(item)` once for each item, on some process or machine, and `on_result(index,
result)` in this process as soon as a piece is done. The outcome does not depend on the executor:

1. Results arrive in the order in which pieces are done. `in_order` brings them into the order of
   the items, so that sums over them are bit-identical.
2. `on_result` stores a result immediately. So finished pieces are kept, however the job ends.
3. A piece that raises an exception does not touch the others. Its error goes to `on_error`; without
   one it is raised at the end, with the name of the piece.
4. A piece whose worker dies, most likely for lack of memory, is done again.
5. When `control` wants to stop, no further piece is begun. Pieces in progress see it through
`piece_control`: they save and raise `StoppedError`, or run to their end. On a cluster they are
killed.
"""

import multiprocessing
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from types import ModuleType
from typing import Any, Generic, TypeVar

from allstreets.base import Control, InputError, StopWhen, thread_count
from allstreets.cluster import (
    Need,
    Node,
    NodeUse,
    Piece,
    RayTasks,
    Task,
    Tasks,
    connect,
    fitting,
    require_versions,
)

KILLED = "its process was killed; is there enough memory?"
TIMES_AGAIN = 2  # that a piece whose process was killed is done
TICK_SECONDS = 0.2  # between two checks of the processes
GRACE_SECONDS = 10.0  # for pieces to save when the job fails

Item = TypeVar("Item")
Result = TypeVar("Result")

_control: ContextVar[Control] = ContextVar("_control", default=Control())  # noqa: B039


class StoppedError(Exception):
    """A piece has ended because its job is to stop; there is no result."""


class PieceError(InputError):
    """A piece could not be done; the text names it, the cause is its exception."""


class KilledError(InputError):
    """The process of a piece was killed each time the piece was tried."""


def piece_control() -> Control:
    """The control of this thread's piece: whether to save and stop."""
    return _control.get()


def in_order(results: Mapping[int, Result]) -> tuple[Result, ...]:
    """Results in the order of their items, whenever they arrived."""
    return tuple(results[index] for index in sorted(results))


class _MapControl(Control):
    """The control of a job, whose pieces also stop when one of their results cannot be taken."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.ended = False

    def wants_to_stop(self) -> bool:
        return self.ended or self._control.wants_to_stop()

    def is_paused(self) -> bool:
        return self._control.is_paused()

    def wait_while_paused(self) -> None:
        self._control.wait_while_paused()

    def hold(self) -> None:
        self._control.hold()

    def saved(self, iteration: int) -> None:
        self._control.saved(iteration)


class _Map(Generic[Item, Result]):
    """One call of `Executor.map`: its pieces, the callbacks, and the pieces that failed."""

    def __init__(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        on_result: Callable[[int, Result], None],
        on_error: Callable[[int, Exception], None] | None,
        on_tick: Callable[[], None] | None,
        control: Control,
    ) -> None:
        self.function, self.items, self.control = function, items, _MapControl(control)
        self._on_result, self._on_error, self._on_tick = on_result, on_error, on_tick
        self._failures: dict[int, Exception] = {}
        self._lock = threading.RLock()  # callbacks are called for one piece after the other

    def done(self, index: int, result: Result) -> None:
        with self._lock:
            self._on_result(index, result)

    def failed(self, index: int, error: Exception) -> None:
        with self._lock:
            if self._on_error is None:
                self._failures[index] = error
            else:
                self._on_error(index, error)

    def tick(self) -> None:
        with self._lock:
            if self._on_tick is not None:
                self._on_tick()

    def end(self) -> None:
        if self._failures:
            index = min(self._failures)
            item, error = self.items[index], self._failures[index]
            name = getattr(item, "name", None) or getattr(item, "text", None) or item
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            raise PieceError(f"{name}: {kind}{error}") from error


class Executor(ABC):
    """Does pieces of work: `Here`, `Processes`, `OnRay`."""

    remote = False  # whether pieces are done on other machines

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        on_result: Callable[[int, Result], None],
        *,
        control: Control | None = None,
        on_error: Callable[[int, Exception], None] | None = None,
        on_tick: Callable[[], None] | None = None,
    ) -> None:
        """Call `function` on each item; see the top of this file.

        `function` and items can be pickled: a function of a module, or an instance of a class of
        one. If it has a method `require`, other machines call it before the first piece, to refuse
        work that cannot be done there. `on_tick` is called when all results so far have been
        reported, and on other machines twice per second. An exception of one of the callbacks ends
        the map.
        """
        run = _Map(function, items, on_result, on_error, on_tick, control or Control())
        self._work(run)
        run.end()

    @property
    @abstractmethod
    def at_once(self) -> int:
        """The number of pieces that are done at a time."""

    def nodes(self) -> tuple[NodeUse, ...]:
        """The work of the machines of a cluster."""
        return ()

    @abstractmethod
    def _work(self, run: _Map[Any, Any]) -> None:
        """Do the pieces of a map."""


class Here(Executor):
    """An executor in this process: one piece after the other, or `at_once` in threads."""

    def __init__(self, at_once: int = 1) -> None:
        self._at_once = at_once

    @property
    def at_once(self) -> int:
        """The number of pieces that are done at a time."""
        return self._at_once

    def _work(self, run: _Map[Any, Any]) -> None:
        waiting = deque(range(len(run.items)))
        if self._at_once == 1:
            _take(run, waiting)
            return
        # Signals reach this thread, which waits.
        with ThreadPoolExecutor(self._at_once) as pool:
            takers = [pool.submit(_take, run, waiting) for _ in range(self._at_once)]
            try:
                for taker in takers:
                    taker.result()
            finally:
                run.control.ended = True


def _take(run: _Map[Any, Any], waiting: deque[int]) -> None:
    """Do one piece after the other in this thread, until none waits or the job is to stop."""
    token = _control.set(run.control)
    try:
        while not run.control.wants_to_stop():
            try:
                index = waiting.popleft()
            except IndexError:
                return
            _do(run, index)
            run.tick()
    except BaseException:
        run.control.ended = True
        raise
    finally:
        _control.reset(token)


def _do(run: _Map[Any, Any], index: int) -> None:
    try:
        result = run.function(run.items[index])
    except StoppedError:
        return
    except KeyboardInterrupt:
        if not run.control.wants_to_stop():
            raise
        return  # a piece that was to stop before it had anything to save
    except Exception as error:
        run.failed(index, error)
    else:
        run.done(index, result)


class Processes(Executor):
    """Fresh processes of this machine.

    They run in their own session: a terminal's Ctrl-C is for the job, which asks them to stop. They
    end with the job, however it ends: they hold a pipe that the system closes then.

    A killed process brings down the others. Then each piece that was in progress is repeated in a
    process of its own, which shows which piece was at fault.
    """

    def __init__(self, count: int) -> None:
        self._count = thread_count(count, "processes")

    @property
    def at_once(self) -> int:
        """The number of pieces that are done at a time."""
        return self._count

    def _work(self, run: _Map[Any, Any]) -> None:
        waiting, again = deque(range(len(run.items))), deque[int]()
        losses: Counter[int] = Counter()  # by piece
        while (waiting or again) and not run.control.wants_to_stop():
            if again:
                lost = _pooled(run, again, 1)
            else:
                lost = _pooled(run, waiting, min(self._count, len(waiting)))
            for index in lost:
                losses[index] += 1
                if losses[index] > TIMES_AGAIN:
                    run.failed(index, KilledError(KILLED))
                else:
                    again.append(index)


def _pooled(run: _Map[Any, Any], waiting: deque[int], at_once: int) -> list[int]:
    """Do pieces until none waits, the job is to stop, or a process was killed.

    Returns the pieces that were in progress then.
    """
    # Fresh processes everywhere: a copy of one that runs threads may hang.
    context = multiprocessing.get_context("spawn")
    _start_tracker()
    stop = context.Event()
    ears, mouth = context.Pipe(duplex=False)
    running: dict[Future[Any], int] = {}
    lost: list[int] = []

    def may_begin() -> bool:
        return bool(waiting) and not lost and not stop.is_set()

    with mouth, ears, ProcessPoolExecutor(at_once, context, _begin, (stop, ears)) as pool:
        try:
            while running or may_begin():
                while len(running) < at_once and may_begin():
                    index = waiting.popleft()
                    try:
                        with _without_program():
                            running[pool.submit(run.function, run.items[index])] = index
                    except BrokenProcessPool:
                        lost.append(index)
                for future in wait(running, TICK_SECONDS, FIRST_COMPLETED).done:
                    _hear(run, running.pop(future), future, lost)
                run.tick()
                if run.control.wants_to_stop():
                    stop.set()
        except BaseException:
            stop.set()
            wait(running, GRACE_SECONDS)
            mouth.close()  # which ends the processes that still work
            raise
    return lost


def _hear(run: _Map[Any, Any], index: int, future: Future[Any], lost: list[int]) -> None:
    """Report a piece that has ended."""
    try:
        result = future.result()
    except BrokenProcessPool:
        lost.append(index)
    except StoppedError:
        pass
    except Exception as error:
        run.failed(index, error)
    else:
        run.done(index, result)


def _start_tracker() -> None:
    """Start the process that removes the leftovers of killed jobs, silently."""
    if os.name != "posix":
        return
    before = list(sys.warnoptions)
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions[:] = before


@contextmanager
def _without_program() -> Iterator[None]:
    """Keep new processes from running the user's program: they need only our modules."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _begin(stop: Event, ears: "Connection[Any, Any]") -> None:
    """The first thing that a process does."""
    _control.set(StopWhen(stop.is_set))
    with suppress(OSError, AttributeError):  # Windows has no sessions
        os.setsid()
    threading.Thread(target=_end_with, args=(ears,), daemon=True).start()


def _end_with(ears: "Connection[Any, Any]") -> None:
    with suppress(EOFError, OSError):
        ears.recv_bytes()
    os._exit(1)


def on_this_machine(at_once: int) -> Executor:
    """The executor for `at_once` pieces at a time: processes, or this process for one."""
    return Processes(at_once) if at_once > 1 else Here()


class NodesInUse:
    """Counts the pieces that machines have done so far."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.key: node for node in nodes}
        self._solved: Counter[str] = Counter()  # by machine
        self._seconds: defaultdict[str, float] = defaultdict(float)  # of cores
        self._memory: dict[tuple[str, int], int] = {}  # by machine and process
        self._began = time.monotonic()

    @property
    def cores(self) -> int:
        """The cores of all machines."""
        return sum(node.cores for node in self._nodes.values())

    @property
    def text(self) -> str:
        """The number of machines: "2 machines with 32 cores in all"."""
        count, cores = len(self._nodes), self.cores
        return (
            f"{count} machine{'s' if count > 1 else ''} with {cores} "
            f"core{'s' if cores > 1 else ''} in all"
        )

    def note(self, piece: Piece, cores: int, nodes: Callable[[], Iterable[Node]]) -> None:
        """Count a finished piece that used `cores`; `nodes` is called where its machine is new."""
        if piece.node not in self._nodes:
            self._nodes |= {node.key: node for node in nodes()}
        self._solved[piece.node] += 1
        self._seconds[piece.node] += piece.seconds * cores
        self._memory[piece.node, piece.process] = piece.memory_bytes

    def work(self) -> tuple[NodeUse, ...]:
        """The work of each machine."""
        passed = time.monotonic() - self._began
        return tuple(
            NodeUse(
                name=node.address,
                solved=self._solved[node.key],
                per_minute=60 * self._solved[node.key] / passed if passed else 0.0,
                memory_bytes=sum(
                    size for (key, _), size in self._memory.items() if key == node.key
                ),
                waiting=max(0.0, 1 - self._seconds[node.key] / (passed * node.cores))
                if passed
                else 0.0,
            )
            for node in self._nodes.values()
        )


class OnRay(Executor):
    """The machines of a Ray cluster: every piece is a task for any machine with room."""

    remote = True

    def __init__(
        self, tasks: Tasks, need: Need, what: str, need_of: Callable[[Any], Need] | None = None
    ) -> None:
        """`need` is that of a piece (`what`, in words), or the least where `need_of` gives more."""
        self._tasks, self._need, self._what = tasks, need, what
        self._need_of = need_of or (lambda _: need)
        self.in_use = NodesInUse(fitting(tasks.nodes(), need, what))

    @property
    def at_once(self) -> int:
        """The number of pieces that are done at a time."""
        return max(1, self.in_use.cores // self._need.cores)

    def nodes(self) -> tuple[NodeUse, ...]:
        """The work of the machines."""
        return self.in_use.work()

    def _work(self, run: _Map[Any, Any]) -> None:
        nodes = self._tasks.nodes()
        fit: dict[Node, None] = {}  # the machines with work
        asked: list[tuple[int, Task]] = []
        for index, item in enumerate(run.items):
            if run.control.wants_to_stop():
                return
            try:
                need = self._need_of(item)
                fit |= dict.fromkeys(fitting(nodes, need, self._what))
            except Exception as error:
                run.failed(index, error)
            else:
                asked.append((index, Task(item, need)))
        if not asked:
            return
        require = getattr(run.function, "require", None)
        if require is not None:
            self._tasks.ask_each(fit, require)
        self.in_use = NodesInUse(fit)
        with closing(self._tasks.run(run.function, [task for _, task in asked])) as work:
            for some in work:
                for done in some:
                    index, task = asked[done.place]
                    if done.piece is None:
                        run.failed(index, done.error or RuntimeError("it failed"))
                        continue
                    self.in_use.note(done.piece, task.need.cores, self._tasks.nodes)
                    run.done(index, done.piece.value)
                run.tick()
                if run.control.wants_to_stop():
                    return


@contextmanager
def on_cluster(
    where: str,
    need: Need,
    what: str,
    *,
    need_of: Callable[[Any], Need] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[OnRay]:
    """Connect to a cluster (auto, local or HOST:PORT); for `need` and `what` see `OnRay`.

    Machines with another version of allstreets are refused. `tell` receives the others, in words.
    """
    with connect(where) as cluster:
        tasks = RayTasks(cluster)
        executor = OnRay(tasks, need, what, need_of)
        require_versions(tasks, fitting(tasks.nodes(), need, what))
        if tell is not None:
            tell(f"cluster: {executor.in_use.text}")
        yield executor

"""Spots solved in separate processes: paused, killed, resumed, deleted."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders.small_forms import endless, river, turn, wait_for_writer

from allstreets.base.control import SIGNALS
from allstreets.explorer.models.base import BusyError, FormError, MissingError
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import Solve, SolveDetail, SpotForm
from allstreets.explorer.solves import manager, worker
from allstreets.explorer.solves.folders import SolveFolder, default_folder
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.solves.process import Channel, Commands, Ending, Report, Reporter
from allstreets.explorer.solves.spots import read_form
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot
from allstreets.storage.spot_bundle import read_spot_manifest, restore_spot


def name_of(solution: Path) -> str:
    """The id that a library would give a solution."""
    return f"solution of {solution.parent.name}"


@pytest.fixture
def solves(tmp_path: Path) -> Iterator[Solves]:
    made = Solves(tmp_path / "solves", name_of)
    yield made
    assert made.close(60)


def wait_until(solves: Solves, holds: Callable[[], bool]) -> None:
    """Wait for another process; looked at whenever there is news of it."""
    with solves._changed:
        assert solves._changed.wait_for(holds, 300), "there is no end to it"


def wait_for(solves: Solves, name: str, *states: str) -> SolveDetail:
    wait_until(solves, lambda: solves.detail(name).state in states)
    return solves.detail(name)


def wait_for_a_save(solves: Solves, name: str) -> None:
    """Until it runs and has been saved: news of the two come in any order."""
    wait_until(
        solves,
        lambda: solves.detail(name).state == "running" and solves.detail(name).saves > 0,
    )


def iteration(solve: Solve) -> int:
    assert solve.progress is not None
    return solve.progress.iteration


def folder_of(solves: Solves, name: str) -> SolveFolder:
    return SolveFolder(solves.folder / name)


def saved_at(solves: Solves, name: str) -> int:
    """The iteration of the bundle."""
    return int(read_spot_manifest(folder_of(solves, name).solution)["iterations"])


def as_sent(points: list[CurvePoint]) -> list[dict[str, Any]]:
    return [point.model_dump(mode="json") for point in points]


def number_of(solves: Solves, name: str) -> int:
    """The system's number of the process that solves."""
    return solves._running[name].process.pid


def listened(solves: Solves, name: str) -> list[Report]:
    """A list of all that the process will report from now on."""
    heard: list[Report] = []
    one = solves._running[name]
    receive = one.receive

    def hearing(report: Report) -> None:
        heard.append(report)
        receive(report)

    one.receive = hearing  # type: ignore[method-assign]
    return heard


def assert_uninterrupted(folder: SolveFolder, form: SpotForm) -> None:
    """The stored result is bit-identical to that of an uninterrupted run."""
    config, spot = read_form(form)
    stored = SpotSolver(spot, config.algorithm, precision=config.precision)
    restore_spot(stored, folder.solution)
    whole = SpotSolver(spot, config.algorithm, precision=config.precision)
    whole.train_batch(stored.iterations)
    for name, array in whole.state().items():
        assert stored.state()[name].tobytes() == array.tobytes(), name


def test_a_river_is_solved_to_its_target(solves: Solves) -> None:
    form = river(name="my river", target_pct=0.5)
    begun = solves.start(form)
    assert (begun.state, begun.name, begun.title) == (
        "starting",
        "my river",
        "Ks7d4c9h2s, pot 100, stack 300",
    )
    assert "ks7d4c9h2s" in begun.id
    done = wait_for(solves, begun.id, "done")
    assert done.progress is not None
    assert done.progress.exploitability is not None
    assert 0 < done.progress.exploitability <= 0.5
    assert done.reason is not None
    assert "the target of 0.5 % is reached" in done.reason
    assert (done.error, done.note) == (None, None)
    assert done.saves >= 2  # early, and at the end
    assert done.solution == f"solution of {done.id}"

    folder = folder_of(solves, done.id)
    result = load_spot(folder.solution)
    assert result.iterations == iteration(done) == done.curve[-1].iteration
    assert 100 * result.exploitability == pytest.approx(done.curve[-1].exploitability)
    assert read_spot_manifest(folder.solution)["name"] == "my river"
    assert solves.solve_of(folder.solution) == done.id
    assert solves.solve_of(folder.path) is None
    assert solves.solve_of(folder.path.parent.parent / done.id / "solution") is None
    assert_uninterrupted(folder, form)
    assert [one.id for one in solves.list()] == [done.id]

    with pytest.raises(BusyError, match="has reached its target"):
        solves.resume(done.id)
    for steer in (solves.pause, solves.stop):
        with pytest.raises(BusyError, match="not running: it is done"):
            steer(done.id)


def test_hold_go_on_stop_and_go_on_again(solves: Solves) -> None:
    form = endless()
    name = solves.start(form).id
    with pytest.raises(BusyError, match="only a running solve can be paused"):
        solves.pause(name)
    with pytest.raises(BusyError, match="only a paused solve can be resumed"):
        solves.resume(name)
    with pytest.raises(BusyError, match="stop it first"):
        solves.delete(name)
    wait_for(solves, name, "running")

    solves.pause(name)
    held = wait_for(solves, name, "paused")
    folder = folder_of(solves, name)

    def is_saved() -> bool:
        status, known = folder.status(), solves.detail(name)
        return (
            status is not None
            and status.saves == known.saves > 0
            and saved_at(solves, name) == iteration(known)
        )

    wait_until(solves, is_saved)
    held = solves.detail(name)
    assert held.progress is not None
    assert held.progress.exploitability is not None
    result = load_spot(folder_of(solves, name).solution)  # what is there can be looked at
    assert result.iterations == iteration(held)
    with pytest.raises(BusyError, match="only a running solve can be paused; this is paused"):
        solves.pause(name)

    heard = listened(solves, name)
    solves.resume(name)
    wait_until(solves, lambda: iteration(solves.detail(name)) > iteration(held))
    after = solves.detail(name)
    first = next(report for report in heard if report.progress is not None)
    assert first.state == "running"
    assert first.progress is not None
    assert first.progress.iteration == iteration(held)  # not one was done in the break
    assert first.progress.seconds == held.progress.seconds  # and it does not count

    assert solves.stop(name).state in ("stopping", "stopped")
    stopped = wait_for(solves, name, "stopped")
    assert stopped.reason is not None
    assert "is not reached" in stopped.reason
    assert iteration(stopped) >= iteration(after)
    assert saved_at(solves, name) == iteration(stopped)

    assert solves.resume(name).state == "starting"
    wait_until(solves, lambda: iteration(solves.detail(name)) > iteration(stopped))
    solves.stop(name)
    again = wait_for(solves, name, "stopped")
    assert again.saves > stopped.saves
    iterations = [point.iteration for point in again.curve]
    assert iterations == sorted(set(iterations))
    assert iterations[: len(stopped.curve)] == [point.iteration for point in stopped.curve]
    seconds = [point.seconds for point in again.curve]
    assert seconds == sorted(seconds)
    assert_uninterrupted(folder_of(solves, name), form)


@pytest.mark.long
def test_later_ones_wait_in_line(solves: Solves) -> None:
    """Long: several processes one after the other."""
    first = solves.start(endless()).id
    wait_for_a_save(solves, first)
    quick, endless_too, given_up = (
        solves.start(form) for form in (river(target_pct=0.5), endless(), river())
    )
    assert [one.state for one in (quick, endless_too, given_up)] == ["waiting"] * 3
    assert [one.place for one in (quick, endless_too, given_up)] == [1, 2, 3]
    for steer in (solves.pause, solves.resume):
        with pytest.raises(BusyError, match=r"waits for its turn|waiting"):
            steer(quick.id)
    with pytest.raises(BusyError, match="stop it first"):
        solves.delete(quick.id)
    left = solves.stop(given_up.id)
    assert (left.state, left.place) == ("stopped", None)
    assert left.reason == "removed from the queue before its turn came"
    solves.delete(given_up.id)

    async def listen() -> list[str]:
        states: list[str] = []
        async for text in solves.events(quick.id):
            if text == manager.HEARTBEAT:
                continue
            if not states:
                solves.stop(first)  # which makes room for the next
            states.append(read_event(text)[0].state)
        return states

    states = asyncio.run(listen())
    assert (states[0], states[-1]) == ("waiting", "done")
    assert solves.detail(first).state == "stopped"
    wait_for(solves, endless_too.id, "running")  # its turn came by itself
    last = solves.resume(first)
    assert (last.state, last.place) == ("waiting", 1)
    assert iteration(last) == iteration(solves.detail(first))
    assert solves.stop(first).state == "stopped"
    solves.stop(endless_too.id)
    wait_for(solves, endless_too.id, "stopped")


@pytest.mark.long
def test_a_line_is_not_lost_with_its_server(tmp_path: Path) -> None:
    """Long: servers end and begin again."""
    first = Solves(tmp_path, name_of)
    running, waiting = first.start(endless()).id, first.start(river(target_pct=0.5)).id
    assert first.close(60)
    second = Solves(tmp_path, name_of)
    found = second.detail(waiting)
    assert (found.state, found.place) == ("interrupted", None)
    assert found.reason == "the server ended before its turn came; it can be resumed"
    assert second.resume(waiting).state == "starting"
    wait_for(second, waiting, "done")
    assert second.detail(running).state == "interrupted"
    assert second.close()


def test_a_turn_without_room_is_given_up(solves: Solves, monkeypatch: pytest.MonkeyPatch) -> None:
    first = solves.start(endless()).id
    waiting = solves.start(river()).id
    monkeypatch.setattr(manager, "available_bytes", lambda: 1000)
    solves.stop(first)
    failed = wait_for(solves, waiting, "failed")
    assert failed.error is not None
    assert "when its turn came it needed 250 MB" in failed.error
    assert "1 kB were free" in failed.error


def test_a_stop_before_the_first_iteration_does_not_wait(
    solves: Solves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path / "cache"))  # nothing is compiled there
    name = solves.start(endless()).id
    wait_until(solves, lambda: solves.detail(name).note is not None)
    assert solves.detail(name).note == "compiling kernels, once, about half a minute"
    stopped = solves.stop(name)
    assert stopped.state == "stopped"
    assert stopped.reason == "stopped before the first iteration"
    assert (stopped.solution, stopped.saves) == (None, 0)
    assert solves.detail(name).curve == []
    solves.delete(name)
    assert solves.list() == []
    with pytest.raises(MissingError):
        solves.detail(name)


def test_an_end_of_the_server_does_not_wait_for_what_is_only_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path / "cache"))  # it compiles for a while
    solves = Solves(tmp_path / "solves", name_of)
    name = solves.start(endless()).id
    assert solves.close(60)
    found = solves.detail(name)
    assert (found.state, found.reason) == ("interrupted", "interrupted before the first iteration")


def test_players_without_bets_are_solved(solves: Solves) -> None:
    none, some = {"bet": "", "raise": ""}, {"bet": "50%", "raise": ""}
    name = solves.start(turn(sizes={"turn": {"oop": none, "ip": none}, "river": {"oop": some}})).id
    done = wait_for(solves, name, "done", "failed")
    assert (done.state, done.error) == ("done", None)
    assert load_spot(folder_of(solves, name).solution).at("").decision.actions == ("x",)


@pytest.mark.long
def test_a_time_limit_and_a_failure(solves: Solves) -> None:
    """Long: several processes one after the other."""
    name = solves.start(endless(max_seconds=0.3)).id
    done = wait_for(solves, name, "done")
    assert done.reason is not None
    assert done.reason.startswith("the time of 0:00 is up")
    solves.resume(name)  # its target is not reached
    longer = wait_for(solves, name, "done")
    assert iteration(longer) > iteration(done)

    (folder_of(solves, name).solution / "manifest.json").write_text("{}")
    solves.resume(name)
    failed = wait_for(solves, name, "failed")
    assert failed.error is not None
    assert "is not a solved spot" in failed.error
    with pytest.raises(FormError, match="is not a card"):
        solves.start(river(board="nonsense"))
    assert [one.id for one in solves.list()] == [name]  # nothing is left of what was refused


@pytest.mark.long
def test_a_restarted_server_knows_what_was_running(tmp_path: Path) -> None:
    """Long: servers end and begin again."""
    form = endless()
    first = Solves(tmp_path, name_of)
    name = first.start(form).id
    wait_for_a_save(first, name)
    first.pause(name)
    last = wait_for(first, name, "paused")
    assert first.close(60)
    with pytest.raises(BusyError, match="the server is ending"):
        first.start(form)

    second = Solves(tmp_path, name_of)
    found = second.detail(name)
    assert found.state == "interrupted"
    assert iteration(found) == iteration(last)
    assert as_sent(found.curve) == as_sent(last.curve)
    assert found.form == form
    go_on_for_a_while(second, name)
    assert_uninterrupted(folder_of(second, name), form)
    assert second.close()


def go_on_for_a_while(solves: Solves, name: str) -> None:
    """Resume a solve until it is further than it was, and stop it."""
    before = solves.detail(name)
    solves.resume(name)
    wait_until(solves, lambda: iteration(solves.detail(name)) > iteration(before))
    solves.stop(name)
    stopped = wait_for(solves, name, "stopped")
    assert stopped.error is None
    assert iteration(stopped) > iteration(before)


@pytest.mark.thorough
def test_a_process_that_is_killed_loses_what_came_after_its_last_save(solves: Solves) -> None:
    form = endless()
    name = solves.start(form).id
    wait_for_a_save(solves, name)
    os.kill(number_of(solves, name), signal.SIGKILL)
    cut = wait_for(solves, name, "interrupted")
    assert cut.reason is not None
    assert "SIGKILL; perhaps memory ran out; it can be resumed" in cut.reason
    assert cut.curve[-1].iteration == saved_at(solves, name)
    go_on_for_a_while(solves, name)
    assert_uninterrupted(folder_of(solves, name), form)


@pytest.mark.parametrize(
    "number", [SIGNALS[0], *(pytest.param(one, marks=pytest.mark.long) for one in SIGNALS[1:])]
)
def test_a_process_that_is_told_to_end_saves(solves: Solves, number: int) -> None:
    """While it is paused, too, and after any number of requests."""
    form = endless()
    name = solves.start(form).id
    wait_for(solves, name, "running")
    solves.pause(name)
    held = wait_for(solves, name, "paused")
    for _ in range(4):
        os.kill(number_of(solves, name), number)
    found = wait_for(solves, name, "interrupted", "failed")
    assert (found.state, found.error) == ("interrupted", None)
    assert iteration(found) == iteration(held) == saved_at(solves, name)


SERVER = """
import signal, sys
from pathlib import Path
from builders.small_forms import endless
from allstreets.explorer.solves.manager import Solves
solves = Solves(Path(sys.argv[1]), lambda path: path.parent.name)
name = solves.start(endless()).id
with solves._changed:
    solves._changed.wait_for(lambda: solves.detail(name).saves)
    print(solves.detail(name).model_dump_json(by_alias=True), flush=True)
signal.pause()
"""


@pytest.mark.long
def test_a_server_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Long: processes are killed."""
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert server.stdout is not None
    with server:
        last = SolveDetail.model_validate_json(server.stdout.readline())

        # Meanwhile another server on the same folder can look, and not steer.
        other = Solves(tmp_path, name_of)
        seen = other.detail(last.id)
        assert seen.state == "running"
        assert seen.note is not None
        assert "another process" in seen.note
        for steer in (other.pause, other.resume, other.stop):
            with pytest.raises(BusyError, match="another process"):
                steer(last.id)
        with pytest.raises(BusyError, match="still saving"):
            other.delete(last.id)
        server.kill()

    folder = SolveFolder(tmp_path / last.id)
    wait_for_writer(folder)  # the process has heard of it, saved and ended
    kept = other.detail(last.id)
    assert kept.state == "interrupted"
    assert iteration(kept) >= iteration(last)
    assert read_spot_manifest(folder.solution)["iterations"] == iteration(kept)
    assert kept.form is not None
    assert_uninterrupted(folder, kept.form)
    go_on_for_a_while(other, last.id)
    assert other.close()


def test_memory_that_solves_may_take(tmp_path: Path) -> None:
    small = Solves(tmp_path, name_of, max_memory_bytes=1_000_000)
    assert small.max_memory_bytes == 1_000_000
    with pytest.raises(FormError, match="needs 250 MB and 1 MB are free"):
        small.start(river())
    assert small.list() == []


@pytest.mark.parametrize("name", ["nonsense", "..", ".", "", "a/b", "../x", "\0", "A", "x" * 65])
def test_names_that_lead_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "solve.json").write_text("{}")
    solves = Solves(tmp_path / "solves", name_of)
    asked: list[Callable[[str], Any]] = [solves.detail, solves.pause, solves.resume, solves.stop]
    for ask in [*asked, solves.delete, solves.events]:
        with pytest.raises(MissingError):
            ask(name)
    assert (tmp_path / "x" / "solve.json").exists()


STORED = {"version": 1, "run": 1, "state": "stopped", "created": 1.0}


def store(root: Path, name: str, **changes: Any) -> Path:
    """The folder of a solve without a process."""
    folder = root / name
    folder.mkdir(parents=True)
    keys = {**STORED, "form": river().model_dump(mode="json", by_alias=True), **changes}
    (folder / "solve.json").write_text(json.dumps(keys))
    return folder


def test_a_process_that_is_stopped_before_its_first_iteration_keeps_nothing(tmp_path: Path) -> None:
    folder, commands = SolveFolder(store(tmp_path, "early")), Commands()
    request = folder.request()
    assert request is not None
    commands.take("stop")
    with Path(os.devnull).open("wb") as nowhere:
        reporter = Reporter(folder, request, Channel(nowhere.fileno()))
        ending = worker.attempt(folder, request, commands, reporter)
    assert ending == Ending("stopped", "stopped before the first iteration")
    assert not folder.has_solution


def test_the_list_is_made_from_the_folders(tmp_path: Path) -> None:
    root = tmp_path / "solves"
    solves = Solves(root, name_of)
    assert solves.list() == []
    store(root, "older", created=1.0, reason="because")
    store(root, "newer", created=2.0, state="running")
    store(tmp_path, "outside")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "damaged").mkdir()
    (root / "damaged" / "solve.json").write_text('{"run": 1')
    (root / "other").mkdir()
    (root / "file").write_text("")
    found = solves.list()
    assert [one.id for one in found] == ["newer", "older"]
    assert [one.state for one in found] == ["interrupted", "stopped"]
    assert found[1].reason == "because"
    for name in ("link", "damaged", "other", "file"):
        with pytest.raises(MissingError):
            solves.detail(name)
        with pytest.raises(MissingError):
            solves.delete(name)


def test_deleting_follows_no_links(tmp_path: Path) -> None:
    root = tmp_path / "solves"
    folder = store(root, "mine")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    (folder / "solution").symlink_to(precious)
    (folder / "file").symlink_to(precious / "file")
    store(root, "neighbour")
    solves = Solves(root, name_of)
    gone = solves.delete("mine")
    assert sorted(path.name for path in root.iterdir()) == [".trash", "neighbour"]
    assert [one.id for one in solves.list()] == ["neighbour"]
    assert solves.trash.restore(gone.id) == folder
    assert [one.id for one in solves.list()] == ["neighbour", "mine"]
    assert [path.name for path in precious.iterdir()] == ["file"]
    assert (precious / "file").read_text() == "kept"


def test_the_usual_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALLSTREETS_SOLVES", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("ALLSTREETS_SOLVES")
    assert default_folder().name == "solves"
    assert "allstreets" in default_folder().parts


def read_event(text: str) -> tuple[Solve, list[dict[str, Any]]]:
    """Back from the text of an event."""
    kind, data, *rest = text.split("\n")
    assert (kind, rest) == ("event: solve", ["", ""])
    event = json.loads(data.removeprefix("data: "))
    return Solve.model_validate(event["solve"]), event["points"]


def test_events_tell_everything_to_many_listeners(solves: Solves) -> None:
    name = solves.start(endless()).id

    async def listen(pause: asyncio.Event | None) -> list[tuple[Solve, list[dict[str, Any]]]]:
        heard = []
        async for text in solves.events(name):
            if text == manager.HEARTBEAT:  # a machine may be slow
                continue
            heard.append(read_event(text))
            if pause is not None:
                await pause.wait()
        return heard

    async def steer(stopped: asyncio.Event) -> None:
        async for _ in solves.events(name):
            if len(solves.detail(name).curve) >= 5:
                break
        solves.stop(name)
        stopped.set()

    async def leave_early() -> int:
        stream: AsyncIterator[str] = solves.events(name)
        async for _ in stream:
            with suppress(AttributeError):
                await stream.aclose()  # type: ignore[attr-defined]
            return 1
        return 0

    async def all_at_once() -> Any:
        stopped = asyncio.Event()  # the slow one hears nothing between the first and the last
        return await asyncio.gather(listen(None), listen(stopped), leave_early(), steer(stopped))

    quick, slow, left, _ = asyncio.run(all_at_once())
    assert left == 1
    detail = solves.detail(name)
    curve = as_sent(detail.curve)
    for heard in (quick, slow):
        assert [point for _, points in heard for point in points] == curve
        assert heard[-1][0].state == "stopped"
        assert all(event.state != "stopped" for event, _ in heard[:-1])
    assert len(slow) <= len(quick)
    assert solves._bell._listeners == set()
    assert "running" in {event.state for event, _ in quick}

    # A finished one is reported once.
    (last,) = asyncio.run(listen(None))
    assert last[1] == curve
    assert last[0].state == "stopped"


@pytest.mark.long
def test_streams_beat_and_end_with_the_server(
    solves: Solves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long: a server of its own."""
    seconds = 0.05  # between two signs of life
    monkeypatch.setattr(manager.stream, "__defaults__", (seconds,))
    name = solves.start(endless()).id
    wait_for(solves, name, "running")
    solves.pause(name)
    wait_until(solves, lambda: solves.detail(name).saves > 0)

    async def listen() -> list[str]:
        heard = []
        async for text in solves.events(name):
            heard.append(text)
            if heard[-3:] == [manager.HEARTBEAT] * 3:
                solves.hang_up()
        return heard

    heard = asyncio.run(asyncio.wait_for(listen(), 30))
    assert heard[0].startswith("event: solve\n")
    assert heard[-1].startswith("event: solve\n")
    assert read_event(heard[-1])[0].state == "paused"

"""Many spots: read them, solve what is not solved yet, and keep a row and a bundle of each.

1. Files, mappings and spots become jobs, one for each board; what cannot be one is a row with its
   error, and the others go on.
2. Jobs whose rows are in the folder already are not run again.
3. An executor runs the others; every row is on disk when the next one comes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.base import (
    InputError,
    available_bytes,
    interrupt_request,
    processors,
    require_parquet,
    thread_count,
    write_parquet,
)
from allstreets.cluster import Need, signed
from allstreets.engines import CPU
from allstreets.games import Spot, estimate_spot, spot_mapping
from allstreets.jobs.config.boards import Boards, WeightedBoard, read_boards
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import SpotConfig, read_spot_config
from allstreets.jobs.executors import Executor, Processes, in_order, on_cluster
from allstreets.jobs.progress import PieceProgress, Tally
from allstreets.jobs.spot_rows import (
    SETTINGS,
    Limits,
    SolveSpot,
    SpotJob,
    SpotRow,
    SpotTable,
    row_cells,
    row_of,
    spot_need,
    table_rows,
)
from allstreets.storage import TABLE, Entry, Saved, SpotSetBundle, claim, spot_folder

Given = Spot | Mapping[str, Any] | str | Path
Planned = SpotJob | SpotRow  # a row where there is nothing to solve, with the reason
SpotsProgress = PieceProgress[SpotRow]  # spots that failed are done as well
SpotsObserver = Callable[[SpotsProgress], None]


@dataclass(frozen=True)
class SpotsOutcome:
    """The outcome of a run."""

    rows: tuple[SpotRow, ...]  # in the order of the spots, without those that were stopped
    interrupted: bool
    solved: int  # in this run

    @property
    def failed(self) -> tuple[SpotRow, ...]:
        """Those that could not be solved."""
        return tuple(row for row in self.rows if row.error is not None)


def read_many(
    files: Sequence[Path], flags: Mapping[str, Any], boards: Boards | None = None
) -> list[Planned]:
    """The jobs of spot files, or of flags alone; flags and `boards` override the files.

    A file that cannot be read is a row with its error, unless there is no other.
    """
    shared = None if boards is None else read_boards(boards)
    found: list[Planned] = []
    for path in files or (None,):
        name = path.stem if path is not None else "spot"
        try:
            config = read_spot_config(path, flags)
            found += jobs_of(config, config.name or name, shared)
        except InputError as error:
            if len(files) < 2:
                raise
            found.append(SpotRow(name, "", error=" ".join(f"{error}".split())))
    return found


def jobs_of(
    config: SpotConfig, name: str, boards: Sequence[WeightedBoard] | None = None
) -> list[Planned]:
    """A job for each board of a spot; `boards` override its own."""
    if boards is None:
        if config.board is None and config.boards is None:
            config.game()  # which says what is missing
        boards = read_boards([config.board] if config.board is not None else config.boards or ())
    first = next((one for one in boards if one.problem is None), None)
    game = {} if first is None else config.on(first.text).game()
    settings = {key: getattr(config, key) for key in SETTINGS}
    found: list[Planned] = []
    for board in boards:
        if board.problem is not None or board.weight is None:
            found.append(SpotRow(name, board.text, error=board.problem))
        else:
            own = {**game, "board": board.text}
            found.append(SpotJob(name, board.text, board.weight, own, settings))
    return found


def plan_spots(
    planned: Sequence[Planned],
    *,
    limits: Limits,
    threads: int | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    output: Path | None = None,
    saved: Saved = "full",
) -> tuple[list[Planned], int]:
    """Jobs with their limits, threads and folders, and how many of them are run at a time.

    On a `cluster` a job takes one core unless `threads` are named, and that number is 1.
    """
    if cluster is not None:
        if processes is not None:
            raise InputError(
                "--processes is for this machine: a cluster solves as many spots at a time as it "
                "has cores.\nLeave it out; --threads 4 gives each spot four of them."
            )
        processes, threads = 1, 1 if threads is None else threads
    jobs = [one for one in planned if isinstance(one, SpotJob)]
    count = processes_for(jobs, threads, processes)
    each = thread_count(threads) if threads is not None else max(1, processors() // count)
    names: Counter[str] = Counter()
    found: list[Planned] = []
    for one in planned:
        if isinstance(one, SpotJob):
            one = replace(one, limits=limits, threads=each, saved=saved)
            if output is not None:
                folder = spot_folder(one.name, one.board)
                names[folder] += 1
                again = f"-{names[folder]}" if names[folder] > 1 else ""
                one = replace(one, folder=output / f"{folder}{again}")
            if cluster is not None:
                one = one.as_sent()
        found.append(one)
    return found, count


def processes_for(jobs: Sequence[SpotJob], threads: int | None, processes: int | None) -> int:
    """How many spots are solved at a time: what was asked for, or what cores and memory allow."""
    if processes is not None:
        return min(thread_count(processes, "processes"), max(len(jobs), 1))
    if any(job.settings["device"] != CPU for job in jobs):
        return 1
    count = max(1, min(processors() // (threads or 1), len(jobs)))
    free = available_bytes()
    if count > 1 and free is not None:
        count = max(1, min(count, free // max(_need(jobs), 1)))
    return count


def _need(jobs: Sequence[SpotJob]) -> int:
    """Bytes of the largest of the first spots of every name, in a process of its own."""
    largest = 0
    for job in {job.name: job for job in reversed(jobs)}.values():
        try:
            spot, how = Spot.from_mapping(job.game), job.settings
            need = estimate_spot(spot, how["precision"], 1, how["river_groups"])
        except InputError:  # which its row will say
            continue
        largest = max(largest, need.process_bytes)
    return largest


def spots_executor(
    processes: int, cluster: str | None, tell: Callable[[str], None] | None = None
) -> AbstractContextManager[Executor]:
    """So many processes of this machine, or a cluster, of which `tell` hears in words."""
    if cluster is None:
        return nullcontext(Processes(processes))
    return on_cluster(cluster, Need(), "this spot", need_of=spot_need, tell=tell)


def run_spots(
    planned: Sequence[Planned],
    executor: Executor,
    *,
    output: Path | None = None,
    resume: bool = False,
    csv: Path | None = None,
    observers: Sequence[SpotsObserver] = (),
) -> SpotsOutcome:
    """Solve what is planned; with `output` it is the set of that folder, with `resume` goes on.

    Rows are written to the table of the folder, and to `csv`, as spots are solved.
    """
    if resume and output is None:
        raise InputError("--resume needs --output, the folder to go on from")
    rows = {place: one for place, one in enumerate(planned) if isinstance(one, SpotRow)}
    jobs = {place: one for place, one in enumerate(planned) if isinstance(one, SpotJob)}
    failed = len(rows)
    with ExitStack() as stack:
        tables = [] if csv is None else [SpotTable(csv)]
        bundle = None
        if output is not None:
            bundle = SpotSetBundle(output, resume=resume)
            stack.enter_context(claim(output))
            there = bundle.begin([_entry(job) for job in jobs.values()])
            known = [None if entry.row is None else row_of(entry.row) for entry in there]
            for (place, job), row in zip(jobs.items(), known, strict=True):
                if row is not None and row.is_done(job):
                    rows[place] = replace(row, weight=job.weight)
            tables.append(SpotTable(output / TABLE, anew=True))
            for cells in bundle.rows:
                tables[-1].append(row_of(cells))
        left = [place for place in jobs if place not in rows]
        for place, one in rows.items():
            if place not in jobs:
                _append(tables, one)
        request = stack.enter_context(
            interrupt_request("stopping the spots at work", "what they have found")
        )
        request.hold()
        solved = 0
        tally = Tally(len(planned), len(rows), observers, executor.nodes)
        tally.tell(len(rows), failed=failed)

        def keep(number: int, row: SpotRow) -> None:
            nonlocal solved, failed
            place = left[number]
            rows[place] = row
            if row.error is None:
                solved += 1
                if bundle is not None:
                    bundle.save(_folder(jobs[place]), row_cells(row))
            else:
                failed += 1
            _append(tables, row)
            tally.tell(len(rows), row, failed)

        wanted = [jobs[place] for place in left]
        folders = dict.fromkeys(job.folder.parent for job in wanted if job.folder is not None)
        signs = [stack.enter_context(signed(each)) for each in folders if executor.remote]
        executor.map(
            SolveSpot(tuple(signs)),
            wanted,
            keep,
            control=request,
            on_error=lambda number, error: keep(number, SpotRow.failed(wanted[number], error)),
        )
        return SpotsOutcome(in_order(rows), len(rows) < len(planned), solved)


def _append(tables: Sequence[SpotTable], row: SpotRow) -> None:
    for table in tables:
        table.append(row)


def _folder(job: SpotJob) -> str:
    assert job.folder is not None
    return job.folder.name


def _entry(job: SpotJob) -> Entry:
    return Entry(job.name, job.board, job.weight, _folder(job), job.identity)


def solve_many(
    spots: Iterable[Given],
    target: float | None = None,
    *,
    boards: Boards | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    threads: int | None = None,
    max_iterations: int | None = None,
    seconds: float | None = None,
    algorithm: str | None = None,
    precision: str | None = None,
    river_groups: str | None = None,
    device: str | None = None,
    csv: Path | str | None = None,
    parquet: Path | str | None = None,
    output: Path | str | None = None,
    save: Saved = "full",
    resume: bool = False,
    executor: Executor | None = None,
    observers: Sequence[SpotsObserver] = (),
) -> list[SpotRow]:
    """Solve spots side by side, on one board or many; returns a row of each in the order given.

    A spot is a `Spot`, the keys of a spot file, or the path of one; it may name several `boards`:
    a list, a set of flops ("subset_25"), or a CSV file where they are given here for all spots. Its
    own target (`exploitability_threshold`), algorithm, precision, river_groups and device override
    those given here. One that cannot be solved has an `error` and does not touch the others.

    As many `processes` as cores and memory allow work at a time, the cores divided among them as
    `threads`. `csv` names a file to which rows are appended as spots finish, `parquet` one that is
    written at the end (with the extra `allstreets[parquet]`). `output` is a folder that keeps every
    solution (`allstreets.load` opens it); with `resume` what is solved there is not solved again.
    `cluster` (auto, local or HOST:PORT) gives every spot a core, or `threads`, of a Ray cluster
    whose machines all see `output`. `executor` (`allstreets.jobs`) runs the spots, if neither does.
    """
    if cluster is not None and executor is not None:
        raise InputError("cluster and executor both say who runs the jobs: name one of them")
    if parquet is not None:
        require_parquet()  # before hours of solving, not after
    defaults = {
        "exploitability_threshold": target,
        "algorithm": algorithm,
        "precision": precision,
        "river_groups": river_groups,
        "device": device,
    }
    defaults = {key: value for key, value in defaults.items() if value is not None}
    shared = None if boards is None else read_boards(boards)
    planned = [
        one
        for number, given in enumerate(spots, start=1)
        for one in _given(number, given, defaults, shared)
    ]
    folder = None if output is None else Path(output)
    limits = Limits(max_iterations, seconds)
    jobs, count = plan_spots(
        planned,
        limits=limits,
        threads=threads,
        processes=processes,
        cluster=cluster,
        output=folder,
        saved=save,
    )
    with nullcontext(executor) if executor else spots_executor(count, cluster) as chosen:
        outcome = run_spots(
            jobs,
            chosen,
            output=folder,
            resume=resume,
            csv=None if csv is None else Path(csv),
            observers=observers,
        )
    if parquet is not None:
        write_parquet(Path(parquet), table_rows(outcome.rows))
    if outcome.interrupted:
        raise KeyboardInterrupt
    return list(outcome.rows)


def _given(
    number: int,
    given: Given,
    defaults: Mapping[str, Any],
    boards: Sequence[WeightedBoard] | None,
) -> list[Planned]:
    """The jobs of one spot, or a row with what is wrong with it."""
    name = str(number)
    try:
        if isinstance(given, Spot):
            how = check_config(defaults, SpotConfig)
            settings = {key: getattr(how, key) for key in SETTINGS}
            game = spot_mapping(given)
            found = boards or read_boards([game["board"]])
            return [
                SpotRow(name, one.text, error=one.problem)
                if one.weight is None
                else SpotJob(name, one.text, one.weight, {**game, "board": one.text}, settings)
                for one in found
            ]
        if isinstance(given, Mapping):
            name = str(given.get("name") or number)
            config = check_config({**defaults, **_renamed(given)}, SpotConfig, f"spot {name}")
        else:
            path = Path(given)
            own = read_spot_config(path, {})
            keys = own.model_dump(mode="json", by_alias=True, exclude_unset=True)
            config = check_config({**defaults, **keys}, SpotConfig, str(path))
            name = own.name or path.stem
        return jobs_of(config, name, boards)
    except InputError as error:
        return [SpotRow(name, "", error=" ".join(str(error).split()))]


def _renamed(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a spot with `target` by the name that it has in files."""
    return {"exploitability_threshold" if key == "target" else key: keys[key] for key in keys}

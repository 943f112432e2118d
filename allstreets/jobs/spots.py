"""Many spots: read them, solve the missing ones, and store a row and a bundle of each.

1. Files, mappings and spots become jobs, one for each board; those that cannot become a row with
the error, and the others continue.
2. Jobs whose rows are in the folder already are not run again.
3. An executor runs the others; every row is on disk when the next one comes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from allstreets.base import (
    InputError,
    available_bytes,
    duration,
    figure,
    interrupt_request,
    processors,
    require_parquet,
    thread_count,
    write_parquet,
)
from allstreets.cluster import Need, signed
from allstreets.engines import CPU
from allstreets.games import Spot, spot_mapping
from allstreets.jobs.config.boards import Boards, WeightedBoard, read_boards
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import SpotConfig, read_spot_config
from allstreets.jobs.executors import Executor, Processes, in_order, on_cluster
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Observer, Plan, Progress, Tally
from allstreets.jobs.spot_rows import (
    SETTINGS,
    Limits,
    SolveSpot,
    SpotPiece,
    SpotRow,
    SpotTable,
    row_cells,
    row_of,
    spot_need,
    table_rows,
)
from allstreets.storage import TABLE, Entry, Saved, SpotSetBundle, claim, spot_folder

SpotInput = Spot | Mapping[str, Any] | str | Path
Planned = SpotPiece | SpotRow  # or a row with the reason, where nothing can be solved


@dataclass(frozen=True)
class SpotsOutcome:
    """The outcome of a run."""

    rows: tuple[SpotRow, ...]  # in the order of the spots, without those that were stopped
    interrupted: bool
    solved: int  # in this run

    @property
    def failed(self) -> tuple[SpotRow, ...]:
        """The spots that could not be solved."""
        return tuple(row for row in self.rows if row.error is not None)

    @property
    def problem(self) -> str | None:
        """The reason why no other job can build on it, in words."""
        return self.failed[0].error if self.failed else None

    def lines(self) -> list[str]:
        """The spots that failed, and why."""
        return [
            f"Not solved: {f'{row.name} {row.board}'.strip()}: {row.error}" for row in self.failed
        ]

    def to_json(self) -> dict[str, Any]:
        """The rows."""
        return {"spots": table_rows(self.rows), "interrupted": self.interrupted}


def spots_figures(progress: Progress) -> list[str]:
    """The figures beside the count: pace, time, failures, and the latest spot."""
    parts, pace, row = [], progress.seconds_per_piece, progress.latest
    if pace is not None and row is not None:
        parts.append(f"{figure(pace)} s per spot" if pace >= 1 else f"{figure(1 / pace)} spots/s")
        parts.append(f"ETA {duration(progress.eta_seconds)}")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if row is not None:
        parts.append(f"{row.name} {row.board}".strip())
        if row.exploitability_pct is not None:
            parts.append(f"exploitability {figure(row.exploitability_pct)} % of pot")
    return parts


@dataclass(frozen=True, eq=False)
class SpotsJob:
    """Spots to solve side by side, and where their rows and solutions are kept."""

    planned: tuple[Planned, ...]
    processes: int  # that solve them on this machine
    cluster: str | None = None  # solves them instead: auto, local or HOST:PORT
    output: Path | None = None  # the folder of the set
    resume: bool = False  # spots solved there are not solved again
    csv: Path | None = None  # rows are appended to it as spots are solved
    executor: Executor | None = None  # instead of all of these

    @cached_property
    def pieces(self) -> dict[int, SpotPiece]:
        """The spots that can be solved, by index."""
        return {
            index: piece for index, piece in enumerate(self.planned) if isinstance(piece, SpotPiece)
        }

    @cached_property
    def refused(self) -> dict[int, SpotRow]:
        """The rows of the others, by index."""
        return {index: row for index, row in enumerate(self.planned) if isinstance(row, SpotRow)}

    def plan(self) -> Plan:
        """The number of spots, and where they are solved."""
        if not self.pieces:
            first = next(iter(self.refused.values()))
            alone = len(self.planned) == 1 and not first.board
            raise InputError(f"{'' if alone else 'none of the spots can be solved: '}{first.error}")
        count, threads = len(self.pieces), next(iter(self.pieces.values())).threads
        at_once = f"{self.processes} at a time, " if self.processes > 1 else ""
        what = f"{count:,} spot{'s' * (count != 1)}"
        return Plan((f"{what}, {at_once}{threads} thread{'s' * (threads > 1)} each",))

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> SpotsOutcome:
        """Solve the planned spots; rows are written as spots are solved."""
        if self.resume and self.output is None:
            raise InputError("--resume needs --output, the folder to resume")
        callbacks.begin()
        with self._executor(callbacks) as executor, ExitStack() as stack:
            return self._run(executor, stack, callbacks)

    def _executor(self, callbacks: Callbacks) -> AbstractContextManager[Executor]:
        if self.executor is not None:
            return nullcontext(self.executor)
        if self.cluster is None:
            return nullcontext(Processes(self.processes))
        return on_cluster(
            self.cluster, Need(), "this spot", need_of=spot_need, tell=callbacks.message
        )

    def _run(self, executor: Executor, stack: ExitStack, callbacks: Callbacks) -> SpotsOutcome:
        rows, pieces = dict(self.refused), self.pieces
        failed, solved = len(rows), 0
        tables = [] if self.csv is None else [SpotTable(self.csv)]
        bundle = None
        if self.output is not None:
            bundle = SpotSetBundle(self.output, resume=self.resume)
            stack.enter_context(claim(self.output))
            entries = bundle.begin([_entry(piece) for piece in pieces.values()])
            for (place, piece), entry in zip(pieces.items(), entries, strict=True):
                row = None if entry.row is None else row_of(entry.row)
                if row is not None and row.is_done(piece):
                    rows[place] = replace(row, weight=piece.weight)
            tables.append(SpotTable(self.output / TABLE, anew=True))
            for cells in bundle.rows:
                tables[-1].append(row_of(cells))
        left = [number for number in pieces if number not in rows]
        for table in tables:
            for row in self.refused.values():
                table.append(row)
        request = stack.enter_context(
            interrupt_request("stopping the spots in progress", "their results so far")
        )
        request.hold()
        tally = Tally(
            "spots", len(self.planned), len(rows), callbacks.progress, executor.nodes, spots_figures
        )
        tally.tell(len(rows), failed=failed)

        def keep(number: int, row: SpotRow) -> None:
            nonlocal solved, failed
            rows[left[number]] = row
            if row.error is None:
                solved += 1
                if bundle is not None:
                    bundle.save(_folder(wanted[number]), row_cells(row))
            else:
                failed += 1
            for table in tables:
                table.append(row)
            tally.tell(len(rows), row, failed)

        wanted = [pieces[number] for number in left]
        folders = dict.fromkeys(piece.folder.parent for piece in wanted if piece.folder is not None)
        signs = [stack.enter_context(signed(each)) for each in folders if executor.remote]
        executor.map(
            SolveSpot(tuple(signs)),
            wanted,
            keep,
            control=request,
            on_error=lambda number, error: keep(number, SpotRow.failed(wanted[number], error)),
        )
        return SpotsOutcome(in_order(rows), len(rows) < len(self.planned), solved)


def _folder(piece: SpotPiece) -> str:
    assert piece.folder is not None
    return piece.folder.name


def _entry(piece: SpotPiece) -> Entry:
    return Entry(piece.name, piece.board, piece.weight, _folder(piece), piece.identity)


def read_spots(
    files: Sequence[Path], flags: Mapping[str, Any]
) -> list[tuple[str, SpotConfig | InputError]]:
    """The names and configs of spot files, or of flags alone; flags override the files.

    A file that cannot be read has its error instead of a config, unless it is the only one.
    """
    configs: list[tuple[str, SpotConfig | InputError]] = []
    for path in files or (None,):
        name = path.stem if path is not None else "spot"
        try:
            config = read_spot_config(path, flags)
            configs.append((config.name or name, config))
        except InputError as error:
            if len(files) < 2:
                raise
            configs.append((name, error))
    return configs


def plan_spots(
    spots: Iterable[tuple[str, Spot | SpotConfig | InputError]],
    boards: Boards | None = None,
    *,
    defaults: SpotConfig | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    output: Path | None = None,
    saved: Saved = "full",
    **places: Any,
) -> SpotsJob:
    """The job that solves spots with these names, each on its own board, or all on `boards`.

    A `Spot` is solved by `defaults`. On a `cluster` a spot takes one core unless `threads` are
    given. Other arguments are fields of the job.
    """
    if cluster is not None:
        if processes is not None:
            raise InputError(
                "--processes is for this machine: a cluster solves as many spots at a time as it "
                "has cores.\nLeave it out; --threads 4 gives each spot four of them."
            )
        processes, threads = 1, 1 if threads is None else threads
    shared = None if boards is None else read_boards(boards)
    planned = [
        spot_plan for name, spot in spots for spot_plan in _on_boards(name, spot, shared, defaults)
    ]
    pieces = [spot_plan for spot_plan in planned if isinstance(spot_plan, SpotPiece)]
    count = _at_once(pieces, threads, processes)
    each = thread_count(threads) if threads is not None else max(1, processors() // count)
    names: Counter[str] = Counter()

    def complete(piece: SpotPiece) -> SpotPiece:
        piece = replace(piece, limits=limits or Limits(), threads=each, saved=saved)
        if output is not None:
            folder = spot_folder(piece.name, piece.board)
            names[folder] += 1
            again = f"-{names[folder]}" if names[folder] > 1 else ""
            piece = replace(piece, folder=output / f"{folder}{again}")
        return piece if cluster is None else piece.as_sent()

    complete_ones = tuple(
        complete(spot_plan) if isinstance(spot_plan, SpotPiece) else spot_plan
        for spot_plan in planned
    )
    return SpotsJob(complete_ones, count, cluster, output, **places)


def _on_boards(
    name: str,
    spot: Spot | SpotConfig | InputError,
    boards: Sequence[WeightedBoard] | None,
    defaults: SpotConfig | None,
) -> list[Planned]:
    """A piece for each board of a spot, or a row with the problem; `boards` override its own."""
    try:
        if isinstance(spot, InputError):
            raise spot
        if isinstance(spot, Spot):
            game, how = spot_mapping(spot), defaults or SpotConfig()
            boards = boards or read_boards([game["board"]])
        else:
            how = spot
            if boards is None:
                if how.board is None and how.boards is None:
                    how.game()  # which names the missing keys
                boards = read_boards([how.board] if how.board is not None else how.boards or ())
            first = next((board for board in boards if board.problem is None), None)
            game = {} if first is None else how.on(first.text).game()
    except InputError as error:
        return [SpotRow(name, "", error=" ".join(str(error).split()))]
    settings = {key: getattr(how, key) for key in SETTINGS}
    return [
        SpotRow(name, board.text, error=board.problem)
        if board.weight is None
        else SpotPiece(name, board.text, board.weight, {**game, "board": board.text}, settings)
        for board in boards
    ]


def _at_once(pieces: Sequence[SpotPiece], threads: int | None, processes: int | None) -> int:
    """The number of spots solved at a time: as requested, or as cores and memory allow."""
    if processes is not None:
        return min(thread_count(processes, "processes"), max(len(pieces), 1))
    if any(piece.settings["device"] != CPU for piece in pieces):
        return 1
    count = max(1, min(processors() // (threads or 1), len(pieces)))
    free = available_bytes()
    if count == 1 or free is None:
        return count
    largest = 1  # bytes of the first spots of every name, each in its own process
    for piece in {piece.name: piece for piece in reversed(pieces)}.values():
        with suppress(InputError):  # its row will report it
            largest = max(largest, spot_need(replace(piece, threads=1)).memory_bytes)
    return max(1, min(count, free // largest))


def solve_many(
    spots: Iterable[SpotInput],
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
    tremble: float | None = None,
    device: str | None = None,
    csv: Path | str | None = None,
    parquet: Path | str | None = None,
    output: Path | str | None = None,
    save: Saved = "full",
    resume: bool = False,
    executor: Executor | None = None,
    observers: Sequence[Observer] = (),
) -> list[SpotRow]:
    """Solve spots side by side, on one board or many; returns a row of each in the order given.

    A spot is a `Spot`, the keys of a spot file, or the path of one; it may name several `boards`: a
    list, a set of flops ("subset_25"), or, if given here for all spots, a CSV file. Its own target
    (`exploitability_threshold`), algorithm, precision, river_groups, tremble and device override
    those given here. A spot that cannot be solved has an `error`, and the others continue.

    As many `processes` as cores and memory allow work at a time, the cores divided among them as
    `threads`. `csv` names a file to which rows are appended as spots finish, `parquet` one that is
    written at the end (with the extra `allstreets[parquet]`). `output` is a folder that keeps every
    solution (`allstreets.load` opens it); with `resume` spots solved there are not solved again.
    `cluster` (auto, local or HOST:PORT) gives every spot a core, or `threads`, of a Ray cluster
    whose machines all see `output`. Otherwise an `executor` (`allstreets.jobs`) may run the spots.
    """
    if cluster is not None and executor is not None:
        raise InputError("cluster and executor are two ways to run the jobs: give one of them")
    if parquet is not None:
        require_parquet()  # before hours of solving, not after
    keys = {
        "exploitability_threshold": target,
        "algorithm": algorithm,
        "precision": precision,
        "river_groups": river_groups,
        "tremble": tremble,
        "device": device,
    }
    keys = {key: value for key, value in keys.items() if value is not None}
    job = plan_spots(
        [_given(str(number), given, keys) for number, given in enumerate(spots, start=1)],
        boards,
        defaults=check_config(keys, SpotConfig),
        limits=Limits(max_iterations, seconds),
        threads=threads,
        processes=processes,
        cluster=cluster,
        output=None if output is None else Path(output),
        saved=save,
        resume=resume,
        csv=None if csv is None else Path(csv),
        executor=executor,
    )
    outcome = job.run(Callbacks(progress=tuple(observers)))
    if parquet is not None:
        write_parquet(Path(parquet), table_rows(outcome.rows))
    if outcome.interrupted:
        raise KeyboardInterrupt
    return list(outcome.rows)


def _given(
    name: str, given: SpotInput, defaults: Mapping[str, Any]
) -> tuple[str, Spot | SpotConfig | InputError]:
    """The name and config of a spot, or the problem with it."""
    try:
        if isinstance(given, Spot):
            return name, given
        if isinstance(given, Mapping):
            name = str(given.get("name") or name)
            own = {
                "exploitability_threshold" if key == "target" else key: given[key] for key in given
            }
            return name, check_config({**defaults, **own}, SpotConfig, f"spot {name}")
        path = Path(given)
        config = read_spot_config(path, {}, defaults)
        return config.name or path.stem, config
    except InputError as error:
        return name, error

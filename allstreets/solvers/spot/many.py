"""Many spots over processes: one line of a CSV file for each, written as soon as it is solved."""

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError, require_parquet, thread_count, write_parquet
from allstreets.solvers.spot.solver import solve
from allstreets.solvers.spot.spot import Spot
from allstreets.solvers.spot.text import spot_mapping

if TYPE_CHECKING:
    from concurrent.futures import Future

# What a spot may bring along, and what `solve` calls it.
SETTINGS = {
    "algorithm": "algorithm",
    "precision": "precision",
    "river_groups": "river_groups",
    "exploitability_threshold": "target",
    "target": "target",
}
KILLED = "its process was killed; is there enough memory?"


@dataclass(frozen=True)
class ManyRow:
    """What came of one spot: figures, or the error that kept it from being solved."""

    name: str
    exploitability_pct: float | None = None  # of the pot
    ev_oop: float | None = None  # chips
    ev_ip: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    error: str | None = None


def solve_many(
    spots: Iterable[Spot | Mapping[str, Any]],
    target: float = 0.003,
    processes: int | None = None,
    csv: Path | str | None = None,
    parquet: Path | str | None = None,
    threads: int = 1,
    **options: Any,
) -> list[ManyRow]:
    """Solve spots side by side; returns their rows in the order given.

    A spot is a `Spot` or the keys of a spot file. The `name` of a file stands in its row, and its
    algorithm, precision, river_groups and exploitability_threshold (a fraction) override those
    given here. One that cannot be solved has an `error` and does not touch the others. Each of the
    `processes` (default: one per core) works with `threads`. `csv` names a file to which rows are
    appended as spots finish, `parquet` one that is written at the end (with the extra
    `allstreets[parquet]`).
    `options` go to `solve`: max_iterations, seconds, algorithm, precision, check, river_groups.

    The processes are fresh ones: a script that calls this needs `if __name__ == "__main__":`.
    """
    jobs = [_job(number, spot) for number, spot in enumerate(spots, start=1)]
    count, threads = thread_count(processes, "processes"), thread_count(threads)
    options = {**options, "target": target, "threads": threads}
    file = None if csv is None else _CsvFile(Path(csv))
    if parquet is not None:
        require_parquet()  # before hours of solving, not after
    rows: dict[int, ManyRow] = {}
    for place, row in _solved(jobs, min(count, max(len(jobs), 1)), options):
        rows[place] = row
        if file is not None:
            file.append(row)
    in_order = [rows[place] for place in range(len(jobs))]
    if parquet is not None:
        write_parquet(Path(parquet), [asdict(row) for row in in_order])
    return in_order


def _job(number: int, spot: Spot | Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | str]:
    """(name, keys of the spot, or what is wrong with it)."""
    if isinstance(spot, Mapping):
        return str(spot.get("name") or number), dict(spot)
    try:
        return str(number), spot_mapping(spot)
    except InputError as error:
        return str(number), str(error)


def _solved(
    jobs: list[tuple[str, Mapping[str, Any] | str]], processes: int, options: Mapping[str, Any]
) -> Iterator[tuple[int, ManyRow]]:
    """(place, row) of every job, in the order in which they finish."""
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = list(enumerate(jobs))
    # Fresh processes everywhere: a copy of one that runs threads may hang.
    context = multiprocessing.get_context("spawn")
    while waiting:
        running: dict[Future[ManyRow], int] = {}
        broken: list[int] = []
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            while running or (waiting and not broken):
                while waiting and not broken and len(running) < processes:
                    place, (name, keys) = waiting[0]
                    try:
                        running[pool.submit(_solve_one, name, keys, options)] = place
                    except BrokenProcessPool:
                        broken.append(place)
                    del waiting[0]
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    place = running.pop(future)
                    try:
                        yield place, future.result()
                    except BrokenProcessPool:
                        broken.append(place)
        # A process was killed, most likely for its memory, and took the pool along. Its spot is
        # found by giving each of those that were running a process alone.
        if processes == 1:
            for place in broken:
                yield place, ManyRow(jobs[place][0], error=KILLED)
        elif broken:
            waiting = [(place, jobs[place]) for place in broken] + waiting
            processes = 1


def _solve_one(name: str, keys: Mapping[str, Any] | str, options: Mapping[str, Any]) -> ManyRow:
    """One spot in a process of its own; whatever goes wrong becomes the row's error."""
    try:
        if isinstance(keys, str):
            raise InputError(keys)
        own = {name: keys[key] for key, name in SETTINGS.items() if key in keys}
        game = {key: value for key, value in keys.items() if key not in SETTINGS}
        result = solve(Spot.from_mapping(game), **{**options, **own})
        evs = result.evs
    except Exception as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return ManyRow(name, error=" ".join(what.split()))
    return ManyRow(
        name,
        100 * result.exploitability,
        evs[0],
        evs[1],
        result.iterations,
        result.seconds,
    )


class _CsvFile:
    """Rows appended one by one; a file with other columns is refused before anything is solved."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns = [field.name for field in fields(ManyRow)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            head = path.read_text().partition("\n")[0] if path.exists() else ""
            if not head:
                self._write(self._columns)
            elif head != ",".join(self._columns):
                raise InputError(f"{path} holds other columns; name another CSV file")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}; name another file") from None

    def append(self, row: ManyRow) -> None:
        """Add one line, at once on disk."""
        values = asdict(row).values()
        self._write([_cell(value) for value in values])

    def _write(self, cells: Iterable[Any]) -> None:
        with self._path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(cells)
            file.flush()
            os.fsync(file.fileno())


def _cell(value: Any) -> Any:
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if missing else value

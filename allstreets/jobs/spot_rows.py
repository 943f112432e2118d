"""One of many spots: a job for any process, and its resulting row.

A job is plain data that can be sent to another process or machine. `SolveSpot` runs it there; an
executor sends it. The rows form a CSV file that grows as spots are solved, or Parquet: the actions
of first decisions are the last columns, and a row with an action that no row before had widens the
table.

On a cluster rows travel to the caller. A solution may take gigabytes, so the worker that solves a
spot writes it, from time to time and at the end: all machines must see the folder of the set. A
spot whose worker dies resumes elsewhere from its last save, and so do spots that Ctrl-C ended, with
`--resume`.
"""

import csv
import io
import math
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import (
    Control,
    InputError,
    write_atomic,
    write_csv_rows,
)
from allstreets.betting import Player
from allstreets.cluster import Need, Sign
from allstreets.engines import CPU
from allstreets.games import (
    Spot,
    data_hash,
    estimate_spot,
)
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.executors import StoppedError, piece_control
from allstreets.jobs.job import Callbacks
from allstreets.jobs.spot import MAX_ITERATIONS, SpotJob
from allstreets.solutions import SpotSolution, realised
from allstreets.storage import (
    MANIFEST,
    HeldError,
    Saved,
    claim,
    load_spot,
    read_spot_manifest,
    require_same,
)

SOLVED = ("algorithm", "precision", "river_groups", "tremble")  # the settings of a solution
SETTINGS = (*SOLVED, "device", "exploitability_threshold")
GPU = "cuda"  # the one that Ray lends
LOCK_SECONDS = 120  # until a file server releases the locks of a dead machine


@dataclass(frozen=True)
class Limits:
    """Limits that end a spot before its target: iterations or time."""

    max_iterations: int | None = None
    seconds: float | None = None

    @property
    def iterations(self) -> float:
        """The most iterations."""
        if self.max_iterations is not None:
            return self.max_iterations
        return MAX_ITERATIONS if self.seconds is None else math.inf


@dataclass(frozen=True)
class SpotPiece:
    """A spot, its settings, and its folder."""

    name: str
    board: str
    weight: float  # how many boards it stands for
    game: Mapping[str, Any]  # the keys of the spot, for `Spot.from_mapping`
    settings: Mapping[str, Any]  # those of `SETTINGS`
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    folder: Path | None = None  # of its bundle; an existing one is resumed
    saved: Saved = "full"

    @property
    def identity(self) -> str:
        """The hash of the spot and its algorithm; targets and devices may change."""
        settings = {key: self.settings[key] for key in SOLVED}
        return data_hash({"game": self.game, **settings})

    @property
    def target(self) -> float:
        """The exploitability to reach, a share of the pot."""
        return float(self.settings["exploitability_threshold"])

    def config(self) -> SpotConfig:
        """The config by which it is solved."""
        return SpotConfig(name=f"{self.name} {self.board}", **self.settings)

    def as_sent(self) -> "SpotPiece":
        """The job as another machine understands it: a folder by its absolute path, any GPU."""
        folder = None if self.folder is None else self.folder.resolve()
        device = CPU if self.settings["device"] == CPU else GPU
        return replace(self, folder=folder, settings={**self.settings, "device": device})


def spot_need(job: SpotPiece) -> Need:
    """The share of a machine that a spot takes."""
    spot, how = Spot.from_mapping(job.game), job.settings
    size = estimate_spot(spot, how["precision"], job.threads, how["river_groups"])
    return Need(job.threads, int(how["device"] != CPU), size.process_bytes)


@dataclass(frozen=True)
class SpotRow:
    """The result of one spot: figures, or the error that prevented it."""

    name: str
    board: str
    weight: float | None = None  # how many boards it stands for
    pairs: float | None = None  # of both ranges' combos that fit beside it: how often it is played
    ev_oop: float | None = None  # chips
    ev_ip: float | None = None
    equity_oop: float | None = None  # shares of the pot if all cards were dealt now
    equity_ip: float | None = None
    eqr_oop: float | None = None  # EV / (equity · pot)
    eqr_ip: float | None = None
    exploitability_pct: float | None = None  # of the pot
    iterations: int | None = None
    seconds: float | None = None
    folder: str | None = None  # of its solution
    error: str | None = None
    frequencies: Mapping[str, float] = field(default_factory=dict)
    """Of the first decision: action → frequency; empty if both are all-in."""

    @classmethod
    def failed(cls, job: SpotPiece, error: str | BaseException | None) -> "SpotRow":
        """The row of a job that failed."""
        if isinstance(error, MemoryError):
            error = "the machine has not enough memory for this spot"
        elif not isinstance(error, str | InputError):
            error = f"{type(error).__name__}: {error}"
        return cls(job.name, job.board, job.weight, error=" ".join(str(error).split()))

    def is_done(self, job: SpotPiece) -> bool:
        """Whether its job is finished."""
        if self.error is not None or self.exploitability_pct is None or self.iterations is None:
            return False
        reached = self.exploitability_pct <= 100 * job.target
        return reached or self.iterations >= job.limits.iterations


@dataclass(frozen=True)
class SolveSpot:
    """Solves a spot where its job arrives, and keeps it in the folder that the job names.

    `signs` are files in the folders that every machine of a cluster must see.
    """

    signs: tuple[Sign, ...] = ()

    def require(self) -> None:
        """Refuse to work where a folder is not visible."""
        for sign in self.signs:
            sign.require()

    def __call__(self, job: SpotPiece) -> SpotRow:
        """Solve the spot and return its row; any failure is the row's error."""
        self.require()
        if self.signs and job.folder is not None:
            wait_until_free(job.folder)
        try:
            return _solve(job, piece_control())
        except (StoppedError, KeyboardInterrupt):  # the latter before its first iteration
            raise StoppedError from None
        except Exception as error:
            return SpotRow.failed(job, error)


def wait_until_free(folder: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait for the lock of a dead worker to be released; if it is not, the solver reports it."""
    for _ in range(LOCK_SECONDS):
        try:
            with claim(folder):
                return
        except HeldError:
            sleep(1.0)


def _solve(job: SpotPiece, control: Control) -> SpotRow:
    """Solve and keep one spot; `control` may stop it."""
    spot, config = Spot.from_mapping(job.game), job.config()
    resume = False
    if job.folder is not None and (job.folder / MANIFEST).exists():
        kept = _kept(job, spot, config)
        if kept is not None:
            return kept
        resume = (job.folder / MANIFEST).exists()
    solving = SpotJob(
        config,
        spot,
        max_iterations=job.limits.max_iterations,
        seconds=job.limits.seconds,
        threads=job.threads,
        output=job.folder,
        resume=resume,
        saved=job.saved,
    )
    solving.need()
    outcome = solving.run(Callbacks(control=control))
    if outcome.interrupted:
        raise StoppedError
    if outcome.unsaved is not None:
        return SpotRow.failed(job, outcome.unsaved)
    return spot_row(job, outcome.result())


def _kept(job: SpotPiece, spot: Spot, config: SpotConfig) -> SpotRow | None:
    """The row of a finished bundle; a bundle that cannot be resumed is removed."""
    assert job.folder is not None
    manifest = read_spot_manifest(job.folder)
    require_same(job.folder, manifest["config"], config.identity(spot), "spot")
    row = spot_row(job, load_spot(job.folder))
    if row.is_done(job):
        return row
    if manifest["saved"] != "full":  # no regrets to resume from
        shutil.rmtree(job.folder)
    return None


def spot_row(job: SpotPiece, result: SpotSolution) -> SpotRow:
    """The row of a solution."""
    ranges = result.at().ranges
    taken = ranges.frequencies()
    evs = result.evs
    equities = [ranges.mean(ranges.equity(player), player) for player in Player]
    eqrs = realised(np.array(evs), np.array(equities), ranges.pot).tolist()
    ev_oop, ev_ip, equity_oop, equity_ip, eqr_oop, eqr_ip, exploitability_pct = (
        value if math.isfinite(value) else None
        for value in (*evs, *equities, *eqrs, 100 * result.exploitability)
    )
    return SpotRow(
        name=job.name,
        board=job.board,
        weight=job.weight,
        pairs=result.pairs(result.spot.cards),
        ev_oop=ev_oop,
        ev_ip=ev_ip,
        equity_oop=equity_oop,
        equity_ip=equity_ip,
        eqr_oop=eqr_oop,
        eqr_ip=eqr_ip,
        exploitability_pct=exploitability_pct,
        iterations=result.iterations,
        seconds=result.seconds,
        folder=None if job.folder is None else job.folder.name,
        frequencies=taken,
    )


FIGURES = tuple(column.name for column in fields(SpotRow) if column.name != "frequencies")

Cells = dict[str, Any]


def row_cells(row: SpotRow) -> Cells:
    """A row as one level of keys: figures, then actions."""
    cells = asdict(row)
    return {**{name: cells[name] for name in FIGURES}, **row.frequencies}


def row_of(cells: Mapping[str, Any]) -> SpotRow:
    """Rebuild the row from the cells of `row_cells`."""
    figures = {name: cells.get(name) for name in FIGURES}
    taken = {key: value for key, value in cells.items() if key not in FIGURES}
    return SpotRow(**figures, frequencies=taken)  # type: ignore[arg-type]


def table_rows(rows: Sequence[SpotRow]) -> list[Cells]:
    """Rows that share their columns."""
    cells = [row_cells(row) for row in rows]
    columns = dict.fromkeys(key for each in cells for key in each)
    return [{key: each.get(key) for key in columns} for each in cells]


class SpotTable:
    """A CSV file to which rows are added one by one, each written to disk immediately."""

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        """A file with other columns is refused, unless it is written `anew`."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            head = "" if anew or not path.exists() else path.read_text().partition("\n")[0]
            self._columns = next(csv.reader([head]), []) if head else []
            if not head:
                self._columns = list(FIGURES)
                self._rewrite([])
            elif tuple(self._columns[: len(FIGURES)]) != FIGURES:
                raise InputError(f"{path} contains other columns; name another CSV file")
        except OSError as error:
            raise self._refusal(error) from None

    def append(self, row: SpotRow) -> None:
        """Add one line."""
        cells = row_cells(row)
        new = [key for key in cells if key not in self._columns]
        try:
            if new:
                with self.path.open(newline="") as file:
                    there = list(csv.DictReader(file))
                self._columns += new
                self._rewrite([*there, cells])
                return
            with self.path.open("a", newline="") as file:
                write_csv_rows(file, self._columns, [cells], head=False)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._refusal(error) from None

    def _rewrite(self, rows: Iterable[Mapping[str, Any]]) -> None:
        text = io.StringIO()
        write_csv_rows(text, self._columns, rows)
        write_atomic(self.path, lambda file: file.write(text.getvalue().encode()))

    def _refusal(self, error: OSError) -> InputError:
        return InputError(f"cannot write {self.path}: {error.strerror}; name another file")

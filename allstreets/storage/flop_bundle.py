"""Bundles of flops: a folder that fills up flop by flop and can be looked into at any time.

    FOLDER/manifest.json                         settings, their hash, which flops, a row a flop
           flops/AsKh7d-spr3.5.safetensors       strategies and values of a flop, and its row

A flop's file is written as soon as it is solved and holds its row of figures itself. The manifest
is brought up to date now and then: what it does not list yet is found by looking at the files. So
whatever the moment at which a writer dies, only the flops in work are lost.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.base.files import Arrays, DamagedFileError
from allstreets.storage.claim import LOCK_NAME
from allstreets.storage.flop_file import SUFFIX, open_flop_file, write_flop_file
from allstreets.storage.manifest import (
    AGAIN,
    MANIFEST,
    read_manifest,
    require_same,
    write_manifest,
)
from allstreets.version import __version__

if TYPE_CHECKING:
    from allstreets.solvers.flops.model import FlopResult
    from allstreets.solvers.flops.result import PostflopResult

SCHEMA = 2  # of manifest and files; a change that old code would misread takes the next number
KIND = "postflop"
FOLDER = "flops"
MANIFEST_SECONDS = 30.0  # between two manifests of a run

Row = dict[str, Any]
Key = tuple[str, float]  # a flop's text and the stack-to-pot ratio

_TEMPORARY = re.compile(rf"\.(manifest\.json|.*-spr.*{re.escape(SUFFIX)})\.[0-9a-f]{{8}}\.tmp")


def flop_path(folder: Path, flop: str, spr: float) -> Path:
    """The file of a flop at a stack-to-pot ratio."""
    return folder / FOLDER / f"{flop}-spr{spr:.12g}{SUFFIX}"


def flop_row(result: "FlopResult") -> Row:
    """The figures of a flop, as manifest, tables and reports have them. Shares are of the pot."""
    flop = result.flop
    return {
        "flop": flop.text,
        "spr": result.spr,
        "multiplicity": flop.multiplicity,
        "suits": flop.texture.suits,
        "pairing": flop.texture.pairing,
        "high_card": flop.texture.high_card,
        "connectedness": flop.texture.connectedness,
        "exploitability": result.exploitability,
        "converged": result.converged,
        "iterations": result.iterations,
        "avg_positive_regret": result.avg_positive_regret,
        "ev_oop": result.evs[0],
        "ev_ip": result.evs[1],
        "bet_oop": result.bets[0],
        "bet_ip": result.bets[1],
        "seconds": result.seconds,
    }


class FlopBundle:
    """A folder that a run writes to."""

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, Any],
        wanted: Sequence[Key],
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        from allstreets.solvers.spot.text import data_hash

        self.folder, self.wanted = folder, tuple(wanted)
        self.rows: dict[Key, Row] = {}
        self._identity, self._hash = dict(identity), data_hash(identity)
        self._labels = {"name": name, "description": description}
        self._seconds, self._began = 0.0, time.monotonic()
        self._due = 0.0

    def require_free(self) -> None:
        """Refuse a folder that holds anything: another run, or files that are not ours."""
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; name a folder for the solution")
        if not folder.is_dir():
            return
        if not (folder / MANIFEST).exists():
            if all(path.name == LOCK_NAME or _is_left(path) for path in folder.iterdir()):
                return
            raise InputError(f"{folder} holds other files; name a new folder for the solution")
        manifest = read_manifest(folder, KIND, SCHEMA)
        require_same(folder, manifest["config"], self._identity, "model of flops")
        raise InputError(
            f"{folder} already holds this model; go on with it by --resume, or name another folder"
        )

    def resume(self) -> None:
        """Take over what the folder holds; files that are not whole count as not there."""
        manifest = read_manifest(self.folder, KIND, SCHEMA)
        require_same(self.folder, manifest["config"], self._identity, "model of flops")
        self._seconds = float(manifest["seconds"])
        self._labels = {
            key: value if value is not None else manifest[key]
            for key, value in self._labels.items()
        }
        for path in _files(self.folder):
            if path.name.endswith(SUFFIX):
                with suppress(DamagedFileError):
                    row = _own_row(path, self._hash)
                    self.rows[row["flop"], row["spr"]] = row

    def clear_unfinished(self) -> None:
        """Remove what killed writers have left; for the one who may write."""
        for path in [*self.folder.iterdir(), *_files(self.folder)]:
            if _is_left(path):
                with suppress(OSError):
                    path.unlink()

    @property
    def missing(self) -> list[Key]:
        """What is wanted and not there, in order."""
        return [key for key in self.wanted if key not in self.rows]

    @property
    def seconds(self) -> float:
        """Time spent on the folder, that before a resume included."""
        return self._seconds + time.monotonic() - self._began

    def save(self, result: "FlopResult") -> Row:
        """Keep a solved flop; an `InputError` if there is no room."""
        row = flop_row(result)
        arrays: Arrays = {"values": result.values}
        for stage, stored in enumerate(result.strategies.stored):
            arrays[f"strategy.{stage}"] = stored
        if result.flop_buckets is not None:
            arrays["flop_buckets"] = result.flop_buckets
        facts = {"schema": SCHEMA, "config_hash": self._hash, "row": row}
        try:
            write_flop_file(flop_path(self.folder, row["flop"], row["spr"]), arrays, facts)
            self.rows[row["flop"], row["spr"]] = row
            if time.monotonic() >= self._due:
                self.write_manifest()
        except OSError as error:
            raise InputError(
                f"cannot write to {self.folder}: {error.strerror or error}; what is solved so far "
                "is kept. Make room, then go on with --resume"
            ) from error
        return row

    def write_manifest(self) -> None:
        """Bring the manifest up to date."""
        order = {key: place for place, key in enumerate(self.wanted)}
        keys = sorted(self.rows, key=lambda key: (order.get(key, len(order)), key))
        write_manifest(
            self.folder,
            {
                "schema": SCHEMA,
                "kind": KIND,
                "code_version": __version__,
                **self._labels,
                "config": self._identity,
                "config_hash": self._hash,
                "wanted": [list(key) for key in self.wanted],
                "seconds": self.seconds,
                "rows": [self.rows[key] for key in keys],
            },
        )
        self._due = time.monotonic() + MANIFEST_SECONDS


def load_postflop(folder: Path | str) -> "PostflopResult":
    """Open a model of flops. Reads the manifest; a flop is read when it is asked for."""
    from allstreets.solvers.flops.result import PostflopResult

    folder = Path(folder)
    manifest = read_manifest(folder, KIND, SCHEMA)
    rows = {(row["flop"], row["spr"]): row for row in manifest["rows"]}
    listed = {flop_path(folder, *key).name for key in rows}
    for path in _files(folder):
        if path.name.endswith(SUFFIX) and path.name not in listed:
            with suppress(DamagedFileError):  # in work, or half of it lost with the machine
                row = _own_row(path, manifest["config_hash"])
                rows[row["flop"], row["spr"]] = row

    def arrays(flop: str, spr: float) -> Arrays:
        path = flop_path(folder, flop, spr)
        try:
            found, facts = open_flop_file(path)
            _require_own(path, facts, manifest["config_hash"])
        except DamagedFileError as error:
            raise InputError(
                f"the model in {folder} is damaged: {error}.\nSolve this flop again: the command "
                "that made the folder, with --resume."
            ) from None
        return found

    return PostflopResult(
        config=manifest["config"],
        rows=tuple(rows.values()),
        wanted=tuple((str(flop), float(spr)) for flop, spr in manifest["wanted"]),
        arrays=arrays,
        seconds=float(manifest["seconds"]),
        name=manifest["name"],
        description=manifest["description"],
    )


def _files(folder: Path) -> Iterable[Path]:
    """The files of the flops, in the order of their names."""
    try:
        return sorted((folder / FOLDER).iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}.\n{AGAIN}") from None


def _is_left(path: Path) -> bool:
    """Whether a writer that was killed has left this file."""
    return _TEMPORARY.fullmatch(path.name) is not None


def _own_row(path: Path, config_hash: str) -> Row:
    """The row of a file of this run."""
    _, facts = open_flop_file(path)
    _require_own(path, facts, config_hash)
    row: Row = facts["row"]
    return row


def _require_own(path: Path, facts: Mapping[str, Any], config_hash: str) -> None:
    if facts.get("schema") != SCHEMA or facts.get("config_hash") != config_hash:
        raise DamagedFileError(f"{path} belongs to another run")

"""Bundles of flops solved one by one: a folder that fills up and can be opened at any time.

    FOLDER/manifest.json                                settings, their hash, a row per flop and SPR
           flops-1f0a93c2/AsKh7d-spr3.5.safetensors     strategies and values of a flop

Flops are written a few at a time, and the manifest after them: whenever a writer dies, the folder
holds whole flops, and only those in progress are lost.
"""

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from allstreets.base import Arrays, DamagedFileError, InputError, Place, Remote
from allstreets.engines import CardModel
from allstreets.games import data_hash
from allstreets.solutions import ModelFlops, RatioRoots, SolutionFacts, WholeSolution
from allstreets.storage.manifest import (
    MANIFEST,
    SCHEMAS,
    Kind,
    cannot_write,
    damage_reported,
    read_manifest,
    require_same,
    write_manifest,
)
from allstreets.storage.mapped import open_mapped
from allstreets.storage.mirror import mirrored
from allstreets.storage.solution_files import (
    SUFFIX,
    FlopFiles,
    clear_unfinished,
    drop,
    flops_folder,
    require_ours,
    without_files,
    write_flops,
)
from allstreets.version import __version__

KIND: Kind = "postflop"
AGAIN = "Solve this flop again: the command that made the folder, with --resume."

Row = dict[str, Any]
Key = tuple[str, float]  # a flop's text and the stack-to-pot ratio


def file_name(flop: str, spr: float) -> str:
    """The name of the file of a flop at a stack-to-pot ratio."""
    return f"{flop}-spr{spr:.12g}"


class FlopsBundle:
    """A folder that a run writes to."""

    def __init__(
        self,
        folder: Place,
        identity: Mapping[str, Any],
        model: "CardModel",
        wanted: Sequence[Key],
        name: str | None = None,
        description: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self.folder, self.wanted = folder, tuple(wanted)
        self._weights = dict(weights or {})  # of flops, by the set that they are
        self._identity, self._model = dict(identity), model
        self._labels = {"name": name, "description": description}
        self._rows: dict[Key, Row] = {}  # with the facts of their files
        self._token = secrets.token_hex(4)
        self._seconds, self._began = 0.0, time.monotonic()
        self._lock = threading.Lock()  # around the rows and their manifest

    def require_free(self) -> None:
        """Refuse a folder that contains another run, or files that are not ours."""
        require_ours(self.folder)
        if (self.folder / MANIFEST).exists():
            manifest = read_manifest(self.folder, KIND)
            require_same(self.folder, manifest["config"], self._identity, "model of flops")
            raise InputError(
                f"{self.folder} already contains this model; continue it with --resume, or name "
                "another folder"
            )

    def resume(self) -> None:
        """Continue from the contents of the folder."""
        manifest = read_manifest(self.folder, KIND)
        require_same(self.folder, manifest["config"], self._identity, "model of flops")
        self._seconds, self._token = float(manifest["seconds"]), str(manifest["token"])
        self._labels = {
            key: value if value is not None else manifest[key]
            for key, value in self._labels.items()
        }
        self._rows = {
            (row["flop"], row["spr"]): row for row in manifest["rows"] if self._is_whole(row)
        }

    def _is_whole(self, row: Row) -> bool:
        """Whether the file of a row is as it was written; a damaged one is solved again.

        Elsewhere its size decides: its bytes would have to be fetched.
        """
        name = f"{file_name(row['flop'], row['spr'])}{SUFFIX}"
        path = flops_folder(self.folder, self._token) / name
        try:
            if isinstance(path, Remote):
                return path.size() == int(row["bytes"])
            open_mapped(path, row, verify=True)
        except (DamagedFileError, FileNotFoundError):
            return False
        return True

    def clear_unfinished(self) -> None:
        """Remove the leftovers of killed writers; only for the folder's writer."""
        clear_unfinished(self.folder)
        finished = {f"{file_name(*key)}{SUFFIX}" for key in self._rows}
        flops = flops_folder(self.folder, self._token)
        for path in flops.iterdir() if flops.is_dir() else ():
            if path.name not in finished:
                drop(path)

    @property
    def rows(self) -> dict[Key, Row]:
        """Figures of all solved flops, by flop and stack-to-pot ratio."""
        return {key: without_files(row) for key, row in self._weighted().items()}

    def _weighted(self) -> dict[Key, Row]:
        """The rows with the weights of their flops, which apply only if there is one set."""
        alone = all(flop in self._weights for flop, _ in self._rows)
        weights = self._weights if alone else {}
        return {
            key: {**row, "weight": weights.get(key[0], float(row["multiplicity"]))}
            for key, row in self._rows.items()
        }

    @property
    def missing(self) -> list[Key]:
        """Keys that are wanted and not yet solved, in order."""
        return [key for key in self.wanted if key not in self._rows]

    @property
    def seconds(self) -> float:
        """Time spent on the folder, that before a resume included."""
        return self._seconds + time.monotonic() - self._began

    def save(self, solved: Sequence[tuple[Row, Arrays]]) -> None:
        """Write solved flops; an `InputError` if there is no room. Any thread may call it."""
        names = [file_name(row["flop"], row["spr"]) for row, _ in solved]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            entries = write_flops(self.folder, self._token, names, lambda index: solved[index][1])
            with self._lock:
                for (row, _), entry in zip(solved, entries, strict=True):
                    self._rows[row["flop"], row["spr"]] = {**row, **entry}
                self._write_manifest()
        except OSError as error:
            raise InputError(
                f"cannot write to {self.folder}: {error.strerror or error}; what is solved so far "
                "is kept. Make room, then continue with --resume"
            ) from error

    def write_manifest(self) -> None:
        """Bring the manifest up to date."""
        try:
            with self._lock:
                self._write_manifest()
        except OSError as error:
            raise cannot_write(self.folder, error) from error

    def _write_manifest(self) -> None:
        order = {key: index for index, key in enumerate(self.wanted)}
        rows = self._weighted()
        keys = sorted(rows, key=lambda key: (order.get(key, len(order)), key))
        write_manifest(
            self.folder,
            {
                "schema": SCHEMAS[KIND],
                "kind": KIND,
                "code_version": __version__,
                **self._labels,
                "config": self._identity,
                "config_hash": data_hash(self._identity),
                "card_model": self._model.facts(),
                "token": self._token,
                "wanted": [list(key) for key in self.wanted],
                "seconds": self.seconds,
                "rows": [rows[key] for key in keys],
            },
        )


def load_flops(folder: Place | str) -> "WholeSolution":
    """Open a model of flops. Reads the manifest; a flop is read when it is first needed."""
    folder = mirrored(folder)
    manifest = read_manifest(folder, KIND)
    named = [{**row, "flop": file_name(row["flop"], row["spr"])} for row in manifest["rows"]]
    files = FlopFiles(folder, manifest["token"], named, advice=AGAIN)
    with damage_reported(folder):
        solution = _result(manifest, files)
    solution.folder = folder
    return solution


def _result(manifest: Mapping[str, Any], files: FlopFiles) -> "WholeSolution":
    flops = ModelFlops(
        config=manifest["config"],
        cards=CardModel.of(manifest["card_model"]),
        rows=tuple(without_files(row) for row in manifest["rows"]),
        wanted=tuple((str(flop), float(spr)) for flop, spr in manifest["wanted"]),
        arrays=lambda flop, spr: files.arrays(file_name(flop, spr)),
    )
    flops.require_playable()
    facts = SolutionFacts(
        iterations=0,  # each flop has its own
        algorithm=str(manifest["config"]["algorithm"]),
        exploitability=None,
        cards=flops.cards,
        seconds=float(manifest["seconds"]),
        config=manifest["config"],
        name=manifest["name"],
        description=manifest["description"],
    )
    return WholeSolution(RatioRoots(flops), flops, facts)

"""Sets of spots: a folder of bundles, a row for each, and a manifest that fills up.

    FOLDER/manifest.json           the requested spots, and a row for each spot that is solved
           spots.csv               the same rows, for spreadsheets (`jobs.spot_rows`)
           river-Ks7d4c9h2s/       the bundle of a spot

A bundle is written before its row, and the manifest after every row: whenever a writer dies, a spot
with a row is whole, and a spot without one resumes from its bundle.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.betting import line_text
from allstreets.solutions import Boards, Node, OnBoard, SpotSolution
from allstreets.storage.claim import LOCK_NAME
from allstreets.storage.manifest import (
    MANIFEST,
    SCHEMAS,
    Kind,
    cannot_write,
    read_manifest,
    write_manifest,
)
from allstreets.storage.spot_bundle import load_spot
from allstreets.version import __version__

KIND: Kind = "spots"
TABLE = "spots.csv"

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A spot of a set."""

    name: str
    board: str
    weight: float
    folder: str  # of its bundle, inside that of the set
    identity: str  # the hash of its keys and settings
    row: Row | None = None  # its figures; None: not solved yet

    def mapping(self) -> Row:
        """The entry in a manifest."""
        return {
            "name": self.name,
            "board": self.board,
            "weight": self.weight,
            "folder": self.folder,
            "identity": self.identity,
            "row": self.row,
        }


class SpotSetBundle:
    """The folder of a set that a run writes to."""

    def __init__(self, folder: Path, *, resume: bool) -> None:
        """A folder with other files is refused, and without `resume` one that holds a set."""
        self.folder = folder
        self._entries = self._there(resume=resume)

    def begin(self, wanted: Sequence[Entry]) -> list[Entry]:
        """Record the requested spots; return them with the rows that exist.

        Spots that the folder holds beside those wanted stay.
        """
        before = self._entries
        entries = []
        for entry in wanted:
            known = before.get(entry.folder)
            if known is not None and known.identity != entry.identity:
                raise InputError(
                    f"{self.folder / entry.folder} is of another spot than {entry.name} on "
                    f"{entry.board}: its keys or settings differ. Name another folder."
                )
            row = None if known is None else known.row
            entries.append(Entry(**{**entry.__dict__, "row": row}))
        self._entries = {**before, **{entry.folder: entry for entry in entries}}
        self._write()
        return entries

    def save(self, folder: str, row: Row) -> None:
        """Add the row of a spot that is solved."""
        self._entries[folder] = Entry(**{**self._entries[folder].__dict__, "row": row})
        self._write()

    @property
    def rows(self) -> list[Row]:
        """The rows of all spots that are solved."""
        return [entry.row for entry in self._entries.values() if entry.row is not None]

    def _there(self, *, resume: bool) -> dict[str, Entry]:
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; name a folder for the solutions")
        if (folder / MANIFEST).exists():
            entries = read_entries(folder)
            if not resume:
                raise InputError(
                    f"{folder} already contains {len(entries):,} spots; continue them with "
                    "--resume, or name another folder"
                )
            return {entry.folder: entry for entry in entries}
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if names - {LOCK_NAME}:
            raise InputError(f"{folder} contains other files; name a new folder for the solutions")
        return {}

    def _write(self) -> None:
        facts = {
            "schema": SCHEMAS[KIND],
            "kind": KIND,
            "code_version": __version__,
            "name": None,
            "spots": [entry.mapping() for entry in self._entries.values()],
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_manifest(self.folder, facts)
        except OSError as error:
            raise cannot_write(self.folder, error) from error


@dataclass(frozen=True, eq=False)
class SpotSet:
    """Spots that were solved together: rows of figures, and a solution behind each."""

    folder: Path
    entries: tuple[Entry, ...]  # of those that are solved
    missing: int  # that are wanted and not solved

    @property
    def rows(self) -> list[Row]:
        """One row per spot: pandas.DataFrame(spots.rows) is a table."""
        return [dict(entry.row or {}) for entry in self.entries]

    @property
    def names(self) -> list[str]:
        """The spots, each of which may be solved on several boards."""
        return list(dict.fromkeys(entry.name for entry in self.entries))

    def boards(self, line: str = "", name: str | None = None) -> Boards:
        """The decision that a line leads to, on one board after the other.

        `name` is that of the spot, where there are several.
        """
        if name is None and len(self.names) > 1:
            raise InputError(
                f"{self.folder} contains several spots: choose one with --name: "
                f"{', '.join(self.names)}"
            )
        if name is not None and name not in self.names:
            raise InputError(
                f"{self.folder} contains no spot '{name}': {suggest(name, self.names)}"
            )
        entries = [entry for entry in self.entries if name in (None, entry.name)]
        if not entries:
            raise InputError("there is no board to report on: none is solved")
        first = self.open(entries[0]).at(line)

        def other(node: int) -> Boards:
            return self.boards(line_text(first.tree, node), name)

        def nodes() -> Iterator[tuple[float, Node]]:
            return ((entry.weight, self.open(entry).at(line)) for entry in entries)

        decisions = (OnBoard(weight, node.decision) for weight, node in nodes())
        return Boards(line, len(entries), decisions, first.tree, first.index, other, nodes)

    def open(self, entry: Entry) -> SpotSolution:
        """The solution of one spot."""
        return load_spot(self.folder / entry.folder)


def read_entries(folder: Path) -> list[Entry]:
    """The spots of a set, solved or not."""
    spots: Sequence[Mapping[str, Any]] = read_manifest(folder, KIND)["spots"]
    keys = [each.name for each in fields(Entry)]
    return [Entry(**{key: spot[key] for key in keys if key in spot}) for spot in spots]


def load_spots(folder: Path | str) -> SpotSet:
    """Open a set of spots. Reads the manifest; a spot is read when it is needed."""
    folder = Path(folder)
    entries = read_entries(folder)
    solved = tuple(entry for entry in entries if entry.row is not None)
    return SpotSet(folder, solved, len(entries) - len(solved))


def spot_folder(name: str, board: str) -> str:
    """The folder of a spot inside that of its set.

    >>> spot_folder("BTN vs BB, 3-bet", "QsJh2h")
    'BTN-vs-BB-3-bet-QsJh2h'
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:60]
    return f"{plain or 'spot'}-{board}"

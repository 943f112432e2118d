"""The solutions of the opened folders: searched at every listing, opened at the first request.

A request names a solution by its id, never by a path, and ids exist only for solutions found in the
opened folders. Lists are read from manifests alone, once while they stay the same; a view is built
at the first request, and rebuilt when its manifest has changed.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock

from allstreets.base import InputError, printable
from allstreets.betting import whole_line
from allstreets.cards import HAND_NAMES
from allstreets.explorer.folders import (
    Found,
    Signature,
    find_solutions,
    id_of,
    read_label,
    write_label,
)
from allstreets.explorer.headlines import (
    Headline,
    headline,
    real_quality,
    set_headline,
    spot_tables,
    worst_of,
)
from allstreets.explorer.models import solution as messages
from allstreets.explorer.models.base import MissingError, path_text
from allstreets.explorer.models.params import Evs, Line, SolutionId
from allstreets.explorer.models.place import Place
from allstreets.explorer.ready_made import ReadyMade
from allstreets.explorer.views.view import SolutionView, open_view, read_facts
from allstreets.solutions import Origin, origin_head, origin_lines
from allstreets.storage import SPOTS
from allstreets.version import __version__

OPEN_VIEWS = 6


@dataclass(eq=False)
class _Opened:
    """A view and the manifest it was built from; the first request builds it, others wait."""

    signature: Signature
    lock: Lock = field(default_factory=Lock)
    view: SolutionView | None = None


class Library:
    """Solutions by id; any number of threads may use it.

    `solve_of` gives the solve that writes to a folder, if one of this server's does.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        solves_at_once: int = 1,
        max_memory_bytes: int = 0,
        solve_of: Callable[[Path], str | None] = lambda _: None,
        ready_made: ReadyMade | None = None,
    ) -> None:
        self.folders = tuple(Path(folder) for folder in folders)
        self.solve_of = solve_of
        self.ready_made = ready_made or ReadyMade({})
        self._limits = solves_at_once, max_memory_bytes
        self._lock = RLock()
        self._found: dict[str, Found] = {}
        self._cards: dict[str, tuple[Found, Signature, messages.SolutionCard]] = {}
        self._views: OrderedDict[str, _Opened] = OrderedDict()

    def id_of(self, folder: Path) -> str:
        """The id of a solution in a folder, also of one that is not written yet."""
        return id_of(folder)

    def about(self) -> messages.About:
        """The server, and what a page needs to know once."""
        at_once, most = self._limits
        return messages.About(
            version=__version__,
            hands=list(HAND_NAMES),
            folders=[path_text(folder) for folder in self.folders],
            solves_at_once=at_once,
            max_memory_bytes=most,
        )

    def cards(self) -> list[messages.SolutionCard]:
        """All solutions in the opened folders, the newest first."""
        opened = {id_of(folder) for folder in self.folders}
        cards = [
            self._card(entry)
            for entry in self._search().values()
            if entry.id in opened or entry.id not in self.ready_made.by_id
        ]
        return sorted(cards, key=lambda card: (-card.modified, card.name))

    def detail(self, solution: SolutionId) -> messages.SolutionDetail:
        """Describe a solution: its game, how it was solved, its quality."""
        entry = self._require(solution)
        card = self._card(entry)
        description = self.view(solution).describe()
        return messages.SolutionDetail.of(
            description,
            **{**dict(card), "title": description.title},
            solve=self.solve_of(entry.folder),
            origin=self._origin(entry.folder),
            compared=self._before(entry.folder) is not None,
            simple_from=self._simple_from(entry.folder),
        )

    def label(self, solution: SolutionId, label: messages.Label) -> messages.SolutionCard:
        """Give a solution a name and a note; empty texts remove the label."""
        write_label(self._require(solution).folder, label)
        return self.card(solution)

    def card(self, id: str) -> messages.SolutionCard:
        """A solution as it is listed."""
        return self._card(self._require(id))

    def folder(self, id: str) -> Path:
        """The folder of a solution."""
        return self._require(id).folder

    def opened(self, folder: Path) -> str | None:
        """The id of the solution in a folder, if it is one of the opened ones."""
        wanted = id_of(folder)
        return wanted if wanted in self._found or wanted in self._search() else None

    def _origin(self, folder: Path) -> messages.SpotOrigin | None:
        """The whole game that a spot is a flop of; with a way back if the spot is beside it."""
        kind, manifest = read_facts(folder)
        if kind != "spot" or manifest.get("origin") is None:
            return None
        try:
            origin, reached = Origin.read(manifest["origin"]), float(manifest["exploitability"])
        except (KeyError, TypeError, ValueError):
            return None  # of another version: the spot is whole without it
        game = self._found.get(id_of(folder.parent.parent))
        beside = folder.parent.name == SPOTS and game is not None and game.problem is None
        return messages.SpotOrigin(
            head=origin_head(origin, reached),
            notes=origin_lines(origin, reached),
            name=origin.name or "the whole game",
            solution=game.id if beside and game is not None else None,
            line=whole_line(origin.line, origin.flop),
        )

    def before(self, id: str) -> str | None:
        """The solution that a lock has made another one from, if it is one of the library's."""
        return self._before(self._require(id).folder)

    def _before(self, folder: Path) -> str | None:
        before = read_facts(folder)[1].get("before")
        source_id = None if before is None else id_of(Path(str(before["folder"])))
        return source_id if source_id in self._found else None

    def _simple_from(self, folder: Path) -> messages.SimpleSource | None:
        """The solution that simple strategies were made from, if it is one of the library's."""
        made = read_facts(folder)[1].get("simplified")
        before = None if made is None else made["folder"]
        source = None if before is None else self._found.get(id_of(Path(str(before))))
        return (
            None
            if source is None
            else messages.SimpleSource(id=source.id, name=self._card(source).name)
        )

    def view(self, id: str) -> SolutionView:
        """A solution that can be walked."""
        return self._open(id)[1]

    def _open(self, id: str) -> tuple[Signature, SolutionView]:
        entry = self._require(id)
        signature = Signature.of(entry.folder)
        if entry.problem is not None or signature is None:
            raise MissingError(entry.problem or f"{entry.folder} contains no solution any more")
        with self._lock:
            opened = self._views.get(id)
            if opened is None or opened.signature.own != signature.own:
                opened = self._views[id] = _Opened(signature)
            self._views.move_to_end(id)
            while len(self._views) > OPEN_VIEWS:
                self._views.popitem(last=False)
        with opened.lock:
            if opened.view is None:
                opened.view = _guarded(entry.folder)
            elif opened.signature != signature:
                opened.view.refresh()
            opened.signature = signature
            return signature, opened.view

    def place(self, solution: SolutionId, line: Line = "", evs: Evs = "here") -> Place:
        """A place in the game: the path to it, and everything shown there."""
        signature, view = self._open(solution)
        message = view.place(line, evs)
        return message.model_copy(update={"solution": solution, "written": signature.text})

    def _search(self) -> dict[str, Found]:
        folders = [*self.folders, *self.ready_made.unpacked()]
        entries = {entry.id: entry for entry in find_solutions(folders)}
        with self._lock:
            self._found = entries
            for kept in (self._views, self._cards):
                for gone in [id for id in kept if id not in entries]:
                    kept.pop(gone)
        return entries

    def _require(self, id: str) -> Found:
        """The solution with an id, as it is on disk now."""
        packed = self.ready_made.by_id.get(id)
        if packed is not None:
            packed.folder()
        entry = self._found.get(id)
        if entry is None or Signature.of(entry.folder) is None:
            entry = self._search().get(id)
        if entry is None:
            raise MissingError("there is no such solution: it was moved or removed")
        return entry

    def _card(self, entry: Found) -> messages.SolutionCard:
        signature = Signature.of(entry.folder)
        if entry.problem is not None or signature is None:
            return _problem_card(entry, entry.problem or "the manifest is gone", 0.0)
        kept = self._cards.get(entry.id)
        if kept is None or kept[:2] != (entry, signature):
            kept = self._cards[entry.id] = entry, signature, _read_card(entry, signature)
        card = kept[2]
        if card.kind != "spots":
            return card
        spots = [self._found.get(id) for table in card.tables for id in table.solutions]
        return worst_of(card, [self._card(spot) for spot in spots if spot is not None])


def _read_card(entry: Found, signature: Signature) -> messages.SolutionCard:
    modified = signature.modified / 1e9
    try:
        kind, manifest = read_facts(entry.folder)
        together = kind == "spots"
        head = set_headline(entry.folder, manifest) if together else headline(kind, manifest)
        tables = spot_tables(entry.folder, manifest) if together else []
        name = manifest.get("name")
        real = real_quality(entry.folder, manifest) if kind == "unified" else None
    except InputError as error:
        return _problem_card(entry, str(error), modified)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return _problem_card(entry, f"the manifest is not as it was written: {error!r}", modified)
    label, problem = messages.Label(), None
    try:
        label = read_label(entry.folder)
    except InputError as error:  # the solution itself is whole
        problem = str(error)
    return messages.SolutionCard.of(
        head,
        kind=kind,
        name=label.name or printable(str(name or entry.folder.name)),
        note=label.note,
        problem=problem,
        bytes=_bytes(entry.folder),
        modified=modified,
        written=signature.text,
        real=real,
        tables=tables,
        **_where(entry),
    )


def _problem_card(entry: Found, problem: str, modified: float) -> messages.SolutionCard:
    head = Headline(title="cannot be read", iterations=None, exploitability=None, unit="")
    name = printable(entry.folder.name) or path_text(entry.folder)
    facts = {"kind": None, "name": name, "bytes": 0, "modified": modified, "problem": problem}
    return messages.SolutionCard.of(head, **facts, **_where(entry))


def _where(entry: Found) -> dict[str, str | None]:
    """The identity and location of a solution."""
    part_of = None if entry.part_of is None else id_of(entry.part_of)
    return {"id": entry.id, "folder": path_text(entry.folder), "part_of": part_of}


def _bytes(folder: Path) -> int:
    """Size of a solution's files on disk, with those of its run, without its spots."""
    total = 0
    for path in folder.rglob("*"):
        try:
            own = SPOTS not in path.relative_to(folder).parts
            if own and path.is_file() and not path.is_symlink():
                total += path.stat().st_size
        except OSError:
            continue
    return total


def _guarded(folder: Path) -> SolutionView:
    try:
        return open_view(folder)
    except InputError as error:
        raise MissingError(str(error)) from None
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise MissingError(f"the solution in {folder} is damaged: {error!r}") from None

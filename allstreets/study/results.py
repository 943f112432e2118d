"""Results of practice in one SQLite file: decisions, and the schedule of repetitions.

A missed decision goes into the first box and comes back after `HANDS` other hands. A right answer
moves it to the next box, and it comes back after 1, 3, 7 and 21 days; after the last box it is
learned. If it is missed again, it starts over.

A file of a later version, of another program, or a damaged one is refused and not changed.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from allstreets.base import DamagedFileError, InputError, data_path, typed_record
from allstreets.betting import Player, Street
from allstreets.cards import RANKS, SUITS, parse_board, parse_combo
from allstreets.study.grading import ACTIONS, ANSWER_COLUMNS, STREETS, Answer, Option

HANDS = 8
DAYS = (1, 3, 7, 21)
DAY = 86_400.0  # seconds
NAME = "practice.sqlite"
VERSION = 1
APPLICATION = 0x616C7374  # "alst": the mark of our SQLite files
WAIT = 10.0  # seconds to wait for another process that writes
ELSEWHERE = "move it away, or name another file with --file"
TABLES = """
create table hands (
    id integer primary key, at real not null, solution text not null, folder text not null,
    seed integer not null, hand integer not null, seat text not null, player text not null
);
create table answers (
    id integer primary key, in_hand integer not null references hands (id), at real not null,
    street text not null, pot_kind text not null, line text not null, board text not null,
    cards text not null, pot_bb real not null, to_call_bb real not null, taken text not null,
    options text not null, loss_bb real, note text not null, repeated integer not null
);
create table repeats (
    folder text not null, player text not null, line text not null, cards text not null,
    street text not null, pot_kind text not null, board text not null,
    box integer not null, due_at real not null, due_hands integer not null,
    primary key (folder, player, line, cards)
);
"""
MOST_BB = 1e12  # larger amounts are invalid
LATEST = 2.5e11  # seconds since 1970: the last years of the calendar
CARDS = re.compile(f"([{RANKS}][{SUITS}])+")
WORD = re.compile(r"[\w-]+")
SEATS = tuple(name for player in Player for name in (player.name, player.seat))
OF_HAND = ("solution", "folder", "seed", "hand", "seat", "player")
OF_ANSWER = tuple(name for name in ANSWER_COLUMNS if name not in (*OF_HAND, "options", "repeated"))


@dataclass(frozen=True)
class Due:
    """The time and the count of hands after which a decision comes back."""

    box: int
    at: float  # seconds since 1970: not before
    hands: int  # and not before this number of hands has been played in all


def after_miss(now: float, hands: int) -> Due:
    """The first box; `hands` have been played so far."""
    return Due(0, now, hands + HANDS)


def after_success(due: Due, now: float) -> Due | None:
    """The next box; None: learned."""
    if due.box >= len(DAYS):
        return None
    return Due(due.box + 1, now + DAYS[due.box] * DAY, 0)


@dataclass(frozen=True)
class StoredAnswer:
    """A decision that was made, and when."""

    at: float  # seconds since 1970
    answer: Answer


@dataclass(frozen=True)
class Repeat:
    """A decision that comes back."""

    player: str
    line: str
    cards: str
    street: str
    pot_kind: str
    board: str
    due: Due


@dataclass(frozen=True)
class PlayedOn:
    """A solution that hands were played on."""

    folder: Path
    name: str  # when it was played on last
    hands: int
    waiting: int  # decisions that will come back


def default_file() -> Path:
    """$ALLSTREETS_PRACTICE, or a file in the platform's folder for a user's data."""
    return data_path(NAME)


Record = TypeVar("Record")


class Results:
    """The file; any number of threads and processes may use it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open():  # errors are raised now
            pass

    def keep(self, answer: Answer, now: float, hand: int | None = None) -> int:
        """Store a decision and schedule its repetition; `hand` is the id of the hand."""
        with self._open(write=True) as db:
            if hand is None:
                values = [getattr(answer, name) for name in OF_HAND]
                hand = _insert(db, "hands", ("at", *OF_HAND), [now, *values])
            names = ("in_hand", "at", *OF_ANSWER, "options", "repeated")
            own = [getattr(answer, name) for name in OF_ANSWER]
            options = json.dumps([asdict(option) for option in answer.options])
            _insert(db, "answers", names, [hand, now, *own, options, int(answer.repeated)])
            self._schedule(db, answer, now)
        return hand

    def due(self, folder: Path, now: float) -> list[Repeat]:
        """Decisions of a solution that are due for repetition, the most overdue first."""
        with self._open() as db:
            rows = db.execute(
                "select * from repeats where folder = ? and due_at <= ? and due_hands <= ? "
                "order by due_at, line, cards",
                (str(folder), now, _hands(db)),
            ).fetchall()
        return [self._sound(_repeat, row) for row in rows]

    def drop(self, folder: Path, repeat: Repeat) -> None:
        """Drop a repetition that is no longer possible: the solution has changed."""
        with self._open(write=True) as db:
            db.execute(f"delete from repeats {KEY}", _key(str(folder), repeat))

    def answers(self, folder: Path | None = None) -> list[StoredAnswer]:
        """All answers, or those on one solution, in the order of play."""
        with self._open() as db:
            rows = db.execute(
                "select hands.*, answers.*, answers.at as answered_at from answers "
                "join hands on hands.id = in_hand where folder = ifnull(?, folder) "
                "order by answers.id",
                (None if folder is None else str(folder),),
            ).fetchall()
        return [self._sound(_answer, row) for row in rows]

    def missed(self, folder: Path, player: str, line: str, cards: str) -> Answer | None:
        """The latest answer to a decision that was a mistake, if there is one."""
        with self._open() as db:
            rows = db.execute(
                "select hands.*, answers.*, answers.at as answered_at from answers "
                "join hands on hands.id = in_hand "
                "where folder = ? and player = ? and line = ? and cards = ? "
                "order by answers.id desc",
                (str(folder), player, line, cards),
            ).fetchall()
        answers = (self._sound(_answer, row).answer for row in rows)
        return next((answer for answer in answers if answer.missed), None)

    def counts(self) -> tuple[int, int]:
        """Hands, and decisions that will come back."""
        with self._open() as db:
            return _hands(db), int(db.execute("select count(*) from repeats").fetchone()[0])

    def solutions(self) -> list[PlayedOn]:
        """The solutions that were played on, the latest first."""
        with self._open() as db:
            rows = db.execute(  # SQLite takes the name from the row with the maximum
                "select folder, solution, count(*) as hands, max(id) as latest, (select count(*) "
                "from repeats where repeats.folder = hands.folder) as waiting from hands "
                "group by folder order by latest desc"
            ).fetchall()
        return [self._sound(_played_on, row) for row in rows]

    def delete(self) -> None:
        """Remove the file, which must be a file of results."""
        with self._open():
            pass
        self.path.unlink()

    def _schedule(self, db: sqlite3.Connection, answer: Answer, now: float) -> None:
        """Put a missed decision into the first box, and a repetition into its next box."""
        key = _key(answer.folder, answer)
        row = db.execute(f"select * from repeats {KEY}", key).fetchone()
        due: Due | None
        if answer.missed:
            due = after_miss(now, _hands(db))
        elif answer.repeated and row is not None and answer.loss_bb is not None:
            due = after_success(self._sound(_repeat, row).due, now)
        elif answer.repeated:
            due = None  # it can no longer be graded
        else:
            return
        db.execute(f"delete from repeats {KEY}", key)
        if due is not None:
            of_answer = answer.street, answer.pot_kind, answer.board
            names = ("folder", "player", "line", "cards", "street", "pot_kind", "board")
            values = [*key, *of_answer, due.box, due.at, due.hands]
            _insert(db, "repeats", (*names, "box", "due_at", "due_hands"), values)

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction: all or nothing.

        Only one that will `write` may begin one: SQLite would repair the head of a damaged file in
        its own way, even if nothing is written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None
        try:
            with closing(sqlite3.connect(self.path, timeout=WAIT)) as db:
                db.row_factory = sqlite3.Row
                with db:
                    db.execute("begin immediate" if write else "begin")
                    self._check(db)
                    yield db
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path} cannot be used ({error}); {ELSEWHERE}") from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.path} is damaged, or not a file of results ({error}): {ELSEWHERE}"
            ) from None
        except UnicodeEncodeError:
            raise InputError(
                "results cannot be stored for a folder whose name is not plain text: rename it"
            ) from None

    def _sound(self, read: Callable[[sqlite3.Row], Record], row: sqlite3.Row) -> Record:
        """A row as it was written; a file with a damaged row is not used."""
        try:
            return read(row)
        except (DamagedFileError, InputError, IndexError) as error:
            raise InputError(f"{self.path} is damaged ({error}): {ELSEWHERE}") from None

    def _check(self, db: sqlite3.Connection) -> None:
        """Make the tables of a new file, and refuse any other file."""
        version = int(db.execute("pragma user_version").fetchone()[0])
        mark = int(db.execute("pragma application_id").fetchone()[0])
        if not version and not mark and not self.path.stat().st_size:
            for statement in TABLES.split(";")[:-1]:
                db.execute(statement)
            db.execute(f"pragma application_id = {APPLICATION}")
            db.execute(f"pragma user_version = {VERSION}")
        elif mark != APPLICATION:
            raise InputError(f"{self.path} is a file of another program: {ELSEWHERE}")
        elif version > VERSION:
            raise InputError(f"{self.path} was written by a later version: use that one")


KEY = "where folder = ? and player = ? and line = ? and cards = ?"


def _key(folder: str, of: Answer | Repeat) -> tuple[str, str, str, str]:
    return folder, of.player, of.line, of.cards


def _hands(db: sqlite3.Connection) -> int:
    return int(db.execute("select count(*) from hands").fetchone()[0])


def _insert(db: sqlite3.Connection, table: str, names: Sequence[str], values: Sequence[Any]) -> int:
    marks = ", ".join("?" * len(names))
    cursor = db.execute(f"insert into {table} ({', '.join(names)}) values ({marks})", values)
    return int(cursor.lastrowid or 0)


def _repeat(row: sqlite3.Row) -> Repeat:
    names = ("player", "line", "cards", "street", "pot_kind", "board")
    due = {"box": row["box"], "at": row["due_at"], "hands": row["due_hands"]}
    repeat = typed_record(Repeat, {**{name: row[name] for name in names}, "due": due})
    _require_decision(repeat)
    _require(0 <= repeat.due.box <= len(DAYS), "box")
    _require(0 <= repeat.due.at < LATEST, "due_at")
    return repeat


def _answer(row: sqlite3.Row) -> StoredAnswer:
    given = {name: row[name] for name in (*OF_HAND, *OF_ANSWER, "repeated")}
    answer = typed_record(Answer, {**given, "options": _options(row["options"])})
    _require_decision(answer)
    _require(answer.seat in SEATS, "seat")
    _require(answer.taken[:1] in ACTIONS, "taken")
    for name in ("pot_bb", "to_call_bb", "loss_bb"):
        _require(abs(getattr(answer, name) or 0.0) < MOST_BB, name)
    stored = typed_record(StoredAnswer, {"at": row["answered_at"], "answer": answer})
    _require(0 <= stored.at < LATEST, "at")
    return stored


def _options(text: object) -> list[Option]:
    """The options of an answer; none if they are damaged: the rest of the row may be whole."""
    try:
        options = [typed_record(Option, entry) for entry in json.loads(str(text))]
    except (ValueError, TypeError, RecursionError, DamagedFileError):
        return []
    amounts = [number for option in options for number in (option.frequency, option.ev_bb or 0.0)]
    sound = all(abs(number) < MOST_BB for number in amounts)
    return options if sound and all(option.action[:1] in ACTIONS for option in options) else []


def _played_on(row: sqlite3.Row) -> PlayedOn:
    names = {"name": row["solution"], "hands": row["hands"], "waiting": row["waiting"]}
    played = typed_record(PlayedOn, {**names, "folder": row["folder"]})
    _require("\0" not in str(played.folder), "folder")
    return played


def _require_decision(decision: Answer | Repeat) -> None:
    """Refuse cards and players that do not exist."""
    _require(decision.player.upper() in Player.__members__, "player")
    _require(decision.street in STREETS, "street")
    _require(WORD.fullmatch(decision.pot_kind) is not None, "pot_kind")
    _require((decision.street == Street.PREFLOP.text) is (decision.board == ""), "board")
    _require(CARDS.fullmatch(decision.cards + decision.board) is not None, "cards")
    parse_combo(decision.cards)
    parse_board(decision.board)


def _require(sound: bool, name: str) -> None:
    if not sound:
        raise DamagedFileError(f"{name} is not as written")

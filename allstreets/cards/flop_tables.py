"""The margins of all 1,755 flops, stored in the user's cache folder.

A missing flop is counted on the spot and no file is touched; three flops cost the time of three
flops. Only `build` writes: 65 parts of 27 flops, each a file that is whole or absent. An
interrupted build goes on with the missing parts, and two processes that build at once write the
same bytes. Threads that find no part left help with those at work.

A part is 27 records and nothing else, mapped into memory. A record is a flop's margins and a
SHA-256 of table, version, flop and margins, compared when the flop is first read: every number that
is used has been checked, and no others are read. A record that fails, or a file of another size,
counts as absent; so does a folder that cannot be read. One that cannot be written costs time, never
the result.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, InputError, Ints, Singles, cache_folder, processors, write_atomic
from allstreets.cards.flop_margins import RUNOUTS, FlopMatchups, count_margins
from allstreets.cards.flops import FLOP_COUNT, all_flops, canonical_flop
from allstreets.cards.hands import HAND_COUNT, hand_pairs

TABLE = "flop-margins"
VERSION = 1
FLOPS_PER_PART = 27
PART_COUNT = FLOP_COUNT // FLOPS_PER_PART  # no rest: 65 · 27 = 1,755

RECORD = np.dtype([("margins", "<i4", (HAND_COUNT, HAND_COUNT)), ("checksum", "u1", (32,))])
PART_BYTES = FLOPS_PER_PART * RECORD.itemsize

Margins = Ints


class FlopTable:
    """The margins of all flops: read where they are stored, counted where they are not.

    Any number of threads may use one table.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[int, NDArray[Any]] = {}  # mapped files
        self._checked: dict[int, Margins] = {}  # flops in use, as views of these files
        self._counted: dict[int, Margins] = {}  # flops in use that no file holds

    def margins(self, number: int) -> Margins:
        """M [169, 169] of flop 0..1754: wins − losses over all pairs of combos and runouts."""
        if not 0 <= number < FLOP_COUNT:
            raise InputError(f"there is no flop {number}: flops are numbered 0..{FLOP_COUNT - 1}")
        margins = self._checked.get(number)
        if margins is None:
            margins = self._counted.get(number)
        if margins is None:
            margins = self._stored(number)
            if margins is not None:
                self._checked[number] = margins
            else:
                margins = self._counted[number] = _counted(number)
        return margins

    def margin(self, number: int) -> Singles:
        """[169, 169]: M / 990, the pots that the row wins from the column over all pairs."""
        return (self.margins(number) / RUNOUTS).astype(np.float32)

    def matchups(self, number: int) -> FlopMatchups:
        """Pairs and margins of flop 0..1754."""
        margins = self.margins(number)
        return FlopMatchups(hand_pairs(all_flops()[number].cards), margins)

    def is_complete(self) -> bool:
        """Whether every part has its file (what is in them is checked when it is read)."""
        return all(_has_size(self._path(part)) for part in range(PART_COUNT))

    def build(
        self,
        threads: int | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        parts: Iterable[int] = range(PART_COUNT),
    ) -> None:
        """Check all `parts` and write those that are missing or damaged.

        `on_progress` is called in this thread with the flops done and the flops in all. An
        interrupt takes effect after the parts at work, each well under a second; these are stored.
        """
        count = threads or processors()
        at_work: list[_PartWork] = []
        with ThreadPoolExecutor(count) as pool:
            jobs = [pool.submit(self._build_part, part, at_work) for part in parts]
            for _ in range(count - 1):  # each begins when no part is left to be taken
                pool.submit(_help, at_work)
            try:
                for done, job in enumerate(as_completed(jobs), start=1):
                    job.result()
                    if on_progress is not None:
                        on_progress(done * FLOPS_PER_PART, len(jobs) * FLOPS_PER_PART)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _build_part(self, part: int, at_work: "list[_PartWork]") -> None:
        numbers = range(part * FLOPS_PER_PART, (part + 1) * FLOPS_PER_PART)
        stored = [self._stored(number) for number in numbers]
        if all(margins is not None for margins in stored):
            return
        records = np.zeros(FLOPS_PER_PART, RECORD)

        def fill(place: int) -> None:
            number, margins = numbers[place], stored[place]
            if margins is None:
                # Not from `_checked`: a view of a file that has since been damaged would get a
                # checksum that declares it sound.
                margins = self._counted.get(number)
            record = records[place]
            record["margins"] = _counted(number) if margins is None else margins
            record["checksum"] = _checksum(number, record["margins"])

        work = _PartWork(fill)
        at_work.append(work)
        work.take_part()
        work.wait()
        at_work.remove(work)
        for number in numbers:
            self._checked.pop(number, None)
        self._parts.pop(part, None)
        try:
            write_atomic(self._path(part), lambda file: file.write(records.data), durable=False)
        except OSError:  # what cannot be written to the folder stays in memory
            records.setflags(write=False)
            self._counted.update(zip(numbers, records["margins"], strict=True))

    def _stored(self, number: int) -> Margins | None:
        """The margins of a flop as its part holds them, or None: no such file, or damaged."""
        part, place = divmod(number, FLOPS_PER_PART)
        records = self._parts.get(part)
        if records is None:
            records = _mapped(self._path(part))
            if records is None:
                return None
            self._parts[part] = records
        margins: Margins = records["margins"][place]
        if records["checksum"][place].tobytes() != _checksum(number, margins).tobytes():
            return None
        return margins

    def _path(self, part: int) -> Path:
        return self.folder / f"{TABLE}-v{VERSION}" / f"part-{part:02}.bin"


class _PartWork:
    """The flops of a part, which several threads count together."""

    def __init__(self, fill: Callable[[int], None]) -> None:
        self._fill, self._places = fill, iter(range(FLOPS_PER_PART))
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def take_part(self) -> None:
        """Count flops that nobody has taken, until there is none left."""
        for place in self._places:
            try:
                self._fill(place)
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)

    def wait(self) -> None:
        """Wait for those that others have taken; raises what went wrong."""
        errors = [self._done.get() for _ in range(FLOPS_PER_PART)]
        for error in errors:
            if error is not None:
                raise error


def _help(at_work: list[_PartWork]) -> None:
    """Take part in what is at work."""
    for work in at_work.copy():
        work.take_part()


def _counted(number: int) -> Margins:
    margins = count_margins(all_flops()[number].cards)
    margins.setflags(write=False)
    return margins


def _checksum(number: int, margins: Margins) -> Bytes:
    digest = hashlib.sha256(f"{TABLE} {VERSION} {number} ".encode())
    digest.update(np.ascontiguousarray(margins, "<i4").data)
    return np.frombuffer(digest.digest(), np.uint8)


def _has_size(path: Path) -> bool:
    try:
        return path.stat().st_size == PART_BYTES
    except OSError:
        return False


def _mapped(path: Path) -> NDArray[Any] | None:
    """The records of a part, read-only; None where there is no file of the right size."""
    if not _has_size(path):
        return None
    try:
        # As a plain array: a memmap would carry its class into all that is computed from it.
        return np.asarray(np.memmap(path, RECORD, mode="r", shape=(FLOPS_PER_PART,)))
    except (OSError, ValueError):  # no permission; cut short since its size was read
        return None


@cache
def _table_in(folder: Path) -> FlopTable:
    return FlopTable(folder)


def flop_table() -> FlopTable:
    """The table in the user's cache folder; opening it reads nothing."""
    return _table_in(cache_folder())


def build_flop_table(
    threads: int | None = None, on_progress: Callable[[int, int], object] | None = None
) -> FlopTable:
    """The table in the user's cache folder, with everything that it lacks counted and stored.

    `on_progress` is called with the flops done and the flops in all.
    """
    table = flop_table()
    table.build(threads, on_progress)
    return table


def flop_matchups(flop: int | np.integer | Sequence[int]) -> FlopMatchups:
    """The 169 × 169 hands on a flop, given as its number 0..1754 or as any three cards.

    >>> from allstreets.cards import parse_board, parse_hand
    >>> table = flop_matchups(parse_board("Ks 7d 2c"))
    >>> aces, kings = parse_hand("AA"), parse_hand("KK")
    >>> int(table.pairs[aces, kings]), f"{table.equity[aces, kings]:.4f}"
    (18, '0.0859')
    """
    number = flop if isinstance(flop, int | np.integer) else canonical_flop(flop).flop.number
    return flop_table().matchups(int(number))

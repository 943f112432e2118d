"""The 169 hands against each other on each of the 1,755 flops: exact counts, kept in the cache.

The margin M[h, o] is Σ over all pairs of combos of h and o that fit, and over their 990 runouts,
of +1 for each that h wins and −1 for each that it loses. A sum over a whole hand does not change
when suits are renamed. So runouts that become each other by a renaming which leaves the flop as it
is are dealt once and weighted: 733 boards per flop on average instead of 1,176.

A missing flop is counted on the spot and no file is touched: three missing flops cost the time of
three. Only `build` writes: 65 parts of 27 flops, each a file that is whole or absent. An
interrupted build resumes with the missing parts, and two processes that build at once write the
same bytes. Threads that find no part left help with those in progress.

A part is 27 records and nothing else, mapped into memory. A record is a flop's margins and a
SHA-256 of table, version, flop and margins, compared when the flop is first read: every number that
is used has been checked, and no others are read. A record that fails, or a file of another size,
counts as absent; so does a folder that cannot be read. One that cannot be written costs time, never
the result.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import (
    Bytes,
    Floats,
    InputError,
    Ints,
    Longs,
    Singles,
    cache_folder,
    processors,
    write_atomic,
)
from allstreets.cards.evaluator import combo_strengths
from allstreets.cards.flop_sets import FLOP_COUNT, all_flops, canonical_flop
from allstreets.cards.hands import COMBO_CARDS, HAND_COUNT, HAND_OF_COMBO, hand_pairs, live_combos
from allstreets.cards.isomorphism import COMBO_PERMUTATIONS, board_symmetries
from allstreets.cards.kernels.matchups import ROW_LENGTH, add_class_wins

RUNOUTS = comb(52 - 3 - 4, 2)  # 990 for any two combos that fit
TABLE = "flop-margins"
VERSION = 1
FLOPS_PER_PART = 27
PART_COUNT = FLOP_COUNT // FLOPS_PER_PART  # no rest: 65 · 27 = 1,755
RECORD = np.dtype([("margins", "<i4", (HAND_COUNT, HAND_COUNT)), ("checksum", "u1", (32,))])
PART_BYTES = FLOPS_PER_PART * RECORD.itemsize
Margins = Ints


@dataclass(frozen=True, eq=False)
class FlopMatchups:
    """The 169 × 169 hands on a flop: everything a showdown between hands needs.

    Two hands meet in `pairs[h, o]` ways, each with `runouts` runouts, and of all these h wins
    `margins[h, o]` more than it loses. A flop with its suits renamed has the same numbers.
    """

    pairs: Longs  # W [169, 169]: pairs of combos that fit, symmetric
    margins: Ints  # M [169, 169]: wins − losses of the row, antisymmetric
    runouts: int = RUNOUTS

    @property
    def margin(self) -> Singles:
        """[169, 169]: Σ over the pairs of (share of the pot won − share lost), M / runouts."""
        return (self.margins / self.runouts).astype(np.float32)

    @property
    def equity(self) -> Floats:
        """E [169, 169]: the row's mean share of the pot, E + Eᵀ = 1; NaN where no pair fits.

        With an ace on the flop two players cannot both hold AA: W and M are 0, and any number for
        E would look like a fact.
        """
        with np.errstate(invalid="ignore"):
            return (1.0 + self.margins / (self.runouts * self.pairs)) / 2.0


def count_margins(flop: Sequence[int]) -> Ints:
    """M [169, 169] of any three cards, in some hundredths of a second."""
    boards, weights = _weighted_boards(flop)
    combos = np.flatnonzero(live_combos(tuple(flop)))
    cards = COMBO_CARDS[combos]
    wins = np.zeros((HAND_COUNT, ROW_LENGTH), np.int32)
    add_class_wins(combo_strengths(boards, cards), weights, cards, HAND_OF_COMBO[combos], wins)
    won = wins[:, :HAND_COUNT]
    return won - won.T


def _weighted_boards(flop: Sequence[int]) -> tuple[Bytes, Ints]:
    """Boards [B, 5] that differ under every renaming which keeps the flop, and their weights [B].

    Turn and river are two cards in no order: a combo, for which the renamings are known.
    """
    rest = np.flatnonzero(live_combos(tuple(flop)))
    symmetries = list(board_symmetries(flop, ()))
    smallest = COMBO_PERMUTATIONS[symmetries][:, rest].min(axis=0)  # names each class
    representatives, weights = np.unique(smallest, return_counts=True)
    boards = np.empty((len(representatives), 5), np.uint8)
    boards[:, :3] = flop
    boards[:, 3:] = COMBO_CARDS[representatives]
    return boards, weights.astype(np.int32)


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

    def build(
        self,
        threads: int | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        parts: Iterable[int] = range(PART_COUNT),
    ) -> None:
        """Check all `parts` and write those that are missing or damaged.

        `on_progress` is called in this thread with the flops done and the flops in all. An
        interrupt takes effect after the parts in progress, each under a second; these are stored.
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
        """Count flops that no thread has taken yet, until none is left."""
        for place in self._places:
            try:
                self._fill(place)
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)

    def wait(self) -> None:
        """Wait for flops that other threads have taken; raise what went wrong there."""
        errors = [self._done.get() for _ in range(FLOPS_PER_PART)]
        for error in errors:
            if error is not None:
                raise error


def _help(at_work: list[_PartWork]) -> None:
    """Help with the parts in progress."""
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
        # As a plain array: a memmap would pass its class on to every result.
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

"""Reading hand histories: any number of files and folders, in any format."""

import codecs
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.base import InputError, shorten
from allstreets.interop.phh import is_phh, read_phh, split_phh
from allstreets.interop.played_hands import HandError, PlayedHand
from allstreets.interop.site_text import read_site_hand, split_hands

MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
PHH = (".phh", ".phhs")
ENDINGS = (".txt", ".log", *PHH)
"""The endings of files that are read in a folder; a file given by name is always read."""
Reader = tuple[Callable[[str], Iterator[tuple[int, str, Any]]], Callable[[Any], PlayedHand]]
"""Two functions: one splits a text into hands (first line number, name, content), one reads a
hand."""
PHH_READER: Reader = split_phh, read_phh
SITE_READER: Reader = split_hands, read_site_hand


@dataclass(frozen=True)
class Skipped:
    """A hand, or a file, that was not read."""

    file: str
    line: int  # the line, counted from 1
    reason: str
    hand: str = ""  # its name in the history; "" if it has none

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"

    @property
    def place(self) -> str:
        """The file, line and name: "hands.txt, line 13, PokerStars Hand #2"."""
        return ", ".join(filter(None, [shorten(self.file), f"line {self.line}", self.hand]))

    @property
    def sort(self) -> str:
        """The reason without the details of one hand."""
        return self.reason.partition(":")[0] if "cut off" in self.reason else self.reason


@dataclass(frozen=True)
class HandFiles:
    """The hands that were read, and those that were skipped."""

    hands: tuple[PlayedHand, ...]
    skipped: tuple[Skipped, ...] = ()

    def reasons(self) -> list[tuple[str, int]]:
        """Why hands were skipped and how many, the most frequent first."""
        return Counter(skipped.sort for skipped in self.skipped).most_common()

    def first(self, reason: str) -> Skipped:
        """The first hand that was skipped for a reason, as its example."""
        return next(skipped for skipped in self.skipped if skipped.sort == reason)


def read_hands(paths: Iterable[Path | str]) -> HandFiles:
    """The hands of files and folders, each once; unreadable ones are listed, not raised."""
    hands: dict[PlayedHand, None] = {}
    skipped: list[Skipped] = []
    for path in _files(paths):
        try:
            text = decode(path.read_bytes())
        except OSError as error:
            skipped.append(Skipped(str(path), 1, f"it cannot be read: {error.strerror}"))
            continue
        files = read_text(text, str(path), phh=path.suffix.lower() in PHH)
        skipped += files.skipped
        for hand in files.hands:
            if hand.name and hand in hands:
                skipped.append(Skipped(hand.file, hand.line, "the same hand again", hand.name))
            else:
                hands[hand if hand.name else replace(hand, name=f"{path.name}:{hand.line}")] = None
    return HandFiles(tuple(hands), tuple(skipped))


def decode(data: bytes) -> str:
    """The text of a file: by its byte-order mark, as UTF-8 if valid, or else as Windows' Latin-1.

    >>> decode("Zoë: folds".encode("latin-1")) == decode("Zoë: folds".encode("utf-16"))
    True
    """
    for mark, encoding in MARKED:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    # Western text in 16 bits without a mark: every second byte is zero.
    if data[:200].count(0) * 3 > len(data[:200]):
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:  # five bytes are undefined there
        return data.decode("latin-1")


def read_text(text: str, file: str = "", *, phh: bool = False) -> HandFiles:
    """The hands of one text."""
    hands, skipped = list[PlayedHand](), list[Skipped]()
    split, read = PHH_READER if phh or is_phh(text) else SITE_READER
    for line, name, part in split(text):
        try:
            hand = read(part)
        except HandError as error:
            skipped.append(Skipped(file, line + error.line, shorten(error.reason), shorten(name)))
        else:
            hands.append(replace(hand, name=hand.name or name, file=file, line=line))
    if not hands and not skipped:
        reason = "it holds no hand in PHH, PokerStars or GGPoker text"
        skipped.append(Skipped(file, 1, reason))
    return HandFiles(tuple(hands), tuple(skipped))


def _files(paths: Iterable[Path | str]) -> Iterator[Path]:
    """The files of a command line, those of folders in the order of their names."""
    given: Sequence[Path] = [Path(path) for path in paths]
    for path in given:
        if not path.exists():
            raise InputError(f"{path} does not exist: name a file or a folder of hand histories")
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if _is_history(file))
        if not inside:
            raise InputError(
                f"{path} contains no hand histories: they end in {', '.join(ENDINGS)}; "
                "name the file"
            )
        yield from inside


def _is_history(path: Path) -> bool:
    """Whether a folder's entry is read, by its ending: not a folder, but even a broken link."""
    if path.suffix.lower() not in ENDINGS:
        return False
    try:
        return path.is_file() or not path.exists()
    except OSError:  # in a folder without permission: opening it reports the problem
        return True

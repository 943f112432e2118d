"""A review on the disk, which goes on from there and is read by the explorer.

DIR/
    review.json        whose decisions are judged, by what, which hands in which order
    hands/HASH.json    a hand, as soon as it is reviewed; named by all that its review depends on

The index is written when a run begins, so that a review can be looked at while it goes on. Hands of
other runs may lie beside those that it names.
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from allstreets.base import (
    DamagedFileError,
    InputError,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.betting import Player, Street
from allstreets.hands import Skipped
from allstreets.review.records import HandReview

INDEX = "review.json"
HANDS = "hands"
KIND = "review"
SCHEMA = 1  # of the index
KEY = re.compile(r"[0-9a-f]{1,64}")
WORD = re.compile(r"[fxcbra]|[br][0-9]+(\.[0-9]+)?")
SEATS = tuple(player.seat for player in Player)


@dataclass(frozen=True)
class IndexedHand:
    """A hand that is to be reviewed, and where it was read."""

    key: str  # the name of its file
    file: str
    line: int


@dataclass(frozen=True)
class ReviewIndex:
    """What a review is of."""

    name: str
    hero: str | None  # None: who wrote each hand down
    created: float  # seconds since 1970: when it was begun
    target: float
    seconds_per_spot: float
    solutions: Mapping[str, str]  # name → folder
    hands: tuple[IndexedHand, ...]
    skipped: tuple[Skipped, ...] = ()
    kind: str = field(default=KIND)
    schema: int = field(default=SCHEMA)


@dataclass(frozen=True)
class ReviewFolder:
    """The folder of a review."""

    path: Path

    def hand_path(self, key: str) -> Path:
        """The file of a hand."""
        return self.path / HANDS / f"{key}.json"

    def hand(self, one: IndexedHand) -> HandReview | None:
        """A hand that is reviewed; None: it is not yet, or its file is damaged."""
        with suppress(OSError, DamagedFileError, ValueError, KeyError, TypeError):
            data = read_json_object(self.hand_path(one.key))
            typed_record(HandReview, data)
            hand = replace(HandReview.read(data), file=one.file, line=one.line)
            _require_playable(hand)
            return hand
        return None

    def done(self, index: ReviewIndex) -> int:
        """How many hands of an index are reviewed, by their files alone."""
        try:
            there = {entry.name for entry in os.scandir(self.path / HANDS)}
        except OSError:
            return 0
        return sum(f"{one.key}.json" in there for one in index.hands)

    def keep(self, key: str, review: HandReview) -> None:
        """Keep a hand, whole or not at all."""
        text = json.dumps(review.to_json(), allow_nan=False)
        write_atomic(self.hand_path(key), lambda out: out.write(text.encode()), durable=False)

    def write(self, index: ReviewIndex) -> None:
        """Write what the review is of; one that was begun earlier stays as old as it is."""
        with suppress(InputError):
            before = self.index()
            if before.hands == index.hands:
                index = replace(index, created=before.created)
        text = json.dumps(asdict(index), allow_nan=False)
        write_atomic(self.path / INDEX, lambda out: out.write(text.encode()), durable=False)

    def index(self) -> ReviewIndex:
        """What the review is of."""
        path = self.path / INDEX
        try:
            data = read_json_object(path)
            if data.get("schema") != SCHEMA:
                raise InputError(f"{path} was written by another version: review the hands again")
            index = typed_record(ReviewIndex, data)
            if not all(KEY.fullmatch(one.key) for one in index.hands):
                raise DamagedFileError("a hand has the name of another file")
            return index
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except DamagedFileError as error:
            raise InputError(f"{path} is damaged ({error}): review the hands again") from None


def _require_playable(hand: HandReview) -> None:
    """Refuse a hand with words that no action, seat or street has, or with parts that are cut."""
    streets = {street.text for street in Street}
    words = [word for _, _, word in hand.actions]
    sound = hand.seat in SEATS and all(
        street in streets and seat in SEATS for street, seat, _ in hand.actions
    )
    for made in hand.decisions:
        options = [option.action for option in made.options]
        words += [made.taken, *options, *filter(None, [made.counted_as])]
        grids = [grid for grid in (made.strategy, made.evs_bb) if grid]
        whole = all(len(grid) == len(options) for grid in grids)
        even = len({len(row) for grid in grids for row in grid}) <= 1
        sound = sound and made.street in streets and whole and even
    if not sound or not all(WORD.fullmatch(word) for word in words):
        raise DamagedFileError("an action is not as written")

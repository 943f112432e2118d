"""A review on the disk, which resumes from there and is read by the explorer.

DIR/
    review.json        the graded player, the solutions, the hands in order
    hands/HASH.json    a reviewed hand, named by everything that its review depends on

The index is written when a run begins, so that a review can be viewed while it runs. Hands of other
runs may be there as well.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from allstreets.base import (
    DamagedFileError,
    InputError,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.betting import Player, Street
from allstreets.interop import Skipped
from allstreets.study.grading import STREETS, GradedDecision, Option

INDEX = "review.json"
HANDS = "hands"
KIND = "review"
SCHEMA = 1  # of the index
KEY = re.compile(r"[0-9a-f]{1,64}")
WORD = re.compile(r"[fxcbra]|[br][0-9]+(\.[0-9]+)?")
SEATS = {player.seat: player for player in Player}
DIGITS = 4  # of amounts

Chips = tuple[float, float]  # of OOP and IP, in big blinds


@dataclass(frozen=True)
class ReplayStep:
    """An action, and the state of the hand when it was taken."""

    street: str
    board: str
    player: Player
    word: str
    pot_bb: float  # with the bets of this street, each as far as it can be called
    bets_bb: Chips  # put in on this street
    left_bb: Chips  # behind


@dataclass(frozen=True)
class HandReview:
    """A hand, and all decisions that the hero made in it."""

    name: str
    file: str
    line: int
    hero: str
    seat: str  # "BB" or "SB"
    cards: str
    players: tuple[str, str]  # OOP, IP; so everywhere below
    holes: tuple[str, str]  # "" where they were never seen
    stacks_bb: tuple[float, float]
    antes_bb: tuple[float, float]
    blinds_bb: tuple[float, float]
    board: str
    actions: tuple[tuple[str, str, str], ...]  # street, seat, word
    results_bb: tuple[float, float]
    kind: str  # of pot: "unopened", "limped", "raised", "3bet", "4bet"
    solution: str  # the folder's name
    solution_stack_bb: float
    stack_bb: float
    notes: tuple[str, ...]
    decisions: tuple[GradedDecision, ...]

    @property
    def loss_bb(self) -> float:
        """The loss of all graded decisions together."""
        return sum(decision.loss_bb or 0.0 for decision in self.decisions)

    def steps(self) -> Iterator[ReplayStep]:
        """All actions, with the cards and chips before each."""
        bets, street = list(self.blinds_bb), Street.PREFLOP
        left = [self.stacks_bb[p] - self.antes_bb[p] - self.blinds_bb[p] for p in Player]
        pot = sum(self.antes_bb) + sum(self.blinds_bb)
        for name, seat, word in self.actions:
            player = SEATS[seat]
            if name != street.text:
                bets, street = [0.0, 0.0], STREETS[name]
            excess = max(bets[player.opponent] - bets[player] - left[player], 0.0)
            yield ReplayStep(
                street=name,
                board=self.board[: 2 * (street + 2)] if street > Street.PREFLOP else "",
                player=player,
                word=word,
                pot_bb=round(pot - excess, DIGITS),
                bets_bb=(round(bets[0], DIGITS), round(bets[1], DIGITS)),
                left_bb=(round(left[0], DIGITS), round(left[1], DIGITS)),
            )
            paid = _paid(word, bets[player], bets[player.opponent], left[player])
            bets[player] += paid
            left[player] -= paid
            pot += paid

    def to_json(self) -> dict[str, Any]:
        """The hand as JSON data, with everything that a page needs to replay it."""
        return {**asdict(self), "decisions": [decision.to_json() for decision in self.decisions]}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "HandReview":
        """A hand from the data of `to_json`; a `KeyError` if it is of another version."""
        decisions = [GradedDecision.fields_of(decision) for decision in data["decisions"]]
        _require_fields(cls, data)
        for decision in decisions:
            _require_fields(GradedDecision, decision)
            for option in decision["options"]:
                _require_fields(Option, option)
        return typed_record(cls, {**data, "decisions": decisions})

    def require_playable(self) -> None:
        """Refuse words that are no action, seat or street, and truncated grids."""
        words = [word for _, _, word in self.actions]
        sound = self.seat in SEATS and all(
            street in STREETS and seat in SEATS for street, seat, _ in self.actions
        )
        for decision in self.decisions:
            options = [option.action for option in decision.options]
            words += [decision.taken, *options, *filter(None, [decision.counted_as])]
            grids = [grid for grid in (decision.strategy, decision.evs_bb) if grid]
            whole = all(len(grid) == len(options) for grid in grids)
            even = len({len(row) for grid in grids for row in grid}) <= 1
            sound = sound and decision.street in STREETS and whole and even
        if not sound or not all(WORD.fullmatch(word) for word in words):
            raise DamagedFileError("an action is not as written")


def _paid(word: str, paid: float, to_match: float, left: float) -> float:
    """The chips that an action adds; its word gives the total on this street."""
    kind, total = word[0], word[1:]
    if kind == "a":
        return left
    if kind == "c":
        return min(max(to_match - paid, 0.0), left)
    return min(float(total) - paid, left) if total else 0.0


def _require_fields(kind: type[Any], data: Mapping[str, Any]) -> None:
    if set(data) != {known.name for known in fields(kind)}:
        raise KeyError("a record of another version")


@dataclass(frozen=True)
class IndexedHand:
    """A hand to review, and where it was read."""

    key: str  # the name of its file
    file: str
    line: int


@dataclass(frozen=True)
class ReviewIndex:
    """The hands and settings of a review."""

    name: str
    hero: str | None  # None: the player who recorded each hand
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

    def hand(self, indexed: IndexedHand) -> HandReview | None:
        """A reviewed hand; None: not reviewed yet, or its file is damaged."""
        with suppress(OSError, DamagedFileError, ValueError, KeyError, TypeError, AttributeError):
            hand = HandReview.read(read_json_object(self.hand_path(indexed.key)))
            hand.require_playable()
            return replace(hand, file=indexed.file, line=indexed.line)
        return None

    def done(self, index: ReviewIndex) -> int:
        """The number of reviewed hands of an index, counted by their files."""
        try:
            names = {entry.name for entry in os.scandir(self.path / HANDS)}
        except OSError:
            return 0
        return sum(f"{hand.key}.json" in names for hand in index.hands)

    def keep(self, key: str, review: HandReview) -> None:
        """Store a hand, whole or not at all."""
        _write(self.hand_path(key), review.to_json())

    def write(self, index: ReviewIndex) -> None:
        """Write the index; a review that was started earlier keeps its date."""
        with suppress(InputError):
            before = self.index()
            if before.hands == index.hands:
                index = replace(index, created=before.created)
        _write(self.path / INDEX, asdict(index))

    def index(self) -> ReviewIndex:
        """The hands and settings of the review."""
        path = self.path / INDEX
        try:
            data = read_json_object(path)
            if data.get("schema") != SCHEMA:
                raise InputError(f"{path} was written by another version: review the hands again")
            index = typed_record(ReviewIndex, data)
            if not all(KEY.fullmatch(hand.key) for hand in index.hands):
                raise DamagedFileError("a hand has the name of another file")
            return index
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except DamagedFileError as error:
            raise InputError(f"{path} is damaged ({error}): review the hands again") from None


def _write(path: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, allow_nan=False)
    write_atomic(path, lambda out: out.write(text.encode()), durable=False)

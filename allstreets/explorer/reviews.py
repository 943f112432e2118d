"""The reviews of the opened folders: searched at every listing, read on request; their hands,
to replay; and the forms that start new reviews.

Everything but the ranges and grids of hands is cached, so that a table of a thousand hands is read
once, and a running review hand by hand.

Hand histories come from anywhere, and one that keeps the interpreter busy would block the whole
server. So a separate process reads them, with a time limit (`hand_reader`). One text is read at a
time, so that the server and the machine keep working, however many are sent.
"""

import json
import subprocess
import sys
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from allstreets.base import InputError, printable
from allstreets.betting import Player, line_in_words
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Range, live_combos, parse_board
from allstreets.explorer.folders import find_reviews, id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models import study as messages
from allstreets.explorer.models.base import BusyError, FormError, MissingError, Problem, path_text
from allstreets.explorer.models.params import HexId
from allstreets.explorer.models.study import ReviewForm, ReviewSource
from allstreets.explorer.solves.process import environment
from allstreets.explorer.views.nodes import TONES, shades
from allstreets.interop import HandFiles
from allstreets.storage import folder_kind
from allstreets.study import (
    ACTIONS,
    GradedDecision,
    HandReview,
    IndexedHand,
    Review,
    ReviewFolder,
    ReviewIndex,
    total_rows,
    ungraded,
)

OPEN_REVIEWS = 4

Known = dict[IndexedHand, tuple[int, HandReview]]  # with the time of its file, in nanoseconds
SEATS = {player.seat: player for player in Player}
NO_CLASSES = (None,) * HAND_COUNT
VERBS = {
    "f": ("fold", "Fold"),
    "x": ("check", "Check"),
    "c": ("call", "Call"),
    "b": ("bet", "Bet"),
    "r": ("raise to", "Raise"),
    "a": ("all-in", "All-in"),
}


class Reviews:
    """Reviews by id; any number of threads may use it."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()
        self._found: dict[str, Path] = {}
        self._known: OrderedDict[Path, Known] = OrderedDict()

    def cards(self) -> list[messages.ReviewCard]:
        """All reviews in the opened folders, the newest first."""
        cards = [self._card(id, ReviewFolder(path)) for id, path in self._search().items()]
        return sorted(cards, key=lambda card: (-card.created, card.name))

    def detail(self, review: HexId) -> messages.ReviewDetail:
        """A review: the losses, and every decision."""
        folder = self._require(review)
        index = folder.index()
        hands = self._hands(folder, index)
        kept = Review(tuple(hands.values()), index.skipped, len(index.hands), folder.path)
        rows = [
            _row(indexed.key, hand, made)
            for indexed, hand in hands.items()
            for made in hand.decisions
        ]
        return messages.ReviewDetail.of(
            card=self._card(review, folder),
            totals=total_rows(kept),
            rows=sorted(rows, key=lambda row: 1.0 if row.loss is None else -row.loss),
            not_judged=[
                messages.ReviewReason(reason=reason, count=count)
                for reason, count in ungraded(kept)
            ],
            skipped=_skipped(HandFiles((), index.skipped)),
        )

    def hand(self, review: HexId, hand: HexId) -> messages.ReplayHand:
        """A hand, to replay it."""
        folder = self._require(review)
        index = folder.index()
        indexed = next((indexed for indexed in index.hands if indexed.key == hand), None)
        kept = None if indexed is None else folder.hand(indexed)
        if kept is None:
            raise MissingError("this hand is not reviewed yet, or not part of this review")
        solution = index.solutions.get(kept.solution)
        opened = None if solution is None else self._library.opened(Path(solution))
        return replay_hand(hand, kept, opened)

    def _card(self, id: str, folder: ReviewFolder) -> messages.ReviewCard:
        solve = self._library.solve_of(folder.path)
        facts = {"id": id, "folder": path_text(folder.path), "solve": solve}
        name = printable(folder.path.name)
        try:
            index = folder.index()
        except InputError as error:
            nothing: Any = {"hero": None, "created": 0, "done": 0, "total": 0, "solutions": []}
            return messages.ReviewCard.of(name=name, problem=str(error), **nothing, **facts)
        done, total = folder.done(index), len(index.hands)
        return messages.ReviewCard.of(
            index,
            name=index.name or name,
            done=done,
            total=total,
            solutions=list(index.solutions),
            **facts,
        )

    def _search(self) -> dict[str, Path]:
        reviews = {id_of(path): path for path in find_reviews(self._library.folders)}
        with self._lock:
            self._found = reviews
        return reviews

    def _require(self, id: str) -> ReviewFolder:
        path = self._found.get(id) or self._search().get(id)
        if path is None:
            raise MissingError("there is no such review: it was moved or removed")
        return ReviewFolder(path)

    def _hands(self, folder: ReviewFolder, index: ReviewIndex) -> dict[IndexedHand, HandReview]:
        """The reviewed hands, without the data that only a replay needs."""
        with self._lock:
            before = self._known.get(folder.path, {})
        known: Known = {}
        for indexed in index.hands:
            try:
                written = folder.hand_path(indexed.key).stat().st_mtime_ns
            except OSError:
                continue
            kept = before.get(indexed)
            if kept is None or kept[0] != written:
                hand = folder.hand(indexed)
                if hand is None:
                    continue
                kept = written, _bare(hand)
            known[indexed] = kept
        with self._lock:
            self._known[folder.path] = known
            self._known.move_to_end(folder.path)
            while len(self._known) > OPEN_REVIEWS:
                self._known.popitem(last=False)
        return {indexed: hand for indexed, (_, hand) in known.items()}


def _bare(hand: HandReview) -> HandReview:
    bare = tuple(
        replace(decision, ranges=("", ""), strategy=(), evs_bb=(), options=decision.options)
        for decision in hand.decisions
    )
    return replace(hand, decisions=bare)


def _row(key: str, hand: HandReview, made: GradedDecision) -> messages.ReviewRow:
    return messages.ReviewRow.of(
        made,
        hand=key,
        name=hand.name,
        pot=hand.kind,
        seat=hand.seat,
        cards=hand.cards,
        line=line_in_words(made.line),
        action=ACTIONS[made.taken[0]],
    )


def _skipped(files: HandFiles) -> list[messages.ReviewReason]:
    """The reasons why hands were skipped, each with the place of the first."""
    reasons = []
    for reason, count in files.reasons():
        first = files.first(reason)
        location = replace(first, file=Path(first.file).name).place
        reasons.append(messages.ReviewReason(reason=reason, count=count, place=location))
    return reasons


def replay_hand(key: str, hand: HandReview, solution: str | None) -> messages.ReplayHand:
    """A hand for the page; `solution` is the id of the whole game that grades it, if it is open."""
    hero = SEATS[hand.seat]
    at = {decision.place: number for number, decision in enumerate(hand.decisions)}
    return messages.ReplayHand.of(
        hand,
        hand=key,
        player=hero,
        seats=list(SEATS),
        solution_id=solution,
        steps=[
            messages.ReplayStep.of(
                step, label=_label(step.word, first=position == 0), decision=at.get(position)
            )
            for position, step in enumerate(hand.steps())
        ],
        decisions=[
            messages.ReplayDecision.of(
                made,
                line=line_in_words(made.line),
                options=_options(made),
                reach=_reach(made.ranges[hero], made.board),
                ev=_as_played(made),
            )
            for made in hand.decisions
        ],
    )


def _options(decision: GradedDecision) -> list[messages.ReplayOption]:
    strong = shades([option.action for option in decision.options])
    return [
        messages.ReplayOption.of(
            option,
            label=_label(option.action, first=not decision.line),
            short=f"{VERBS[option.action[0]][1]} {option.action[1:]}".strip(),
            tone=TONES.get(option.action[0], "aggressive"),
            shade=strong[position],
            chances=list(decision.strategy[position] if decision.strategy else NO_CLASSES),
            evs=list(decision.evs_bb[position] if decision.evs_bb else NO_CLASSES),
        )
        for position, option in enumerate(decision.options)
    ]


def _label(word: str, *, first: bool) -> str:
    """An action in words; the `first` one of a hand has only the blinds before it."""
    if first and word == "c":
        return "limp"
    return f"{VERBS[word[0]][0]} {word[1:]} bb" if word[1:] else VERBS[word[0]][0]


def _reach(text: str, board: str) -> list[float]:
    """[169]: the mean weight of each class's combos that the board leaves."""
    if not text:
        return []
    live = live_combos(parse_board(board) if board else ())
    weights = Range.parse(text).weights * live
    combos = np.bincount(HAND_OF_COMBO[live], minlength=HAND_COUNT)
    held = np.bincount(HAND_OF_COMBO, weights, HAND_COUNT)
    means: list[float] = (held / np.maximum(combos, 1)).tolist()
    return means


def _as_played(decision: GradedDecision) -> list[float | None]:
    """[169]: the EV of each class when it plays as in the range."""
    if not decision.strategy or not decision.evs_bb:
        return list(NO_CLASSES)
    played: list[float | None] = []
    for chances, evs in zip(
        zip(*decision.strategy, strict=True), zip(*decision.evs_bb, strict=True), strict=True
    ):
        taken = [(chance, ev) for chance, ev in zip(chances, evs, strict=True) if chance]
        known = bool(taken) and all(ev is not None for _, ev in taken)
        total = sum(chance for chance, _ in taken)
        won = sum(chance * (ev or 0.0) for chance, ev in taken)
        played.append(won / total if known else None)
    return played


MODULE = "allstreets.explorer.solves.hand_reader"
READ_SECONDS = 120.0  # as many hands in PHH as a form takes are read in half of that
_reading = Lock()


def read_review(form: ReviewForm, library: Library) -> ReviewSource:
    """The review that a form asks for; a `FormError` if it is impossible."""
    folders = [library.folder(solution) for solution in form.solutions]
    problems = [
        Problem(message=f"{folder.name} is not a whole game: choose one", field="solutions")
        for folder in folders
        if folder_kind(folder) != "unified"
    ]
    hands = 0
    try:
        hands = count_hands(form.text)
    except BusyError:
        raise
    except InputError as error:
        problems.append(Problem(message=str(error), field="text"))
    if problems:
        raise FormError(problems)
    return ReviewSource(
        name=" ".join(form.name.split()) or f"{hands:,} hands",
        hero=form.hero.strip(),
        seconds_per_spot=form.seconds_per_spot,
        target_pct=form.target_pct,
        folders=[str(folder) for folder in folders],
    )


def count_hands(text: str, seconds: float = READ_SECONDS, module: str = MODULE) -> int:
    """Count the hands of a text; an `InputError`: it has none, or takes too long to read."""
    if not _reading.acquire(blocking=False):
        raise BusyError("another text is being read: start this review when that one has started")
    try:
        # -P: the folder that the server was started in is no place to import from.
        done = subprocess.run(
            [sys.executable, "-P", "-m", module],
            input=text.encode(errors="replace"),
            capture_output=True,
            env=environment(),
            timeout=seconds,  # then it is killed, whatever it does
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"this text takes longer than {seconds:g} s to read: paste fewer hands"
        ) from None
    finally:
        _reading.release()
    if done.returncode:
        raise InputError(
            f"this text cannot be read: its reader ended with code {done.returncode}; paste fewer "
            "hands"
        )
    answer = json.loads(done.stdout)
    if answer["error"] is not None:
        raise InputError(answer["error"])
    if not answer["hands"]:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in answer["reasons"])
        raise InputError(f"no hand of this text can be reviewed: {reasons}")
    return int(answer["hands"])

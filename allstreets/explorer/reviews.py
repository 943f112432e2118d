"""The reviews of the opened folders: searched at every listing, read when they are asked for.

Of hands that have been read everything but their ranges and grids is remembered, so that a table of
a thousand of them is read once, and a review that goes on is read hand by hand.
"""

from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from threading import Lock

from allstreets.base import InputError, printable
from allstreets.betting import line_in_words
from allstreets.explorer.errors import MissingError
from allstreets.explorer.folders import find_reviews, id_of
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import path_text
from allstreets.explorer.models.reviews import (
    ReplayHand,
    ReviewCard,
    ReviewDetail,
    ReviewReason,
    ReviewRow,
    ReviewTotal,
)
from allstreets.explorer.replay import card_list, replay_hand
from allstreets.explorer.views.nodes import street_of
from allstreets.interop import HandFiles
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


class Reviews:
    """Reviews by id; any number of threads may use it."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()
        self._found: dict[str, Path] = {}
        self._known: OrderedDict[Path, Known] = OrderedDict()

    def cards(self) -> list[ReviewCard]:
        """All reviews, the newest first."""
        cards = [self._card(id, ReviewFolder(path)) for id, path in self._search().items()]
        return sorted(cards, key=lambda card: (-card.created, card.name))

    def detail(self, id: str) -> ReviewDetail:
        """A review with its decisions."""
        folder = self._require(id)
        index = folder.index()
        hands = self._hands(folder, index)
        review = Review(tuple(hands.values()), index.skipped, len(index.hands), folder.path)
        rows = [_row(one.key, hand, made) for one, hand in hands.items() for made in hand.decisions]
        return ReviewDetail(
            card=self._card(id, folder),
            totals=[
                ReviewTotal(
                    by=row["by"],
                    name=row["name"],
                    hands=row["hands"],
                    decisions=row["decisions"],
                    judged=row["judged"],
                    loss=row["loss_bb"],
                    loss_per_100=row["loss_bb_per_100"],
                )
                for row in total_rows(review)
            ],
            rows=sorted(rows, key=lambda row: 1.0 if row.loss is None else -row.loss),
            not_judged=[
                ReviewReason(reason=reason, count=count) for reason, count in ungraded(review)
            ],
            skipped=_skipped(HandFiles((), index.skipped)),
        )

    def hand(self, id: str, key: str) -> ReplayHand:
        """A hand of a review."""
        folder = self._require(id)
        index = folder.index()
        one = next((one for one in index.hands if one.key == key), None)
        hand = None if one is None else folder.hand(one)
        if hand is None:
            raise MissingError("this hand is not reviewed yet, or none of this review")
        solution = index.solutions.get(hand.solution)
        opened = None if solution is None else self._library.opened(Path(solution))
        return replay_hand(key, hand, opened)

    def _card(self, id: str, folder: ReviewFolder) -> ReviewCard:
        return _card(id, folder, self._library.solve_of(folder.path))

    def _search(self) -> dict[str, Path]:
        found = {id_of(path): path for path in find_reviews(self._library.folders)}
        with self._lock:
            self._found = found
        return found

    def _require(self, id: str) -> ReviewFolder:
        path = self._found.get(id) or self._search().get(id)
        if path is None:
            raise MissingError("there is no such review: it was moved or removed")
        return ReviewFolder(path)

    def _hands(self, folder: ReviewFolder, index: ReviewIndex) -> dict[IndexedHand, HandReview]:
        """The hands that are reviewed, without what only a replay needs."""
        with self._lock:
            before = self._known.get(folder.path, {})
        known: Known = {}
        for one in index.hands:
            try:
                written = folder.hand_path(one.key).stat().st_mtime_ns
            except OSError:
                continue
            kept = before.get(one)
            if kept is None or kept[0] != written:
                hand = folder.hand(one)
                if hand is None:
                    continue
                kept = written, _bare(hand)
            known[one] = kept
        with self._lock:
            self._known[folder.path] = known
            self._known.move_to_end(folder.path)
            while len(self._known) > OPEN_REVIEWS:
                self._known.popitem(last=False)
        return {one: hand for one, (_, hand) in known.items()}


def _bare(hand: HandReview) -> HandReview:
    bare = tuple(
        replace(one, ranges=("", ""), strategy=(), evs_bb=(), options=one.options)
        for one in hand.decisions
    )
    return replace(hand, decisions=bare)


def _card(id: str, folder: ReviewFolder, solve: str | None) -> ReviewCard:
    try:
        index = folder.index()
    except InputError as error:
        return ReviewCard(
            id=id,
            name=printable(folder.path.name),
            hero=None,
            folder=path_text(folder.path),
            created=0.0,
            done=0,
            total=0,
            solutions=[],
            solve=solve,
            problem=str(error),
        )
    return ReviewCard(
        id=id,
        name=index.name or printable(folder.path.name),
        hero=index.hero,
        folder=path_text(folder.path),
        created=index.created,
        done=folder.done(index),
        total=len(index.hands),
        solutions=list(index.solutions),
        solve=solve,
    )


def _row(key: str, hand: HandReview, one: GradedDecision) -> ReviewRow:
    best = one.best
    return ReviewRow(
        hand=key,
        name=hand.name,
        place=one.place,
        street=street_of(one.street),
        pot=hand.kind,
        seat=hand.seat,
        cards=card_list(hand.cards),
        line=line_in_words(one.line),
        taken=one.taken,
        action=ACTIONS[one.taken[0]],
        frequency=one.frequency,
        best=None if best is None else best.action,
        loss=one.loss_bb,
        within=one.within_bb,
        note=one.note,
    )


def _skipped(files: HandFiles) -> list[ReviewReason]:
    """Why hands were skipped, and where the first of each kind stands."""
    found = []
    for reason, count in files.reasons():
        first = files.first(reason)
        place = replace(first, file=Path(first.file).name).place
        found.append(ReviewReason(reason=reason, count=count, place=place))
    return found

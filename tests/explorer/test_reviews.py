"""Reviews as the page asks for them."""

import os
from pathlib import Path

import pytest
from builders.whole_solution import trips
from study.test_review_job import HANDS, QUICK

from allstreets.base.errors import InputError
from allstreets.betting import Player, action_in_words, line_in_words
from allstreets.cards import HAND_NAMES
from allstreets.explorer import reviews as reading
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, FormError, MissingError
from allstreets.explorer.models.study import ReviewForm
from allstreets.explorer.reviews import Reviews, count_hands, read_review
from allstreets.explorer.solves.folders import Request, new_folder
from allstreets.explorer.solves.process import Channel, Commands, Report, Reporter
from allstreets.explorer.solves.worker import attempt
from allstreets.interop import read_hands
from allstreets.storage import save_unified
from allstreets.study import (
    Review,
    ReviewFolder,
    decision_rows,
    open_games,
    plan_review,
    total_rows,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An opened folder with a whole game and a review by it."""
    root = tmp_path_factory.mktemp("reviews")
    save_unified(trips(), root / "three", config={}, name="trips")
    return root


@pytest.fixture(scope="module")
def review(root: Path) -> Review:
    (root / "hands.txt").write_text(HANDS)
    return plan_review(
        read_hands([root / "hands.txt"]),
        open_games(root / "three"),
        effort=QUICK,
        output=root / "mine",
        name="one evening",
    ).run()


@pytest.fixture
def reviews(root: Path, review: Review) -> Reviews:
    assert not review.interrupted
    return Reviews(Library([root]))


def test_the_table_is_that_of_the_command(reviews: Reviews, review: Review) -> None:
    (card,) = reviews.cards()
    assert (card.name, card.done, card.total, card.problem) == ("one evening", 4, 4, None)
    found = reviews.detail(card.id)
    rows = decision_rows(review)
    assert [one.loss for one in found.rows] == [row["loss_bb"] for row in rows]
    assert {(one.name, one.line, one.did) for one in found.rows} == {
        (row["hand"], line_in_words(row["line"]), action_in_words(row["taken"], row["line"]))
        for row in rows
    }
    assert [one.loss_per_100 for one in found.totals] == [
        row["loss_bb_per_100"] for row in total_rows(review)
    ]
    (skipped,) = found.skipped
    assert skipped.reason == "another game: Omaha Pot Limit"
    assert skipped.place == "hands.txt, line 65, PokerStars Hand #5"
    assert reviews.detail(card.id) == found  # the cache has what the files had


def test_a_hand_is_replayed(reviews: Reviews, review: Review, root: Path) -> None:
    (card,) = reviews.cards()
    key = next(one.hand for one in reviews.detail(card.id).rows if one.street == "turn")
    hand = reviews.hand(card.id, key)
    kept = review.hands[2]
    assert [one.word for one in hand.steps] == [word for _, _, word in kept.actions]
    assert [one.decision for one in hand.steps] == [None, 0, 1, None, 2, None]
    first = hand.steps[0]
    assert (first.word, first.label) == ("c", "limp")  # as in the line of the decision
    assert hand.decisions[0].line.startswith("SB limps")
    assert hand.solution_id == Library([root]).id_of(root / "three")
    for shown, one in zip(hand.decisions, kept.decisions, strict=True):
        assert shown.judged_by == one.evaluated_by
        assert [option.chances for option in shown.options] == [list(row) for row in one.strategy]
        here = hand.steps[shown.place]
        assert (here.pot, shown.to_call) == (one.pot_bb, one.to_call_bb)
    turn = hand.decisions[2]
    held = max(range(len(HAND_NAMES)), key=lambda hand: turn.reach[hand])
    assert turn.reach[held] == pytest.approx(1.0)
    assert turn.reach[HAND_NAMES.index("77")] == 0  # one seven is left
    played = sum((one.chances[held] or 0) * (one.evs[held] or 0) for one in turn.options)
    assert turn.ev[held] == pytest.approx(played, abs=1e-3)
    assert [one.label for one in turn.options] == ["check", "all-in"]


def test_steps_have_the_chips_of_the_history(root: Path, review: Review) -> None:
    """The record keeps words; the chips that they stand for are those of the hand itself."""
    hands = read_hands([root / "hands.txt"]).hands
    for hand, kept in zip(hands, review.hands, strict=True):
        for moment, step in zip(hand.moments(), kept.steps(), strict=True):
            assert step.player == moment.action.player
            assert step.pot_bb == pytest.approx(float(moment.pot_to_win), abs=1e-3)
            for player in Player:
                assert step.bets_bb[player] == pytest.approx(float(moment.bets[player]), abs=1e-3)
                assert step.left_bb[player] == pytest.approx(float(moment.left[player]), abs=1e-3)


def test_one_that_goes_on(reviews: Reviews, root: Path, tmp_path: Path) -> None:
    """Hands show as they come; what is damaged says so, and nothing else can be read."""
    (card,) = reviews.cards()
    whole = ReviewFolder(root / "mine")
    index = whole.index()
    part = ReviewFolder(tmp_path / "part")
    part.write(index)
    going = Reviews(Library([tmp_path]))
    (begun,) = going.cards()
    assert (begun.done, begun.total) == (0, 4)
    assert going.detail(begun.id).rows == []
    key = index.hands[1].key
    with pytest.raises(MissingError, match="not reviewed yet"):
        going.hand(begun.id, key)
    first = whole.hand(index.hands[1])
    assert first is not None
    part.keep(key, first)
    assert [one.hand for one in going.detail(begun.id).rows] == [key]
    assert going.hand(begun.id, key) == reviews.hand(card.id, key).model_copy(
        update={"solution_id": None}
    )
    (tmp_path / "part" / "review.json").write_text("{")
    (broken,) = going.cards()
    assert broken.problem is not None
    assert "is damaged" in broken.problem
    with pytest.raises(MissingError):
        going.hand(card.id, key)


class Heard(Channel):
    """Reports of a process, and a command after the first hand; a paused one resumes."""

    def __init__(self, commands: Commands, word: str = "") -> None:
        self.reports: list[Report] = []
        self._commands, self._word = commands, word

    def send(self, report: Report) -> None:
        self.reports.append(report)
        if self._word and report.progress is not None and report.progress.iteration == 1:
            self._commands.take(self._word)
        if report.state == "paused":
            self._word = ""
            self._commands.take("resume")


def test_begun_from_the_page(root: Path, review: Review, tmp_path: Path) -> None:
    """Stopped after a hand, resumed, paused, and the same as by the command."""
    library = Library([root, tmp_path])
    form = ReviewForm(
        text=HANDS,
        solutions=[library.id_of(root / "three")],
        seconds_per_spot=QUICK.seconds / 100,
        target_pct=100 * QUICK.target,
    )
    source = read_review(form, library)
    assert source.name == "4 hands"
    request = Request(run=1, state="starting", review=source, created=0)
    folder = new_folder(tmp_path, request, hands=form.text)
    for word, state, kept in (("stop", "stopped", 1), ("pause", "done", 4)):
        commands = Commands()
        heard = Heard(commands, word)
        ending = attempt(folder, request, commands, Reporter(folder, request, heard))
        assert (ending.state, ending.error) == (state, None)
        assert f"{kept} of 4 hands are reviewed" in (ending.reason or "")
        assert ("paused" in [one.state for one in heard.reports]) == (word == "pause")
        status = folder.status()
        assert status is not None
        assert status.progress is not None
        assert (status.progress.iteration, status.progress.total) == (kept, 4)
        (card,) = Reviews(Library([tmp_path])).cards()
        assert (card.name, card.done, card.total) == ("4 hands", kept, 4)
    found = Reviews(library).detail(card.id)
    losses = [row["loss_bb"] for row in decision_rows(review)]
    assert [one.loss for one in found.rows] == pytest.approx(losses, abs=1e-3)


NEVER_ENDS = """
import sys
from threading import Event

sys.stdin.read()
Event().wait()
"""


def test_a_text_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process never ends by itself, so a return means that it was killed."""
    (tmp_path / "never_ends.py").write_text(NEVER_ENDS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match=r"this text takes longer than 0\.01 s to read"):
        count_hands(HANDS, 0.01, "never_ends")
    assert count_hands(HANDS) == 4  # the next one is read


def test_a_reader_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dies.py").write_text("import os\n\nos._exit(7)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match="its reader ended with code 7"):
        count_hands(HANDS, module="dies")


def test_one_text_is_read_at_a_time(root: Path) -> None:
    library = Library([root])
    form = ReviewForm(text=HANDS, solutions=[library.id_of(root / "three")])
    with reading._reading, pytest.raises(BusyError, match="another text is being read"):
        read_review(form, library)
    assert read_review(form, library).name == "4 hands"


def test_the_server_reads_no_hand_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a text does to its reader, that is another process."""

    def read(*_: object) -> None:
        raise AssertionError("this is the server")

    monkeypatch.setattr("allstreets.interop.hand_histories.read_text", read)
    monkeypatch.setattr("allstreets.interop.read_text", read, raising=False)
    library = Library([root])
    form = ReviewForm(text=HANDS, solutions=[library.id_of(root / "three")])
    assert read_review(form, library).name == "4 hands"


def test_forms_that_cannot_be_reviewed(root: Path) -> None:
    library = Library([root])
    game = library.id_of(root / "three")
    with pytest.raises(FormError, match="no hand of this text can be reviewed: 1 × it holds no"):
        read_review(ReviewForm(text="nothing", solutions=[game]), library)
    with pytest.raises(MissingError):
        read_review(ReviewForm(text=HANDS, solutions=["00"]), library)

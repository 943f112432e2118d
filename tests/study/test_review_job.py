"""Many hands in one run: stored, resumed, and reported."""

import csv
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.whole_solution import classes, trips, trips_result
from interop.test_reading import TEXT

from allstreets.base import Control
from allstreets.base.errors import InputError
from allstreets.cards import HAND_NAMES
from allstreets.cli.main import main
from allstreets.engines import CardModel
from allstreets.interop import read_hands
from allstreets.jobs import Callbacks, Progress, progress_line
from allstreets.solvers import Completion
from allstreets.storage import save_unified
from allstreets.study import (
    Effort,
    Review,
    ReviewFolder,
    ReviewJob,
    open_games,
    plan_review,
    review_hands,
    review_mapping,
    total_rows,
)

QUICK = Effort(target=0.02, seconds=1e6, threads=1)
HAND = """PokerStars Hand #{number}: Hold'em No Limit ($0.50/$1.00 USD) - 2020/01/01 12:00:00 ET
Table 'A' 2-max Seat #1 is the button
Seat 1: Ann ($3 in chips)
Seat 2: Bob ($3 in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to {hero} [{cards}]
"""
FOLDED = """Ann: folds
Uncalled bet ($0.50) returned to Bob
Bob collected $1 from pot
*** SUMMARY ***
"""
SHOVED = """Ann: raises $2 to $3 and is all-in
Bob: folds
Uncalled bet ($2) returned to Ann
Ann collected $2 from pot
*** SUMMARY ***
"""
LIMPED = """Ann: calls $0.50
Bob: checks
*** FLOP *** [7s 7h 7d]
Bob: checks
Ann: checks
*** TURN *** [7s 7h 7d] [2c]
Bob: bets $2 and is all-in
Ann: folds
Uncalled bet ($2) returned to Bob
Bob collected $2 from pot
*** SUMMARY ***
"""


def hand(number: int, cards: str, rest: str, hero: str = "Ann") -> str:
    return HAND.format(number=number, cards=cards, hero=hero) + rest + "\n\n"


HANDS = (
    hand(1, "As Ad", FOLDED)
    + hand(2, "9s 2d", FOLDED)
    + hand(3, "Ks 9d", LIMPED, "Bob")
    + hand(4, "As Kd", SHOVED)
    + TEXT.replace("Hand #1", "Hand #5").replace("Hold'em No", "Omaha Pot")
)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two depths, 3 and 20 big blinds."""
    folder = tmp_path_factory.mktemp("games")
    save_unified(trips(), folder / "three", config={}, name="trips")
    save_unified(classes(), folder / "twenty", config={})
    return folder


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hands") / "hands.txt"
    path.write_text(HANDS)
    return path


@pytest.fixture(scope="module")
def kept(games: Path, file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Review]:
    """The folder of a whole run, and what it said."""
    output = tmp_path_factory.mktemp("kept")
    return output, job(games, file, output).run()


def job(games: Path, file: Path, output: Path, **options: Any) -> ReviewJob:
    return plan_review(
        read_hands([file]), open_games(games), effort=QUICK, output=output, **options
    )


def test_every_decision_and_its_totals(kept: tuple[Path, Review]) -> None:
    _, review = kept
    assert [one.name[-1] for one in review.hands] == ["1", "2", "3", "4"]
    assert [one.reason for one in review.skipped] == ["another game: Omaha Pot Limit"]
    aces, nine, limped, shove = review.hands
    assert {one.solution for one in review.hands} == {"three"}
    assert aces.loss_bb > 1.0  # folding aces
    assert nine.decisions[0].loss_bb is not None
    assert shove.loss_bb < 0.01
    assert [one.street for one in limped.decisions] == ["preflop", "flop", "turn"]
    assert limped.kind == "limped"
    exploitability = trips_result().exploitability
    assert exploitability is not None
    whole = 2 * exploitability / 1000  # bb of both players, at the first decision of a game
    assert aces.decisions[0].within_bb == pytest.approx(whole, abs=1e-6)
    answered = limped.decisions[0].within_bb  # at one that limping alone leads to
    assert answered == pytest.approx(whole / trips_result().at("c").decision.share, abs=1e-6)
    rows = {(row["by"], row["name"]): row for row in total_rows(review)}
    every = rows["all", "all"]
    assert (every["hands"], every["decisions"]) == (4, 6)
    lost = sum(one.loss_bb for one in review.hands)
    assert every["loss_bb"] == pytest.approx(lost)
    assert every["loss_bb_per_100"] == pytest.approx(100 * lost / 4)
    for by in ("street", "pot", "action"):
        some = [row for (kind, _), row in rows.items() if kind == by]
        assert sum(row["loss_bb"] for row in some) == pytest.approx(lost)
        assert sum(row["decisions"] for row in some) == 6
    assert rows["pot", "unopened"]["hands"] == 2
    assert rows["action", "fold"]["decisions"] == 2


def test_what_a_page_needs_to_replay_a_hand(kept: tuple[Path, Review]) -> None:
    data = json.loads(json.dumps(review_mapping(kept[1], grids=True), allow_nan=False))
    limped = data["hands"][2]
    assert limped["actions"][-2:] == [["turn", "BB", "a"], ["turn", "SB", "f"]]
    for decision in limped["decisions"]:
        actions = len(decision["options"])
        assert actions == len(decision["strategy"]) == len(decision["evs_bb"])
        assert {len(row) for row in decision["strategy"]} == {169}
        assert all(decision["ranges"])
    bare = review_mapping(kept[1])["hands"][2]["decisions"][0]
    assert "strategy" not in bare
    assert bare["options"][0]["action"] == "x"


def test_a_flop_that_cannot_be_solved_is_evaluated_by_the_solution_itself(
    games: Path, tmp_path: Path
) -> None:
    """The play that its own game stored there, suit for suit; a street without it says why."""
    text = hand(3, "Ks 9d", LIMPED.replace("7s 7h 7d", "7c 7h 7d").replace("[2c]", "[2s]"), "Bob")
    (tmp_path / "one.txt").write_text(text)
    found = read_hands([tmp_path / "one.txt"])
    no_time = Effort(target=1e-6, seconds=0.0, threads=1, worst=0.0)
    plan = plan_review(found, open_games(games), effort=no_time, output=tmp_path / "kept")
    before, flop, turn = plan.run().hands[0].decisions
    assert before.evaluated_by.startswith("the solution before the flop")
    assert flop.evaluated_by.startswith("the solution's own play of this flop (cards: classes")
    assert "not solved: " in flop.evaluated_by
    own = trips_result().at("c x | 7s7h7d").decision
    mix = own.strategy[:, HAND_NAMES.index("K9o")]
    assert [one.frequency for one in flop.options] == pytest.approx(mix.tolist(), abs=1e-5)
    evs = own.evaluate().actions[:, HAND_NAMES.index("K9o")]
    assert [one.ev_bb for one in flop.options] == pytest.approx(evs.tolist(), abs=1e-5)
    assert flop.solved_to is None
    exploitability = trips_result().exploitability
    assert exploitability is not None
    assert flop.within_bb == pytest.approx(2 * exploitability / 1000 / own.share, abs=1e-6)
    assert turn.loss_bb is None
    assert turn.note.startswith("not solved: ")
    assert turn.evaluated_by == ""


def test_a_second_run_reads_what_is_kept(
    kept: tuple[Path, Review], games: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, review = kept
    monkeypatch.setattr(
        "allstreets.study.review_job.review_hand", None
    )  # nothing is reviewed again
    told: list[Progress] = []
    assert job(games, file, output).run(Callbacks(progress=(told.append,))) == review
    assert [(one.done, one.before, one.total) for one in told] == [(4, 4, 4)]


def test_processes_review_as_one_does(
    kept: tuple[Path, Review], games: Path, tmp_path: Path
) -> None:
    """Each opens the games by itself; hands come back in their order."""
    file, output = tmp_path / "hands.txt", tmp_path / "kept"
    file.write_text(hand(1, "As Ad", FOLDED) + hand(2, "9s 2d", FOLDED))
    side_by_side = job(games, file, output, processes=2)
    assert side_by_side.plan().lines == ("2 of 2 hands to review by three, twenty, 2 at a time",)
    reviews = [replace(review, file=str(file)) for review in kept[1].hands[:2]]
    assert list(side_by_side.run().hands) == reviews
    assert job(games, file, output).plan().lines == ("0 of 2 hands to review by three, twenty",)


def test_a_pause_between_two_hands(games: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    file = tmp_path / "folded.txt"
    file.write_text("".join(hand(number, "9s 2d", FOLDED) for number in range(1, 5)))

    class Paused(Control):
        waited = 0

        def is_paused(self) -> bool:
            return bool(told) and told[-1].done == 2 and not self.waited

        def wait_while_paused(self) -> None:
            self.waited += 1

    control = Paused()
    review = job(games, file, tmp_path / "kept").run(
        Callbacks(progress=(told.append,), control=control)
    )
    assert control.waited == 1
    assert not review.interrupted
    assert [(one.done, one.paused) for one in told] == [
        (0, False), (1, False), (2, False), (2, True), (2, False), (3, False), (4, False),
    ]  # fmt: skip
    assert review.lines()[0].startswith("4 of 4 hands are reviewed, ")
    assert review.to_json() == review_mapping(review)


def test_other_settings_are_other_reviews(
    kept: tuple[Path, Review], games: Path, file: Path
) -> None:
    output, _ = kept
    one, other = (job(games, file, output, seed=seed) for seed in (1, 2))
    assert one.folder.hand(one.index.hands[0]) is not None
    assert other.folder.hand(other.index.hands[0]) is None


def test_interrupted_it_keeps_what_is_done_and_goes_on(
    kept: tuple[Path, Review], games: Path, file: Path, tmp_path: Path
) -> None:
    told: list[Progress] = []

    def press(progress: Progress) -> None:
        told.append(progress)
        if progress.done == 2:
            signal.raise_signal(signal.SIGINT)

    cut = job(games, file, tmp_path).run(Callbacks(progress=(press,)))
    assert cut.interrupted
    assert [one.name[-1] for one in cut.hands] == ["1", "2"]
    assert len(list(tmp_path.glob("hands/*.json"))) == 2
    whole = job(games, file, tmp_path).run(Callbacks(progress=(told.append,)))
    assert not whole.interrupted
    assert whole.hands[:2] == cut.hands
    assert [one.loss_bb for one in whole.hands] == pytest.approx(
        [one.loss_bb for one in kept[1].hands]
    )
    assert told[-1].before == 2
    line = progress_line(told[-1])
    assert line.startswith("hands 4 of 4 | 2 kept from before | ")
    assert "hands a minute" in line
    assert "ETA" in progress_line(told[1])


def test_a_damaged_review_is_made_again(
    kept: tuple[Path, Review], games: Path, file: Path, tmp_path: Path
) -> None:
    one = job(games, file, tmp_path)
    review = one.run()
    path = one.folder.hand_path(one.index.hands[1].key)
    for text in (path.read_text()[:-50], "{}", "[1]"):
        path.write_text(text)
        assert one.run() == review
    assert review.hands == kept[1].hands


def test_bad_hands_leave_the_others(games: Path, tmp_path: Path) -> None:
    """Each is named with its file, line, hand and reason, and the rest is reviewed."""
    folder = tmp_path / "histories"
    (folder / "folder.txt").mkdir(parents=True)
    bad = hand(6, "As Ad", FOLDED).replace("Ann ($3 in", "Ann ($,,, in")
    (folder / "a.txt").write_text(bad + hand(1, "As Ad", FOLDED))
    (folder / "b.phh").write_text("variant = 'NT'\nantes = [0, true]\nstarting_stacks = [1, 1]\n")
    (folder / "folder.txt" / "c.txt").write_text(hand(2, "9s 2d", FOLDED))
    plan = plan_review(read_hands([folder]), open_games(games), effort=QUICK, output=tmp_path / "k")
    review = plan.run()
    assert [one.name[-1] for one in review.hands] == ["1", "2"]
    assert [str(one).removeprefix(f"{folder}/") for one in review.skipped] == [
        "a.txt, line 3, PokerStars Hand #6: ',,,' is not an amount",
        "b.phh, line 1: 'antes': true or false is not an amount",
    ]
    assert [one["hand"] for one in review_mapping(review)["skipped"]] == ["PokerStars Hand #6", ""]


def test_whose_decisions(games: Path, file: Path, tmp_path: Path) -> None:
    assert len(job(games, file, tmp_path).hands) == 4
    ann = job(games, file, tmp_path, hero="ANN")
    assert [one.name[-1] for one, _ in ann.hands] == ["1", "2", "4"]
    assert "the cards of Ann are not known" in [one.reason for one in ann.skipped]
    with pytest.raises(InputError, match="no hand shows the cards of 'eve'; players: Ann, Bob"):
        job(games, file, tmp_path, hero="eve")


def test_the_nearest_stack(games: Path, file: Path, tmp_path: Path) -> None:
    deep = tmp_path / "deep.txt"
    deep.write_text(hand(1, "As Ad", FOLDED).replace("($3 in", "($15 in"))
    review = review_hands([deep], games, output=tmp_path / "kept", threads=1)
    (one,) = review.hands
    assert (one.solution, one.solution_stack_bb, one.stack_bb) == ("twenty", 20.0, 15.0)
    assert one.notes == ("played 15 bb deep, graded before the flop at 20 bb (+33 %)",)
    with pytest.raises(InputError, match="holds no solved whole game"):
        open_games(file.parent)
    with pytest.raises(InputError, match="is not a folder"):
        open_games(file)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["review", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command(
    kept: tuple[Path, Review],
    games: Path,
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = tmp_path / "all.csv"
    options = ("--solutions", str(games), "--output", str(kept[0]), "--target", "2%")
    same = (*options, "--seconds-per-spot", "1000000", "--threads", "1")
    code, out, err = run(capsys, str(file), *same, "--csv", str(table))
    assert code == 0
    assert f"1 × another game: Omaha Pot Limit ({file}, line 65, PokerStars Hand #5)" in err
    assert "hands 4 of 4 | 4 kept from before" in err
    assert "Mistakes, the costliest first" in out
    first = out.splitlines()[2].split()
    assert first[2:9] == ["1", "preflop", "AsAd", "first", "to", "act", "fold"]
    assert "SB limps, BB checks; flop 7s7h7d: BB checks, SB checks" in " ".join(out.split())
    assert out.splitlines()[1].split()[:2] == ["loss", "accuracy"]
    assert (
        "on average over the hands that reach it; the loss of a single hand may be off by more"
        in out
    )
    assert "bb/100" in out
    with table.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6
    losses = [float(row["loss_bb"]) for row in rows]
    assert losses == sorted(losses, reverse=True)
    code, out, err = run(capsys, str(file), *same, "--json")
    assert code == 0
    assert len(json.loads(out)["hands"]) == 4
    code, _, err = run(capsys, str(file), "--solutions", str(tmp_path / "none"))
    assert code == 2
    assert err.startswith("Error: ")


def test_the_command_interrupted(
    games: Path,
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from harness.pressing import press_in

    press_in(monkeypatch, ReviewFolder, "keep")
    code, out, err = run(
        capsys, str(file), "--solutions", str(games), "--output", str(tmp_path), "--threads", "1"
    )
    assert code == 130
    assert "1 of 4 hands are reviewed and kept in" in out
    assert "Resume with the same command." in out
    assert "Keeping the hands that are done" in err


def test_nothing_to_review(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "other.txt"
    empty.write_text("not a hand")
    code, out, err = run(capsys, str(empty), "--solutions", str(games))
    assert code == 0
    assert out == "No hand was reviewed.\n"
    assert "it holds no hand in PHH, PokerStars or GGPoker text" in err


FEW = Completion(CardModel("boards", groups=16, rows=32), 20)


def test_a_flop_that_takes_too_long_is_drafted(
    kept: tuple[Path, Review], games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every decision is graded, says that it is a draft, and how near that is."""
    monkeypatch.setattr("allstreets.study.review_streets.LEAST_ITERATIONS", 10**15)
    (tmp_path / "one.txt").write_text(hand(3, "Ks 9d", LIMPED, "Bob"))
    effort = Effort(target=0.02, seconds=1e6, threads=1, draft=FEW)
    plan = plan_review(
        read_hands([tmp_path / "one.txt"]), open_games(games), effort=effort, output=tmp_path / "k"
    )
    before, flop, turn = plan.run().hands[0].decisions
    exactly = kept[1].hands[2].decisions
    assert flop.evaluated_by.startswith("a draft, within ")
    assert flop.evaluated_by.endswith("% of the pot")  # nothing is left out of its tree
    assert turn.evaluated_by.startswith("solved again exactly, to ")
    assert flop.solved_to is not None
    assert flop.solved_to <= 0.02
    assert flop.within_bb is not None
    assert before == exactly[0]
    # Both lie within their accuracy, on average over the range; one hand not far beyond it.
    for mine, theirs in zip(flop.options, exactly[1].options, strict=True):
        assert mine.action == theirs.action
        if mine.ev_bb is not None:  # an action that it takes
            assert mine.ev_bb == pytest.approx(theirs.ev_bb, abs=0.15)
    assert flop.options[0].ev_bb is not None
    assert all(decision.loss_bb is not None for decision in (before, flop, turn))


def test_behind_a_draft_another_is_made(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bet that the draft never makes is answered as if the whole range made it."""
    monkeypatch.setattr("allstreets.study.review_streets.LEAST_ITERATIONS", 10**15)
    bet = LIMPED.replace(
        "Bob: checks\nAnn: checks\n*** TURN *** [7s 7h 7d] [2c]\nBob: bets $2 and is all-in\n",
        "Bob: bets $2 and is all-in\n",
    )
    (tmp_path / "one.txt").write_text(hand(3, "Ks 9d", bet, "Ann"))
    effort = Effort(target=0.02, seconds=1e6, threads=1, draft=FEW)
    plan = plan_review(
        read_hands([tmp_path / "one.txt"]), open_games(games), effort=effort, output=tmp_path / "k"
    )
    _, flop = plan.run().hands[0].decisions
    assert flop.taken == "f"
    assert flop.evaluated_by.startswith("a draft, within ")
    assert flop.loss_bb is not None

"""Hands whose every decision was computed by hand: a river with a closed form.

In a pot of 5 bb with a bet of b pots, counted from the river on:

| hand  | check      | bet                   | facing the bet: call                              |
|-------|------------|-----------------------|---------------------------------------------------|
| aces  | 5          | 5 (1 + 2b) / (1 + b)  | –                                                 |
| threes | 0         | 0                     | –                                                 |
| kings | 5/2 · 1/(1 + b) | –                | 0                                                 |

Kings win 5 against the threes that check: half of the hands are threes, and 1 − b/(1+b) of them do.
"""

from functools import cache

import pytest
from builders.polarised import polarised

from allstreets.betting import IP, OOP, Player
from allstreets.games import Spot
from allstreets.interop import PlayedHand, read_text
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.study import (
    Effort,
    GradedDecision,
    HandReview,
    SolvedGame,
    review_hand,
    review_streets,
)
from allstreets.study.grading import within

EFFORT = Effort(target=2e-3, seconds=1e6, threads=1)
NEAR = 0.08  # bb: what 0.2 % of the pot of 5 bb can be for one hand in three
HEAD = """PokerStars Hand #1: Hold'em No Limit ($0.50/$1.00 USD) - 2020/01/01 12:00:00 ET
Table 'A' 2-max Seat #1 is the button
Seat 1: Ann ($20 in chips)
Seat 2: Bob ($20 in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Ann: raises $1.50 to $2.50
Bob: calls $1.50
*** FLOP *** [7s 7h 7d]
Bob: checks
Ann: checks
*** TURN *** [7s 7h 7d] [9c]
Bob: checks
Ann: checks
*** RIVER *** [7s 7h 7d 9c] [2c]
"""
END = """*** SUMMARY ***
Seat 1: Ann (button) mucked [{ann}]
Seat 2: Bob mucked [{bob}]
"""


def played(river: str, ann: str = "As Ah", bob: str = "Kd Kc", head: str = HEAD) -> PlayedHand:
    found = read_text(head + river + END.format(ann=ann, bob=bob), "a.txt")
    assert not found.skipped
    return found.hands[0]


SOLVED: list[tuple[Spot, SpotSolution]] = []
"""The streets of all hands: most of them are played on the same flop, with the same ranges."""
solve = review_streets._solve


def solve_once(solver: SpotSolver, effort: Effort) -> SpotSolution:
    for spot, solution in SOLVED:
        if spot == solver.spot:
            return solution
    SOLVED.append((solver.spot, solve(solver, effort)))
    return SOLVED[-1][1]


@cache
def reviewed(hand: PlayedHand, hero: Player, river: str = "100%") -> HandReview:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(review_streets, "_solve", solve_once)
        return review_hand(hand, hero, SolvedGame("by hand", polarised(river)), EFFORT)


def evs(decision: GradedDecision) -> dict[str, float | None]:
    return {option.action: option.ev_bb for option in decision.options}


def mix(decision: GradedDecision) -> dict[str, float]:
    return {option.action: option.frequency for option in decision.options}


CALLED = "Bob: checks\nAnn: bets $5\nBob: calls $5\nAnn collected $15 from pot\n"
CHECKED = "Bob: checks\nAnn: checks\nAnn collected $5 from pot\n"


def test_aces_that_bet() -> None:
    review = reviewed(played(CALLED), IP)
    first, flop, turn, river = review.decisions
    # The small blind has 0.5 bb in the middle: counted from there on, folding is 0.
    assert evs(first) == {"f": 0.0, "c": None, "r2.5": 1.75}  # nobody limps: not learned
    assert mix(first) == {"f": 0.0, "c": 0.0, "r2.5": 1.0}
    assert [one.loss_bb for one in (first, flop, turn, river)] == pytest.approx([0] * 4, abs=NEAR)
    assert list(evs(flop)) == list(evs(turn)) == ["x"]
    assert flop.ranges == turn.ranges == river.ranges == ("KK", "AA,33")
    assert river.line == "r2.5 c | 7s7h7d | x x | 9c | x x | 2c | x"
    assert (river.pot_bb, river.to_call_bb, river.stack_bb) == (5.0, 0.0, 17.5)
    assert evs(river) == pytest.approx({"x": 5.0, "b5": 7.5}, abs=NEAR)
    assert mix(river)["b5"] == pytest.approx(1.0, abs=0.01)
    assert (review.kind, review.seat, review.notes) == ("raised", "SB", ())


def test_aces_that_check_lose_half_a_pot() -> None:
    *_, river = reviewed(played(CHECKED), IP).decisions
    assert river.taken == "x"
    assert river.frequency == pytest.approx(0.0, abs=0.01)
    assert river.loss_bb == pytest.approx(2.5, abs=NEAR)
    assert river.best is not None
    assert river.best.action == "b5"


def test_threes_are_indifferent() -> None:
    *_, river = reviewed(played(CALLED, ann="3d 3c"), IP).decisions
    assert evs(river) == pytest.approx({"x": 0.0, "b5": 0.0}, abs=NEAR)
    assert mix(river)["b5"] == pytest.approx(0.5, abs=0.03)
    assert river.loss_bb == pytest.approx(0.0, abs=NEAR)


def test_kings() -> None:
    first, _, _, check, call = reviewed(played(CALLED), OOP).decisions
    assert evs(first) == {"f": 0.0, "c": 1.75}  # his big blind is in the middle already
    assert evs(check)["x"] == pytest.approx(1.25, abs=NEAR)
    assert evs(call) == pytest.approx({"f": 0.0, "c": 0.0}, abs=NEAR)
    assert mix(call)["c"] == pytest.approx(0.5, abs=NEAR)
    assert call.ranges[0] == "KK"
    assert call.ranges[1].startswith("AA,33:0.")
    assert [one.loss_bb for one in (check, call)] == pytest.approx([0, 0], abs=NEAR)


def test_kings_that_lead_lose_what_checking_is_worth() -> None:
    lead = "Bob: bets $5\nAnn: calls $5\nAnn collected $15 from pot\n"
    *_, river = reviewed(played(lead), OOP).decisions
    # Aces call and threes fold: 5/2 − 5/2 = 0, and the check is worth 1.25.
    assert river.loss_bb == pytest.approx(1.25, abs=NEAR)
    assert "hardly ever does this" in river.note


@pytest.mark.parametrize("size", [0.5, 1.4])
def test_the_size_that_was_bet_is_in_the_tree(size: float) -> None:
    """Nothing may be bet in the solution: the only bet is the one that was made."""
    chips = f"{5 * size:g}"
    bet = f"Bob: checks\nAnn: bets ${chips}\nBob: calls ${chips}\n"
    hand = played(f"{bet}Ann collected ${5 + 10 * size:g} from pot\n")
    *_, river = reviewed(hand, IP, river="").decisions
    assert evs(river) == pytest.approx(
        {"x": 5.0, f"b{chips}": 5 * (1 + 2 * size) / (1 + size)}, abs=NEAR
    )
    *_, call = reviewed(hand, OOP, river="").decisions
    assert mix(call)["c"] == pytest.approx(1 / (1 + size), abs=NEAR)
    assert evs(call) == pytest.approx({"f": 0.0, "c": 0.0}, abs=NEAR)


def test_a_hand_that_the_solution_does_not_bring() -> None:
    first, *_, river = reviewed(played(CALLED, ann="7c 6c"), IP).decisions
    assert first.loss_bb == 0.0  # raising is worth most to every hand there
    assert mix(first) == {"f": 1.0, "c": 0.0, "r2.5": 0.0}
    # Quads win at showdown as aces do, and the other player does not know of it.
    assert evs(river) == pytest.approx({"x": 5.0, "b5": 7.5}, abs=NEAR)
    assert river.note == "the solution never has this hand here"


def test_lines_that_the_solution_never_plays() -> None:
    limped = HEAD.replace("raises $1.50 to $2.50\nBob: calls $1.50", "calls $0.50\nBob: checks")
    hand = played("Bob: checks\nAnn: checks\nAnn collected $2 from pot\n", head=limped)
    for hero in Player:
        review = reviewed(hand, hero)
        assert all(one.loss_bb is None for one in review.decisions[1:])
        assert all("the solution never gets here" in one.note for one in review.decisions[1:])
        assert HandReview.read(review.to_json()) == review
    # The limp itself has an EV, but no answer to it was learned.
    assert reviewed(hand, IP).decisions[0].loss_bb == pytest.approx(1.25 - 0.3)
    assert "rough" in reviewed(hand, IP).decisions[0].note


def test_an_action_that_is_never_taken_is_taken_by_the_whole_range() -> None:
    """Bob leads with kings, which he never does; what Ann should answer is solved from there."""
    lead = (
        "Bob: bets $5\nAnn: folds\nUncalled bet ($5) returned to Bob\nBob collected $5 from pot\n"
    )
    *_, river = reviewed(played(lead), IP).decisions
    assert river.loss_bb == pytest.approx(10.0, abs=0.01)  # the pot and the bet
    assert river.note == "the solution never gets here: as if BB took 'b5' with his whole range"


def test_other_stacks_are_told() -> None:
    deeper = HEAD.replace("Bob ($20", "Bob ($26").replace("Ann ($20", "Ann ($25")
    review = reviewed(played(CHECKED, head=deeper), IP)
    assert review.notes == ("played 25 bb deep, graded before the flop at 20 bb (-20 %)",)
    assert review.decisions[-1].stack_bb == 22.5


def test_the_accuracy_of_a_decision() -> None:
    """Both players gain twice the exploitability together, at decisions that are reached so often.

    Of 5 bb, when the river is dealt; kings always check, and then aces and half of the threes bet.
    """
    *_, bet = reviewed(played(CALLED), IP).decisions
    *_, check, call = reviewed(played(CALLED), OOP).decisions
    for decision, share in ((check, 1.0), (bet, 1.0), (call, 0.75)):
        assert decision.solved_to is not None
        assert decision.solved_to > 1e-4  # below it the digits of a record say too little
        assert decision.within_bb == pytest.approx(2 * 5 * decision.solved_to / share, rel=0.02)


def test_the_accuracy_of_a_mean() -> None:
    assert within(0.25, 1.0) == 0.5  # of both players
    assert within(0.25, 0.5) == 1.0  # who gets there half as often gains twice as much when he does
    assert within(0.25, 0.0) is None


def test_a_bet_counts_as_far_as_it_can_be_called() -> None:
    """Ann jams 26 bb into the 10 of Bob: he calls 9 to win 10 and his blind, not 27."""
    jam = HEAD[: HEAD.index("Ann: raises")].replace("Ann ($20", "Ann ($26").replace("$20", "$10")
    rest = "Ann: raises $25 to $26 and is all-in\nBob: folds\n"
    rest += "Uncalled bet ($25) returned to Ann\nAnn collected $2 from pot\n"
    hand = played(rest, head=jam)
    (facing,) = reviewed(hand, OOP).decisions
    assert (facing.pot_bb, facing.to_call_bb, facing.stack_bb) == (11.0, 9.0, 0.0)
    (jammed,) = reviewed(hand, IP).decisions
    assert (jammed.pot_bb, jammed.to_call_bb) == (1.5, 0.5)
    assert [step.pot_bb for step in reviewed(hand, IP).steps()] == [1.5, 11.0]


def test_a_record_is_read_back() -> None:
    review = reviewed(played(CALLED), OOP)
    assert HandReview.read(review.to_json()) == review
    with pytest.raises(KeyError):
        HandReview.read({**review.to_json(), "more": 1})

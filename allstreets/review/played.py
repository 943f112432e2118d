"""A played hand in the words of lines, and step by step.

`bare_decision` is a decision as the history itself has it, `graded_as` the same with what a
solution says of it. `replay_steps` are all actions of a reviewed hand, with the cards and chips as
they were before each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    POT_KINDS,
    Action,
    ActionKind,
    Player,
    Street,
    action_text,
    neat,
)
from allstreets.cards import cards_text
from allstreets.interop import Moment, PlayedAction, PlayedHand
from allstreets.review.folder import HandReview
from allstreets.review.grading import OUTSIDE, GradedDecision, grade, with_evidence
from allstreets.review.mapping import Mapped
from allstreets.solutions import Decision

UNOPENED = "unopened"
DIGITS = 4  # of amounts

Chips = tuple[float, float]  # of OOP and IP, in big blinds


def played_word(action: PlayedAction) -> str:
    """The word of an action: "x", "b3", "r2.5" (to, in big blinds), "a"."""
    return action_text(Action(action.kind, neat(float(action.to * CHIPS_PER_BB))), BIG_BLINDS)


def pot_kind(hand: PlayedHand) -> str:
    """The kind of pot that the hand became before the flop."""
    if not hand.actions or hand.actions[0].kind == ActionKind.FOLD:
        return UNOPENED
    return POT_KINDS[min(hand.raises, len(POT_KINDS) - 1)]


def bare_decision(hand: PlayedHand, moment: Moment, why: str = "") -> GradedDecision:
    """A decision before it is graded, or `why` it cannot be."""
    return GradedDecision(
        place=moment.place,
        street=moment.action.street.text,
        line=_line_before(hand, moment.place),
        board=cards_text(hand.board_on(moment.action.street)),
        pot_bb=_bb(moment.pot_to_win),
        to_call_bb=_bb(moment.to_call),
        stack_bb=_bb(min(moment.left)),
        taken=played_word(moment.action),
        note=why,
    )


def graded_as(
    bare: GradedDecision,
    mapped: Mapped,
    decision: Decision,
    combo: int,
    *,
    outside: bool,
    within_bb: float | None,
    evaluated_by: str,
    notes: Sequence[str] = (),
    solved_to: float | None = None,
) -> GradedDecision:
    """A decision graded as the action of the tree that it counts as.

    `outside`: whether the solution does not bring the combo there.
    """
    word = mapped.words[mapped.place]
    graded = grade(bare, decision, combo, mapped.place, words=mapped.words)
    known = graded.loss_bb is not None
    said = [
        "" if mapped.same else f"{bare.taken} counted as {word}",
        *notes,
        OUTSIDE if outside and known else "",
        graded.note,
    ]
    return replace(
        with_evidence(graded, decision),
        counted_as=word,
        within_bb=within_bb if known else None,
        note="; ".join(filter(None, said)),
        evaluated_by=evaluated_by,
        solved_to=solved_to,
    )


def _line_before(hand: PlayedHand, place: int) -> str:
    """The line to an action, with the cards that were dealt: "r2.5 c | QsJh2h | x"."""
    street, words = Street.PREFLOP, list[str]()
    for action in hand.actions[: place + 1]:
        while street < action.street:
            street = Street(street + 1)
            dealt = hand.board_on(street)[0 if street == Street.FLOP else -1 :]
            words += ["|", cards_text(dealt), "|"]
        words.append(played_word(action))
    return " ".join(words[:-1])


def _bb(amount: Fraction) -> float:
    return round(float(amount), DIGITS)


@dataclass(frozen=True)
class ReplayStep:
    """An action, and how things stood when it was taken."""

    street: str
    board: str
    player: Player
    word: str
    pot_bb: float  # with the bets of this street, each as far as it can be called
    bets_bb: Chips  # put in on this street
    left_bb: Chips  # behind


def replay_steps(hand: HandReview) -> Iterator[ReplayStep]:
    """All actions of a hand."""
    seats = {player.seat: player for player in Player}
    bets, street = list(hand.blinds_bb), Street.PREFLOP
    left = [hand.stacks_bb[p] - hand.antes_bb[p] - hand.blinds_bb[p] for p in Player]
    pot = sum(hand.antes_bb) + sum(hand.blinds_bb)
    for name, seat, word in hand.actions:
        player = seats[seat]
        if name != street.text:
            bets, street = [0.0, 0.0], next(one for one in Street if one.text == name)
        excess = max(bets[player.opponent] - bets[player] - left[player], 0.0)
        yield ReplayStep(
            street=name,
            board=hand.board[: 2 * (street + 2)] if street > Street.PREFLOP else "",
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


def _paid(word: str, paid: float, to_match: float, left: float) -> float:
    """The chips that an action adds; its word gives the total on this street."""
    kind, total = word[0], word[1:]
    if kind == "a":
        return left
    if kind == "c":
        return min(max(to_match - paid, 0.0), left)
    return min(float(total) - paid, left) if total else 0.0

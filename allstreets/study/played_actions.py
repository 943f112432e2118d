"""A played action in the tree of a solution, which may lack its size, and its grade.

Between two sizes A < x < B of the tree (in pots) a bet of x counts as A with the chance

    (B − x)(1 + A) / ((B − A)(1 + x))

and as B otherwise: the pseudo-harmonic mapping (Ganzfried and Sandholm, "Action Translation in
Extensive-Form Games with Large Action Spaces", 2013), under which a player who answers a pot-size
bet correctly gains nothing by bets a little below or above it. Outside all sizes the nearest one
counts; a bet never counts as a check or a call. All-in is all-in at any stacks.

`bare_decision` is a decision from the hand history; `graded_as` adds the solution's grade.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    POT_KINDS,
    Action,
    ActionKind,
    BettingTree,
    Street,
    action_in_words,
    action_text,
    choices,
    neat,
    pot_share,
)
from allstreets.cards import cards_text
from allstreets.interop import Moment, PlayedAction, PlayedHand
from allstreets.solutions import Decision
from allstreets.study.games import UNOPENED
from allstreets.study.grading import OUTSIDE, GradedDecision, grade, with_evidence
from allstreets.study.review_folder import DIGITS

SAME = 1e-3  # pots: rounding to chips may cost this much, which changes no one's play


@dataclass(frozen=True)
class Draws:
    """A random number for every action of a hand, the same in every run with a seed."""

    seed: int
    hand: str

    def at(self, place: int) -> float:
        """A number from 0 to 1, for an action by its index."""
        return Random(f"{self.seed}:{self.hand}:{place}").random()


@dataclass(frozen=True)
class Mapped:
    """A played action, mapped to an action of the tree."""

    node: int  # the child
    place: int  # among the actions of the decision
    same: bool  # whether it is the played action, to rounding
    words: tuple[str, ...]  # [A]: the actions of the decision, amounts in big blinds


def chance_of_smaller(smaller: float, larger: float, size: float) -> float:
    """The chance that a bet of `size` counts as the smaller of two sizes, all in pots.

    >>> chance_of_smaller(0.5, 1.0, 0.5), chance_of_smaller(0.5, 1.0, 1.0)
    (1.0, 0.0)
    """
    return (larger - size) * (1 + smaller) / ((larger - smaller) * (1 + size))


def map_action(tree: BettingTree, node: int, moment: Moment, draw: float) -> Mapped | None:
    """The action of a decision that a played action counts as; `draw` from 0 to 1 decides.

    None: no similar action is offered there.
    """
    offered = list(choices(tree, node))
    choice, same = _place(tree, offered, moment, draw)
    if choice is None:
        return None
    words = tuple(action_text(action, BIG_BLINDS) for _, action in offered)
    return Mapped(offered[choice][0], choice, same, words)


def _place(
    tree: BettingTree, offered: list[tuple[int, Action]], moment: Moment, draw: float
) -> tuple[int | None, bool]:
    """The index of an action among those offered, and whether it is the same."""
    kinds = [action.kind for _, action in offered]
    kind = moment.action.kind
    sizes = [
        (float(pot_share(tree, child) or 0), choice)
        for choice, (child, action) in enumerate(offered)
        if action.kind >= ActionKind.BET
    ]
    if kind < ActionKind.BET:
        return (kinds.index(kind) if kind in kinds else None), True
    if not sizes:
        # A raise where the tree is already all-in puts in the whole stack: it counts as a call.
        call = ActionKind.CALL
        return (kinds.index(call) if call in kinds else None), False
    if moment.is_all_in:
        choice = sizes[-1][1]
        return choice, kinds[choice] == ActionKind.ALL_IN
    size = float(moment.pot_share)
    gap, choice = min((abs(share - size), choice) for share, choice in sizes)
    return (choice, True) if gap <= SAME else (_between(sizes, size, draw), False)


def _between(sizes: list[tuple[float, int]], size: float, draw: float) -> int:
    below = [pair for pair in sizes if pair[0] < size]
    above = [pair for pair in sizes if pair[0] > size]
    if not below:
        return above[0][1]
    if not above:
        return below[-1][1]
    (smaller, low), (larger, high) = below[-1], above[0]
    return low if draw < chance_of_smaller(smaller, larger, size) else high


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

    `outside`: whether the combo never gets there in the solution.
    """
    word = mapped.words[mapped.place]
    graded = grade(bare, decision, combo, mapped.place, words=mapped.words)
    known = graded.loss_bb is not None
    said = [
        "" if mapped.same else f"{action_in_words(bare.taken)} counted as {action_in_words(word)}",
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


def _line_before(hand: PlayedHand, index: int) -> str:
    """The line to an action, with the cards that were dealt: "r2.5 c | QsJh2h | x"."""
    street, words = Street.PREFLOP, list[str]()
    for action in hand.actions[: index + 1]:
        while street < action.street:
            street = Street(street + 1)
            dealt = hand.board_on(street)[0 if street == Street.FLOP else -1 :]
            words += ["|", cards_text(dealt), "|"]
        words.append(played_word(action))
    return " ".join(words[:-1])


def _bb(amount: Fraction) -> float:
    return round(float(amount), DIGITS)

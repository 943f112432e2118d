"""A decision of a played hand before it is judged: what the history itself says of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from allstreets.cards import cards_text
from allstreets.hands import Moment, PlayedHand
from allstreets.review.judging import Judgement
from allstreets.review.records import Grid, ReviewedDecision
from allstreets.review.words import line_before, played_word


@dataclass(frozen=True)
class Draws:
    """A random number for every action of a hand, the same in every run with a seed."""

    seed: int
    hand: str

    def at(self, place: int) -> float:
        """From 0 to 1, for an action by its place."""
        return Random(f"{self.seed}:{self.hand}:{place}").random()


@dataclass(frozen=True)
class Draft:
    """A decision without its judgement."""

    bare: ReviewedDecision

    @property
    def taken(self) -> str:
        """What was done."""
        return self.bare.taken

    def unjudged(self, why: str) -> ReviewedDecision:
        """The decision where nothing is known."""
        return replace(self.bare, note=why)

    def judged(
        self,
        found: Judgement,
        *,
        counted_as: str,
        same: bool,
        notes: Sequence[str],
        ranges: tuple[str, str],
        strategy: Grid,
        evs: Grid,
        within: float | None,
        judged_by: str,
        solved_to: float | None = None,
    ) -> ReviewedDecision:
        """The decision with what a solution says of it."""
        mapped = [] if same else [f"{self.taken} counted as {counted_as}"]
        return replace(
            self.bare,
            counted_as=counted_as,
            options=found.options,
            loss_bb=found.loss,
            within_bb=None if found.loss is None else within,
            note="; ".join([*mapped, *notes]),
            judged_by=judged_by,
            solved_to=solved_to,
            ranges=ranges,
            strategy=strategy,
            evs_bb=evs,
        )


def draft(hand: PlayedHand, moment: Moment) -> Draft:
    """What the history says of a decision."""
    return Draft(
        ReviewedDecision(
            place=moment.place,
            street=moment.action.street.text,
            line=line_before(hand, moment.place),
            board=cards_text(hand.board_on(moment.action.street)),
            pot_bb=_bb(moment.pot_to_win),
            to_call_bb=_bb(moment.to_call),
            stack_bb=_bb(min(moment.left)),
            taken=played_word(moment.action),
            counted_as="",
        )
    )


def _bb(amount: Fraction) -> float:
    return round(float(amount), 4)

"""What judges the decisions of a street: solved again, or as the solution itself plays it.

A flop that cannot be solved again, for want of time or memory, is judged by what the whole game
itself plays there, if it stores that flop: in its own pot and stack and with its own sizes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    BettingTree,
    flop_pots,
    line_text,
    parse_line,
)
from allstreets.cards import canonical_flop
from allstreets.review.judging import within
from allstreets.review.spots import WORST, Effort, SolvedStreet
from allstreets.solutions import (
    BehindResult,
    Decision,
    WholeSolution,
    in_suits,
    solve_behind,
    swept,
)


class StreetPlay(Protocol):
    """Both players' strategies on a street."""

    @property
    def tree(self) -> BettingTree:
        """The betting."""

    @property
    def judged_by(self) -> str:
        """Where its figures come from, for people."""

    @property
    def solved_to(self) -> float | None:
        """The exploitability of a spot, of its pot; None: it is none."""

    def decision(self, node: int) -> Decision:
        """A decision of the tree."""

    def within(self, decision: Decision) -> float | None:
        """What better play gains at a decision on the mean of the range, in bb; None: unknown."""


class SolvedAgain:
    """A street that was solved for what was really there.

    Where play gets to a line that the solution never takes, the rest is solved by itself, as if
    the action that `assume` is told of were taken by all that its player has.
    """

    def __init__(self, solved: SolvedStreet, effort: Effort, assume: Callable[[int], None]) -> None:
        self._solved, self._effort, self._assume = solved, effort, assume
        self._behind: BehindResult | None = None
        self.tree = solved.result.spot.tree

    @property
    def judged_by(self) -> str:
        """How it was solved."""
        return f"solved again exactly, to {100 * self.solved_to:.2g} % of the pot{self._solved.how}"

    @property
    def solved_to(self) -> float:
        """Of what judges the latest decision."""
        latest = self._solved.result if self._behind is None else self._behind.solved
        return round(latest.exploitability, 6)

    def decision(self, node: int) -> Decision:
        """The decision, solved by itself if the solution does not get there."""
        line = line_text(self.tree, node)
        if self._behind is None:
            decision = self._solved.result.at(line).decision
            if decision.reached:
                return decision
            effort = self._effort
            self._behind = solve_behind(
                self._solved.result, line, effort.target, effort.threads, seconds=effort.seconds
            )
            if self._behind.solved.exploitability > WORST:
                raise InputError(
                    f"the solution never gets here, and {effort.seconds:g} s are too few to solve "
                    "the rest by itself; --seconds-per-spot gives it more"
                )
            self._assume(parse_line(self.tree, self._behind.line).node)
        return self._behind.node(line)

    def within(self, decision: Decision) -> float | None:
        """By the exploitability of the spot."""
        latest = self._solved.result if self._behind is None else self._behind.solved
        spot = latest.spot
        return within(
            latest.exploitability * spot.pot / CHIPS_PER_BB,
            float(decision.own.weights.sum()) / spot.pairs,
        )


class OwnFlop:
    """What a whole game plays on a flop that it stores."""

    solved_to = None

    def __init__(self, result: WholeSolution, root: int, board: tuple[int, ...], why: str) -> None:
        """`root`: where the flop is dealt; `why` it is not solved again."""
        self._result, self._board, self._why = result, board, why
        self._flop = canonical_flop(board[:3])
        numbers = {pot.node: number for number, pot in enumerate(flop_pots(result.game.tree))}
        place = result.place_of(self._flop.flop) if result.has_flops else None
        if place is None or root not in numbers:
            raise InputError("the solution does not store this flop")
        self._view = swept(result.flop_view(place, numbers[root]), result.cards.plays_classes)
        self.tree = self._view.pot.tree

    @property
    def judged_by(self) -> str:
        """Which cards its strategies see, and why they stand here."""
        cards, figure = self._result.cards, worth_text(self._result)
        return f"the solution's own play of this flop (cards: {cards.kind}{figure}); {self._why}"

    def decision(self, node: int) -> Decision:
        """As it is stored, by combo where combos are played, in the suits of the table."""
        line = line_text(self.tree, node, notation=BIG_BLINDS)
        if not self._result.cards.plays_combos:
            return replace(self._view.node(node, line), board=self._board)
        return in_suits(self._view.combo_node(node, line), self._flop, self._board)

    def within(self, decision: Decision) -> float | None:
        """By the exploitability of the whole game."""
        worth = worth_of(self._result)
        return None if worth is None else within(worth / 1000, decision.share)


def worth_of(result: WholeSolution) -> float | None:
    """The exploitability of a whole game in mbb/hand, with real cards where that is certified."""
    certificate = result.facts.certificate
    return result.exploitability if certificate is None else certificate.real_exploitability_mbb


def worth_text(result: WholeSolution) -> str:
    """The same in words; "" where it is not known."""
    worth = worth_of(result)
    where = result.facts.judged if result.facts.certificate is None else "with real cards"
    return "" if worth is None else f", exploitable for {worth:.3g} mbb/hand {where}"

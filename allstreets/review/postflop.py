"""The streets after the flop of a played hand, each solved again for what was really there.

1. A street begins with the ranges that the streets before have left, and its real pot and stack.
2. It is solved exactly, with the bets that were made in its tree (`spots`). A flop that cannot be,
   for want of time or memory, is evaluated by the whole game itself, if it stores that flop: a walk
   in its own pot and stack and with its own sizes.
3. The actions are followed; the hero's are graded, and every action narrows its player's range.

Where a player does what the solution never does, his range would be empty. From there on the rest
is solved as if he had done so with all that he had (`solutions.solve_behind`), and the note says
so.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    ActionKind,
    NodeKind,
    Player,
    Street,
    action_text,
)
from allstreets.cards import cards_text, combo_index, live_combos
from allstreets.interop import Moment, PlayedHand
from allstreets.review.games import SolvedGame
from allstreets.review.grading import NEVER, SHADE, GradedDecision, within
from allstreets.review.mapping import Draws, Mapped, map_action
from allstreets.review.played import bare_decision, graded_as
from allstreets.review.spots import (
    WORST,
    Effort,
    SolvedStreet,
    StreetStart,
    solve_street,
    with_hand,
)
from allstreets.solutions import BehindResult, Decision, Node, is_reached, solve_behind

Ranges = tuple[Floats, Floats]  # [1326] of OOP and IP


class LostError(Exception):
    """Nothing is known of the rest of a hand, and why."""


def follow_postflop(
    hand: PlayedHand,
    hero: Player,
    game: SolvedGame,
    root: Node,
    ranges: Ranges,
    effort: Effort,
    draws: Draws,
) -> Iterator[GradedDecision]:
    """Grade the hero's decisions after the flop, which is dealt at `root` to both ranges."""
    why, raised_last, assumed = "", None, tuple[str, ...]()
    for number, group in groupby(hand.moments(), key=lambda one: one.action.street):
        moments = tuple(group)
        start = StreetStart(hand, Street(number), moments, raised_last)
        raised_last = _aggressor(moments)
        if number == Street.PREFLOP:
            continue
        street: _Street | None = None
        for moment in moments:
            graded: GradedDecision | None = None
            try:
                if not why:
                    if street is None:
                        street = _Street(start, hero, ranges, assumed)
                        street.open(game, root, effort)
                    graded = street.take(moment, draws.at(moment.place))
            except LostError as error:
                why = str(error)
            if moment.action.player == hero:
                yield graded or bare_decision(hand, moment, why)
        if street is not None and not why:
            ranges, assumed = street.left, tuple(street.notes)


def _aggressor(moments: tuple[Moment, ...]) -> Player | None:
    raised = [one.action.player for one in moments if one.action.kind >= ActionKind.BET]
    return raised[-1] if raised else None


class SolvedAgain:
    """Both players' strategies on a street, solved for what was really there.

    Where play gets to a line that the solution never takes, the rest is solved by itself, as if
    the action that `assume` is told of were taken by all that its player has.
    """

    def __init__(self, solved: SolvedStreet, effort: Effort, assume: Callable[[int], None]) -> None:
        self._solved, self._effort, self._assume = solved, effort, assume
        self._behind: BehindResult | None = None
        self.start = solved.result.at()

    @property
    def evaluated_by(self) -> str:
        """How it was solved."""
        return f"solved again exactly, to {100 * self.solved_to:.2g} % of the pot{self._solved.how}"

    @property
    def solved_to(self) -> float:
        """Of what evaluates the latest decision."""
        latest = self._solved.result if self._behind is None else self._behind.solved
        return round(latest.exploitability, 6)

    def decision(self, node: int) -> Decision:
        """The decision, solved by itself if the solution does not get there."""
        result, effort = self._solved.result, self._effort
        position = replace(self.start.position, node=node)
        line = result.line(position)
        if self._behind is None:
            decision = result.decision(position)
            if decision.reached:
                return decision
            self._behind = solve_behind(
                result, line, effort.target, effort.threads, seconds=effort.seconds
            )
            if self._behind.exploitability > WORST:
                raise InputError(
                    f"the solution never gets here, and {effort.seconds:g} s are too few to solve "
                    "the rest by itself; --seconds-per-spot gives it more"
                )
            self._assume(result.read(self._behind.line).node)
        return self._behind.node(line)

    def within(self, decision: Decision) -> float | None:
        """What better play gains at a decision on the mean of the range, in bb."""
        latest = self._solved.result if self._behind is None else self._behind.solved
        spot = latest.spot
        return within(
            latest.exploitability * spot.pot / CHIPS_PER_BB,
            float(decision.own.weights.sum()) / spot.pairs,
        )


class StoredFlop:
    """Both players' strategies on a flop, as the whole game has them: a walk in its solution."""

    solved_to = None

    def __init__(self, game: SolvedGame, start: Node, why: str) -> None:
        """`why` it is not solved again."""
        self._game, self._why, self.start = game, why, start

    @property
    def evaluated_by(self) -> str:
        """Which cards its strategies see, and why they stand here."""
        kind = f"cards: {self._game.solution.cards.kind}{self._game.worth_text}"
        return f"the solution's own play of this flop ({self.start.source or kind}); {self._why}"

    def decision(self, node: int) -> Decision:
        """As it is stored, in the suits of the table."""
        return self.start.solution.decision(replace(self.start.position, node=node))

    def within(self, decision: Decision) -> float | None:
        """By the exploitability of the whole game; None where the flop was solved by itself."""
        worth = self._game.exploitability
        if worth is None or self.start.source:
            return None
        return within(worth / 1000, decision.share)


class _Street:
    """A street, what evaluates it, and where play is on it."""

    _play: SolvedAgain | StoredFlop

    def __init__(
        self, start: StreetStart, hero: Player, ranges: Ranges, assumed: tuple[str, ...]
    ) -> None:
        self._start, self._hero, self._node = start, hero, 0
        hole = start.hand.holes[hero]
        assert hole is not None
        self._combo = combo_index(*hole)
        self._board = start.hand.board_on(start.street)
        live = live_combos(self._board)
        held = [weights * live for weights in ranges]
        for player in Player:
            if not held[player].max() > 0:
                raise LostError(f"{NEVER}: {player.seat} has no hand left beside this board")
        self._outside = bool(held[hero][self._combo] < SHADE * held[hero].max())
        held[hero] = with_hand(held[hero], self._combo) * live
        self.notes = list(assumed)
        self.left: Ranges = held[0], held[1]

    def open(self, game: SolvedGame, root: Node, effort: Effort) -> None:
        """Find what evaluates it: solved again, or a flop as the whole game plays it."""
        try:
            solved = solve_street(game.solution.game, self._start, self.left, effort)
            self._play = SolvedAgain(solved, effort, self._assume)
        except InputError as error:  # ranges that block each other; too little memory or time
            why = f"not solved: {error}"
            if self._start.street != Street.FLOP:
                raise LostError(why) from None
            try:
                flop = root.solution.at(root.line, cards_text(self._board))
            except InputError:
                raise LostError(f"{why}; the solution does not store this flop") from None
            self._play = StoredFlop(game, flop, why)
        self._tree = self._play.start.tree

    def take(self, moment: Moment, draw: float) -> GradedDecision | None:
        """Follow an action; what it cost, where it is the hero's."""
        tree, node = self._tree, self._node
        if tree.kind[node] != NodeKind.DECISION or tree.player_at(node) != moment.action.player:
            raise LostError(
                "nothing is left to decide here: the sizes of the tree led to an all-in"
            )
        try:
            decision = self._play.decision(node)
        except InputError as error:
            raise LostError(f"not solved: {error}") from None
        mapped = map_action(tree, node, moment, draw)
        if mapped is None:
            raise LostError(f"{NEVER}: nothing like this action is in the tree")
        graded = None
        if moment.action.player == self._hero:
            graded = graded_as(
                bare_decision(self._start.hand, moment),
                mapped,
                decision,
                self._combo,
                outside=self._outside,
                within_bb=self._play.within(decision),
                evaluated_by=self._play.evaluated_by,
                notes=self.notes,
                solved_to=self._play.solved_to,
            )
        self._node = mapped.node
        self._narrow(decision, mapped)
        return graded

    def _narrow(self, decision: Decision, mapped: Mapped) -> None:
        """Both ranges after an action; his whole range, where it is one that he never takes."""
        actor = decision.player
        share = float(decision.line_reach.taken[mapped.place])
        seldom = not is_reached((share, 1.0))
        ranges = [decision.combo_weights(player) for player in Player]
        if not seldom:
            ranges[actor] = decision.combo_weights(actor, mapped.place)
        elif self._tree.kind[mapped.node] == NodeKind.CHANCE:  # else `_play` says so
            self._assume(mapped.node)
        self.left = ranges[0], ranges[1]

    def _assume(self, node: int) -> None:
        """Note that the action that leads to a node is taken by all that its player has."""
        action = self._tree.actions[node]
        assert action is not None
        seat = self._tree.player_at(int(self._tree.parent[node])).seat
        word = action_text(action, BIG_BLINDS)
        self.notes.append(f"{NEVER}: as if {seat} took '{word}' with his whole range")

"""The streets after the flop of a played hand, each solved again for what was really there.

1. A street begins with the ranges that the streets before have left, and its real pot and stack.
2. It is solved exactly, with the bets that were made in its tree (`spots`); a flop that cannot be
   is judged by the solution's own play of it (`plays`).
3. The actions are followed; the hero's are judged, and every action narrows its player's range.

Where a player does what the solution never does, his range would be empty. From there on the rest
is solved as if he had done so with all that he had (`solvers.solve_behind`), and the note says so.
"""

from collections.abc import Iterator
from itertools import groupby

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BIG_BLINDS,
    ActionKind,
    NodeKind,
    Player,
    Street,
    action_text,
)
from allstreets.cards import combo_index, live_combos
from allstreets.hands import Moment, PlayedHand
from allstreets.review.drafts import Draws, draft
from allstreets.review.judging import (
    NEVER,
    OUTSIDE,
    SHADE,
    ev_grid,
    judge,
    option_words,
    range_texts,
    strategy_grid,
)
from allstreets.review.mapping import Mapped, map_action
from allstreets.review.plays import OwnFlop, SolvedAgain, StreetPlay
from allstreets.review.preflop import Arrival
from allstreets.review.records import ReviewedDecision
from allstreets.review.spots import Effort, StreetStart, solve_street, with_hand
from allstreets.solutions import Decision, WholeSolution, is_reached

Ranges = tuple[Floats, Floats]  # [1326] of OOP and IP


class LostError(Exception):
    """Nothing is known of the rest of a hand, and why."""


def follow_postflop(
    hand: PlayedHand,
    hero: Player,
    whole: WholeSolution,
    arrival: Arrival,
    effort: Effort,
    draws: Draws,
) -> Iterator[ReviewedDecision]:
    """Judge the hero's decisions after the flop; `arrival` says where it is dealt, and to whom."""
    why, raised_last = "", None
    assert arrival.ranges is not None
    ranges, assumed = arrival.ranges, tuple[str, ...]()
    for number, group in groupby(hand.moments(), key=lambda one: one.action.street):
        moments = tuple(group)
        start = StreetStart(hand, Street(number), moments, raised_last)
        raised_last = _aggressor(moments)
        if number == Street.PREFLOP:
            continue
        street: _Street | None = None
        for moment in moments:
            judged: ReviewedDecision | None = None
            try:
                if not why:
                    if street is None:
                        street = _Street(start, hero, ranges, assumed)
                        street.open(whole, arrival.node, effort)
                    judged = street.take(moment, draws.at(moment.place))
            except LostError as error:
                why = str(error)
            if moment.action.player == hero:
                yield judged or draft(hand, moment).unjudged(why)
        if street is not None and not why:
            ranges, assumed = street.left, tuple(street.notes)


def _aggressor(moments: tuple[Moment, ...]) -> Player | None:
    raised = [one.action.player for one in moments if one.action.kind >= ActionKind.BET]
    return raised[-1] if raised else None


class _Street:
    """A street, what judges it, and where play is on it."""

    _play: StreetPlay

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
        self._outside = held[hero][self._combo] < SHADE * held[hero].max()
        held[hero] = with_hand(held[hero], self._combo) * live
        self.notes = list(assumed)
        self.left: Ranges = held[0], held[1]

    def open(self, whole: WholeSolution, root: int, effort: Effort) -> None:
        """Find what judges it: solved again, or a flop as the whole game plays it."""
        try:
            solved = solve_street(whole.game, self._start, self.left, effort)
            self._play = SolvedAgain(solved, effort, self._assume)
        except InputError as error:  # ranges that block each other; too little memory or time
            why = f"not solved: {error}"
            if self._start.street != Street.FLOP:
                raise LostError(why) from None
            try:
                self._play = OwnFlop(whole, root, self._board, why)
            except InputError as other:
                raise LostError(f"{why}; {other}") from None
        self._tree = self._play.tree

    def take(self, moment: Moment, draw: float) -> ReviewedDecision | None:
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
        found = map_action(tree, node, moment, draw)
        if found is None:
            raise LostError(f"{NEVER}: nothing like this action is in the tree")
        judged = None
        if moment.action.player == self._hero:
            judged = self._judged(decision, moment, found)
        self._node = found.node
        self._narrow(decision, found)
        return judged

    def _narrow(self, decision: Decision, found: Mapped) -> None:
        """Both ranges after an action; his whole range, where it is one that he never takes."""
        actor = decision.player
        share = float(decision.line_reach.taken[found.place])
        seldom = not is_reached((share, 1.0))
        ranges = [decision.combo_weights(player) for player in Player]
        if not seldom:
            ranges[actor] = decision.combo_weights(actor, found.place)
        elif self._tree.kind[found.node] == NodeKind.CHANCE:  # else `_play` says so
            self._assume(found.node)
        self.left = ranges[0], ranges[1]

    def _assume(self, node: int) -> None:
        """Note that the action that leads to a node is taken by all that its player has."""
        action = self._tree.actions[node]
        assert action is not None
        seat = self._tree.player_at(int(self._tree.parent[node])).seat
        word = action_text(action, BIG_BLINDS)
        self.notes.append(f"{NEVER}: as if {seat} took '{word}' with his whole range")

    def _judged(self, decision: Decision, moment: Moment, found: Mapped) -> ReviewedDecision:
        words = option_words(self._tree, self._node)
        judgement = judge(decision, words, self._combo, found.place)
        outside = [OUTSIDE] if self._outside and judgement.loss is not None else []
        return draft(self._start.hand, moment).judged(
            judgement,
            counted_as=words[found.place],
            same=found.same,
            notes=[*self.notes, *outside, *([judgement.note] if judgement.note else [])],
            ranges=range_texts(decision),
            strategy=strategy_grid(decision),
            evs=ev_grid(decision),
            within=self._play.within(decision),
            judged_by=self._play.judged_by,
            solved_to=self._play.solved_to,
        )

"""The streets after the flop of a played hand, each solved again for what was really there.

1. A street begins with the ranges that the streets before have left, and its real pot and stack.
2. It is solved exactly, with the bets that were made in its tree (`spots`).
3. The actions are followed; the hero's are judged, and every action narrows its player's range.

Where a player does what the solution never does, his range would be empty. From there on the rest
is solved as if he had done so with all that he had (`solvers.solve_behind`), and the note says so.
"""

from collections.abc import Iterator
from itertools import groupby

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    ActionKind,
    NodeKind,
    Player,
    Street,
    action_text,
    line_text,
    parse_line,
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
    within,
)
from allstreets.review.mapping import Mapped, map_action
from allstreets.review.records import ReviewedDecision
from allstreets.review.spots import Effort, StreetStart, solve_street, with_hand
from allstreets.solvers import (
    BehindResult,
    Decision,
    Floats,
    UnifiedGame,
    is_reached,
    solve_behind,
)

Ranges = tuple[Floats, Floats]  # [1326] of OOP and IP


class LostError(Exception):
    """Nothing is known of the rest of a hand, and why."""


def follow_postflop(
    hand: PlayedHand, hero: Player, game: UnifiedGame, ranges: Ranges, effort: Effort, draws: Draws
) -> Iterator[ReviewedDecision]:
    """Judge the hero's decisions after the flop; `ranges` are those that see it."""
    why, raised_last = "", None
    assumed: tuple[str, ...] = ()
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
                    street = street or _Street(start, hero, game, ranges, effort, assumed)
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
    """A solved street, and where play is on it."""

    def __init__(
        self,
        start: StreetStart,
        hero: Player,
        game: UnifiedGame,
        ranges: Ranges,
        effort: Effort,
        assumed: tuple[str, ...],
    ) -> None:
        self._start, self._hero, self._effort = start, hero, effort
        hole = start.hand.holes[hero]
        assert hole is not None
        self._combo = combo_index(*hole)
        live = live_combos(start.hand.board_on(start.street))
        held = [weights * live for weights in ranges]
        for player in Player:
            if not held[player].max() > 0:
                raise LostError(f"{NEVER}: {player.seat} has no hand left beside this board")
        self._outside = held[hero][self._combo] < SHADE * held[hero].max()
        held[hero] = with_hand(held[hero], self._combo) * live
        try:
            self._result = solve_street(game, start, (held[0], held[1]), effort)
        except InputError as error:  # ranges that block each other; too little memory
            raise LostError(f"not solved: {error}") from None
        self._tree, self._node = self._result.spot.tree, 0
        self._behind: BehindResult | None = None
        self.notes = list(assumed)
        self.left: Ranges = held[0], held[1]

    def take(self, moment: Moment, draw: float) -> ReviewedDecision | None:
        """Follow an action; what it cost, where it is the hero's."""
        tree, node = self._tree, self._node
        if tree.kind[node] != NodeKind.DECISION or tree.player_at(node) != moment.action.player:
            raise LostError(
                "nothing is left to decide here: the sizes of the tree led to an all-in"
            )
        decision = self._decision()
        found = map_action(tree, node, moment, draw)
        if found is None:
            raise LostError(f"{NEVER}: nothing like this action is in the tree")
        judged = None
        if moment.action.player == self._hero:
            judged = self._judged(decision, moment, found)
        self._node = found.node
        self._narrow(decision, found)
        return judged

    def _decision(self) -> Decision:
        """The decision where play is, solved by itself if the solution does not get there."""
        line = line_text(self._tree, self._node)
        if self._behind is not None:
            return self._behind.node(line)
        decision = self._result.node(line)
        if decision.reached:
            return decision
        effort = self._effort
        self._behind = solve_behind(
            self._result, line, effort.target, effort.threads, seconds=effort.seconds
        )
        self._assume(parse_line(self._tree, self._behind.line).node)
        return self._behind.node(line)

    def _narrow(self, decision: Decision, found: Mapped) -> None:
        """Both ranges after an action; his whole range, where it is one that he never takes."""
        actor = decision.player
        share = float(decision.line_reach.taken[found.place])
        seldom = not is_reached((share, 1.0))
        ranges = [decision.combo_weights(player) for player in Player]
        if not seldom:
            ranges[actor] = decision.combo_weights(actor, found.place)
        elif self._tree.kind[found.node] == NodeKind.CHANCE:  # else `_decision` says so
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
        solved = self._result if self._behind is None else self._behind.solved
        spot = solved.spot
        return draft(self._start.hand, moment).judged(
            judgement,
            counted_as=words[found.place],
            same=found.same,
            notes=[*self.notes, *outside, *([judgement.note] if judgement.note else [])],
            ranges=range_texts(decision),
            strategy=strategy_grid(decision),
            evs=ev_grid(decision),
            within=within(
                solved.exploitability * spot.pot / CHIPS_PER_BB,
                float(decision.own.weights.sum()) / spot.pairs,
            ),
            solved_to=round(solved.exploitability, 6),
        )

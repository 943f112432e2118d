"""A solution that plays at a table: its answers during a hand.

1. While the table matches the solution (stacks, sizes, a flop that it stores), it plays its stored
strategies.
2. A bet or raise before the flop that it does not have counts as one of its sizes
   (`study.map_action`); answers keep their proportion to the bet. The flop is then solved for the
   real pot and stack.
3. A bet after the flop that it does not have, or a flop that it does not store: the street is
   solved again from its start, with the real pot, stack and sizes, for the ranges that got there
   (`study.solve_street`), and so are later streets. On a flop these are the solution's ranges to
   solve that pot for: in an off-path pot, its entry ranges.
4. Such a range contains at least a little of every unblocked hand, and a line that the solved
street never takes is solved separately as if the whole range had taken it. So there is an answer
even where a range is thin.
5. If a street cannot be solved in time or memory, it checks, or calls if the equity against the
opponent's range pays for the call.

An `Answer` has the strategies of all 1,326 combos, not only the actual one: a player's cards only
decide which of these strategies is drawn from.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    CHIPS_PER_BB,
    ActionKind,
    BettingTree,
    NodeKind,
    Player,
    Street,
    choices,
)
from allstreets.cards import (
    COMBO_COUNT,
    HAND_OF_COMBO,
    cards_text,
    combo_equity,
    combo_index,
    live_combos,
)
from allstreets.interop import Cards, LiveHand, Moment, Move, PlayedHand, TableRules
from allstreets.solutions import Decision, Node, WholeSolution
from allstreets.study import (
    Draws,
    Effort,
    SolvedAgain,
    SolvedStreet,
    StreetStart,
    drawn_action,
    map_action,
    solve_street,
)

THIN = 1e-4  # of a range's largest weight: for a hand that is not in it
SAME_STACK = 0.005  # of the stack: negligible chips
FARTHEST = 0.1  # of the stack: another depth that a solution still plays
CACHED_STREETS = 4  # of a player: flops take hundreds of megabytes
BET = ActionKind.BET
Last = tuple[Decision, int] | None  # the previous decision, and the action taken
PASSIVE = (ActionKind.CHECK, ActionKind.CALL, ActionKind.FOLD)  # the play of a hand without advice


@dataclass(frozen=True, eq=False)
class Answer:
    """A player's strategy at a decision."""

    moves: tuple[Move, ...]  # [A]
    strategy: Floats  # [A, 1326]: of every combo
    decision: Decision | None = None  # its source; None: by equity alone

    @cached_property
    def evs(self) -> Floats | None:
        """[A, 1326]: EV of every move from here on, in big blinds; NaN where it is not known."""
        if self.decision is None:
            return None
        scale = 1.0 if self.decision.unit.name == "bb" else CHIPS_PER_BB
        return by_combo(self.decision, self.decision.action_evs / scale)

    def drawn(self, combo: int, number: float) -> int:
        """The move whose part of the combo's mix a number from 0 to 1 falls into."""
        return drawn_action(self.strategy[:, combo], number)


@dataclass(eq=False)
class Tally:
    """The counts of a player's answers by kind."""

    stored: int = 0
    solved: int = 0  # on a street that was solved again
    mapped: int = 0  # bets before the flop that counted as another size
    guessed: int = 0  # by equity alone


class Seat(ABC):
    """A player in one hand."""

    known = True  # whether answers have the strategies of all combos

    @abstractmethod
    def answer(self, live: LiveHand, *, whole: bool = False) -> Answer:
        """The player's strategy now; `whole` where the table has whole chips."""

    def watch(self, live: LiveHand, holes: Sequence[Cards | None]) -> None:
        """Observe the hand; `holes` are the cards of both players as far as shown."""
        del live, holes

    @property
    def node(self) -> Node | None:
        """His node in his solution; None: he has none."""
        return None


class SolutionPlayer:
    """A whole game that plays hands; the streets that it has solved last are kept."""

    known = True

    def __init__(
        self, solution: WholeSolution, effort: Effort | None = None, name: str = "", seed: int = 1
    ) -> None:
        self.solution, self.name, self.seed = solution, name or solution.name, seed
        # A rough answer is better than none.
        self.effort = replace(effort or Effort(), worst=math.inf)
        self.tally = Tally()
        self._streets: dict[tuple[object, ...], SolvedStreet] = {}

    def solved(self, start: StreetStart, ranges: tuple[Floats, Floats]) -> SolvedStreet:
        """A street, solved with its real sizes: once where it comes again, in the other seating."""
        for moments in ((), start.moments):
            known = self._streets.get(_street_key(replace(start, moments=moments), ranges))
            if known is not None and _offers(known, start.moments):
                return known
        solved = solve_street(self.solution.game, start, ranges, self.effort)
        while len(self._streets) >= CACHED_STREETS:
            del self._streets[next(iter(self._streets))]
        self._streets[_street_key(start, ranges)] = solved
        return solved

    @property
    def stack(self) -> Fraction:
        """The stack in big blinds."""
        return Fraction(str(self.solution.rules.stack)) / CHIPS_PER_BB

    def require_table(self, rules: TableRules) -> str:
        """Refuse another game; return the table's difference from the solution, "" for none."""
        mine, stack = self.solution.rules, Fraction(rules.stack, rules.big_blind)
        blind = Fraction(rules.small_blind, rules.big_blind)
        if Fraction(str(mine.small_blind)) / Fraction(str(mine.big_blind)) != blind or (
            mine.ante or mine.bb_ante
        ):
            raise InputError(
                f"the table's blinds are {rules.small_blind}/{rules.big_blind} without an ante, "
                f"and {self.name} was solved for others: play a solution of that game"
            )
        away = float(stack / self.stack - 1)
        if abs(away) > FARTHEST:
            raise InputError(
                f"the table is {float(stack):g} bb deep, {self.name} {float(self.stack):g} bb: "
                f"its play does not carry over; choose a solution within {FARTHEST:.0%} of that"
            )
        if abs(away) <= SAME_STACK:
            return ""
        return (
            f"the table is {float(stack):g} bb deep, {self.name} {float(self.stack):g} bb "
            f"({away:+.1%}): it plays its own depth before the flop, and solves every flop again"
        )

    def sit(self) -> "Follower":
        """Begin a hand."""
        return Follower(self)


class Decider:
    """A solution that answers another program's table, hand by hand."""

    def __init__(self, player: SolutionPlayer) -> None:
        self._player, self._name = player, ""
        self._chance = np.random.default_rng(player.seed)
        self._follower = player.sit()

    def __call__(self, live: LiveHand) -> Move:
        """The move of the player to act."""
        assert live.cards is not None
        if live.name != self._name:
            self._name, self._follower = live.name, self._player.sit()
        answer = self._follower.answer(live, whole=True)
        combo = combo_index(*live.cards)
        return answer.moves[answer.drawn(combo, float(self._chance.random()))]


class Follower(Seat):
    """A solution's path through one hand."""

    def __init__(self, player: SolutionPlayer) -> None:
        self._player, self._tally = player, player.tally
        self._node = player.solution.at()  # the current node, or the last one
        self._again: SolvedAgain | None = None  # the street, if it was solved
        self._index = 0  # of the node in its tree
        self._street, self._followed = Street.PREFLOP, 0
        self._exact: bool | None = None  # whether chips match the solution; None: not checked yet
        self._lost = False  # whether the rest of this street is unknown
        self._last: Last = None
        self._entry: Last = None  # the same when the street began

    def answer(self, live: LiveHand, *, whole: bool = False) -> Answer:
        """The strategy of every combo now; `whole` where the table has whole chips."""
        hand, turn = live.so_far, live.ledger.to_act
        assert turn is not None
        if self._exact is None:
            self._exact = _same_stack(hand, self._player)
        for moment in tuple(hand.moments())[self._followed :]:
            self._begin(hand, moment.action.street)
            self._follow(hand, moment)
            self._followed += 1
        self._begin(hand, turn[0])
        if not self._lost and not self._acts(turn[1]):
            self._lost = True
        if not self._lost:
            try:
                return self._known(live, whole=whole)
            except InputError:  # too little time for a line that is never taken
                self._lost = True
        return self._guess(live, turn[1])

    # Where it is.

    @property
    def node(self) -> Node:
        """The node in the solution, or the last one before leaving it."""
        return self._node

    @property
    def _tree(self) -> BettingTree:
        return self._node.tree if self._again is None else self._again.start.tree

    @property
    def _at(self) -> int:
        """The node in its tree."""
        return self._node.index if self._again is None else self._index

    def _acts(self, player: Player) -> bool:
        tree, node = self._tree, self._at
        return tree.kind[node] == NodeKind.DECISION and tree.player_at(node) == player

    def _decision(self) -> Decision:
        return self._node.decision if self._again is None else self._again.decision(self._index)

    def _begin(self, hand: PlayedHand, street: Street) -> None:
        """Deal the streets up to the current one."""
        while self._street < street:
            self._street = Street(self._street + 1)
            self._entry, self._lost = self._last, False
            if self._again is None and self._exact and self._deal(hand):
                continue
            self._solve(hand)

    def _deal(self, hand: PlayedHand) -> bool:
        """Move to the next street; False: the solution does not have it."""
        node, deal = self._node, self._node.deal
        if deal is None or not deal.stored or node.street != self._street - 1:
            return False
        cards = hand.board[len(node.board) : len(node.board) + deal.count]
        if deal.count == 3:
            try:
                self._node = node.solution.at(node.line, cards_text(cards))
            except InputError:  # a flop that is not among those of the solution
                return False
        else:
            self._node = node.solution.node(node.solution.dealt(node.position, cards))
        return True

    def _follow(self, hand: PlayedHand, moment: Moment) -> None:
        """Follow an action of the hand."""
        if self._lost:
            return
        if not self._acts(moment.action.player):
            self._lost = True
            return
        draw = Draws(self._player.seed, hand.label).at(moment.place)
        mapped = map_action(self._tree, self._at, moment, draw)
        if self._street > Street.PREFLOP and (mapped is None or not mapped.same):
            self._solve(hand, moment.place + 1)
            return
        if mapped is None:
            self._lost = True
            return
        if not mapped.same:
            self._exact = False
            self._tally.mapped += 1
        self._move(mapped.node, mapped.place)

    def _move(self, child: int, action: int) -> None:
        try:
            self._last = self._decision(), action
        except InputError:
            self._lost = True
            return
        if self._again is None:
            self._node = self._node.solution.node(replace(self._node.position, node=child))
        else:
            self._index = child

    # Streets that are solved.

    def _solve(self, hand: PlayedHand, until: int = 0) -> None:
        """Solve the street with its real sizes, and follow its actions before number `until`."""
        moments = tuple(each for each in hand.moments() if each.action.street == self._street)
        raised = [
            each.action.player
            for each in hand.moments()
            if each.action.street == self._street - 1 and each.action.kind >= ActionKind.BET
        ]
        start = StreetStart(hand, self._street, moments, raised[-1] if raised else None)
        self._again, self._index, self._last = None, 0, self._entry
        try:
            solved = self._player.solved(start, self._ranges(hand))
        except InputError:  # too little time or memory
            self._lost = True
            return
        self._again = SolvedAgain(solved, self._player.effort, lambda _: None)
        for moment in moments:
            if moment.place >= until:
                return
            mapped = None
            if self._acts(moment.action.player):
                mapped = map_action(self._tree, self._index, moment, 0.0)
            if mapped is None:
                self._lost = True
                return
            self._move(mapped.node, mapped.place)

    def _ranges(self, hand: PlayedHand) -> tuple[Floats, Floats]:
        """Both ranges when the street began, with a little of every unblocked hand."""
        live = live_combos(hand.board_on(self._street)).astype(np.float64)
        held = self._entry_ranges()
        oop, ip = (np.maximum(_largest_one(each * live), THIN * live) for each in held)
        return oop, ip

    def _entry_ranges(self) -> Sequence[Floats]:
        """Both ranges [1326] when the street began."""
        solution, node = self._player.solution, self.node
        if self._street == Street.FLOP and node.position.root is None:
            pots = [pot.node for pot in solution.game.flop_pots]
            if node.index in pots:
                return [*solution.before.pot_ranges[:, pots.index(node.index)][:, HAND_OF_COMBO]]
        return _left(self._entry)

    # Answers.

    def _known(self, live: LiveHand, *, whole: bool) -> Answer:
        """The answer of the solution, or of the street that was solved."""
        decision, tree, node = self._decision(), self._tree, self._at
        ledger, unit = live.ledger, live.ledger.big_blind
        ratio = Fraction(1)
        if self._street == Street.PREFLOP and not self._exact:
            top = float(tree.invested[node].max()) - self._player.solution.rules.ante
            ratio = max(ledger.bets) / unit / (Fraction(str(top)) / CHIPS_PER_BB)
        actions = [action for _, action in choices(tree, node)]
        moves = tuple(
            ledger.legal(
                action.kind,
                Fraction(str(action.amount)) / CHIPS_PER_BB * unit * ratio,
                whole=whole,
            )
            for action in actions
        )
        strategy = np.nan_to_num(by_combo(decision, decision.strategy))
        kinds = [action.kind for action in actions]
        passive = next(kinds.index(kind) for kind in PASSIVE if kind in kinds)
        total = np.maximum(strategy, 0.0).sum(axis=0)
        strategy = np.divide(
            np.maximum(strategy, 0.0), total, out=np.zeros_like(strategy), where=total > 0
        )
        strategy[passive, total <= 0] = 1.0
        if self._again is None:
            self._tally.stored += 1
        else:
            self._tally.solved += 1
        return Answer(moves, strategy, decision)

    def _guess(self, live: LiveHand, player: Player) -> Answer:
        """Check, or call if the equity pays for it."""
        self._tally.guessed += 1
        ledger = live.ledger
        passive = ledger.legal(ActionKind.CALL, Fraction(0))
        if passive.kind == ActionKind.CHECK:
            return Answer((passive,), np.ones((1, COMBO_COUNT)))
        hand = live.so_far
        pot = sum(ledger.stacks) - sum(ledger.left(each) for each in Player)
        price = float(passive.to - ledger.bets[player])
        board, (oop, ip) = hand.board_on(self._street), _left(self._last)
        if board:
            live_now = np.flatnonzero(live_combos(board))
            shares = np.zeros(COMBO_COUNT)
            reach = oop[live_now], ip[live_now]
            shares[live_now] = combo_equity(board, (live_now, live_now), reach)[player]
        else:
            ranges = self._player.solution.before.node(0)
            shares = ranges.equities[player][HAND_OF_COMBO]
        calls = np.nan_to_num(shares) * (float(pot) + price) >= price
        fold = ledger.legal(ActionKind.FOLD, Fraction(0))
        return Answer((fold, passive), np.array([~calls, calls], np.float64))


def by_combo(decision: Decision, values: Floats) -> Floats:
    """[A, 1326]: values [A, H] of the hands of the player who acts; NaN for combos without."""
    if decision.own.combos is None:
        return np.asarray(values[:, HAND_OF_COMBO], np.float64)
    spread = np.full((len(values), COMBO_COUNT), np.nan)
    spread[:, decision.own.combos] = values
    return spread


def _left(last: Last) -> Sequence[Floats]:
    """Both ranges [1326] after an action; a player who never takes it keeps his whole range."""
    if last is None:
        return [np.ones(COMBO_COUNT)] * 2
    decision, action = last
    ranges = [decision.combo_weights(player) for player in Player]
    taken = decision.combo_weights(decision.player, action)
    if taken.max(initial=0.0) > THIN * ranges[decision.player].max(initial=0.0):
        ranges[decision.player] = taken
    return ranges


def _street_key(start: StreetStart, ranges: tuple[Floats, Floats]) -> tuple[object, ...]:
    """All that the solution of a street depends on."""
    board = start.hand.board_on(start.street)
    bets = [(m.action.player, m.action.to) for m in start.moments if m.action.kind >= BET]
    weights = tuple(held.tobytes() for held in ranges)
    return (board, start.pot, start.left, start.hand.raises, start.raised_last, *bets, *weights)


def _offers(solved: SolvedStreet, moments: Sequence[Moment]) -> bool:
    """Whether the tree of a solved street has these actions."""
    tree, node = solved.result.at().tree, 0
    for moment in moments:
        if tree.kind[node] != NodeKind.DECISION or tree.player_at(node) != moment.action.player:
            return False
        mapped = map_action(tree, node, moment, 0.0)
        if mapped is None or not mapped.same:
            return False
        node = mapped.node
    return True


def _largest_one(weights: Floats) -> Floats:
    largest = float(weights.max(initial=0.0))
    return weights / largest if largest > 0 else weights


def _same_stack(hand: PlayedHand, player: SolutionPlayer) -> bool:
    return abs(float(hand.stack / player.stack) - 1) <= SAME_STACK

"""Hands against a solution: it plays its mixed strategy, the player sees the cost of decisions.

The opponent has one hand, dealt at the start, and plays it as the solution does: a seeded random
number picks an action by the frequencies. Decisions of the player's own seat that are not practised
are played in the same way. After a mistake play continues: the opponent's range follows from the
line, and EVs of later decisions are those of the actual hand.

A `Session` deals one hand after the other, missed decisions first, and stores each answer.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from allstreets.base import InputError
from allstreets.betting import (
    ANY_CARD,
    BIG_BLINDS,
    Outcome,
    Player,
    Street,
    action_label,
)
from allstreets.cards import DECK_SIZE, cards_text, evaluate, parse_combo
from allstreets.solutions import Decision, Node, Position, Solution
from allstreets.study.dealing import Deal, Dealer, Wanted, node_key
from allstreets.study.games import bb_chips, pot_kind, won_bb
from allstreets.study.grading import NEVER, Answer, grade, hand_index, why_never
from allstreets.study.results import Repeat, Results
from allstreets.study.tables import Summary, summarise

LARGEST_SEED = 2**31
MOST_DEALS = 3_000  # without a question


@dataclass(frozen=True)
class Draw:
    """A choice that the solution made, and the number that made it."""

    seat: str
    street: str
    action: str  # for display
    number: float  # 0 … 1: it falls into the action's part of the mix
    mix: tuple[tuple[str, float], ...]  # of the actual hand


@dataclass(frozen=True)
class End:
    """The end of a hand."""

    how: str  # "fold", "showdown" or "stopped"
    text: str
    board: str  # as far as it was dealt
    theirs: str  # the opponent's cards
    won_bb: float | None  # by the player; None: the hand was not played to its end


@dataclass(frozen=True, eq=False)
class Question:
    """A decision that the player is asked for; amounts in big blinds."""

    node: Node
    decision: Decision
    labels: tuple[str, ...]  # [A]: of the actions, in words
    cards: tuple[int, int]
    pot_bb: float
    to_call_bb: float
    stacks_bb: tuple[float, float]  # of OOP and IP
    bets_bb: tuple[float, float]  # in front of OOP and IP: put in on this street

    @property
    def actions(self) -> tuple[str, ...]:
        """[A]: as in a line."""
        return self.decision.actions


class _ElsewhereError(Exception):
    """A hand without a question, or one that leaves the wanted line."""


class Hand:
    """A hand in play; `question` is the player's next decision, None: the hand is over."""

    def __init__(
        self,
        dealer: Dealer,
        player: Player,
        deal: Deal,
        chance: np.random.Generator,
        seed: int,
        number: int,
        repeated: bool = False,
    ) -> None:
        self.solution, self.wanted = dealer.solution, dealer.wanted
        self.player, self.deal = player, deal
        self.seed, self.number, self.repeated = seed, number, repeated
        self.draws: list[Draw] = []
        self.answers: list[Answer] = []
        self.question: Question | None = None
        self.end: End | None = None
        self.node = self.solution.node(deal.start)
        self._dealer, self._chance = dealer, chance
        self._after_line = self._is_after_line()
        self._resume()
        if self.question is None:
            raise _ElsewhereError

    @property
    def seats(self) -> tuple[str, str]:
        """The names of both players."""
        return self.solution.unit.seats

    @property
    def loss_bb(self) -> float:
        """The loss of the player's decisions so far."""
        return sum(answer.loss_bb or 0.0 for answer in self.answers)

    def answer(self, action: int) -> Answer:
        """Take an action of the question; return its grade. The hand continues."""
        asked = self.question
        if asked is None:
            raise InputError("the hand is over: nothing is asked")
        if not 0 <= action < len(asked.actions):
            raise InputError(f"there are {len(asked.actions)} actions, none of number {action + 1}")
        bare = Answer(
            solution=self.solution.name,
            folder=str(self.solution.folder or ""),
            seed=self.seed,
            hand=self.number,
            seat=self.seats[self.player],
            player=self.player.name.lower(),
            street=asked.node.street.text,
            pot_kind=pot_kind(self.solution, asked.node.position),
            line=asked.node.line,
            board=cards_text(asked.node.board),
            cards=cards_text(asked.cards),
            pot_bb=round(asked.pot_bb, 4),
            to_call_bb=round(asked.to_call_bb, 4),
            taken=asked.actions[action],
            repeated=self.repeated and not self.answers,
        )
        combo, chips = self.deal.combos[self.player], bb_chips(self.solution)
        answer = grade(bare, asked.decision, combo, action, chips_per_bb=chips)
        self.answers.append(answer)
        self.question = None
        self._take(action)
        self._resume()
        return answer

    def _resume(self) -> None:
        """Play until the player is asked, or to the end."""
        while self.question is None and self.end is None:
            if self.node.kind == "end":
                self.end = self._ended()
            elif self.node.kind == "chance":
                self._deal_cards()
            else:
                self._decide()

    def _deal_cards(self) -> None:
        deal, board = self.node.deal, self.node.board
        assert deal is not None
        street = Street(self.node.street + 1)
        if self._after_line and street > self.wanted.last:
            self._stop("Only earlier streets are practised.")
        elif not deal.stored:
            self._stop(f"The {street.text} is not stored.")
        else:
            cards = self.deal.board[len(board) : len(board) + deal.count]
            self._move(self.solution.dealt(self.node.position, cards))

    def _decide(self) -> None:
        decision = self.node.decision
        asks = self._after_line and self.wanted.asks(decision.street)
        if not decision.reached:
            why = f"{NEVER[0].upper()}{NEVER[1:]}: {why_never(decision)}"
            self._stop(f"{why}. The play that follows is not known.")
        elif decision.player == self.player and asks:
            self.question = self._asked(decision)
        else:
            self._play(decision)

    def _asked(self, decision: Decision) -> Question:
        node, tree, chips = self.node, self.node.tree, bb_chips(self.solution)
        oop, ip = (tree.stack_at(node.index, player) / chips for player in Player)
        bets = tree.bets_at(node.index)
        return Question(
            node=node,
            decision=decision,
            labels=self._labels(decision),
            cards=self.deal.cards(self.player),
            pot_bb=tree.pot_at(node.index) / chips,
            to_call_bb=tree.to_call_at(node.index) / chips,
            stacks_bb=(oop, ip),
            bets_bb=(bets[0] / chips, bets[1] / chips),
        )

    def _labels(self, decision: Decision) -> tuple[str, ...]:
        """Actions in words; amounts in big blinds, where they are a whole number of chips."""
        chips, notation, tree = bb_chips(self.solution), decision.unit.notation, self.node.tree
        if chips.is_integer():
            unit, shown = BIG_BLINDS.unit, BIG_BLINDS.shown
            notation = replace(notation, unit=unit, scale=int(chips), shown=shown)
        children = tree.children_of(self.node.index).tolist()
        return tuple(action_label(tree, child, notation) for child in children)

    def _play(self, decision: Decision) -> None:
        """Act as the solution does with the hand of the player who acts."""
        hand = hand_index(decision, self.deal.combos[decision.player])
        assert hand is not None
        mix = np.maximum(np.nan_to_num(decision.strategy[:, hand]), 0.0)
        mix /= mix.sum()
        number = float(self._chance.random())
        action, labels = drawn_action(mix, number), self._labels(decision)
        self.draws.append(
            Draw(
                seat=self.seats[decision.player],
                street=decision.street.text,
                action=labels[action],
                number=number,
                mix=tuple(zip(labels, mix.tolist(), strict=True)),
            )
        )
        self._take(action)

    def _take(self, action: int) -> None:
        child = int(self.node.tree.children_of(self.node.index)[action])
        self._move(replace(self.node.position, node=child))

    def _move(self, position: Position) -> None:
        self.node = self.solution.node(position)
        if not self._after_line:
            if node_key(position) not in self._dealer.keys:
                raise _ElsewhereError
            self._after_line = self._is_after_line()

    def _is_after_line(self) -> bool:
        """Whether play has reached the end of the wanted line, or begins after it."""
        end, position = self._dealer.end, self.node.position
        if end.root == position.root:
            return end.node in self.node.tree.path_to(position.node)
        return end.root is None

    def _stop(self, text: str) -> None:
        self.end = End(
            how="stopped",
            text=text,
            board=cards_text(self.node.board),
            theirs=cards_text(self.deal.cards(self.player.opponent)),
            won_bb=None,
        )

    def _ended(self) -> End:
        """The end of a hand, with the result."""
        node, opponent = self.node, self.player.opponent
        them, theirs = self.seats[opponent], cards_text(self.deal.cards(opponent))
        won = won_bb(self.solution, node.position)[self.player]
        if node.folded is not None:
            folded = "You fold" if node.folded == self.player else f"{them} folds"
            result = float(won[Outcome.WIN])
            text = f"{folded}: {won_text(result)}."
            return End("fold", text, cards_text(node.board), theirs, result)
        # After an all-in before the flop any board may come, not only the solution's flops.
        board = list(self.deal.board) if node.board else self._any_board()
        strengths = evaluate([[*board, *self.deal.cards(player)] for player in Player]).tolist()
        lead = strengths[self.player] - strengths[opponent]
        outcome = Outcome.WIN if lead > 0 else Outcome.TIE if lead == 0 else Outcome.LOSE
        result = float(won[outcome])
        text = f"{them} shows {theirs} on {cards_text(board)}: {won_text(result)}."
        return End("showdown", text, cards_text(board), theirs, result)

    def _any_board(self) -> list[int]:
        taken = {*self.deal.cards(Player.OOP), *self.deal.cards(Player.IP)}
        left = [card for card in range(DECK_SIZE) if card not in taken]
        board: list[int] = self._chance.choice(left, 5, replace=False).tolist()
        return board


def deal_hand(
    dealer: Dealer,
    player: Player,
    seed: int,
    number: int,
    held: int | None = None,
) -> Hand:
    """Hand number `number` of a seed; deals without a question are dealt again.

    `held`: the combo of the player, where a decision comes back.
    """
    chance = np.random.default_rng([seed, number])
    given = None if held is None else (player, held)
    deals = MOST_DEALS if held is None else 1  # a repetition is asked immediately
    for _ in range(deals):
        deal = dealer.deal(chance, given)
        try:
            return Hand(dealer, player, deal, chance, seed, number, held is not None)
        except _ElsewhereError:
            continue
    raise InputError(
        f"in {deals:,} deals {dealer.solution.unit.seats[player]} had no decision: the solution "
        "hardly ever gets there; widen the filter or take the other seat"
    )


def drawn_action(mix: ArrayLike, number: float) -> int:
    """The action whose part of the mix a number from 0 to 1 falls into.

    >>> [drawn_action([0.25, 0.0, 0.75], number) for number in (0.0, 0.2499, 0.25, 0.999)]
    [0, 0, 2, 2]
    """
    shares = np.asarray(mix)
    action = int(np.searchsorted(np.cumsum(shares), number, side="right"))
    return min(action, int(np.flatnonzero(shares)[-1]))


def won_text(amount: float) -> str:
    """The result of a hand: "you win 2.5 bb"."""
    if abs(amount) < 5e-3:
        return "you win nothing and lose nothing"
    return f"you {'win' if amount > 0 else 'lose'} {abs(amount):.4g} bb"


class Session:
    """Hands against a solution; without a seed they differ every time."""

    def __init__(
        self,
        solution: Solution,
        seat: Player | None = None,
        wanted: Wanted | None = None,
        seed: int | None = None,
        results: Results | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.solution, self.seat, self.wanted = solution, seat, wanted or Wanted()
        self.seed = secrets.randbelow(LARGEST_SEED) if seed is None else seed
        self.results = results
        self.answers: list[Answer] = []
        self.hand: Hand | None = None
        self.hands = 0
        self._clock = clock
        self._kept: int | None = None  # the number of the hand in the file
        self.wanted.check(solution)
        self._dealer = Dealer(solution, self.wanted)

    def deal(self) -> Hand:
        """The next hand: a repetition, or a new one."""
        self.hands += 1
        self._kept = None
        seat = Player(self.hands % 2) if self.seat is None else self.seat  # or both in turn
        self.hand = self._repeated() or deal_hand(self._dealer, seat, self.seed, self.hands)
        return self.hand

    def answer(self, action: int) -> Answer:
        """Take an action in the current hand, and store its grade."""
        if self.hand is None:
            raise InputError("no hand is dealt")
        answer = self.hand.answer(action)
        self.answers.append(answer)
        if self.results is not None:
            self._kept = self.results.keep(answer, self._clock(), self._kept)
        return answer

    def hint(self) -> str:
        """The last mistake, for a repetition; "" otherwise."""
        hand, folder = self.hand, self.solution.folder
        if hand is None or hand.question is None or self.results is None or folder is None:
            return ""
        if not hand.repeated or hand.answers:
            return ""
        asked = hand.question
        missed = self.results.missed(
            folder, hand.player.name.lower(), asked.node.line, cards_text(asked.cards)
        )
        if missed is None or missed.taken not in asked.actions:
            return ""
        label = asked.labels[asked.actions.index(missed.taken)]
        return f"Last time you took {label}, which lost {missed.loss_bb:.3f} bb."

    @property
    def played(self) -> int:
        """Hands in which a decision was made."""
        return len({answer.hand for answer in self.answers})

    def summary(self) -> Summary:
        """Summarise the session."""
        return summarise(self.answers)

    def _repeated(self) -> Hand | None:
        """A wanted repetition, if there is one."""
        folder = self.solution.folder
        if self.results is None or folder is None:
            return None
        for repeat in self.results.due(folder, self._clock()):
            player = Player[repeat.player.upper()]
            try:
                if not self._wants(repeat, player):
                    continue
                wanted = Wanted(streets=self.wanted.streets, line=repeat.line)
                dealer, held = Dealer(self.solution, wanted), parse_combo(repeat.cards)
                return deal_hand(dealer, player, self.seed, self.hands, held)
            except InputError:  # the solution has changed
                self.results.drop(folder, repeat)
        return None

    def _wants(self, repeat: Repeat, player: Player) -> bool:
        if self.seat not in (None, player) or not self.wanted.fits(repeat):
            return False
        end, node = self._dealer.end, self.solution.at(repeat.line)
        cards = zip(end.cards, node.position.cards, strict=False)
        fits = all(card in (ANY_CARD, dealt) for card, dealt in cards)
        return fits and node_key(end) in [node_key(above.position) for above in node.path]

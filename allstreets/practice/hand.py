"""One hand: the solution plays its mixed strategy, the player is asked, and told what it cost.

The other player holds one hand, dealt before anything is done, and plays what the solution does
with it: a seeded number picks one of its actions by their frequencies. Decisions of the player's
own seat that are not asked are played in the same way. After a mistake the hand goes on: the other
player's range is what the line says, and EVs of later decisions are those of the hand that is held.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    NodeKind,
    Notation,
    Outcome,
    Player,
    Street,
    action_label,
)
from allstreets.cards import DECK_SIZE, cards_text, evaluate
from allstreets.practice.dealing import Deal, Dealer
from allstreets.practice.playable import BEFORE, Playable, Position, seat_names
from allstreets.practice.records import Answer, Draw, End
from allstreets.review import NEVER, hand_place, judge, why_never
from allstreets.solutions import Decision

MOST_DEALS = 3_000  # in which nothing is asked


@dataclass(frozen=True, eq=False)
class Question:
    """A decision that the player is asked for; amounts in big blinds."""

    at: Position
    decision: Decision
    labels: tuple[str, ...]  # [A]: of the actions, for people
    line: str
    street: Street
    board: tuple[int, ...]
    cards: tuple[int, int]
    pot_bb: float
    to_call_bb: float
    stacks_bb: tuple[float, float]  # of OOP and IP

    @property
    def actions(self) -> tuple[str, ...]:
        """[A]: as in a line."""
        return self.decision.actions


class _ElsewhereError(Exception):
    """A hand in which nothing is asked, or that leaves the line that is wanted."""


class Hand:
    """A hand that is being played; `question` is what the player is asked, None: it is over."""

    def __init__(
        self,
        dealer: Dealer,
        hero: Player,
        deal: Deal,
        chance: np.random.Generator,
        seed: int,
        number: int,
        repeated: bool = False,
    ) -> None:
        self.solution: Playable = dealer.solution
        self.wanted, self.hero, self.deal = dealer.wanted, hero, deal
        self.seed, self.number, self.repeated = seed, number, repeated
        self.draws: list[Draw] = []
        self.answers: list[Answer] = []
        self.question: Question | None = None
        self.end: End | None = None
        self.at = deal.start
        self._way, self._chance = dealer.way, chance
        self._there = self._passed()
        self._go_on()
        if self.question is None:
            raise _ElsewhereError

    @property
    def seats(self) -> tuple[str, str]:
        """What both players are called."""
        return seat_names(self.solution)

    @property
    def loss_bb(self) -> float:
        """What the player's decisions have cost so far."""
        return sum(one.loss_bb or 0.0 for one in self.answers)

    def answer(self, action: int) -> Answer:
        """Take an action of the question; what it cost. The hand goes on."""
        asked = self.question
        if asked is None:
            raise InputError("the hand is over: nothing is asked")
        if not 0 <= action < len(asked.actions):
            raise InputError(f"there are {len(asked.actions)} actions, none of number {action + 1}")
        combo, scale = self.deal.combos[self.hero], self.solution.chips_per_bb
        found = judge(asked.decision, asked.actions, combo, action, scale)
        answer = Answer(
            solution=self.solution.name,
            folder=str(self.solution.folder),
            seed=self.seed,
            hand=self.number,
            seat=self.seats[self.hero],
            player=self.hero.name.lower(),
            street=asked.street.text,
            pot_kind=self.solution.kind(asked.at),
            line=asked.line,
            board=cards_text(asked.board),
            cards=cards_text(asked.cards),
            pot_bb=round(asked.pot_bb, 4),
            to_call_bb=round(asked.to_call_bb, 4),
            taken=asked.actions[action],
            options=found.options,
            loss_bb=found.loss,
            note=found.note,
            repeated=self.repeated and not self.answers,
        )
        self.answers.append(answer)
        self.question = None
        self._move(action)
        self._go_on()
        return answer

    def _go_on(self) -> None:
        """Play until the player is asked, or to the end."""
        while self.question is None and self.end is None:
            tree = self.solution.tree(self.at)
            if tree.is_terminal[self.at.node]:
                self.end = self._ended()
            elif tree.kind[self.at.node] == NodeKind.CHANCE:
                self._deal_card()
            else:
                self._decide()

    def _deal_card(self) -> None:
        solution, board = self.solution, self.solution.board(self.at)
        street = Street(int(solution.tree(self.at).street[self.at.node]) + 1)
        if self._there and street > self.wanted.last:
            self._stop("Only earlier streets are practised.")
        elif not solution.stored(self.at):
            self._stop(f"What follows on the {street.text} is not stored.")
        else:
            count = solution.cards_dealt(self.at)
            cards = self.deal.board[len(board) : len(board) + count]
            self._arrive(solution.dealt(self.at, cards))

    def _decide(self) -> None:
        decision = self.solution.decision(self.at)
        if not decision.reached:
            why = f"{NEVER[0].upper()}{NEVER[1:]}: {why_never(decision)}"
            self._stop(f"{why}. Nothing is known of what follows.")
        elif decision.player == self.hero and self._there and self.wanted.asks(decision.street):
            self.question = self._asked(decision)
        else:
            self._play(decision)

    def _asked(self, decision: Decision) -> Question:
        tree, at, scale = self.solution.tree(self.at), self.at, self.solution.chips_per_bb
        oop, ip = (tree.stack_at(at.node, player) / scale for player in Player)
        children, notation = tree.children_of(at.node).tolist(), self._notation(decision)
        return Question(
            at=at,
            decision=decision,
            labels=tuple(action_label(tree, child, notation) for child in children),
            line=self.solution.line(at),
            street=decision.street,
            board=self.solution.board(at),
            cards=self.deal.cards(self.hero),
            pot_bb=tree.pot_at(at.node) / scale,
            to_call_bb=tree.to_call_at(at.node) / scale,
            stacks_bb=(oop, ip),
        )

    def _notation(self, decision: Decision) -> Notation:
        """Amounts in big blinds, where they are a whole number of chips."""
        scale = self.solution.chips_per_bb
        if not scale.is_integer():
            return decision.unit.notation
        shown = BIG_BLINDS.shown
        return replace(decision.unit.notation, unit=BIG_BLINDS.unit, scale=int(scale), shown=shown)

    def _play(self, decision: Decision) -> None:
        """Do what the solution does with the hand of the player who acts."""
        player = decision.player
        place = hand_place(decision, self.deal.combos[player])
        assert place is not None
        mix = np.maximum(np.nan_to_num(decision.strategy[:, place]), 0.0)
        mix /= mix.sum()
        number = float(self._chance.random())
        action = drawn_action(mix, number)
        self.draws.append(
            Draw(
                seat=self.seats[player],
                street=decision.street.text,
                action=decision.actions[action],
                number=number,
                mix=tuple(zip(decision.actions, mix.tolist(), strict=True)),
            )
        )
        self._move(action)

    def _move(self, action: int) -> None:
        tree = self.solution.tree(self.at)
        node = int(tree.children_of(self.at.node)[action])
        self._arrive(Position(self.at.tree, node, self.at.pot, self.at.cards))

    def _arrive(self, at: Position) -> None:
        self.at = at
        if not self._there:
            if at.place not in self._way.places:
                raise _ElsewhereError
            self._there = self._passed()

    def _passed(self) -> bool:
        """Whether play has come to the end of the line that is wanted, or begins behind it."""
        tree, node = self._way.end
        here = tree == self.at.tree and node in self.solution.tree(self.at).path_to(self.at.node)
        return here or (tree == BEFORE != self.at.tree)

    def _stop(self, text: str) -> None:
        self.end = End(
            how="stopped",
            text=text,
            board=cards_text(self.solution.board(self.at)),
            theirs=cards_text(self.deal.cards(self.hero.opponent)),
            won_bb=None,
        )

    def _ended(self) -> End:
        """Who wins what."""
        solution, tree, hero = self.solution, self.solution.tree(self.at), self.hero
        them = self.seats[hero.opponent]
        theirs = cards_text(self.deal.cards(hero.opponent))
        board = list(solution.board(self.at))
        won = solution.payoffs(self.at)[hero] / solution.chips_per_bb
        if tree.kind[self.at.node] == NodeKind.FOLD:
            folded = "You fold" if tree.player[self.at.node] == hero else f"{them} folds"
            result = float(won[Outcome.WIN])
            return End("fold", f"{folded}: {won_text(result)}.", cards_text(board), theirs, result)
        # All-in before the flop any board may fall, not only those of the solution's flops.
        board = list(self.deal.board) if board else self._any_board()
        strengths = evaluate([[*board, *self.deal.cards(player)] for player in Player]).tolist()
        mine, other = strengths[hero], strengths[hero.opponent]
        outcome = Outcome.WIN if mine > other else Outcome.TIE if mine == other else Outcome.LOSE
        result = float(won[outcome])
        text = f"{them} shows {theirs} on {cards_text(board)}: {won_text(result)}."
        return End("showdown", text, cards_text(board), theirs, result)

    def _any_board(self) -> list[int]:
        taken = {*self.deal.cards(Player.OOP), *self.deal.cards(Player.IP)}
        left = [card for card in range(DECK_SIZE) if card not in taken]
        found: list[int] = self._chance.choice(left, 5, replace=False).tolist()
        return found


def deal_hand(
    dealer: Dealer,
    hero: Player,
    seed: int,
    number: int,
    held: int | None = None,
) -> Hand:
    """Hand number `number` of a seed; deals in which nothing is asked are dealt again.

    `held`: the combo of the player, where a decision comes back.
    """
    chance = np.random.default_rng([seed, number])
    given = None if held is None else (hero, held)
    deals = MOST_DEALS if held is None else 1  # where it comes back, it is asked at once
    for _ in range(deals):
        deal = dealer.deal(chance, given)
        try:
            return Hand(dealer, hero, deal, chance, seed, number, held is not None)
        except _ElsewhereError:
            continue
    raise InputError(
        f"in {deals:,} deals {seat_names(dealer.solution)[hero]} was never asked: the solution "
        "hardly ever gets there; widen the filter or take the other seat"
    )


def drawn_action(mix: ArrayLike, number: float) -> int:
    """The action in whose part of the mix a number from 0 to 1 falls.

    >>> [drawn_action([0.25, 0.0, 0.75], number) for number in (0.0, 0.2499, 0.25, 0.999)]
    [0, 0, 2, 2]
    """
    shares = np.asarray(mix)
    found = int(np.searchsorted(np.cumsum(shares), number, side="right"))
    return min(found, int(np.flatnonzero(shares)[-1]))


def won_text(amount: float) -> str:
    """What a hand brought: "you win 2.5 bb"."""
    if abs(amount) < 5e-3:
        return "you win nothing and lose nothing"
    return f"you {'win' if amount > 0 else 'lose'} {abs(amount):.4g} bb"

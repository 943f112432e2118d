"""A table for two players: deals, actions, and results corrected for luck.

1. A deal draws a flop from those that both solutions store, by weight and in any suits, then both
   hands, turn and river from the rest of the deck; all-in before the flop, any five cards may come.
   A solution that stores none plays every flop, by solving it.
2. Every action is drawn by a number that depends only on the seed, the deal and its index. So the
   two hands of a deal, which is played once in each seating, have the same luck.
3. `aivat.Corrected` follows both ranges. Its guesses are the EVs of the player who acts, from his
   own solution; the value of a flop to the solution in the big blind; and for turn and river the
   equity of both ranges in the pot, without card removal between them.
4. Where the betting ends before the river, the result is the mean over all cards to come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs, Singles, quotient
from allstreets.betting import CHIPS_PER_BB, Player, Street
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_COUNT,
    DECK_SIZE,
    FLOP_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    HAND_SIZES,
    Flop,
    all_flops,
    combo_equity,
    combo_index,
    combo_strengths,
    evaluate,
    fitting,
    live_combos,
    met_reach,
    preflop_matchups,
)
from allstreets.interop import Cards, DealtPlayer, Ledger, LiveHand, state_text
from allstreets.play.aivat import Corrected
from allstreets.play.player import Answer, Seat, Tally
from allstreets.solutions import WholeSolution

ALL = np.arange(COMBO_COUNT)
FITS = fitting(ALL, ALL).astype(np.float64)
HOLDS = np.zeros((COMBO_COUNT, DECK_SIZE))  # [1326, 52]: whether a combo holds a card
HOLDS[ALL[:, None], COMBO_CARDS] = 1.0
STEPS = (1, 5, 8, 11, 17, 22)  # between turn and river, of 49 cards in order
CACHED_FLOPS = 4  # strengths on all their boards, some megabytes each
CACHED_MASSES = 128  # lines before the flop
AT_ONCE = 1024  # flops whose pairs of hands are counted together
SEATS = ("BB", "SB")
BESIDE_FLOP = (49 * 48 * 47 * 46) / (52 * 51 * 50 * 49)  # pairs of hands that a flop leaves


class Contender(Protocol):
    """A player in a match."""

    name: str
    known: bool  # whether it gives the strategies of all hands
    tally: Tally

    def sit(self) -> Seat:
        """Begin a hand."""


class OutsidePlayer:
    """A connected program: only its actions with its actual cards are seen."""

    known = False

    def __init__(self, name: str, dealt: DealtPlayer) -> None:
        self.name, self._dealt, self.tally = name, dealt, Tally()

    def sit(self) -> "OutsideSeat":
        """Begin a hand."""
        return OutsideSeat(self._dealt)


class OutsideSeat(Seat):
    """The same in one hand."""

    known = False

    def __init__(self, dealt: DealtPlayer) -> None:
        self._dealt = dealt

    def answer(self, live: LiveHand, *, whole: bool = False) -> Answer:
        """The seat's move; other hands are unknown."""
        del whole
        holes = (live.cards, None) if live.player == Player.OOP else (None, live.cards)
        move = self._dealt.answer(_state(live, holes), live.ledger)
        return Answer((move,), np.ones((1, COMBO_COUNT)))

    def watch(self, live: LiveHand, holes: Sequence[Cards | None]) -> None:
        """Send it the hand."""
        self._dealt.tell(_state(live, holes))


def _state(live: LiveHand, holes: Sequence[Cards | None]) -> str:
    return state_text(int(live.name), live.player, live.ledger, tuple(holes), live.board)


@dataclass(frozen=True)
class DealtHand:
    """The cards of a deal."""

    number: int
    combos: tuple[int, int]  # of OOP and IP
    flop: int  # its index in `Table.dealt_flops`
    board: tuple[int, ...]
    any_board: tuple[int, ...]  # that comes after an all-in before the flop


@dataclass(frozen=True)
class PlayedDeal:
    """A hand that was played; results of OOP in big blinds."""

    result: float  # raw
    corrected: float  # without luck


@dataclass(eq=False)
class Table:
    """The game that is dealt: stacks, blinds, and flops with their weights."""

    stack: Fraction  # all in chips
    small_blind: Fraction
    ante: Fraction
    flops: tuple[Flop, ...]
    weights: Floats  # [F]
    solutions: tuple[WholeSolution, WholeSolution]  # that know the values of flops
    _values: dict[tuple[int, str], tuple[int, Floats | None]] = field(default_factory=dict)
    _masses: dict[tuple[bytes, bytes], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, first: WholeSolution, second: WholeSolution) -> "Table":
        """The game of two solutions, on the flops that both play."""
        rules, others = first.rules, second.rules
        for name in ("stack", "small_blind", "big_blind", "ante", "bb_ante"):
            mine, theirs = getattr(rules, name), getattr(others, name)
            if mine != theirs:
                raise InputError(
                    f"{first.name} and {second.name} are different games: {name} is "
                    f"{mine / CHIPS_PER_BB:g} and {theirs / CHIPS_PER_BB:g} bb"
                )
        if rules.bb_ante or rules.big_blind != CHIPS_PER_BB:
            raise InputError("matches have a big blind of 1 bb, and no big-blind ante")
        solved = [_flops(each) for each in (first, second)]
        solved.sort(key=len)  # weights are those of the smaller set
        both = [flop for flop in solved[0] if flop in solved[1]]
        if not both:
            raise InputError(
                f"{first.name} and {second.name} have no flop in common: train both on the same "
                "flops"
            )
        return cls(
            stack=Fraction(str(rules.stack)),
            small_blind=Fraction(str(rules.small_blind)),
            ante=Fraction(str(rules.ante)),
            flops=tuple(both),
            weights=np.array([solved[0][flop] for flop in both]),
            solutions=(first, second),
        )

    @staticmethod
    def solves_flops(solution: WholeSolution) -> bool:
        """Whether a solution that plays here has no flops but those that it solves."""
        return bool(solution.game.flop_pots) and not solution.has_flops

    def ledger(self) -> Ledger:
        """The chips after antes and blinds."""
        ledger = Ledger(SEATS, (self.stack, self.stack), Fraction(CHIPS_PER_BB))
        for player, blind in zip(Player, (Fraction(CHIPS_PER_BB), self.small_blind), strict=True):
            ledger.post_ante(player, self.ante)
            ledger.post_blind(player, blind)
        return ledger

    # Dealing.

    @cached_property
    def dealt_flops(self) -> tuple[Longs, Longs, Floats]:
        """[D, 3] flops in all suits, [D] the number of each among the table's, [D] its chance."""
        cards, numbers, chances = list[tuple[int, ...]](), list[int](), list[float]()
        for number, flop in enumerate(self.flops):
            renamed = np.sort(CARD_PERMUTATIONS[:, list(flop.cards)], axis=1)
            suits = sorted({tuple(row) for row in renamed.tolist()})
            cards += suits
            numbers += [number] * len(suits)
            chances += [float(self.weights[number]) / len(suits)] * len(suits)
        return np.array(cards), np.array(numbers), np.array(chances) / float(self.weights.sum())

    @cached_property
    def pairs(self) -> Floats:
        """[1326, 1326]: the weight of each pair of hands before the flop."""
        if len(self.flops) == FLOP_COUNT and self._is_natural:
            return FITS
        flops, _, chances = self.dealt_flops
        pairs = np.zeros((COMBO_COUNT, COMBO_COUNT))
        for first in range(0, len(flops), AT_ONCE):
            live = _live(flops[first : first + AT_ONCE])
            pairs += live.T @ (live * chances[first : first + AT_ONCE, None])
        return pairs * FITS

    def meets(self, reach: Floats) -> Floats:
        """[1326]: the weight of each combo's pairs with a reach, before the flop."""
        return _beside(reach) if self.pairs is FITS else _product(self.pairs, reach)

    @property
    def _is_natural(self) -> bool:
        natural = np.array([flop.multiplicity for flop in self.flops])
        return bool(np.allclose(self.weights / self.weights.sum(), natural / natural.sum()))

    def deal(self, seed: int, number: int) -> DealtHand:
        """Deal number `number` of a seed."""
        chance = np.random.default_rng([seed, number])
        flops, _, chances = self.dealt_flops
        flop = int(chance.choice(len(flops), p=chances))
        used = flops[flop].tolist()
        left = [card for card in range(DECK_SIZE) if card not in used]
        drawn = [int(card) for card in chance.choice(left, 6, replace=False)]
        held = drawn[:4]
        left = [card for card in range(DECK_SIZE) if card not in held]
        spare = tuple(int(card) for card in chance.choice(left, 5, replace=False))
        combos = combo_index(*held[:2]), combo_index(*held[2:])
        board = (*sorted(used, reverse=True), *drawn[4:])
        return DealtHand(number, combos, flop, board, spare)

    def flop_masses(self, hand: Corrected) -> Floats:
        """[D]: the weight of the pairs of hands that each flop leaves, times its chance."""
        key = hand.reach[0].tobytes(), hand.reach[1].tobytes()
        if key not in self._masses:
            flops, _, chances = self.dealt_flops
            oop, ip = (np.flatnonzero(each) for each in hand.reach)
            pairs = hand.reach[0][oop, None] * FITS[np.ix_(oop, ip)] * hand.reach[1][ip]
            masses = np.zeros(len(flops))
            for first in range(0, len(flops), AT_ONCE):
                live = _live(flops[first : first + AT_ONCE])
                rows = ((live[:, oop] @ pairs) * live[:, ip]).sum(axis=1)
                masses[first : first + AT_ONCE] = rows
            while len(self._masses) >= CACHED_MASSES:
                del self._masses[next(iter(self._masses))]
            self._masses[key] = masses * chances
        return self._masses[key]

    def flop_values(self, solution: int, line: str, reach: Floats) -> Floats | None:
        """[F]: the value of each flop to OOP for his reach [1326], from a solution.

        In big blinds, up to a factor that is nearly the same on all flops; None: not this pot.
        """
        root, values = self._stored_values(solution, line)
        if values is None:
            return None
        before = self.solutions[solution].before
        own = np.bincount(HAND_OF_COMBO, reach, HAND_COUNT) / HAND_SIZES
        met = float(own @ before.pairs @ before.reach[root, Player.IP])
        return values @ own / (met * BESIDE_FLOP * CHIPS_PER_BB) if met > 0 else None

    def _stored_values(self, solution: int, line: str) -> tuple[int, Floats | None]:
        """The pot after a line, and OOP's values there [F, 169]; None: not stored."""
        key = solution, line
        if key not in self._values:
            game = self.solutions[solution]
            root, pots = game.roots.read(line), [pot.node for pot in game.stored.flop_pots]
            values = None
            if root in pots and game.has_flops:
                number = pots.index(root)
                values = np.array([game.values_at(flop.text)[0, number] for flop in self.flops])
            self._values[key] = root, values
        return self._values[key]

    # Playing.

    def play(
        self, deal: DealtHand, players: Sequence[Contender], seed: int, solutions: tuple[int, int]
    ) -> PlayedDeal:
        """Play a deal; `players` are OOP and IP, whose `solutions` are these of the table."""
        return _Hand(self, deal, players, seed, solutions).play()


class _Hand:
    """A hand at a table."""

    def __init__(
        self,
        table: Table,
        deal: DealtHand,
        players: Sequence[Contender],
        seed: int,
        solutions: tuple[int, int],
    ) -> None:
        self._table, self._deal, self._seed, self._solutions = table, deal, seed, solutions
        self._seats = [player.sit() for player in players]
        self._whole = not all(seat.known for seat in self._seats)  # programs count whole chips
        self._ledger, self._street = table.ledger(), Street.PREFLOP
        self._board: tuple[int, ...] = ()
        oop, ip = (
            np.ones(COMBO_COUNT) if seat.known else np.equal(ALL, combo).astype(np.float64)
            for seat, combo in zip(self._seats, deal.combos, strict=True)
        )
        self._ranges = Corrected(table.meets, (oop, ip))
        self._holes = [(int(high), int(low)) for low, high in COMBO_CARDS[list(deal.combos)]]

    def play(self) -> PlayedDeal:
        """Play it to its end."""
        while (turn := self._ledger.to_act) is not None:
            street, player = turn
            while self._street < street:
                self._next_street()
            self._show()
            answer = self._seats[player].answer(self._live(player), whole=self._whole)
            key = f"{self._seed}:{self._deal.number}:{len(self._ledger.actions)}"
            taken = answer.drawn(self._deal.combos[player], Random(key).random())
            self._ranges.acted(player, answer.strategy, answer.evs, taken)
            move = answer.moves[taken]
            self._ledger.act(street, player, move.kind, move.to)
        result, value = self._end()
        return PlayedDeal(result, self._ranges.result(value))

    def _live(self, player: Player) -> LiveHand:
        # A separate number for each seating, as dealers count hands.
        name, cards = str(2 * self._deal.number + self._solutions[0]), self._holes[player]
        return LiveHand(name, player, cards, self._board, self._ledger)

    def _show(self, *, shown: bool = False) -> None:
        for player in Player:
            holes = [self._holes[p] if shown or p == player else None for p in Player]
            self._seats[player].watch(self._live(player), holes)

    def _next_street(self) -> None:
        """Deal the cards of a street, and correct for their luck."""
        before, self._street = self._board, Street(self._street + 1)
        self._board = self._deal.board[: self._street + 2]
        if self._street == Street.FLOP:
            self._correct_flop()
        else:
            self._ranges.dealt(*self._next_cards(before), self._board[-1])
        self._ranges.blocked(_beside, live_combos(self._board).astype(np.float64))

    def _correct_flop(self) -> None:
        table, ranges, guesses = self._table, self._ranges, list[Floats]()
        for solution, seat in zip(self._solutions, self._seats, strict=True):
            if seat.node is not None:
                reach = ranges.reach[Player.OOP]
                values = table.flop_values(solution, seat.node.line, reach)
                guesses += [] if values is None else [values]
        if guesses:
            values = np.mean(guesses, axis=0)[table.dealt_flops[1]]
            ranges.dealt(table.flop_masses(ranges), values, self._deal.flop)

    def _next_cards(self, board: tuple[int, ...]) -> tuple[Floats, Floats]:
        """[52], [52]: the chance of each next card, and OOP's result if it is checked down."""
        ranges = self._ranges
        chances = np.full(DECK_SIZE, float(ranges.weights(Player.OOP).sum()))
        for player in Player:
            chances -= ranges.weights(player) @ HOLDS
        chances[list(board)] = 0.0
        runouts, order, live = _runouts(board)
        oop, ip = (each.astype(np.float32)[order] * live for each in ranges.reach)
        below = np.cumsum(ip, axis=1) - ip / 2
        pairs = oop.sum(axis=1) * ip.sum(axis=1)
        won = (oop * below).sum(axis=1)
        shares = np.divide(won, pairs, out=np.full(len(pairs), 0.5), where=pairs > 0)
        count, total = np.zeros(DECK_SIZE), np.zeros(DECK_SIZE)
        for cards in runouts.T:
            np.add.at(count, cards, 1)
            np.add.at(total, cards, shares)
        return np.maximum(chances, 0.0), self._stake * (2 * total / np.maximum(count, 1) - 1)

    @property
    def _stake(self) -> float:
        return float(self._ledger.matched) / CHIPS_PER_BB

    def _end(self) -> tuple[float, float]:
        """OOP's results: for the dealt cards, and for both ranges over all cards to come."""
        folded, stake, ranges = self._ledger.folded, self._stake, self._ranges
        if folded is not None:
            self._show()
            won = stake if folded == Player.IP else -stake
            return won, won
        board, final = self._board, self._deal.board if self._board else self._deal.any_board
        oop, ip = evaluate([[*final, *hole] for hole in self._holes]).tolist()
        self._board = final
        self._show(shown=True)
        if board:
            share = ranges.mean(Player.OOP, range_equity(board, ranges.reach[Player.IP]))
        else:
            theirs = ranges.reach[Player.IP]
            shown = _product(self._table.pairs * _preflop_equity(), theirs)
            equities = np.nan_to_num(quotient(shown, ranges.meets(theirs)))
            share = ranges.mean(Player.OOP, equities)
        return stake * ((oop > ip) - (oop < ip)), stake * (2 * share - 1)


def range_equity(board: tuple[int, ...], reach: Floats) -> Floats:
    """[1326]: the equity of every combo on a board against a reach [1326]; 0 where it is blocked.

    On the river each combo is compared with running sums over the other's in order of strength,
    less those that share a card with it.
    """
    live = np.flatnonzero(live_combos(board))
    equities = np.zeros(COMBO_COUNT)
    if len(board) < 5:
        even = np.ones(len(live))
        equities[live] = combo_equity(board, (live, live), (even, reach[live]))[0]
        return np.nan_to_num(equities)
    strengths = combo_strengths([board])[0][live]
    order = np.argsort(strengths, kind="stable")
    held = reach[live][order]
    # [H + 1, 53]: the reach of the weakest so many, and of those of them that hold each card.
    sums = np.zeros((len(live) + 1, DECK_SIZE + 1))
    sums[1:, :-1] = HOLDS[live][order] * held[:, None]
    sums[1:, -1] = held
    sums = np.cumsum(sums, axis=0)
    high, low = COMBO_CARDS[live].T
    ranked = strengths[order]

    def beside(weakest: Longs) -> Floats:
        """[H]: the reach of the weakest so many that shares no card with each combo."""
        left: Floats = sums[weakest, -1] - sums[weakest, high] - sums[weakest, low]
        return left

    worse = beside(np.searchsorted(ranked, strengths, "left"))
    up_to = beside(np.searchsorted(ranked, strengths, "right")) + reach[live]
    met = beside(np.full(len(live), len(live))) + reach[live]
    equities[live] = quotient((worse + up_to) / 2, met)
    return np.nan_to_num(equities)


@cache
def _preflop_equity() -> Floats:
    """[1326, 1326]: all-in before the flop."""
    equity: Floats = preflop_matchups().equity
    return equity


def _beside(reach: Floats) -> Floats:
    """[1326]: the part of a reach [1326] that is compatible with each combo."""
    return met_reach(ALL, ALL, reach)


def _product(pairs: Floats, reach: Floats) -> Floats:
    """Pairs · reach, in one thread: several would wait for cores that others use."""
    product: Floats = np.einsum("ij,j->i", pairs, reach)
    return product


@lru_cache(CACHED_FLOPS)
def _runouts(board: tuple[int, ...]) -> tuple[Longs, NDArray[np.int16], Singles]:
    """[B, cards to come], [B, 1326] combos from weak to strong, [B, 1326] 1.0 for those left.

    After a flop a part of the runouts, in which all cards come equally often.
    """
    left = [card for card in range(DECK_SIZE) if card not in board]
    count = len(left)
    dealt = np.arange(count)[:, None]  # [B, cards to come]: indices into `left`
    if len(board) == 3:
        rivers = [(dealt + step) % count for step in STEPS]
        dealt = np.concatenate([np.hstack([dealt, river]) for river in rivers])
    runouts = np.array(left)[dealt]
    boards = np.concatenate([np.tile(board, (len(runouts), 1)), runouts], axis=1)
    order = np.argsort(combo_strengths(boards), axis=1).astype(np.int16)
    live = np.take_along_axis(_live(boards), order.astype(np.int64), axis=1)
    return runouts, order, live.astype(np.float32)


def _live(boards: Longs) -> Floats:
    """[B, 1326]: 1.0 for combos without a card of a board [B, cards]."""
    on_board = np.zeros((len(boards), DECK_SIZE))
    on_board[np.arange(len(boards))[:, None], boards] = 1.0
    live: Floats = np.equal(on_board @ HOLDS.T, 0).astype(np.float64)
    return live


def _flops(solution: WholeSolution) -> dict[Flop, float]:
    """The flops that a solution plays, with weights; all where it stores none, or sees none."""
    if not solution.game.flop_pots or Table.solves_flops(solution):
        return {flop: float(flop.multiplicity) for flop in all_flops()}
    return {solved.flop: solved.weight for solved in solution.stored.solved(0)}

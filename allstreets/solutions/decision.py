"""One node of a solution in numbers: the player who acts, his strategy, and EVs, hand by hand.

H hands are a player's combos, or the 169 classes. NaN stands for what does not exist: the EV of a
hand that meets no other or was never learned (see `solutions.reached`), a hand that does not fit
beside the board, or an equity that a card model does not know.

EVs count from here on: folding is 0, and both players' EVs sum to the pot, less rake. The unit is
bb in games, chips in spots, and the starting pot where flops are solved one by one. `whole_hand`
gives results instead: chips put in since the start of the solution count as lost, so that folding
the small blind first is −0.5 bb.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, InputError, Longs, Pair, quotient
from allstreets.betting import (
    BIG_BLINDS,
    POT_SHARES,
    BettingTree,
    NodeKind,
    Notation,
    Player,
    Street,
    action_label,
    action_word,
    read_only,
    words,
)
from allstreets.cards import (
    COMBO_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    cards_text,
    hand_combos,
    live_combos,
    parse_combo,
    parse_hand,
)
from allstreets.solutions.format import counted_text, decision_html, decision_line, decision_text
from allstreets.solutions.reached import LineReach, often_taken, settled_actions
from allstreets.solutions.tables import hand_rows

RARE_SHARE = 1e-3  # a node that a smaller share of hands reaches is hardly ever reached
RARE_REACH = 0.01  # where no class has this reach, all are drawn
CACHED_BETTING = 512  # nodes: tables over flops ask for the same one on every flop
LEAST_SHOWN = 1e-3  # reach below which a class is not drawn
LEAST_EQUITY = 0.005  # the least equity for an EQR
NONE = read_only(np.zeros((0, 0)))
NOWHERE = read_only(np.zeros(0, np.bool_))


@dataclass(frozen=True)
class Unit:
    """The unit of amounts and EVs at a node, and its notation."""

    notation: Notation  # of lines and amounts
    column: str  # how names of columns end: "_bb", or nothing
    order: tuple[Player, Player]  # the order in which players are written

    @property
    def name(self) -> str:
        """The name of the unit: "bb", "chips", "pot"."""
        return self.notation.unit

    @property
    def seats(self) -> tuple[str, str]:
        """The usual names of OOP and IP."""
        return self.notation.seats

    def amount(self, chips: float) -> float:
        """Chips in this unit."""
        return chips if self.notation.scale == 1 else chips / self.notation.scale


BB = Unit(BIG_BLINDS, "_bb", (Player.IP, Player.OOP))
CHIPS = Unit(words.CHIPS, "", (Player.OOP, Player.IP))
POTS = Unit(POT_SHARES, "", (Player.OOP, Player.IP))


@dataclass(frozen=True, eq=False)
class Hands:
    """One player's hands at a node."""

    combos: Longs | None  # [H]: the combos, 0 … 1325; None: the 169 classes
    counts: Floats  # [H]: the number of combos of each on this board
    reach: Floats  # [H]: range weight times the player's own actions so far
    weights: Floats  # [H]: pairs of an own combo and an opposing one that get here
    start: float  # combos of the starting range that this board leaves
    cell_weights: Pair | None = None  # for means over a class's combos, and of EVs; None: reach

    @property
    def classes(self) -> Longs:
        """[H]: the class of each hand."""
        if self.combos is None:
            return np.arange(HAND_COUNT)
        return HAND_OF_COMBO[self.combos].astype(np.int64)

    @property
    def size(self) -> float:
        """The number of combos that get here by the player's own actions."""
        return float(self.reach @ self.counts)

    def mean(self, values: Floats, taken: Floats | None = None) -> float:
        """The mean of values [H] over the range as it meets the opponent's.

        `taken` [H]: over the part of each hand that takes an action.
        """
        weights = self.weights if taken is None else self.weights * np.nan_to_num(taken)
        live = (weights > 0) & np.isfinite(values)
        total = float(weights[live].sum())
        return float(values[live] @ weights[live]) / total if total > 0 else float("nan")

    def cells(self, values: Floats, *, evs: bool = False) -> Floats:
        """[169]: values [H] averaged over the combos of each class; NaN where there are none."""
        if self.combos is None:
            return values
        weights = self.reach if self.cell_weights is None else self.cell_weights[int(evs)]
        live = np.where(np.isfinite(values), weights, 0.0)
        sums = class_sums(self.classes, live * np.nan_to_num(values))
        return quotient(sums, class_sums(self.classes, live))


def class_sums(classes: Longs, values: Floats) -> Floats:
    """[169]: values [H] added up by class [H]."""
    return np.bincount(classes, values, minlength=HAND_COUNT).astype(np.float64)


def realised(evs: Floats, equity: Floats, pot: float) -> Floats:
    """EQR: EV over equity times pot; NaN where the equity is too small for a meaningful ratio."""
    return quotient(evs, np.where(equity > LEAST_EQUITY, equity, 0.0) * pot)


@dataclass(frozen=True, eq=False)
class Evs:
    """EVs of both players' hands and of every action, in the unit of the node."""

    hands: Pair
    actions: Floats = field(default_factory=lambda: NONE)  # [A, H] of who acts
    taken: Floats | None = None  # [A]: of the range that takes each; None: as hands have it
    ranges: tuple[float | None, float | None] = (None, None)  # where hands' EVs are not known

    def plus(self, paid: tuple[float, float], actor: Player | None) -> "Evs":
        """EVs that also count the chips both players have put in, or stop counting them."""
        own = 0.0 if actor is None else paid[actor]
        oop, ip = (
            None if ev is None else ev + more for ev, more in zip(self.ranges, paid, strict=True)
        )
        return Evs(
            (self.hands[0] + paid[0], self.hands[1] + paid[1]),
            self.actions + own,
            None if self.taken is None else self.taken + own,
            (oop, ip),
        )

    @classmethod
    def unknown(cls, hands: tuple[Hands, Hands], strategy: Floats) -> "Evs":
        """NaN throughout; `strategy` [A, H] is that of the player who acts."""
        oop, ip = (np.full(len(player_hands.reach), np.nan) for player_hands in hands)
        return cls((oop, ip), np.full(strategy.shape, np.nan))


@dataclass(frozen=True)
class HandPlay:
    """One combo or hand class at a decision; NaN where a number is not known."""

    hand: str
    frequencies: dict[str, float]  # action → probability
    evs: dict[str, float]  # action → EV, in the unit of the decision
    ev: float  # of the strategy
    equity: float
    reach: float  # with which it gets here


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """Both players' hands at a node, and the A actions of the player who acts there.

    A player has H hands: the combos of his range that the board leaves, numbered by `combos`, or
    the 169 hand classes. `strategy` is [A, H], `action_evs` too; `reach`, `evs()` and `equity()`
    are [H] and `taken` is [A]. `hand("AKs")` names the numbers of one hand, `frame()` is a table
    of all. Unknown numbers are NaN.
    """

    line: str
    board: tuple[int, ...]
    street: Street
    unit: Unit
    pot: float  # everything in the middle, uncalled bets included
    stacks: tuple[float, float]  # what OOP and IP have left
    paid: tuple[float, float]  # put in by OOP and IP since the solution starts
    hands: tuple[Hands, Hands]  # of OOP and IP
    deal: Callable[[], float]  # pairs of combos of both starting ranges on this board
    equate: Callable[[], Pair]  # both players' equities, computed when needed
    evaluate: Callable[[], Evs]  # likewise: EVs may take a while
    actor: Player | None = None  # the player who acts; None: a card is dealt, or the hand has ended
    to_call: float = 0
    actions: tuple[str, ...] = ()  # [A]: as in a line: "x", "b33", "r2.5", "b50%", "a"
    labels: tuple[str, ...] = ()  # [A]: in words: "bet 33 (33 %)"
    strategy: Floats = field(default_factory=lambda: NONE)  # [A, H]: probabilities
    settled: Flags = field(default_factory=lambda: NOWHERE)
    """[A]: whether no decision follows an action."""
    locked: Flags = field(default_factory=lambda: NOWHERE)
    """[H]: whether the strategy is locked; empty in games without locks."""
    alike: tuple[Longs, Longs] | None = None
    """[H] of OOP and IP: hands with the same number play alike here; None: no two do."""
    notes: tuple[str, ...] = ()  # needed to read the numbers correctly
    over_hand: bool = False  # whether EVs are results of the whole hand, not from here on

    @property
    def player(self) -> Player:
        """The player who acts."""
        if self.actor is None:
            raise InputError(f"line '{self.line}': no player acts there: say OOP or IP")
        return self.actor

    @property
    def seat(self) -> str:
        """The usual name of the player who acts."""
        return self.unit.seats[self.player]

    @property
    def own(self) -> Hands:
        """The hands of the player who acts."""
        return self.hands[self.player]

    def _hands(self, player: Player | None) -> Hands:
        return self.own if player is None else self.hands[player]

    @property
    def by_combo(self) -> bool:
        """Whether hands are combos, not the 169 classes."""
        return self.hands[0].combos is not None

    @property
    def combos(self) -> Longs:
        """[H]: the combos of the player who acts."""
        if self.own.combos is None:
            raise InputError("hands are the 169 classes here: `cards.HAND_NAMES` names them")
        return self.own.combos

    @property
    def reach(self) -> Floats:
        """[H]: range weight times the own actions so far, of the player who acts."""
        return self.own.reach

    @cached_property
    def share(self) -> float:
        """The share of all hands on this board that get here."""
        pairs = self.deal()
        self._let_go(deal=lambda: pairs)
        return float(self.hands[self.actor or Player.OOP].weights.sum()) / pairs

    def _let_go(self, **values: Callable[[], Any]) -> None:
        """Replace functions by their values: a function keeps megabytes of its flop alive."""
        for name, function in values.items():
            object.__setattr__(self, name, function)

    @property
    def is_rare(self) -> bool:
        """Whether play hardly ever gets here."""
        return self.share < RARE_SHARE

    @cached_property
    def line_reach(self) -> LineReach:
        """The share of both starting ranges that gets here, and to each action."""
        oop, ip = (hands.size / hands.start for hands in self.hands)
        taken = np.zeros(0)
        if self.actor is not None:
            own = self.own
            taken = np.nan_to_num(self.strategy) @ (own.reach * own.counts / own.start)
        return LineReach((oop, ip), taken, self.settled)

    @property
    def reached(self) -> bool:
        """Whether enough of both ranges gets here for strategies and EVs to have been learned."""
        return self.line_reach.reached

    @property
    def known_actions(self) -> Flags:
        """[A]: whether the EV of each action was learned."""
        return self.line_reach.known

    def why_not(self) -> str:
        """Why nothing was learned here; "" where it was."""
        return self.line_reach.why_not(self.unit.seats)

    @cached_property
    def learned(self) -> Evs:
        """EVs as far as they were learned."""
        if not self.reached:
            return Evs.unknown(self.hands, self.strategy)
        evs, known = self.evaluate(), self.known_actions
        self._let_go(evaluate=lambda: evs)
        if self.actor is None:
            return evs
        taken = None if evs.taken is None else np.where(known, evs.taken, np.nan)
        actions = np.where(known[:, None], evs.actions, np.nan)
        return Evs(evs.hands, actions, taken, evs.ranges)

    @property
    def known(self) -> bool:
        """Whether there are EVs at all."""
        return any(bool(np.isfinite(evs).any()) for evs in self.learned.hands)

    @property
    def action_evs(self) -> Floats:
        """[A, H]: EV of each action."""
        return self.learned.actions

    def evs(self, player: Player | None = None) -> Floats:
        """[H]: EV of each hand of a player, by default of the player who acts."""
        return self.learned.hands[self.player if player is None else player]

    def ev(self, player: Player | None = None) -> float:
        """EV of a player's whole range, by default of the player who acts."""
        known = self.learned.ranges[self.player if player is None else player]
        return self.mean(self.evs(player), player) if known is None else known

    @cached_property
    def equities(self) -> Pair:
        """[H] of OOP and IP: share of the pot if all cards were dealt now, ties split."""
        shares = self.equate()
        self._let_go(equate=lambda: shares)
        return shares

    def equity(self, player: Player | None = None) -> Floats:
        """[H]: equity of each hand of a player, by default of the player who acts."""
        return self.equities[self.player if player is None else player]

    def eqr(self, player: Player, evs: Floats, equity: Floats) -> Floats:
        """EV from here on over equity times pot."""
        return realised(evs + self.paid[player] * self.over_hand, equity, self.pot)

    def whole_hand(self) -> "Decision":
        """The same with results of the whole hand: chips that were put in count as lost."""
        if self.over_hand:
            return self
        lost = -self.paid[0], -self.paid[1]
        return replace(
            self, over_hand=True, evaluate=lambda: self.evaluate().plus(lost, self.actor)
        )

    @property
    def sign(self) -> str:
        """The format of EVs: with a sign where they are results, which are often losses."""
        return "+" if self.over_hand else ""

    @property
    def counted(self) -> str:
        """The start from which EVs count, in words."""
        return counted_text(over_hand=self.over_hand)

    def mean(self, values: Floats, player: Player | None = None) -> float:
        """The mean of values [H] over a player's range here, as it meets the opponent's."""
        return self._hands(player).mean(values)

    def cells(self, values: Floats, player: Player | None = None, *, evs: bool = False) -> Floats:
        """[169]: values [H] averaged over the combos of each class; NaN where there are none."""
        return self._hands(player).cells(values, evs=evs)

    @cached_property
    def taken(self) -> Floats:
        """[A]: the frequency of each action over the whole range."""
        return np.array([self.mean(chances) for chances in self.strategy])

    def frequencies(self) -> dict[str, float]:
        """Action → its frequency over the whole range."""
        return dict(zip(self.actions, self.taken.tolist(), strict=True))

    def taken_evs(self) -> Floats:
        """[A]: mean EV of the hands that take each action; NaN if hardly any does."""
        # Where the combos of a class play differently, those that gain by an action take it.
        means = self.learned.taken
        if means is None:
            rows = zip(self.action_evs, self.strategy, strict=True)
            means = np.array([self.own.mean(evs, chances) for evs, chances in rows])
        return np.where(often_taken(self.taken), means, np.nan)

    def range_evs(self) -> Floats:
        """[A]: EV of each action for the whole range, if all of its hands took it.

        The opponent answers as he does to the hands that take it now.
        """
        return np.array([self.mean(evs) for evs in self.action_evs])

    def hand(self, name: str) -> "HandPlay":
        """Frequencies, EVs and equity of a class ("AKs", "77") or of two cards ("AhKs").

        Where hands are classes, two cards are read as theirs; where they are combos, a class plays
        the mean of its combos.
        """
        text, rows = name.strip(), [*self.strategy, *self.action_evs, self.evs(), self.equity()]
        if self.by_combo and len(text) >= 4:
            columns = np.array(rows)[:, self.combos == parse_combo(text)]  # [2A + 2, 1], or none
            reach = self.reach[self.combos == parse_combo(text)]
        else:
            number = parse_hand(text) if len(text) < 4 else int(HAND_OF_COMBO[parse_combo(text)])
            count = len(self.actions)
            cells = [self.cells(row, evs=index >= count) for index, row in enumerate(rows)]
            columns = np.array([row[number] for row in cells])[:, None]
            reach = self.reach_cells(self.player)[[number]]
        if not columns.size or np.isnan(columns[: len(self.actions)]).any():
            if self.by_combo:
                fits = len(text) < 4 or live_combos(self.board)[parse_combo(text)]
                held = "" if fits else f": it contains a card of the board {cards_text(self.board)}"
                raise InputError(f"{name} is not in the range that gets here{held}")
            raise InputError(f"{name} does not fit beside the flop {cards_text(self.board)}")
        numbers = columns[:, 0].tolist()
        chances, evs = numbers[: len(self.actions)], numbers[len(self.actions) : -2]
        return HandPlay(
            hand=text,
            frequencies=dict(zip(self.actions, chances, strict=True)),
            evs=dict(zip(self.actions, evs, strict=True)),
            ev=numbers[-2],
            equity=numbers[-1],
            reach=float(reach[0]),
        )

    def class_counts(self) -> Floats:
        """[169]: the combos of each class that the board leaves."""
        return hand_combos(self.board).astype(np.float64) if self.by_combo else self.hands[0].counts

    def reach_cells(self, player: Player) -> Floats:
        """[169]: the mean weight with which the combos of a class get here."""
        hands = self.hands[player]
        if hands.combos is None:
            return hands.reach
        return np.nan_to_num(quotient(class_sums(hands.classes, hands.reach), self.class_counts()))

    def combo_weights(self, player: Player, action: int | None = None) -> Floats:
        """[1326]: the weight of every unblocked combo, all of it or the part that acts so."""
        hands = self.hands[player]
        weights = hands.reach
        if action is not None:
            weights = weights * np.nan_to_num(self.strategy[action])
        if hands.combos is None:
            return np.asarray(weights[HAND_OF_COMBO], np.float64)
        by_combo = np.zeros(COMBO_COUNT)
        by_combo[hands.combos] = weights
        return by_combo

    @property
    def shown_reach(self) -> Floats:
        """[169]: how full a class is drawn: the share that gets here, or 1 if none does."""
        reach: Floats = np.minimum(self.reach_cells(self.player), 1.0)
        if self.by_combo or reach.max() >= RARE_REACH:
            return reach
        return (self.class_counts() > 0).astype(np.float64)

    def shown_strategy(self) -> Floats:
        """[A, 169]: the strategy by class, NaN for classes that are not drawn."""
        cells = np.array([self.cells(chances) for chances in self.strategy])
        return cells if self.by_combo else np.where(self.shown_reach >= LEAST_SHOWN, cells, np.nan)

    def locked_cells(self) -> Floats:
        """[169]: the share of a class's combos with a locked strategy."""
        if not len(self.locked):
            return np.zeros(HAND_COUNT)
        classes = self.own.classes
        locked = class_sums(classes, self.locked.astype(np.float64))
        return np.nan_to_num(quotient(locked, class_sums(classes, np.ones(len(classes)))))

    def table(self) -> list[dict[str, Any]]:
        """One row per hand: reach, EV, each action's probability and EV; of combos also equity."""
        return hand_rows(self)

    def frame(self) -> Any:
        """`table` as a pandas.DataFrame."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError("frame() needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.table())

    def __repr__(self) -> str:
        """One line: the node, the player, the actions."""
        return f"<Decision {decision_line(self)}>"

    def __str__(self) -> str:
        """Some lines: the node, the player, the frequency and EV of each action."""
        return decision_text(self)

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        return decision_html(self)


@dataclass(frozen=True, eq=False)
class OnBoard:
    """A decision on one board of many."""

    weight: float  # boards that this one stands for
    node: Decision


@lru_cache(CACHED_BETTING)
def betting_at(tree: BettingTree, node: int, unit: Unit) -> dict[str, Any]:
    """The betting at a node, as keys of a `Decision`."""
    oop, ip = (unit.amount(tree.stack_at(node, player)) for player in Player)
    betting: dict[str, Any] = {
        "street": Street(int(tree.street[node])),
        "unit": unit,
        "pot": unit.amount(tree.pot_at(node)),
        "stacks": (oop, ip),
    }
    if tree.kind[node] == NodeKind.DECISION:
        children = tree.children_of(node).tolist()
        betting |= {
            "actor": tree.player_at(node),
            "to_call": unit.amount(tree.to_call_at(node)),
            "actions": tuple(action_word(tree, child, unit.notation) for child in children),
            "labels": tuple(action_label(tree, child, unit.notation) for child in children),
            "settled": settled_actions(tree, node),
        }
    return betting

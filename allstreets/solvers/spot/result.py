"""A solved spot, node by node: strategy, EV, equity and reach of every combo."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import Line, NodeKind, Player, parse_line
from allstreets.betting.lines import action_label, action_text
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO, cards_text, combo_text
from allstreets.cards.combos import COMBO_MASKS
from allstreets.cards.matchups import matchups
from allstreets.solvers.reached import LineReach, often_taken, settled_actions
from allstreets.solvers.spot.html import node_html, result_html
from allstreets.solvers.spot.spot import Spot
from allstreets.solvers.spot.stored import StreetNumbers
from allstreets.solvers.spot.words import node_text, result_line, result_text
from allstreets.subgames.exact_view import NodeNumbers

if TYPE_CHECKING:
    from allstreets.solvers.spot.solver import SpotSolver

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

KEPT_STREETS = 16  # boards whose numbers stay in memory: of a big spot, megabytes each


@dataclass(frozen=True, repr=False)
class NodeResult:
    """One decision node on one board. H are the acting player's hands; NaN = no such number.

    EVs are in chips from here on: folding is 0, and both players' EVs sum to the pot (less rake).
    Where a hand cannot meet another one, and where EVs were never learned, they are NaN: `reached`
    tells it of the node, `known_actions` of what follows, and `solvers.reached` what that means.
    """

    line: str
    board: tuple[int, ...]
    pot: float
    to_call: float
    numbers: NodeNumbers
    actions: tuple[str, ...]  # [A]: as in a line: "x", "b33", "r120", "a"
    labels: tuple[str, ...]  # [A]: for people: "bet 33 (33 %)"
    offsets: tuple[float, float]  # what is added to a result to count from here on
    starts: tuple[float, float]  # combos of OOP's and IP's starting range that this board leaves
    settled: Bools  # [A]: whether nothing is chosen any more after an action
    locked: Bools  # [H]: whose strategy here was given, not found
    behind: str = ""  # what was assumed, where a line that nobody takes was solved by itself

    @cached_property
    def line_reach(self) -> LineReach:
        """How much of both starting ranges gets here, and on from here."""
        here = [float(one.sum()) for one in self.numbers.reach]
        return LineReach(
            (here[0] / self.starts[0], here[1] / self.starts[1]),
            self.strategy @ self.reach / self.starts[self.player],
            self.settled,
        )

    @property
    def reached(self) -> bool:
        """Whether enough of both ranges gets here for strategies and EVs to have been learned."""
        return self.line_reach.reached

    @property
    def known_actions(self) -> Bools:
        """[A]: whether the EV of each action was learned."""
        return self.line_reach.known

    @property
    def player(self) -> Player:
        """Who acts."""
        return self.numbers.player

    @property
    def combos(self) -> NDArray[np.int64]:
        """[H]: the acting player's combos."""
        return self.numbers.combos[self.player]

    @property
    def reach(self) -> Floats:
        """[H]: range weight times the player's own actions so far."""
        return self.numbers.reach[self.player]

    @property
    def strategy(self) -> Floats:
        """[A, H]: probabilities of the actions."""
        return self.numbers.strategy

    @property
    def action_evs(self) -> Floats:
        """[A, H]: EV of each action in chips; NaN where it was never learned."""
        evs = self.numbers.action_values + self.offsets[self.player]
        return np.where(self.known_actions[:, None], evs, np.nan)

    def evs(self, player: Player | None = None) -> Floats:
        """[H]: EV in chips of each hand of a player, by default of the one who acts."""
        who = self.player if player is None else player
        evs = self.numbers.values[who] + self.offsets[who]
        return evs if self.reached else np.full(len(evs), np.nan)

    @cached_property
    def equities(self) -> tuple[Floats, Floats]:
        """[H] of OOP and IP: share of the pot if all cards were dealt now, ties split."""
        combos, reach = self.numbers.combos, self.numbers.reach
        fits = (COMBO_MASKS[combos[0]][:, None] & COMBO_MASKS[combos[1]][None, :]) == 0
        shares = np.where(fits, matchups(self.board, *combos).equity, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = shares @ reach[1] / (fits @ reach[1])
            second = reach[0] @ np.where(fits, 1.0 - shares, 0.0) / (reach[0] @ fits)
        return first, second

    def equity(self, player: Player | None = None) -> Floats:
        """[H]: equity of each hand of a player, by default of the one who acts."""
        return self.equities[self.player if player is None else player]

    def total(self, values: Floats, player: Player | None = None) -> float:
        """The mean of `values` [H] over a player's range here, as it meets the other's."""
        who = self.player if player is None else player
        weights = self.numbers.reach[who] * self.numbers.met[who]
        live = weights > 0
        return float(values[live] @ weights[live] / weights.sum()) if live.any() else float("nan")

    def frequencies(self) -> Floats:
        """[A]: how often each action is taken over the whole range."""
        return np.array([self.total(row) for row in self.strategy])

    def taken_evs(self) -> Floats:
        """[A]: mean EV in chips of the hands that take each action; NaN if hardly any does."""
        taken = self.frequencies()
        rows = zip(self.strategy, self.action_evs, strict=True)
        won = np.array([self.total(chances * evs) for chances, evs in rows])
        none = np.full(len(taken), np.nan)
        means: Floats = np.divide(won, taken, out=none, where=often_taken(taken))
        return means

    def range_evs(self) -> Floats:
        """[A]: EV in chips of each action for the whole range, if all of its hands took it.

        The other player answers as he does to those that take it now.
        """
        return np.array([self.total(evs) for evs in self.action_evs])

    def by_hand(self, values: Floats) -> Floats:
        """[169]: values [H] averaged over each hand's combos by reach; NaN where none is held."""
        hands = HAND_OF_COMBO[self.combos]
        weights = np.where(np.isfinite(values), self.reach, 0.0)
        sums = np.bincount(hands, weights * np.nan_to_num(values), minlength=HAND_COUNT)
        counts = np.bincount(hands, weights, minlength=HAND_COUNT)
        means: Floats = np.divide(sums, counts, out=np.full(HAND_COUNT, np.nan), where=counts > 0)
        return means

    def table(self) -> list[dict[str, Any]]:
        """One row a combo: reach, equity, EV, EQR, and each action's probability and EV."""
        evs, equities = self.evs(), self.equity()
        rows = []
        for place, combo in enumerate(self.combos.tolist()):
            equity, ev = float(equities[place]), float(evs[place])
            row: dict[str, Any] = {
                "combo": combo_text(combo),
                "locked": bool(self.locked[place]),
                "reach": float(self.reach[place]),
                "equity": equity,
                "ev": ev,
                "eqr": ev / (equity * self.pot) if equity > 0 and self.pot else float("nan"),
            }
            for action, name in enumerate(self.actions):
                row[name] = float(self.strategy[action, place])
                row[f"ev_{name}"] = float(self.action_evs[action, place])
            rows.append(row)
        return rows

    def __repr__(self) -> str:
        """One line: where, who and what."""
        where = f"'{self.line.strip()}' on {cards_text(self.board)}"
        return f"<NodeResult {where}: {self.player.name} has {', '.join(self.actions)}>"

    def __str__(self) -> str:
        """Some lines: where, who, how often he does what, and what it is worth."""
        return node_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return node_html(self)


class SpotResult:
    """A solution that can be walked: `result.node("x b33 c | 7h | x")`."""

    def __init__(
        self,
        spot: Spot,
        view: Callable[[tuple[int, ...]], StreetNumbers],
        solver: "SpotSolver | None" = None,
    ) -> None:
        self.spot = spot
        self.solver = solver  # what the numbers come from, if they are not read from a file
        self._view = view
        self._streets: dict[tuple[int, ...], StreetNumbers] = {}
        self.exploitability = float("nan")  # fraction of the starting pot
        self.iterations = 0
        self.seconds = 0.0
        self.known_evs: tuple[float, float] | None = None  # as told by a file

    def street(self, cards: tuple[int, ...] = ()) -> StreetNumbers:
        """The street that is reached when `cards` have been dealt after the board."""
        found = self._streets.pop(cards, None) or self._view(cards)
        self._streets[cards] = found  # the last to be given up
        while len(self._streets) > KEPT_STREETS:
            del self._streets[next(iter(self._streets))]
        return found

    def node(self, line: str = "") -> NodeResult:
        """The decision that a line of actions and cards leads to; "" is the first one."""
        found = self.find(line)
        numbers = self.street(found.cards).node(found.node)
        return self.shown(line, found, numbers, self.starts(numbers))

    def find(self, line: str) -> Line:
        """The way to a decision."""
        tree = self.spot.tree
        found = parse_line(tree, line, board=self.spot.cards)
        if tree.kind[found.node] == NodeKind.CHANCE:
            raise InputError(f"'{line}': a card is dealt there: write '{line.strip()} | 7h |'")
        if tree.kind[found.node] != NodeKind.DECISION:
            raise InputError(f"'{line}': nobody acts there any more")
        return found

    def shown(
        self, line: str, found: Line, numbers: NodeNumbers, starts: tuple[float, float]
    ) -> NodeResult:
        """A decision with its numbers, which may come from elsewhere."""
        spot, tree, node = self.spot, self.spot.tree, found.node
        invested = tree.invested[node]
        half = spot.pot / 2
        return NodeResult(
            line=line,
            board=(*spot.cards, *found.cards),
            pot=tree.pot_at(node),
            to_call=tree.to_call_at(node),
            numbers=numbers,
            actions=tuple(action_text(action) for action in tree.actions_at(node)),
            labels=tuple(action_label(tree, child) for child in tree.children_of(node).tolist()),
            offsets=(half + float(invested[0]), half + float(invested[1])),
            starts=starts,
            settled=settled_actions(tree, node),
            locked=self._locked(node, found.cards)[numbers.combos[numbers.player]],
        )

    def starts(self, numbers: NodeNumbers) -> tuple[float, float]:
        """Combos of OOP's and IP's starting range that the board of a node leaves."""
        oop, ip = (
            float(one.weights[combos].sum())
            for one, combos in zip(self.spot.ranges, numbers.combos, strict=True)
        )
        return oop, ip

    def _locked(self, node: int, cards: tuple[int, ...]) -> Bools:
        """[1326]: whose strategy at a decision was given."""
        locks = [
            lock.weights > 0
            for lock in self.spot.locked_nodes
            if lock.node == node and lock.holds_on(cards)
        ]
        locked: Bools = np.any([np.zeros(COMBO_COUNT, np.bool_), *locks], axis=0)
        return locked

    @property
    def evs(self) -> tuple[float, float]:
        """Both players' expected share of the pot at the root, in chips."""
        if self.spot.tree.kind[0] != NodeKind.DECISION:  # all-in already
            found = self.solver.expected_values() if self.solver else self.known_evs
            if found is not None:
                return found
        root = self.node("")
        return root.total(root.evs(Player.OOP), Player.OOP), root.total(
            root.evs(Player.IP), Player.IP
        )

    def __repr__(self) -> str:
        """One line: which spot, and how well it is solved."""
        return f"<{type(self).__name__} {result_line(self)}>"

    def __str__(self) -> str:
        """Some lines: the spot, how well it is solved, what it is worth, and the first decision."""
        return result_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return result_html(self)

"""A solved spot, node by node: strategy, EV, equity and reach of every combo."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import NodeKind, Player, parse_line
from allstreets.betting.lines import action_label, action_text
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, combo_text
from allstreets.cards.combos import COMBO_MASKS
from allstreets.cards.matchups import matchups
from allstreets.solvers.spot.html import node_html, result_html
from allstreets.solvers.spot.spot import Spot
from allstreets.solvers.spot.stored import StreetNumbers
from allstreets.subgames.exact_view import NodeNumbers

if TYPE_CHECKING:
    from allstreets.solvers.spot.solver import SpotSolver

Floats = NDArray[np.float64]

KEPT_STREETS = 16  # boards whose numbers stay in memory: of a big spot, megabytes each


@dataclass(frozen=True)
class NodeResult:
    """One decision node on one board. H are the acting player's hands; NaN = cannot happen.

    EVs are in chips from here on: folding is 0, and both players' EVs sum to the pot (less rake).
    """

    line: str
    board: tuple[int, ...]
    pot: float
    to_call: float
    numbers: NodeNumbers
    actions: tuple[str, ...]  # [A]: as in a line: "x", "b33", "r120", "a"
    labels: tuple[str, ...]  # [A]: for people: "bet 33 (33 %)"
    offsets: tuple[float, float]  # what is added to a result to count from here on

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
        """[A, H]: EV of each action in chips."""
        return self.numbers.action_values + self.offsets[self.player]

    def evs(self, player: Player | None = None) -> Floats:
        """[H]: EV in chips of each hand of a player, by default of the one who acts."""
        who = self.player if player is None else player
        return self.numbers.values[who] + self.offsets[who]

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
        spot, tree = self.spot, self.spot.tree
        found = parse_line(tree, line, board=spot.cards)
        node = found.node
        if tree.kind[node] == NodeKind.CHANCE:
            raise InputError(f"'{line}': a card is dealt there: write '{line.strip()} | 7h |'")
        if tree.kind[node] != NodeKind.DECISION:
            raise InputError(f"'{line}': nobody acts there any more")
        invested = tree.invested[node]
        half = spot.pot / 2
        return NodeResult(
            line=line,
            board=(*spot.cards, *found.cards),
            pot=tree.pot_at(node),
            to_call=tree.to_call_at(node),
            numbers=self.street(tuple(found.cards)).node(node),
            actions=tuple(action_text(action) for action in tree.actions_at(node)),
            labels=tuple(action_label(tree, child) for child in tree.children_of(node).tolist()),
            offsets=(half + float(invested[0]), half + float(invested[1])),
        )

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

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return result_html(self)

"""One decision of a solved game by hand class: who acts, what he does, and what it is worth.

Amounts are in big blinds. EVs are results of the whole hand: what a player has put in before counts
as lost, so folding the small blind at once is −0.5 bb. NaN stands for what there is not: a hand
that does not fit beside the flop, or EVs that were never learned (see `solvers.reached`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import CHIPS_PER_BB, IP, OOP, BettingTree, Player, Street, neat
from allstreets.cards import HAND_NAMES, Flop
from allstreets.solvers.reached import Bools, LineReach, often_taken
from allstreets.solvers.words import mix_lines, number_text, percent_text

Floats = NDArray[np.float64]

RARE_SHARE = 1e-3  # of all hands: what is reached less often is hardly ever reached
RARE_REACH = 0.01  # where no hand gets this often, all are drawn
LEAST_SHOWN = 1e-3  # reach below which a hand is not drawn
SEATS = tuple(player.seat for player in Player)


@dataclass(frozen=True, eq=False)
class NodeEvs:
    """EVs in big blinds; all NaN where they are not known."""

    players: Floats  # [2, 169]
    actions: Floats  # [A, 169]: of the player who acts
    taken: Floats | None = None  # [A]: of the range that takes each; None: classes play alike

    @classmethod
    def unknown(cls, actions: int, hands: int = len(HAND_NAMES)) -> "NodeEvs":
        """Where nothing can be said."""
        return cls(np.full((2, hands), np.nan), np.full((actions, hands), np.nan))

    def learned(self, known: Bools) -> "NodeEvs":
        """Only what was learned: `known` [A] of the actions at a decision that is reached."""
        taken = None if self.taken is None else np.where(known, self.taken, np.nan)
        return NodeEvs(self.players, np.where(known[:, None], self.actions, np.nan), taken)


@dataclass(frozen=True, eq=False, repr=False)
class NodeView:
    """A decision before or after the flop."""

    line: str
    flop: Flop | None  # the canonical one; None before the flop
    street: Street
    player: Player
    pot: float  # bb in the middle, bets that nobody has called yet included
    stacks: tuple[float, float]  # bb that OOP and IP have left
    to_call: float  # bb
    actions: tuple[str, ...]  # [A]: as in a line: "f", "r2.5", "b50%", "a"
    labels: tuple[str, ...]  # [A]: for people: "raise to 2.5 bb", "bet 1.25 bb (50 %)"
    strategy: Floats  # [A, 169]: probabilities
    reach: Floats  # [2, 169]: chance of OOP and IP to play so far with each hand
    combos: Floats  # [169]: combos of each hand that fit beside the flop
    weights: Floats  # [2, 169]: pairs of combos, own hand and any of the other's, that get here
    dealt: float  # all pairs of combos: on this flop, or before it
    settled: Bools  # [A]: whether nothing is chosen any more after an action
    evaluate: Callable[[], NodeEvs]  # EVs may take a while: they are computed when asked for

    @cached_property
    def node_evs(self) -> NodeEvs:
        """EVs of both players and of every action, as far as they were learned."""
        if not self.reached:
            return NodeEvs.unknown(len(self.actions))
        return self.evaluate().learned(self.known_actions)

    @cached_property
    def line_reach(self) -> LineReach:
        """How much of both ranges, which start with every hand, gets here and on from here."""
        here = self.reach @ self.combos / self.combos.sum()
        own = self.reach[self.player] * self.combos / self.combos.sum()
        taken = np.nan_to_num(self.strategy) @ own
        return LineReach((float(here[0]), float(here[1])), taken, self.settled)

    @property
    def reached(self) -> bool:
        """Whether enough of both ranges gets here for strategies and EVs to have been learned."""
        return self.line_reach.reached

    @property
    def known_actions(self) -> Bools:
        """[A]: whether the EV of each action was learned."""
        return self.line_reach.known

    @property
    def evs(self) -> Floats:
        """[169]: EV in bb of each hand of the player who acts."""
        evs: Floats = self.node_evs.players[self.player]
        return evs

    @property
    def action_evs(self) -> Floats:
        """[A, 169]: EV in bb of each of his actions."""
        return self.node_evs.actions

    @property
    def share(self) -> float:
        """How often play gets here, of all hands (after the flop: of all that see this one)."""
        return float(self.weights[self.player].sum()) / self.dealt

    @property
    def known(self) -> bool:
        """Whether there are EVs at all."""
        return bool(np.isfinite(self.node_evs.players).any())

    def mean(self, values: Floats, player: Player | None = None) -> float:
        """The mean of `values` [169] over a player's range here, as it meets the other's."""
        weights = self.weights[self.player if player is None else player]
        live = (weights > 0) & np.isfinite(values)
        total = weights[live].sum()
        return float(values[live] @ weights[live] / total) if total > 0 else float("nan")

    def ev(self, player: Player | None = None) -> float:
        """EV in bb of a player's whole range, by default of the one who acts."""
        who = self.player if player is None else player
        return self.mean(self.node_evs.players[who], who)

    def frequencies(self) -> Floats:
        """[A]: how often each action is taken, over all combos that get here."""
        return np.array([self.mean(row) for row in self.strategy])

    def taken_evs(self) -> Floats:
        """[A]: mean EV in bb of the hands that take each action; NaN if hardly any does."""
        # A class whose combos play differently takes an action with those that it suits.
        means = self.node_evs.taken
        if means is None:
            rows = zip(self.strategy, self.action_evs, strict=True)
            means = np.array([self._mean_of_takers(chances, evs) for chances, evs in rows])
        return np.where(often_taken(self.frequencies()), means, np.nan)

    def range_evs(self) -> Floats:
        """[A]: EV in bb of each action for the whole range, if all of its hands took it.

        The other player answers as he does to those that take it now.
        """
        return np.array([self.mean(evs) for evs in self.action_evs])

    def _mean_of_takers(self, chances: Floats, evs: Floats) -> float:
        weights = np.nan_to_num(chances) * self.weights[self.player]
        live = (weights > 0) & np.isfinite(evs)
        total = float(weights[live].sum())
        return float(weights[live] @ evs[live]) / total if total > 0 else float("nan")

    def range_combos(self, player: Player) -> float:
        """How many combos of a player get here by his own actions."""
        return float(self.reach[player] @ self.combos)

    def hand(self, hand: int) -> dict[str, float]:
        """Action → probability of a hand."""
        return dict(zip(self.actions, self.strategy[:, hand].tolist(), strict=True))

    @property
    def is_rare(self) -> bool:
        """Whether play as good as never gets here."""
        return self.share < RARE_SHARE

    @property
    def shown_reach(self) -> Floats:
        """[169]: how full a hand is drawn: as far as it gets here, all of it if none does."""
        reach: Floats = np.minimum(self.reach[self.player], 1.0)
        return reach if reach.max() >= RARE_REACH else (self.combos > 0).astype(np.float64)

    def shown_strategy(self) -> Floats:
        """[A, 169]: the strategy, NaN for hands that are not drawn."""
        return np.where(self.shown_reach >= LEAST_SHOWN, self.strategy, np.nan)

    def __repr__(self) -> str:
        """One line: where, who and what."""
        return f"<NodeView '{self.line}': {self.player.seat} has {', '.join(self.actions)}>"

    def __str__(self) -> str:
        """Some lines: where, who, how often he does what, and what it is worth."""
        call = f", {self.to_call:g} bb to call" if self.to_call else ""
        among = "hands" if self.flop is None else "the hands that are dealt this flop"
        ranges = "; ".join(
            f"{player.seat} {self.range_combos(player):.1f} combos, "
            f"EV {number_text(self.ev(player), '+')} bb"
            for player in (Player.IP, Player.OOP)
        )
        where, why = self.line or "first decision", self.line_reach.why_not(SEATS)
        lines = [
            f"{where}: {self.player.seat} to act, pot {self.pot:g} bb{call}",
            f"{ranges}; reached in {percent_text(self.share, 2)} of {among}",
            *([why] if why else []),
            *mix_lines(
                self.labels,
                self.frequencies(),
                (self.taken_evs(), self.range_evs()),
                self.line_reach.action_notes(),
                lambda ev: number_text(ev, "+"),
            ),
        ]
        return "\n".join(lines)


def action_rows(node: NodeView) -> list[dict[str, Any]]:
    """One row an action: how often it is taken, its EV in bb for those hands and for the range.

    `ev_bb` is the mean over the hands that take it, where enough do; `known` tells whether EVs of
    the action were learned at all.
    """
    taken, evs, whole = node.frequencies(), node.taken_evs(), node.range_evs()
    return [
        {
            "action": word,
            "label": label,
            "frequency": float(taken[place]),
            "ev_bb": float(evs[place]),
            "ev_range_bb": float(whole[place]),
            "known": bool(node.known_actions[place]),
        }
        for place, (word, label) in enumerate(zip(node.actions, node.labels, strict=True))
    ]


def hand_rows(node: NodeView) -> list[dict[str, Any]]:
    """One row a hand that fits: combos, reach, EV in bb, and each action's probability and EV."""
    rows = []
    for hand, name in enumerate(HAND_NAMES):
        if not node.combos[hand]:
            continue
        row: dict[str, Any] = {
            "hand": name,
            "combos": round(float(node.combos[hand])),
            "reach": float(node.reach[node.player, hand]),
            "ev_bb": float(node.evs[hand]),
        }
        for place, word in enumerate(node.actions):
            row[word] = float(node.strategy[place, hand])
            row[f"ev_bb_{word}"] = float(node.action_evs[place, hand])
        rows.append(row)
    return rows


def player_rows(node: NodeView) -> list[dict[str, Any]]:
    """One row a player: combos and EV in bb of his range."""
    return [
        {"player": player.seat, "combos": node.range_combos(player), "ev_bb": node.ev(player)}
        for player in Player
    ]


def node_mapping(node: NodeView) -> dict[str, Any]:
    """Everything about a node as JSON data; a number that does not exist is None."""
    return {
        "line": node.line,
        "flop": node.flop.text if node.flop else None,
        "street": node.street.text,
        "player": node.player.seat,
        "pot_bb": node.pot,
        "stacks_bb": {player.seat: node.stacks[player] for player in Player},
        "to_call_bb": node.to_call,
        "share": node.share,
        "reached": node.reached,
        "players": [without_nan(row) for row in player_rows(node)],
        "actions": [without_nan(row) for row in action_rows(node)],
        "hands": [without_nan(row) for row in hand_rows(node)],
    }


def without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """A row with None in the place of numbers that do not exist."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in row.items()
    }


def in_bb(chips: float) -> float:
    """Chips of the whole game as big blinds."""
    return chips / CHIPS_PER_BB


def chips_at(tree: BettingTree, node: int, player: Player) -> dict[str, Any]:
    """Pot, stacks and what is to call at a node, in big blinds."""
    invested = tree.invested[node]
    return {
        "pot": in_bb(tree.pot_at(node)),
        "stacks": (in_bb(tree.stack_at(node, OOP)), in_bb(tree.stack_at(node, IP))),
        "to_call": in_bb(neat((invested[player.opponent] - invested[player]).item())),
    }

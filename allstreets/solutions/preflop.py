"""A solution of the betting before the flop: strategies and values of every node by hand class.

`PreflopSolution` holds the numbers, `PreflopResult` adds the facts of the run and the lines that
people write. A whole game is the same with flops below (`solutions.whole_game`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, require_shape
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Player,
    PreflopRules,
    WholeLine,
    bb_text,
    choices,
    line_text,
    paid_at,
    parse_line,
    split_line,
)
from allstreets.cards import HAND_NAMES, HAND_SIZES, preflop_class_equity
from allstreets.engines import CardModel
from allstreets.games import Lock, PreflopLock, Strategies
from allstreets.solutions.decision import BB, NOWHERE, Decision, Evs, betting_at
from allstreets.solutions.hands import Hands
from allstreets.solutions.records import OWN_GAME, Certificate, MadeSimple
from allstreets.solutions.spot import locks_text
from allstreets.solvers import PreflopCfr


@dataclass(frozen=True, eq=False)
class PreflopSolution:
    """Both players' strategies before the flop, and their values."""

    tree: BettingTree
    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    strategies: Strategies  # decision → [A, 169]
    values: NDArray[np.floating[Any]] | None
    """[2, N, 169]: chips times pairs of combos, both playing so; None: not known."""
    locks: Mapping[int, PreflopLock] = field(default_factory=dict)  # by decision

    @classmethod
    def of(cls, preflop: PreflopCfr, leaves: Floats | None) -> "PreflopSolution":
        """The averages of a solver; `leaves` [2, P, 169] are what its pots are worth then."""
        average = preflop.average()
        values = None
        if leaves is not None:
            values = np.stack(
                [
                    preflop.values(player, leaves[player], best=False, strategies=average)
                    for player in Player
                ]
            )
        game = preflop.game
        return cls(game.tree, game.pairs, average, values, game.locks)

    @classmethod
    def unpack(cls, tree: BettingTree, arrays: dict[str, NDArray[Any]]) -> "PreflopSolution":
        """What `arrays` holds."""
        strategies: Strategies = {}
        row = 0
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            actions = int(tree.child_count[node])
            strategies[node] = arrays["strategies"][row : row + actions]
            row += actions
        hands = len(HAND_SIZES)
        require_shape(arrays, "strategies", (row, hands))
        require_shape(arrays, "pairs", (hands, hands))
        if "values" in arrays:
            require_shape(arrays, "values", (2, tree.node_count, hands))
        return cls(tree, arrays["pairs"], strategies, arrays.get("values"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as plain arrays; the strategies of all decisions stand in pre-order."""
        rows = [self.strategies[node] for node in sorted(self.strategies)]
        arrays: dict[str, NDArray[Any]] = {
            "strategies": np.concatenate([np.zeros((0, len(HAND_SIZES))), *rows]),
            "pairs": self.pairs,
        }
        if self.values is not None:
            arrays["values"] = self.values.astype(np.float32)
        return arrays

    @cached_property
    def reach(self) -> Floats:
        """[N, 2, 169]: both players' chance of playing to each node, by hand."""
        tree = self.tree
        reach = np.ones((tree.node_count, 2, len(HAND_SIZES)))
        for node in sorted(self.strategies):
            children = tree.children_of(node)
            reach[children] = reach[node]
            reach[children, tree.player[node]] *= self.strategies[node]
        return reach

    def node(self, node: int) -> Decision:
        """A node of the tree: a decision, the deal of a flop, or the end of a hand."""
        tree, reach = self.tree, self.reach[node]
        met: Floats = reach[::-1] @ self.pairs  # [2, 169]: the other's combos beside each hand
        sizes = HAND_SIZES.astype(np.float64)
        oop, ip = (
            Hands(None, sizes, reach[one], reach[one] * met[one], float(sizes.sum()))
            for one in Player
        )
        paid = paid_at(tree, tree.pot, node)
        return Decision(
            line=line_text(tree, node, notation=BIG_BLINDS),
            board=(),
            **betting_at(tree, node, BB),
            paid=(BB.amount(paid[0]), BB.amount(paid[1])),
            hands=(oop, ip),
            deal=lambda: float(self.pairs.sum()),
            equate=lambda: preflop_class_equity(self.pairs, reach),
            evaluate=lambda: self._evs(node, (oop, ip), met),
            strategy=self.strategies.get(node, np.zeros((0, len(sizes)))),
            locked=self.locks[node].held if node in self.locks else NOWHERE,
        )

    def _evs(self, node: int, hands: tuple[Hands, Hands], met: Floats) -> Evs:
        """EVs in big blinds; `met` [2, 169] are the other's combos beside each hand."""
        tree = self.tree
        children = tree.children_of(node)
        if self.values is None:
            return Evs.unknown(hands, np.zeros((len(children), len(HAND_SIZES))))
        unit = np.where(met > 0, met, np.nan) * CHIPS_PER_BB
        oop, ip = self.values[:, node] / unit
        player = max(int(tree.player[node]), 0)
        return Evs((oop, ip), self.values[player, children] / unit[player])


Mix = dict[str, float]  # action → probability


@dataclass(frozen=True)
class SolutionFacts:
    """The figures of a solution as a whole, in mbb/hand; None = not known."""

    iterations: int
    algorithm: str
    exploitability: float | None  # of the whole game
    preflop_exploitability: float | None = None  # best response before the flop only
    values: tuple[float, float] | None = None  # of the game for OOP (big blind) and IP
    cards: CardModel | None = None  # None: no flops are played
    memory: str | None = None  # where regrets lived: resident, memmap, values
    seed: int = 1
    seconds: float = 0.0
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[Mapping[str, Any], ...] = ()
    name: str | None = None
    description: str | None = None
    certificate: Certificate | None = None  # what it is worth with real cards
    simplified: MadeSimple | None = None  # what it was made from, where it was made simple

    @property
    def judged(self) -> str:
        """By which best response exploitability was found: "in its own game"."""
        return OWN_GAME if self.simplified is None else self.simplified.judged


class PreflopResult:
    """A solution of the betting before the flop."""

    def __init__(self, rules: PreflopRules, before: PreflopSolution, facts: SolutionFacts) -> None:
        self.rules, self.before, self.facts = rules, before, facts

    def __repr__(self) -> str:
        """One line: which game, and how well it is solved."""
        return f"<{type(self).__name__} {self._line()}>"

    def __str__(self) -> str:
        """Some lines: the game, how well it is solved, what it is worth, and the first decision."""
        lines = [self._line()]
        if self.values is not None:
            lines.append("worth {:+.1f} mbb/hand to BB, {:+.1f} to SB".format(*self.values))
        lines += [locks_text(self.lock)] if self.lock else []
        if self.before.tree.kind[0] == NodeKind.DECISION:
            lines += ["", str(self.node(""))]
        return "\n".join(lines)

    def _line(self) -> str:
        error = self.exploitability
        quality = (
            "exploitability unknown" if error is None else f"exploitable for {error:.3g} mbb/hand"
        )
        name = f"{self.facts.name}: " if self.facts.name else ""
        made = self.facts.simplified
        how = "" if made is None else f", {made.head}"
        return (
            f"{name}{bb_text(self.rules.stack)} bb deep{self._flops_text()}{how}, {quality} after "
            f"{self.iterations:,} iterations"
        )

    def _flops_text(self) -> str:
        return ", betting before the flop"

    @property
    def lock(self) -> tuple[Lock, ...]:
        """The strategies that were given, not found."""
        return tuple(Lock.from_mapping(lock) for lock in self.facts.config.get("lock") or ())

    @property
    def exploitability(self) -> float | None:
        """Mean of both players' best-response gains in mbb/hand; None: not known."""
        return self.facts.exploitability

    @property
    def values(self) -> tuple[float, float] | None:
        """What the game is worth to OOP (big blind) and IP (small blind), in mbb/hand."""
        return self.facts.values

    @property
    def iterations(self) -> int:
        """Iterations that were run."""
        return self.facts.iterations

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One row per check of the run: pandas.DataFrame(result.metrics) is a table."""
        return [dict(row) for row in self.facts.metrics]

    def node(self, line: str = "", flop: str | None = None) -> Decision:
        """The decision that a line leads to; "" is the small blind's first one."""
        found = split_line(line, self.read_root, flop)
        node = found.root
        kind = self.before.tree.kind[node]
        if kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise InputError(f"line '{line}': no player acts there any more")
        if kind == NodeKind.CHANCE:
            return self._after_the_flop(found, line)
        if found.after is not None or found.flop is not None:
            what = f"the flop {found.cards}" if found.cards else "what follows the bar"
            raise InputError(
                f"line '{found.before}' ends before the flop: leave {what} out, or go on "
                "until the flop is dealt"
            )
        return self.before.node(node)

    def read_root(self, words: str) -> int:
        """The node that words before the flop lead to."""
        return parse_line(self.before.tree, words, notation=BIG_BLINDS).node

    def opening_lines(self) -> list[str]:
        """The lines to the small blind's first decision and to the answer to his usual raise."""
        tree = self.before.tree
        if tree.kind[0] != NodeKind.DECISION:
            return []
        taken = self.before.strategies[0] @ HAND_SIZES  # [A] combos that take each action
        raised = [
            (float(taken[place]), child)
            for place, (child, action) in enumerate(choices(tree, 0))
            if action.is_aggressive and tree.kind[child] == NodeKind.DECISION
        ]
        usual = [max(raised)[1]] if raised else []
        return [line_text(tree, node, notation=BIG_BLINDS) for node in (0, *usual)]

    def _after_the_flop(self, found: WholeLine[int], line: str) -> Decision:
        del found
        raise InputError(
            f"line '{line}' goes on after the flop, and this solution ends there; a solution of "
            "the whole game knows what follows"
        )

    @overload
    def strategy(
        self, line: str = "", flop: str | None = None, hand: None = None
    ) -> dict[str, Mix]: ...

    @overload
    def strategy(self, line: str = "", flop: str | None = None, *, hand: str) -> Mix: ...

    @overload
    def strategy(self, line: str, flop: str | None, hand: str) -> Mix: ...

    def strategy(
        self, line: str = "", flop: str | None = None, hand: str | None = None
    ) -> dict[str, Mix] | Mix:
        """Action → probability of a hand ("AKs", "77", "AhKs"), or hand → action → probability.

        Two cards are read as their class; on a flop with real combos they are that combo.
        """
        node = self.node(line, flop)
        if hand is not None:
            return self._mix(node, line, flop, hand)
        held = node.class_counts()
        return {name: node.hand(name) for place, name in enumerate(HAND_NAMES) if held[place]}

    def _mix(self, node: Decision, line: str, flop: str | None, hand: str) -> Mix:
        del line, flop
        return node.hand(hand)

"""A solution of the betting before the flop that can be walked: `result.node("r2.5")`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    NodeKind,
    PreflopRules,
    WholeLine,
    bb_text,
    choices,
    line_text,
    parse_line,
    split_line,
)
from allstreets.cards import HAND_NAMES, HAND_SIZES
from allstreets.engines import CardModel
from allstreets.games import Lock
from allstreets.solvers.certificate import Certificate
from allstreets.solvers.decision import Decision
from allstreets.solvers.preflop.solution import PreflopSolution
from allstreets.solvers.simplified import OWN_GAME, MadeSimple
from allstreets.solvers.spot.format import locks_text

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

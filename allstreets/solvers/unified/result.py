"""A solved game that can be walked: `result.node("r2.5 c | AhKd7s | x b50%")`.

`PreflopResult` ends where the flop is dealt. `UnifiedResult` goes on to the river, on every flop of
its set; a flop may be spelled with any suits.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from allstreets.base import InputError
from allstreets.base.files import Arrays
from allstreets.betting import (
    FlopPot,
    NodeKind,
    PreflopRules,
    Street,
    bb_text,
    flop_pots,
    parse_preflop_line,
    preflop_line_text,
)
from allstreets.betting.lines import choices
from allstreets.cards import (
    COMBO_PERMUTATIONS,
    HAND_NAMES,
    HAND_OF_COMBO,
    HAND_SIZES,
    CanonicalFlop,
    Flop,
    parse_combo,
    parse_hand,
)
from allstreets.cards.card import card_rank
from allstreets.solvers.class_node import NodeView
from allstreets.solvers.flops.hands import CardModel, live
from allstreets.solvers.flops.strategies import Floats, FlopStrategies
from allstreets.solvers.flops.view import FlopView, HandTotals
from allstreets.solvers.preflop.solution import PreflopSolution
from allstreets.solvers.spot.stored import street_nodes
from allstreets.solvers.unified.game import PotGame, UnifiedGame
from allstreets.solvers.unified.kept import Kept
from allstreets.solvers.unified.lines import (
    WholeLine,
    find_postflop,
    postflop_line,
    split_line,
    whole_line,
)
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.solvers.unified.source import Row, SolutionFacts, SolverSource, UnifiedSource

NEAR = 3  # flops that are named in the place of one that is not there

Mix = dict[str, float]  # action → probability


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
        if self.before.tree.kind[0] == NodeKind.DECISION:
            lines += ["", str(self.node(""))]
        return "\n".join(lines)

    def _line(self) -> str:
        error = self.exploitability
        quality = (
            "exploitability unknown" if error is None else f"exploitable for {error:.3g} mbb/hand"
        )
        name = f"{self.facts.name}: " if self.facts.name else ""
        return (
            f"{name}{bb_text(self.rules.stack)} bb deep{self._flops_text()}, {quality} after "
            f"{self.iterations:,} iterations"
        )

    def _flops_text(self) -> str:
        return ", betting before the flop"

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
        """One row a check of the run: pandas.DataFrame(result.metrics) is a table."""
        return [dict(row) for row in self.facts.metrics]

    def node(self, line: str = "", flop: str | None = None) -> NodeView:
        """The decision that a line leads to; "" is the small blind's first one."""
        found = split_line(line, flop)
        node = parse_preflop_line(self.before.tree, found.before)
        kind = self.before.tree.kind[node]
        if kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise InputError(f"line '{line}': nobody acts there any more")
        if kind == NodeKind.CHANCE:
            return self._after_the_flop(node, found, line)
        if found.after is not None or found.flop is not None:
            what = f"the flop {found.cards}" if found.cards else "what follows the bar"
            raise InputError(
                f"line '{found.before.strip()}' ends before the flop: leave {what} out, or go on "
                "until the flop is dealt"
            )
        return self.before.node(node)

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
        return [preflop_line_text(tree, node) for node in (0, *usual)]

    def _after_the_flop(self, node: int, found: WholeLine, line: str) -> NodeView:
        del node, found
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
        return {
            name: node.hand(place) for place, name in enumerate(HAND_NAMES) if node.combos[place]
        }

    def _mix(self, node: NodeView, line: str, flop: str | None, hand: str) -> Mix:
        del line, flop
        place = read_hand(hand)
        if not node.combos[place]:
            raise InputError(f"{hand} does not fit beside the flop {node.flop and node.flop.text}")
        return node.hand(place)


class UnifiedResult(PreflopResult):
    """A solved whole game."""

    def __init__(self, game: UnifiedGame, source: UnifiedSource, facts: SolutionFacts) -> None:
        super().__init__(game.preflop, source.before, facts)
        self.game, self.source = game, source
        self.cards = CardModel.parse(facts.cards or "classes")
        self._pots: dict[int, PotGame] = {}

    @classmethod
    def of(cls, solver: UnifiedSolver, kept: Kept | None = None, **facts: Any) -> "UnifiedResult":
        """The solution that a solver holds, without files; `facts` such as seconds and name.

        It is what a bundle would keep; `kept` is what `keep` found, where that was done already.
        """
        source = SolverSource(solver, kept)
        return cls(solver.game, source, source.facts(**facts))

    def _flops_text(self) -> str:
        flops = len(self.game.flops.flops)
        return f", {flops:,} flop{'s' * (flops != 1)}, {self.facts.cards or 'classes'}"

    @property
    def preflop_exploitability(self) -> float | None:
        """What best responses before the flop alone would gain, in mbb/hand."""
        return self.facts.preflop_exploitability

    @property
    def flops(self) -> list[Row]:
        """One row a flop: pandas.DataFrame(result.flops) is a table.

        weight: how many of the 22,100 flops it stands for; share: of all hands that see a flop, who
        see this one; exploitability_pct: of its pots, given the ranges that get there; ev_oop_bb,
        ev_ip_bb: mean results of the hands that see it.
        """
        return [
            {
                "flop": flop.text,
                "suits": flop.texture.suits,
                "pairing": flop.texture.pairing,
                "high_card": flop.texture.high_card,
                "connectedness": flop.texture.connectedness,
                **{key: value for key, value in row.items() if key != "flop"},
            }
            for flop, row in zip(self.game.flops.flops, self.source.rows, strict=True)
        ]

    @property
    def has_flops(self) -> bool:
        """Whether strategies after the flop are there."""
        return self.cards.is_kept

    def flop_table(self, line: str) -> list[Row]:
        """One row a flop: how often play gets to a decision after it, and what is done there.

        reached: whether enough of both ranges gets there for that to have been learned.
        """
        rows: list[Row] = []
        for flop in self.game.flops.flops:
            node = self.node(line, flop.text)
            taken = node.frequencies().tolist()
            rows.append(
                {
                    "flop": flop.text,
                    "suits": flop.texture.suits,
                    "pairing": flop.texture.pairing,
                    "high_card": flop.texture.high_card,
                    "weight": float(self.game.flops.weights[len(rows)]),
                    "share": node.share,
                    "reached": node.reached,
                    **dict(zip(node.actions, taken, strict=True)),
                }
            )
        return rows

    def flop_lines(self) -> list[str]:
        """The lines to all pots that see a flop, the most frequent first."""
        before, tree = self.before, self.game.tree
        seen = {
            pot.node: float(before.reach[pot.node, 0] @ before.pairs @ before.reach[pot.node, 1])
            for pot in self._flop_pots
        }
        return [preflop_line_text(tree, node) for node in sorted(seen, key=lambda n: -seen[n])]

    def values_at(self, flop: str) -> Floats:
        """[2, P, 169]: both players' values at the root of every pot on a flop.

        Totals over a class's combos and all of the other's, in chips times pairs of combos.
        """
        self._require_flops()
        found = split_line("", flop).flop
        assert found is not None
        return self.source.arrays(self._place(found, flop))["values"].astype(np.float64)

    def pot(self, number: int) -> PotGame:
        """What the pot with this number becomes after the flop; trees are built when needed."""
        if number not in self._pots:
            self._pots[number] = self.game.after_the_flop(self._flop_pots[number])
        return self._pots[number]

    def flop_view(self, place: int, number: int) -> FlopView:
        """The pot with this number on the flop at this place of the set."""
        self._require_flops()
        pot = self.pot(number)
        return self._flop_view(place, number, pot, pot.pot.node)

    def _after_the_flop(self, node: int, found: WholeLine, line: str) -> NodeView:
        view, inside = self._view(node, found, line)
        text = whole_line(self.game.tree, node, found.cards, postflop_line(view.pot.tree, inside))
        return view.node(inside, text)

    def _view(self, node: int, found: WholeLine, line: str) -> tuple[FlopView, int]:
        """The pot on the flop that a line leads to, and the decision in its tree."""
        self._require_flops()
        if found.flop is None:
            raise InputError(
                f"line '{line}': a flop is dealt there; name one, such as "
                f"{self.game.flops.flops[0].text}"
            )
        place = self._place(found.flop, found.cards)
        number = [pot.node for pot in self._flop_pots].index(node)
        pot = self.pot(number)
        inside = find_postflop(pot.tree, found.after or "")
        street = Street(int(pot.tree.street[inside]))
        if street > self.cards.last_street:
            raise InputError(
                f"line '{line}': with cards: {self.cards.kind} the {street.text} is not kept, only "
                f"what is decided on the {self.cards.last_street.text}"
            )
        return self._flop_view(place, number, pot, node), inside

    def _flop_view(self, place: int, number: int, pot: PotGame, node: int) -> FlopView:
        arrays = self.source.arrays(place)
        streets = self.cards.streets
        stored = tuple(arrays[f"strategy.{number}.{stage}"] for stage in range(len(streets)))
        flop = self.game.flops.flops[place]
        return FlopView(
            pot=pot,
            flop=flop,
            hands=self.cards.hands(flop, arrays.get("held")),
            kept=FlopStrategies(pot.tree, streets, stored),
            reach=self.before.reach[node],
            evaluate=_KeptEvs(pot, number, arrays) if f"evs.{number}" in arrays else None,
        )

    def _mix(self, node: NodeView, line: str, flop: str | None, hand: str) -> Mix:
        if self.cards.kind != "exact" or node.flop is None or len(hand) < 4:
            return super()._mix(node, line, flop, hand)
        found = split_line(line, flop)
        assert found.flop is not None
        combo = int(COMBO_PERMUTATIONS[found.flop.permutation][parse_combo(hand)])
        places = np.flatnonzero(live(node.flop) == combo)
        if not len(places):
            raise InputError(f"{hand} holds a card of the flop {found.cards}")
        root = parse_preflop_line(self.before.tree, found.before)
        view, inside = self._view(root, found, line)
        chances = view.kept.at(inside)[:, int(places[0])]
        return dict(zip(node.actions, chances.tolist(), strict=True))

    def _require_flops(self) -> None:
        if not self.has_flops:
            raise InputError(
                "this solution was made with memory: values, which keeps no strategies after the "
                "flop; solve it with memory: resident or memmap to look at them"
            )

    @cached_property
    def _flop_pots(self) -> tuple[FlopPot, ...]:
        return flop_pots(self.game.tree)

    @cached_property
    def _place_of_number(self) -> Mapping[int, int]:
        return {flop.number: place for place, flop in enumerate(self.game.flops.flops)}

    def _place(self, flop: CanonicalFlop, told: str) -> int:
        """The place of a flop in the set."""
        place = self._place_of_number.get(flop.flop.number)
        if place is None:
            flops = self.game.flops.flops
            near = near_flops(flops, flop.flop)
            name = told if told == flop.flop.text else f"{told} ({flop.flop.text})"
            raise InputError(
                f"the flop {name} is not among the {len(flops):,} of this solution; near ones: "
                f"{', '.join(one.text for one in near)}"
            )
        return place


class _KeptEvs:
    """EVs by combo as an exact game found them."""

    def __init__(self, pot: PotGame, number: int, arrays: Arrays) -> None:
        self._tree = pot.tree
        self._nodes = street_nodes(pot.tree, Street.FLOP)
        self._evs, self._action_evs = arrays[f"evs.{number}"], arrays[f"action_evs.{number}"]

    def __call__(self, node: int, reach: list[Floats], met: list[Floats]) -> HandTotals:
        del reach
        tree, place = self._tree, self._nodes.index(node)
        first = int(tree.child_count[self._nodes[:place]].sum())
        rows = slice(first, first + int(tree.child_count[node]))
        # Where nobody is met, there is no EV and nothing to add up.
        evs, action_evs = np.nan_to_num(self._evs[:, place]), np.nan_to_num(self._action_evs[rows])
        return HandTotals(
            (evs[0] * met[0], evs[1] * met[1]), action_evs * met[tree.player_at(node)]
        )


def read_hand(text: str) -> int:
    """The class 0..168 of "AKs", "77" or of two cards, "AhKs"."""
    if len(text.strip()) >= 4:
        return int(HAND_OF_COMBO[parse_combo(text)])
    return parse_hand(text.strip())


def near_flops(flops: Sequence[Flop], flop: Flop) -> list[Flop]:
    """The flops of a set that are most like another one."""
    return sorted(flops, key=lambda one: _distance(one, flop))[:NEAR]


def _distance(one: Flop, other: Flop) -> tuple[int, int]:
    """How unlike two flops are: suits and pairing before ranks."""
    texture = (one.texture.suits != other.texture.suits) + (
        one.texture.pairing != other.texture.pairing
    )
    ranks = (abs(card_rank(a) - card_rank(b)) for a, b in zip(one.cards, other.cards, strict=True))
    return texture, sum(ranks)

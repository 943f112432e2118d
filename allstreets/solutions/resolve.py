"""Solving a part of a spot separately, for the ranges of both players where it begins.

The part is cut out of the betting tree of the spot: sizes, chips, rake and locks are the same, and
results count as in the whole.

- A `TrimmedSolution` stores its first streets. A later street is solved again when it is looked at,
for the ranges that the stored streets send there.
- `solve_behind` solves the play after an action that is never taken, because a lock excludes it or
no hand wants it. The line is followed to its first action after which nothing was learned
(`reached`), the player's whole range takes that action, and the rest is solved. It is an
equilibrium of "what if he did": neither the solution's play nor its values.

Values are equilibrium values for these ranges. They may differ from those of the whole by the
exploitability of both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BettingTree,
    Line,
    NodeKind,
    Player,
    Street,
    line_text,
    make_tree,
    read_only,
)
from allstreets.cards import COMBO_COUNT, Range, card_text, cards_text
from allstreets.engines import NodeNumbers
from allstreets.games import LockedNode, Spot
from allstreets.solutions.decision import Decision
from allstreets.solutions.reached import LEAST_SHARE
from allstreets.solutions.spot import SpotSolution, left_after, solve, taken_action
from allstreets.solutions.stored_streets import StreetNumbers
from allstreets.solutions.walk import Position

if TYPE_CHECKING:
    from allstreets.solvers import Completion

CACHED_SPOTS = 4  # that stay in memory, solvers and all
DEFAULT_TARGET = 0.003

# Called before a part is solved: its spot, the line to it, the target.
Announce = Callable[[Spot, str, float], None]


@dataclass(frozen=True)
class SpotPart(Spot):
    """Some nodes of a spot's tree as a separate game; results count as in the whole."""

    whole: Spot | None = None
    nodes: tuple[int, ...] = ()  # from the start of a street to a root, each with one child; below
    free: int = 0  # the index of the root among `nodes`: from there on actions are chosen
    dealt: tuple[int, ...] = ()  # cards before the start

    @classmethod
    def below(
        cls, spot: Spot, root: int, dealt: tuple[int, ...], ranges: Sequence[Range]
    ) -> "SpotPart":
        """The game from a root on, after `dealt` cards, for the ranges that get there."""
        tree = spot.tree
        path = [
            node
            for node in tree.path_to(root)
            if tree.street[node] == tree.street[root] and tree.kind[node] == NodeKind.DECISION
        ]
        last = root
        while tree.child_count[last]:
            last = int(tree.children_of(last)[-1])
        return cls(
            board=cards_text((*spot.cards, *dealt)),
            oop=ranges[Player.OOP],
            ip=ranges[Player.IP],
            pot=tree.pot_at(root),
            stack=spot.stack,
            rake=spot.rake,
            rake_cap=spot.rake_cap,
            whole=spot,
            nodes=(*path[:-1], *range(root, last + 1)),
            free=len(path) - 1,
            dealt=dealt,
        )

    @cached_property
    def tree(self) -> BettingTree:
        """The nodes, with the chips that they have in the whole."""
        tree, nodes = self._whole.tree, list(self.nodes)
        numbers = {node: number for number, node in enumerate(nodes)}
        bare = make_tree(
            pot=0,
            stack=0,
            kind=tree.kind[nodes].tolist(),
            street=tree.street[nodes].tolist(),
            player=tree.player[nodes].tolist(),
            parent=[numbers.get(int(tree.parent[node]), -1) for node in nodes],
            invested=[(0, 0)] * len(nodes),
            actions=[None, *(tree.actions[node] for node in nodes[1:])],
        )
        invested = read_only(tree.invested[nodes])
        return replace(bare, pot=tree.pot, stack=tree.stack, invested=invested)

    @cached_property
    def payoffs(self) -> Floats:
        """[N, 2, 3]: results where a hand ends."""
        return self._whole.payoffs[list(self.nodes)]

    @cached_property
    def locked_nodes(self) -> tuple[LockedNode, ...]:
        """The locks of the whole at nodes where actions are chosen."""
        count = len(self.dealt)
        return tuple(
            replace(lock, node=self.nodes.index(lock.node), cards=lock.cards[count:])
            for lock in self._whole.locked_nodes
            if lock.node in self.nodes[self.free :]
            and replace(lock, cards=lock.cards[:count]).holds_on(self.dealt)
        )

    @property
    def _whole(self) -> Spot:
        assert self.whole is not None
        return self.whole

    def holds(self, position: Position) -> bool:
        """Whether a node of the whole is one where actions are chosen."""
        same = position.cards[: len(self.dealt)] == self.dealt
        return same and position.node in self.nodes[self.free :]

    def numbers(self, solved: SpotSolution, position: Position) -> NodeNumbers:
        """A decision of the whole, as the solution of the part plays it."""
        street = solved.street(position.cards[len(self.dealt) :])
        return street.node(self.nodes.index(position.node))


class TrimmedSolution(SpotSolution):
    """A solution with only the first `kept` streets stored; later ones are solved again."""

    def __init__(
        self,
        spot: Spot,
        view: Callable[[tuple[int, ...]], StreetNumbers],
        kept: int,
        target: float,
        announce: Announce | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(spot, view)
        self.kept, self.target = kept, target
        self.announce, self.threads = announce, threads
        self._solved = lru_cache(CACHED_SPOTS)(self._solve)

    @property
    def stored_streets(self) -> int:
        """Later streets are solved again."""
        return self.kept

    def _decision(self, position: Position) -> Decision:
        """A decision; later streets are solved again first."""
        tree, kept = self.spot.tree, self.kept
        if len(position.cards) < kept or tree.kind[position.node] != NodeKind.DECISION:
            return super()._decision(position)
        path = tree.path_to(position.node)
        chance = [node for node in path if tree.kind[node] == NodeKind.CHANCE][kept - 1]
        part, solved, (oop, ip) = self._solved(chance, position.cards[:kept])
        numbers = part.numbers(solved, position)
        reach, met = numbers.reach, numbers.met
        scaled = replace(
            numbers, reach=(reach[0] * oop, reach[1] * ip), met=(met[0] * ip, met[1] * oop)
        )
        return self.shown(position, scaled, self.spot.ranges)

    def _solve(
        self, chance: int, dealt: tuple[int, ...]
    ) -> tuple[SpotPart, SpotSolution, tuple[float, float]]:
        """The part after a chance node, its solution, and the divisors of both reaches."""
        ranges, scales = self._ranges(chance, dealt)
        root = int(self.spot.tree.children_of(chance)[0])
        part = SpotPart.below(self.spot, root, dealt, ranges)
        if self.announce is not None:
            self.announce(part, line_text(self.spot.tree, root, dealt), self.target)
        return part, solve(part, self.target, threads=self.threads), scales

    def _ranges(
        self, chance: int, dealt: tuple[int, ...]
    ) -> tuple[list[Range], tuple[float, float]]:
        """Both ranges after the last card, largest weight 1, and their divisors."""
        tree, where = self.spot.tree, line_text(self.spot.tree, chance, dealt)
        last = self.decision(Position(int(tree.parent[chance]), cards=dealt[:-1]))
        combos, reach = left_after(last, taken_action(tree, chance))
        ranges, scales = [], []
        for player in Player:
            weights = np.zeros(COMBO_COUNT)
            weights[combos[player]] = reach[player]
            largest = float(weights.max())
            if not largest > 0:
                raise InputError(
                    f"'{where}': {player.name} never plays this, so nothing is known there"
                )
            try:
                held = Range(weights / largest).on((*self.spot.cards, *dealt))
            except InputError:
                raise InputError(
                    f"'{where} | {card_text(dealt[-1])}': {player.name} has no hand beside this "
                    "card"
                ) from None
            scales.append(largest * held.largest)
            ranges.append(held.normalised())
        return ranges, (scales[0], scales[1])


class BehindResult:
    """The play after an action that is never taken: `behind.node("x b50%")`."""

    def __init__(self, result: SpotSolution, line: str, assumed: str, solved: SpotSolution) -> None:
        self.line, self.assumed = line, assumed  # to its first node, and the assumption there
        self.solved = solved
        self._result = result

    @property
    def exploitability(self) -> float:
        """The exploitability of the game from there on, as a fraction of the pot there."""
        return self.solved.exploitability

    def node(self, line: str) -> Decision:
        """A decision after the action, by the whole line to it."""
        part, node = self.solved.spot, self._result.at(line)
        node.require_decision()
        assert isinstance(part, SpotPart)
        if not part.holds(node.position):
            raise InputError(f"'{line}' does not follow '{self.line}', which was solved")
        numbers = part.numbers(self.solved, node.position)
        shown = self._result.shown(node.position, numbers, part.ranges)
        return replace(shown, notes=(self.assumed,))


def solve_behind(
    result: SpotSolution,
    line: str,
    target: float | None = None,
    threads: int | None = None,
    announce: Announce | None = None,
    *,
    seconds: float | None = None,
    completion: "Completion | None" = None,
) -> BehindResult:
    """Solve from the first action of a line after which nothing was learned.

    `target` is a fraction of the pot there, by default that of the solution; `seconds` end it too.
    A `completion` says how to solve a flop.
    """
    spot, tree = result.spot, result.spot.tree
    path = result.path(line)
    decision, action, root = _first_step(result, path)
    dealt = path.cards[: len(decision.board) - len(spot.cards)]
    if tree.kind[root] == NodeKind.CHANCE:
        root, dealt = int(tree.children_of(root)[0]), path.cards[: len(dealt) + 1]
    weights = [np.minimum(decision.combo_weights(player), 1.0) for player in Player]
    ranges = [Range(held).on((*spot.cards, *dealt)) for held in weights]
    part = SpotPart.below(spot, root, dealt, ranges)
    known = result.exploitability
    goal = target or (known if np.isfinite(known) and known > 0 else DEFAULT_TARGET)
    text = line_text(tree, root, dealt)
    if announce is not None:
        announce(part, text, goal)
    assumed = (
        f"solved from '{text}' on as if {decision.seat} took '{decision.actions[action]}' with all "
        f"{decision.own.size:.1f} combos that he has there; the solution does so with "
        f"{100 * float(decision.line_reach.taken[action]):.2g} % of his range"
    )
    if tree.street[root] != Street.FLOP:
        completion = None
    solved = solve(part, goal, seconds=seconds, threads=threads, completion=completion)
    return BehindResult(result, text, assumed, solved)


def _first_step(result: SpotSolution, line: Line) -> tuple[Decision, int, int]:
    """The decision and its action after which nothing was learned, and the node after it."""
    tree, dealt = result.spot.tree, 0
    for node, child in zip(line.nodes, line.nodes[1:], strict=False):
        if tree.kind[node] != NodeKind.DECISION:
            dealt += 1
            continue
        decision = result.decision(Position(node, cards=line.cards[:dealt]))
        action = taken_action(tree, child)
        if decision.line_reach.taken[action] < LEAST_SHARE:
            return decision, action, child
    where = line_text(tree, line.node, line.cards)
    raise InputError(f"'{where}' is reached: it needs no separate solving")

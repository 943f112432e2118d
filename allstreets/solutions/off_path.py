"""Solving what lies behind an action that is never taken: a lock excludes it, or no hand wants it.

1. The line is followed to its first action that leads to where nothing was learned (`reached`).
2. The player's whole range takes that action, against the range that the other has there.
3. From there on the game is solved by itself: the same betting tree, the same locks below.

What comes out is an equilibrium of "what if he did": neither the solution's play nor its values.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BettingTree,
    Line,
    NodeKind,
    Player,
    line_text,
    make_tree,
    parse_line,
    read_only,
)
from allstreets.cards import Range, cards_text
from allstreets.games import LockedNode, Spot
from allstreets.solutions.decision import Decision
from allstreets.solutions.reached import LEAST_SHARE
from allstreets.solutions.resolve import Announce
from allstreets.solutions.spot import SpotSolution, solve
from allstreets.solutions.walk import Position

DEFAULT_TARGET = 0.003


@dataclass(frozen=True)
class SpotPart(Spot):
    """Some nodes of a spot's tree as a game of its own; results count as in the whole."""

    whole: Spot | None = None
    nodes: tuple[int, ...] = ()  # from the start of a street to a root, each with one child; below
    free: int = 0  # the place of the root among `nodes`: from there on actions are chosen
    dealt: tuple[int, ...] = ()  # cards before the start

    @cached_property
    def tree(self) -> BettingTree:
        """The nodes, with the chips that they have in the whole."""
        tree, some = self._whole.tree, list(self.nodes)
        place = {node: number for number, node in enumerate(some)}
        actions = [tree.actions[node] if number else None for number, node in enumerate(some)]
        bare = make_tree(
            pot=0,
            stack=0,
            kind=tree.kind[some].tolist(),
            street=tree.street[some].tolist(),
            player=tree.player[some].tolist(),
            parent=[place.get(int(tree.parent[node]), -1) for node in some],
            invested=[(0, 0)] * len(some),
            actions=actions,
        )
        invested = read_only(tree.invested[some])
        return replace(bare, pot=tree.pot, stack=tree.stack, invested=invested)

    @cached_property
    def payoffs(self) -> Floats:
        """[N, 2, 3]: results where a hand ends."""
        return self._whole.payoffs[list(self.nodes)]

    @cached_property
    def locked_nodes(self) -> tuple[LockedNode, ...]:
        """The locks of the whole that stand where actions are chosen."""
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


class BehindResult:
    """What happens behind an action that is never taken: `behind.node("x b50%")`."""

    def __init__(self, result: SpotSolution, line: str, assumed: str, solved: SpotSolution) -> None:
        self.line, self.assumed = line, assumed  # to where it begins, and what was assumed there
        self.solved = solved
        self._result = result

    @property
    def exploitability(self) -> float:
        """Of the game from there on, as a fraction of the pot there."""
        return self.solved.exploitability

    def node(self, line: str) -> Decision:
        """A decision behind the action, by the whole line to it."""
        part = self.solved.spot
        assert isinstance(part, SpotPart)
        found = self._result.path(line)
        chosen = part.nodes[part.free :]
        if found.node not in chosen or found.cards[: len(part.dealt)] != part.dealt:
            raise InputError(f"'{line}' does not lie behind '{self.line}', which was solved")
        numbers = self.solved.street(found.cards[len(part.dealt) :]).node(
            part.nodes.index(found.node)
        )
        position = Position(found.node, cards=found.cards)
        shown = self._result.shown(position, numbers, part.ranges)
        return replace(shown, notes=(self.assumed,))


def solve_behind(
    result: SpotSolution,
    line: str,
    target: float | None = None,
    threads: int | None = None,
    announce: Announce | None = None,
    *,
    seconds: float | None = None,
) -> BehindResult:
    """Solve from the first action of a line on that leads to where nothing was learned.

    `target` is a fraction of the pot there, by default that of the solution; `seconds` end it too.
    """
    found = result.path(line)
    node, action = _first_step(result, found)
    part, where = _part(result, found, node, action)
    tree = result.spot.tree
    reached = result.exploitability
    goal = target or (reached if np.isfinite(reached) and reached > 0 else DEFAULT_TARGET)
    text = line_text(tree, part.nodes[part.free], where)
    if announce is not None:
        announce(part, text, goal)
    word = node.actions[action]
    assumed = (
        f"solved from '{text}' on as if {node.seat} took '{word}' with all "
        f"{node.own.size:.1f} combos that he has there; the solution does so with "
        f"{100 * float(node.line_reach.taken[action]):.2g} % of his range"
    )
    return BehindResult(result, text, assumed, solve(part, goal, seconds=seconds, threads=threads))


def _first_step(result: SpotSolution, line: Line) -> tuple[Decision, int]:
    """The decision and its action after which nothing was learned."""
    tree = result.spot.tree
    for node, child in zip(line.nodes, line.nodes[1:], strict=False):
        if tree.kind[node] != NodeKind.DECISION:
            continue
        here = result.at(line_text(tree, node, line.cards)).decision
        action = tree.children_of(node).tolist().index(child)
        if here.line_reach.taken[action] < LEAST_SHARE:
            return here, action
    where = line_text(tree, line.node, line.cards)
    raise InputError(f"'{where}' is reached: it needs no solving by itself")


def _part(
    result: SpotSolution, line: Line, node: Decision, action: int
) -> tuple[SpotPart, tuple[int, ...]]:
    """The game after an action of a decision on a line, and the cards dealt before its root."""
    spot, tree = result.spot, result.spot.tree
    above = parse_line(tree, node.line, board=spot.cards).node
    root = int(tree.children_of(above)[action])
    dealt = line.cards[: len(node.board) - len(spot.cards)]
    if tree.kind[root] == NodeKind.CHANCE:
        root = int(tree.children_of(root)[0])
        dealt = line.cards[: len(dealt) + 1]
    street = [step for step in tree.path_to(root) if tree.street[step] == tree.street[root]]
    way = [step for step in street if tree.kind[step] == NodeKind.DECISION]
    last = root
    while tree.child_count[last]:
        last = int(tree.children_of(last)[-1])
    board = (*spot.cards, *dealt)
    oop, ip = (Range(np.minimum(node.combo_weights(player), 1.0)).on(board) for player in Player)
    part = SpotPart(
        board=cards_text(board),
        oop=oop,
        ip=ip,
        pot=tree.pot_at(root),
        stack=spot.stack,
        rake=spot.rake,
        rake_cap=spot.rake_cap,
        whole=spot,
        nodes=(*way[:-1], *range(root, last + 1)),
        free=len(way) - 1,
        dealt=dealt,
    )
    return part, dealt

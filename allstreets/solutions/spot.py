"""A solved spot, node by node: strategy, EV, equity and reach of every combo; and `solve`."""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allstreets import solvers  # whose kernels are loaded when something is solved
from allstreets.base import Control, Flags, InputError, Longs, Pair
from allstreets.betting import BettingTree, Line, NodeKind, Player, line_text, parse_line
from allstreets.cards import COMBO_COUNT, Range, cards_text, combo_equity, fitting, pairs_of
from allstreets.cfr import Schedule
from allstreets.engines import CPU, NodeNumbers, RiverGroups
from allstreets.games import Lock, Spot
from allstreets.solutions.decision import CHIPS, NONE, Decision, Evs, betting_at
from allstreets.solutions.format import number_text, percent_text
from allstreets.solutions.hands import Hands
from allstreets.solutions.records import MadeSimple
from allstreets.solutions.stored_streets import StreetNumbers
from allstreets.solvers import (
    FIRST_CHECK,
    Multiples,
    Planned,
    Timer,
    dealt_numbers,
    drive,
    only_end,
)

if TYPE_CHECKING:
    from allstreets.solvers import SpotSolver

Ranges = tuple[Range, Range]

CACHED_STREETS = 16  # boards that stay in memory: of a big spot, megabytes each


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
        self._pairs: dict[tuple[int, ...], float] = {}
        self.exploitability = float("nan")  # fraction of the starting pot
        self.iterations = 0
        self.seconds = 0.0
        self.known_evs: tuple[float, float] | None = None  # as stored in a file
        self.origin: Mapping[str, Any] | None = None  # the whole game that it is a flop of
        self.folder: Path | None = None  # where it was read from
        self.simplified: MadeSimple | None = None  # what it was made simple from

    @classmethod
    def of(cls, solver: "SpotSolver") -> "SpotResult":
        """The solution that a solver holds now; later iterations change what it shows."""
        return cls(solver.spot, solver.view, solver)

    def street(self, cards: tuple[int, ...] = ()) -> StreetNumbers:
        """The street that is reached when `cards` have been dealt after the board."""
        found = self._streets.pop(cards, None) or self._view(cards)
        self._streets[cards] = found  # the last to be given up
        while len(self._streets) > CACHED_STREETS:
            del self._streets[next(iter(self._streets))]
        return found

    def node(self, line: str = "") -> Decision:
        """The decision that a line of actions and cards leads to; "" is the first one."""
        found = self.find(line)
        return self.shown(line, found, self.street(found.cards).node(found.node), self.spot.ranges)

    def find(self, line: str) -> Line:
        """The way to a decision."""
        tree = self.spot.tree
        found = parse_line(tree, line, board=self.spot.cards)
        if tree.kind[found.node] == NodeKind.CHANCE:
            raise InputError(f"'{line}': a card is dealt there: write '{line.strip()} | 7h |'")
        if tree.kind[found.node] != NodeKind.DECISION:
            raise InputError(f"'{line}': no player acts there any more")
        return found

    def shown(self, line: str, found: Line, numbers: NodeNumbers, ranges: Ranges) -> Decision:
        """A decision with its numbers, which may come from elsewhere; `ranges` start there."""
        end = only_end(self.spot)
        if end is not None:
            board = (*self.spot.cards, *found.cards)
            numbers = dealt_numbers(self.spot, end, numbers, ranges, board)
        weights = [reach * met for reach, met in zip(numbers.reach, numbers.met, strict=True)]
        half, invested = self.spot.pot / 2, self.spot.tree.invested[found.node].astype(np.float64)
        # Results are relative to half the pot: from here on, what was put in is in the middle.
        oop, ip = (numbers.values[p] + half + invested[p] for p in Player)
        actions = numbers.action_values + half + invested[numbers.player]
        return self._place(
            line,
            found,
            hands_of(ranges, numbers.combos, numbers.reach, (weights[0], weights[1])),
            lambda: Evs((oop, ip), actions),
            numbers.equity,
            strategy=numbers.strategy,
            locked=self._locked(found.node, found.cards)[numbers.combos[numbers.player]],
        )

    def at(self, found: Line) -> Decision:
        """Any place: a decision, the deal of a card, or the end of a hand."""
        tree, line = self.spot.tree, line_text(self.spot.tree, found.node, found.cards)
        if tree.kind[found.node] == NodeKind.DECISION:
            return self.node(line)
        above = None
        if found.node:
            above = self.node(line_text(tree, int(tree.parent[found.node]), found.cards))
        combos, reach = self._left(found.node, above)
        fits = fitting(*combos)
        weights = reach[0] * (fits @ reach[1]), reach[1] * (reach[0] @ fits)
        hands = hands_of(self.spot.ranges, combos, reach, weights)
        return self._place(line, found, hands, lambda: self._deal_evs(found.node, hands, above))

    def _left(self, node: int, above: Decision | None) -> tuple[tuple[Longs, Longs], Pair]:
        """Both players' combos and reach after the action that led from a decision to a node."""
        if above is None:
            held = [np.flatnonzero(one.weights) for one in self.spot.ranges]
            weights = [one.weights[some] for one, some in zip(self.spot.ranges, held, strict=True)]
            return (held[0], held[1]), (weights[0], weights[1])
        return left_after(above, taken_action(self.spot.tree, node))

    def _deal_evs(self, node: int, hands: tuple[Hands, Hands], above: Decision | None) -> Evs:
        """EVs where a card is dealt, as far as they are known without looking at every card.

        Who acted last knows what his action is worth to each hand. The other one's range has the
        rest of the pot, unless there is rake: it depends on what comes, so nothing is known then.
        """
        spot, tree = self.spot, self.spot.tree
        none = Evs.unknown(hands, NONE)
        if above is None or spot.rake or tree.kind[node] != NodeKind.CHANCE:
            return none
        player = above.player
        cost = np.diff(tree.invested[[int(tree.parent[node]), node], player])
        evs, ranges = list(none.hands), list(none.ranges)
        evs[player] = above.action_evs[taken_action(tree, node)] + cost  # which is behind him now
        ranges[player.opponent] = tree.pot_at(node) - hands[player].mean(evs[player])
        return Evs((evs[0], evs[1]), ranges=(ranges[0], ranges[1]))

    def _place(
        self,
        line: str,
        found: Line,
        hands: tuple[Hands, Hands],
        evaluate: Callable[[], Evs],
        equity: Pair | None = None,
        **more: Any,
    ) -> Decision:
        oop, ip = hands
        board = (*self.spot.cards, *found.cards)
        assert oop.combos is not None
        assert ip.combos is not None
        combos, reach = (oop.combos, ip.combos), (oop.reach, ip.reach)
        return Decision(
            line=line,
            board=board,
            **betting_at(self.spot.tree, found.node, CHIPS),
            paid=(0.0, 0.0),
            hands=hands,
            deal=lambda: self.pairs(board),
            equate=lambda: combo_equity(board, combos, reach) if equity is None else equity,
            evaluate=evaluate,
            **more,
        )

    def pairs(self, board: tuple[int, ...]) -> float:
        """How much of both starting ranges meets on a board, in pairs of combos."""
        if board not in self._pairs:
            self._pairs[board] = pairs_of(self.spot.ranges, board)
        return self._pairs[board]

    def _locked(self, node: int, cards: tuple[int, ...]) -> Flags:
        """[1326]: the combos with a locked strategy at a decision."""
        locks = [
            lock.weights > 0
            for lock in self.spot.locked_nodes
            if lock.node == node and lock.holds_on(cards)
        ]
        locked: Flags = np.any([np.zeros(COMBO_COUNT, np.bool_), *locks], axis=0)
        return locked

    @property
    def evs(self) -> tuple[float, float]:
        """Both players' expected share of the pot at the root, in chips."""
        if self.spot.tree.kind[0] != NodeKind.DECISION:  # all-in already
            found = self.solver.expected_values() if self.solver else self.known_evs
            if found is not None:
                return found
        root = self.node("")
        return root.ev(Player.OOP), root.ev(Player.IP)

    def __repr__(self) -> str:
        """One line: which spot, and how well it is solved."""
        return f"<{type(self).__name__} {result_line(self)}>"

    def __str__(self) -> str:
        """Some lines: the spot, how well it is solved, what it is worth, and the first decision."""
        return result_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return result_html(self)


def taken_action(tree: BettingTree, node: int) -> int:
    """The place of a node among its parent's actions."""
    return int(np.flatnonzero(tree.children_of(int(tree.parent[node])) == node)[0])


def left_after(above: Decision, action: int) -> tuple[tuple[Longs, Longs], Pair]:
    """Both players' combos and reach after an action of a decision."""
    reach = [one.reach for one in above.hands]
    reach[above.player] = above.reach * above.strategy[action]
    oop, ip = (one.combos for one in above.hands)
    assert oop is not None
    assert ip is not None
    return (oop, ip), (reach[0], reach[1])


def hands_of(
    ranges: Ranges, combos: tuple[Longs, Longs], reach: Pair, weights: Pair
) -> tuple[Hands, Hands]:
    """Both players' hands: `combos` are all that the board leaves of the starting ranges."""
    oop, ip = (
        Hands(
            combos=combos[p],
            counts=np.ones(len(combos[p])),
            reach=reach[p],
            weights=weights[p],
            start=float(ranges[p].weights[combos[p]].sum()),
        )
        for p in Player
    )
    return oop, ip


SHOWN_PLACES = 4  # of a lock on every card there are dozens
NO_DECISION = "all-in already: there is no decision"


def locks_text(locks: Sequence[Lock]) -> str:
    """Where a solution has locks; "" where it has none."""
    if not locks:
        return ""
    lines = dict.fromkeys(lock.line.strip() for lock in locks)
    places = [f"'{line}'" if line else "the first decision" for line in lines]
    more = len(places) - SHOWN_PLACES
    rest = f" and {more} more places" if more > 0 else ""
    return f"strategies are locked at {', '.join(places[:SHOWN_PLACES])}{rest}"


def result_line(result: "SpotResult") -> str:
    """Which spot, and how well it is solved."""
    spot = result.spot
    known = np.isfinite(result.exploitability)
    error = percent_text(result.exploitability, 3) if known else "an unknown part"
    locks = f", {len(spot.lock)} lock{'s' * (len(spot.lock) > 1)}" if spot.lock else ""
    made = result.simplified
    simple = "" if made is None else f", {made.head}"
    return (
        f"{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}{locks}{simple}: "
        f"exploitable for {error} of the pot after {result.iterations:,} iterations"
    )


def result_text(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    oop, ip = result.evs
    lines = [
        result_line(result),
        f"EV OOP {number_text(oop)}, IP {number_text(ip)} chips",
        *([locks_text(result.spot.lock)] if result.spot.lock else []),
        *([] if result.simplified is None else result.simplified.lines()),
    ]
    if result.spot.tree.child_count[0]:
        lines += ["", str(result.node(""))]
    else:
        lines.append(NO_DECISION)
    return "\n".join(lines)


def result_html(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    evs = result.evs
    head = (
        f"<div>exploitability {100 * result.exploitability:.3f} % of pot after "
        f"{result.iterations:,} iterations · EV OOP {evs[0]:.2f}, IP {evs[1]:.2f} chips</div>"
    )
    if result.spot.lock:
        head += f"<div>{html.escape(locks_text(result.spot.lock))}</div>"
    if result.simplified is not None:
        head += f"<div>{html.escape(result.simplified.text)}</div>"
    if not result.spot.tree.child_count[0]:
        return f"{head}<div>{NO_DECISION}</div>"
    return head + result.node("")._repr_html_()


def solve(
    spot: Spot,
    target: float = 0.003,
    max_iterations: int = 10_000,
    seconds: float | None = None,
    algorithm: str | Schedule = "ahead",
    threads: int | None = None,
    precision: str = "float32",
    check: int | None = None,
    river_groups: RiverGroups = "none",
    device: str = CPU,
) -> SpotResult:
    """Solve until exploitability is at most `target` of the pot, or iterations or time run out.

    `seconds` count from the call: set-up and checks included. Exploitability is checked where the
    curve so far predicts the target, or every `check` iterations. The result carries
    `exploitability` (a fraction of the pot), `iterations` and `seconds`.
    """
    if target < 0 or max_iterations < 1 or (check is not None and check < 1):
        raise InputError("target must not be negative, max_iterations and check at least 1")
    timer = Timer(math.inf if seconds is None else seconds)
    solver = solvers.SpotSolver(spot, algorithm, threads, precision, river_groups, device)
    return solve_on(solver, timer, target, max_iterations, check)


def solve_on(
    solver: "SpotSolver",
    timer: Timer,
    target: float,
    max_iterations: int,
    check: int | None = None,
    control: Control | None = None,
) -> SpotResult:
    """The result of driving a solver to `target`, or as far as `control` lets it come."""
    planned = check is None and target > 0
    steps = drive(
        solver,
        lambda: solver.exploitability() / solver.spot.pot,
        Planned(target) if planned else Multiples(check or FIRST_CHECK),
        timer,
        target=target,
        iterations=max_iterations,
        control=control,
    )
    result = SpotResult.of(solver)
    for step in steps:
        if step.exploitability is not None:
            result.exploitability = step.exploitability
    result.iterations, result.seconds = solver.iterations, timer.seconds()
    return result

"""A solved spot, node by node: strategy, EV, equity and reach of every combo; and `solve`."""

import math
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allstreets import solvers  # its kernels are loaded when something is solved
from allstreets.base import Control, Flags, Floats, InputError, Longs, Pair
from allstreets.betting import (
    Address,
    BettingTree,
    Line,
    NodeKind,
    Player,
    Street,
    dealt,
    line_text,
    parse_line,
)
from allstreets.cards import (
    COMBO_COUNT,
    Range,
    Runouts,
    cards_text,
    combo_equity,
    met_reach,
    pairs_of,
)
from allstreets.cfr import Schedule
from allstreets.engines import CPU, CardModel, NodeNumbers, RiverGroups
from allstreets.games import Lock, Spot, spot_root
from allstreets.solutions.decision import CHIPS, NONE, Decision, Evs, Hands, Unit, betting_at
from allstreets.solutions.format import locks_text, number_text, percent_text
from allstreets.solutions.stored_streets import StreetNumbers
from allstreets.solutions.walk import Deal, Figures, LockTarget, Position, Solution
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
    from allstreets.solvers import Completion, SpotSolver

Ranges = tuple[Range, Range]

CACHED_STREETS = 16  # boards that stay in memory: of a big spot, megabytes each


class SpotSolution(Solution):
    """A solved spot: one board, two ranges, every turn and river card."""

    unit = CHIPS

    def __init__(
        self,
        spot: Spot,
        view: Callable[[tuple[int, ...]], StreetNumbers],
        solver: "SpotSolver | None" = None,
    ) -> None:
        super().__init__()
        self.spot = spot
        self.solver = solver  # the source of the numbers, if they are not read from a file
        self._streets = lru_cache(CACHED_STREETS)(view)
        self._viewed_at = 0  # the iteration of these views
        # Pairs of combos of both starting ranges that meet on a board.
        self.pairs = lru_cache(CACHED_STREETS)(partial(pairs_of, spot.ranges))
        self.exploitability = float("nan")  # fraction of the starting pot
        self.iterations = 0
        self.seconds = 0.0
        self.known_evs: tuple[float, float] | None = None  # as stored in a file
        self.given_name: str | None = None
        # The card model of a draft; None: it is solved exactly.
        self.draft: CardModel | None = None if solver is None else solver.draft_cards

    @classmethod
    def of(cls, solver: "SpotSolver") -> "SpotSolution":
        """The present solution of a solver; later iterations change it."""
        return cls(solver.spot, solver.view, solver)

    @property
    def name(self) -> str:
        """The solution's own name, else that of its folder."""
        return self.given_name or super().name

    @property
    def accuracy_text(self) -> str:
        """The accuracy of the solution, in words."""
        return accuracy_text(self.exploitability, draft=self.draft is not None)

    @property
    def streets(self) -> tuple[Street, ...]:
        """The streets from that of the board on."""
        return tuple(street for street in Street if street >= self.spot.tree.first_street)

    @property
    def chips_per_bb(self) -> float | None:
        """Chips of a big blind, as the spot says."""
        chips = self.spot.chips_per_bb
        return None if chips is None else float(chips)

    @property
    def figures(self) -> Figures:
        """Exploitability in % of the pot, EVs in chips."""
        share = self.exploitability if np.isfinite(self.exploitability) else None
        return Figures(
            exploitability=None if share is None else 100 * share,
            unit="% of pot",
            evs=self.evs,
            ev_unit=CHIPS.name,
            # One player could gain at most twice the mean of both.
            accuracy=None if share is None else float(2 * self.spot.pot * share),
            pot=self.spot.pot,
        )

    @property
    def locks(self) -> tuple[Lock, ...]:
        """The locked strategies: given, not solved."""
        return self.spot.lock

    def lock_target(self, line: str, where: str) -> LockTarget:
        """A decision of the spot, on a card or on every card."""
        del where
        path = parse_line(self.spot.tree, line, board=self.spot.cards, any_card=True)
        return LockTarget((path.node, path.cards), self.spot.tree, path.node)

    # The walk.

    def read(self, line: str, flop: str | None = None, *, any_card: bool = False) -> Position:
        """The position that a line leads to."""
        if flop is not None:
            raise InputError(f"a spot has its own board: leave the flop {flop} out")
        return self._hinted(line, lambda text: self._read(text, any_card))

    def address_line(self, address: Address) -> str:
        """The line after the board of the spot; earlier actions are ignored."""
        cards = self.spot.cards
        if address.board and set(address.board[: len(cards)]) != set(cards):
            raise InputError(
                f"the address is of the board {cards_text(address.board)}, and this spot of "
                f"{cards_text(cards)}"
            )
        return address.line_after(len(cards), named=True)

    def _read(self, line: str, any_card: bool) -> Position:
        path = parse_line(self.spot.tree, line, board=self.spot.cards, any_card=any_card)
        return Position(path.node, cards=path.cards)

    def line(self, position: Position) -> str:
        """The canonical line to a position."""
        return line_text(self.spot.tree, position.node, position.cards)

    def tree(self, position: Position) -> BettingTree:
        """The tree of the spot."""
        del position
        return self.spot.tree

    def payoffs(self, position: Position) -> Floats:
        """[N, 2, 3]: results relative to half the starting pot, in chips."""
        del position
        return self.spot.payoffs

    def board(self, position: Position) -> tuple[int, ...]:
        """The board of the spot, and the cards dealt after it."""
        return (*self.spot.cards, *position.cards)

    @property
    def stored_streets(self) -> int:
        """The number of stored streets; later ones are solved when they are looked at."""
        return Street.RIVER - self.spot.tree.first_street + 1

    def deal(self, position: Position) -> Deal:
        """One card a street."""
        return Deal(1, True, solved_again=len(position.cards) + 1 >= self.stored_streets)

    def dealt(self, position: Position, cards: tuple[int, ...] = ()) -> Position:
        """The next street."""
        return Position(dealt(self.spot.tree, position.node), cards=(*position.cards, *cards))

    def above(self, position: Position) -> Position | None:
        """The position before the last action or card."""
        if not position.node:
            return None
        tree, node = self.spot.tree, int(self.spot.tree.parent[position.node])
        count = len(position.cards) - (tree.kind[node] == NodeKind.CHANCE)
        return Position(node, cards=position.cards[:count])

    def runouts(self, position: Position) -> Runouts:
        """The cards that may come, and which of them are the same to both ranges."""
        same = self._first_runouts
        for card in position.cards:
            same = same.after(card)
        return same

    @cached_property
    def _first_runouts(self) -> Runouts:
        return spot_root(self.spot)

    def remarks(self, position: Position) -> list[str]:
        """The solution that it simplifies, and locks elsewhere."""
        lines = []
        if self.simplified is not None and position == self.start:
            lines += [*self.simplified.lines(), ""]
        if self.locks and not self.decision(position).locked.any():
            lines += [locks_text(self.locks), ""]
        return lines

    # The numbers.

    def street(self, cards: tuple[int, ...] = ()) -> StreetNumbers:
        """The street that is reached when `cards` have been dealt after the board.

        Of a solver, as it stands now.
        """
        if self.solver is not None and self.solver.iterations != self._viewed_at:
            self._streets.cache_clear()
            self._viewed_at = self.solver.iterations
        return self._streets(cards)

    def decision(self, position: Position) -> Decision:
        """Both ranges at a position; of a solver as it stands now."""
        return super().decision(position) if self.solver is None else self._ended(position)

    def _decision(self, position: Position) -> Decision:
        if self.spot.tree.kind[position.node] == NodeKind.DECISION:
            numbers = self.street(position.cards).node(position.node)
            return self.shown(position, numbers, self.spot.ranges)
        above = None
        if position.node:
            parent = int(self.spot.tree.parent[position.node])
            above = self.decision(Position(parent, cards=position.cards))
        combos, reach = self._left(position.node, above)
        (oop, ip), (first, second) = combos, reach
        weights = first * met_reach(oop, ip, second), second * met_reach(ip, oop, first)
        hands = hands_of(self.spot.ranges, combos, reach, weights)
        raked = bool(self.spot.rake)
        return self._record(
            position,
            hands,
            lambda: deal_evs(self.spot.tree, position.node, hands, above, CHIPS, raked=raked),
        )

    def shown(self, position: Position, numbers: NodeNumbers, ranges: Ranges) -> Decision:
        """A decision with its numbers, which may come from elsewhere; `ranges` start there."""
        end = only_end(self.spot)
        if end is not None:
            numbers = dealt_numbers(self.spot, end, numbers, ranges, self.board(position))
        weights = [reach * met for reach, met in zip(numbers.reach, numbers.met, strict=True)]
        half, invested = self.spot.pot / 2, self.spot.tree.invested[position.node]
        # Results are relative to half the pot; from here on, chips already put in are in the
        # middle.
        oop, ip = (numbers.values[p] + half + float(invested[p]) for p in Player)
        actions = numbers.action_values + half + float(invested[numbers.player])
        return self._record(
            position,
            hands_of(ranges, numbers.combos, numbers.reach, (weights[0], weights[1])),
            lambda: Evs((oop, ip), actions),
            numbers.equity,
            strategy=numbers.strategy,
            locked=self._locked(position)[numbers.combos[numbers.player]],
        )

    def path(self, line: str) -> Line:
        """The nodes and cards on the way to a decision."""
        node = self.at(line)
        node.require_decision()
        return Line(tuple(self.spot.tree.path_to(node.index)), node.position.cards)

    def _left(self, node: int, above: Decision | None) -> tuple[tuple[Longs, Longs], Pair]:
        """Both players' combos and reach after the action that led from a decision to a node."""
        if above is None:
            held = [np.flatnonzero(given.weights) for given in self.spot.ranges]
            weights = [
                given.weights[some] for given, some in zip(self.spot.ranges, held, strict=True)
            ]
            return (held[0], held[1]), (weights[0], weights[1])
        return left_after(above, taken_action(self.spot.tree, node))

    def _record(
        self,
        position: Position,
        hands: tuple[Hands, Hands],
        evaluate: Callable[[], Evs],
        equity: Pair | None = None,
        **more: Any,
    ) -> Decision:
        oop, ip = hands
        board = self.board(position)
        assert oop.combos is not None
        assert ip.combos is not None
        combos, reach = (oop.combos, ip.combos), (oop.reach, ip.reach)
        invested = self.spot.tree.invested[position.node]
        return Decision(
            line=self.line(position),
            board=board,
            **betting_at(self.spot.tree, position.node, CHIPS),
            paid=(float(invested[0]), float(invested[1])),
            hands=hands,
            deal=lambda: self.pairs(board),
            equate=lambda: combo_equity(board, combos, reach) if equity is None else equity,
            evaluate=evaluate,
            **more,
        )

    def _locked(self, position: Position) -> Flags:
        """[1326]: the combos with a locked strategy at a decision."""
        locks = [
            lock.weights > 0
            for lock in self.spot.locked_nodes
            if lock.node == position.node and lock.holds_on(position.cards)
        ]
        locked: Flags = np.any([np.zeros(COMBO_COUNT, np.bool_), *locks], axis=0)
        return locked

    @property
    def evs(self) -> tuple[float, float]:
        """Both players' expected share of the pot at the root, in chips."""
        if self.spot.tree.kind[0] != NodeKind.DECISION:  # all-in already
            evs = self.solver.expected_values() if self.solver else self.known_evs
            if evs is not None:
                return evs
        root = self.at().decision
        return root.ev(Player.OOP), root.ev(Player.IP)

    def save(self, folder: Path | str, saved: str = "full", *, name: str | None = None) -> None:
        """Write it to a folder that `load` opens; `saved` "turn" leaves the river out, and so on.

        Only what was solved in this program can be saved.
        """
        # Files are a layer above, which is loaded when something is saved.
        import_module("allstreets.storage").save_spot(self, folder, saved, name=name)

    @property
    def headline(self) -> str:
        """One line: the spot and its accuracy."""
        spot, made = self.spot, self.simplified
        known = np.isfinite(self.exploitability)
        error = percent_text(self.exploitability, 3) if known else "an unknown part"
        locks = f", {len(spot.lock)} lock{'s' * (len(spot.lock) > 1)}" if spot.lock else ""
        simple = "" if made is None else f", {made.head}"
        return (
            f"{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}{locks}{simple}: "
            f"{'a draft, ' if self.draft else ''}"
            f"exploitable for {error} of the pot after {self.iterations:,} iterations"
        )

    def worth(self) -> list[str]:
        """EVs of both players in chips."""
        oop, ip = self.evs
        return [f"EV OOP {number_text(oop)}, IP {number_text(ip)} chips"]


def accuracy_text(exploitability: float, *, draft: bool = False) -> str:
    """The accuracy of a spot by a true best response, a share of the pot, in words."""
    if draft:
        return f"a draft, within {100 * exploitability:.2g} % of the pot"
    return f"solved exactly, to {100 * exploitability:.2g} % of the pot"


def draft_text(cards: CardModel) -> str:
    """The buckets that a draft was solved with, in words."""
    turn = f"{cards.rows} turn buckets" if cards.rows else "every turn hand"
    return f"{turn} and {cards.groups} river buckets on each board"


def taken_action(tree: BettingTree, node: int) -> int:
    """The index of a node among its parent's actions."""
    return int(np.flatnonzero(tree.children_of(int(tree.parent[node])) == node)[0])


def deal_evs(
    tree: BettingTree,
    node: int,
    hands: tuple[Hands, Hands],
    above: Decision | None,
    unit: Unit,
    *,
    raked: bool,
) -> Evs:
    """EVs where a card is dealt, as far as they are known without visiting every card.

    For the player who acted last, the value of his action to each hand is known. The opponent's
    range has the rest of the pot; with rake nothing is known, since rake depends on what comes.
    """
    none = Evs.unknown(hands, NONE)
    if above is None or raked or tree.kind[node] != NodeKind.CHANCE:
        return none
    player = above.player
    cost = unit.amount(float(np.diff(tree.invested[[int(tree.parent[node]), node], player])[0]))
    evs, ranges = list(none.hands), list(none.ranges)
    # The chips of the last action are in the middle now.
    evs[player] = above.action_evs[taken_action(tree, node)] + cost
    ranges[player.opponent] = unit.amount(tree.pot_at(node)) - hands[player].mean(evs[player])
    return Evs((evs[0], evs[1]), ranges=(ranges[0], ranges[1]))


def left_after(above: Decision, action: int) -> tuple[tuple[Longs, Longs], Pair]:
    """Both players' combos and reach after an action of a decision."""
    reach = [hands.reach for hands in above.hands]
    reach[above.player] = above.reach * above.strategy[action]
    oop, ip = (hands.combos for hands in above.hands)
    assert oop is not None
    assert ip is not None
    return (oop, ip), (reach[0], reach[1])


def hands_of(
    ranges: Ranges, combos: tuple[Longs, Longs], reach: Pair, weights: Pair
) -> tuple[Hands, Hands]:
    """Both players' hands: `combos` are the unblocked combos of the starting ranges."""
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


def solve(
    spot: Spot | Mapping[str, Any],
    target: float = 0.003,
    max_iterations: int = 10_000,
    seconds: float | None = None,
    algorithm: str | Schedule = "ahead",
    threads: int | None = None,
    precision: str = "float32",
    check: int | None = None,
    river_groups: RiverGroups = "none",
    device: str = CPU,
    *,
    tremble: float = 0.0,
    completion: "Completion | None" = None,
    progress: bool = False,
) -> SpotSolution:
    """Solve a spot until exploitability is at most `target` of the pot.

    >>> result = solve(Spot("Ks7d4c9h2s", oop="AA,QQ", ip="KK,JJ", pot=10, stack=20), target=0.01)
    >>> decision = result.at("x").decision  # what IP does after a check
    >>> decision.actions, decision.strategy.shape  # a row for each action, a column for each combo
    (('x', 'b7.5'), (2, 9))

    | argument         | meaning                                                                  |
    |------------------|--------------------------------------------------------------------------|
    | `spot`           | a `Spot`, or a mapping with the keys of one                              |
    | `target`         | a fraction of the pot; 0: until iterations or time run out               |
    | `max_iterations` | the most iterations                                                      |
    | `seconds`        | the most time from the call on, set-up and checks included               |
    | `algorithm`      | a schedule of CFR: ahead, tuned, dcfr, dcfr+, cfr+, linear, vanilla      |
    | `threads`        | of this machine; None: one for each core                                 |
    | `precision`      | of regrets and averages: float32, float16 or int16                       |
    | `check`          | iterations between two checks; None: when the target may be reached      |
    | `river_groups`   | suits: hands alike in strength and suits share their river strategy      |
    | `device`         | cpu, or cuda: a GPU                                                      |
    | `tremble`        | 0.001, say: players also learn answers to off-path actions               |
    | `completion`     | how to solve a flop, such as `DRAFT`; replaces algorithm, precision,     |
    |                  | tremble and device                                                       |
    | `progress`       | print a line at every check                                              |

    The result is a `SpotSolution` with `exploitability` (a fraction of the pot), `iterations` and
    `seconds`; its `at(line)` is any node.
    """
    spot = spot_of(spot)
    if not isinstance(target, int | float):
        raise InputError(f"target: {target!r} is not a fraction of the pot; write 0.003 for 0.3 %")
    if target < 0 or max_iterations < 1 or (check is not None and check < 1):
        raise InputError("target must not be negative, max_iterations and check at least 1")
    if spot.rounding is not None:
        warnings.warn(spot.rounding, stacklevel=2)
    timer = Timer(math.inf if seconds is None else seconds)
    if completion is not None:
        solver, check = completion.solver(spot, threads), check or completion.iterations
    else:
        solver = solvers.SpotSolver(
            spot, algorithm, threads, precision, river_groups, device, tremble
        )
    return solve_on(solver, timer, target, max_iterations, check, progress=progress)


def spot_of(given: Spot | Mapping[str, Any]) -> Spot:
    """A spot, or the spot of a mapping; an `InputError` for anything else."""
    if isinstance(given, Mapping):
        return Spot.from_mapping(given)
    if not isinstance(given, Spot):
        raise InputError(
            f"{given!r} is not a Spot: write Spot(board, oop, ip, pot, stack), or "
            "read_spot_file(path)"
        )
    return given


def solve_on(
    solver: "SpotSolver",
    timer: Timer,
    target: float,
    max_iterations: int,
    check: int | None = None,
    control: Control | None = None,
    *,
    progress: bool = False,
) -> SpotSolution:
    """Drive a solver to `target`, or until `control` stops it, and return the result."""
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
    result = SpotSolution.of(solver)
    for step in steps:
        if step.exploitability is not None:
            result.exploitability = step.exploitability
            if progress:
                print(
                    f"iteration {solver.iterations:,}: exploitability "
                    f"{100 * step.exploitability:.3g} % of pot, {timer.seconds():.1f} s",
                    flush=True,
                )
    result.iterations, result.seconds = solver.iterations, timer.seconds()
    return result

"""A solved whole game: the betting before the flop, and the pots on every flop below it.

| solution            | above the flops                       | below                            |
|---------------------|---------------------------------------|----------------------------------|
| whole game          | the betting before the flop           | every pot on the solution's flops |
| `store: preflop`,   | the betting before the flop           | nothing                          |
| preflop game        |                                       |                                  |
| flops one by one    | stack-to-pot ratios, every hand       | one pot a ratio on each flop     |

A line is ROOT | FLOP | words after the flop: "r2.5 c | AsKh7d | x b50%"; of flops one by one
"spr3.5 | AsKh7d | x b50%". Where turn and river are real cards they are named, "| 5c |"; where a
card model averages over them, nothing stands for them.

The strategies of a flop come from the best source: a spot that was solved exactly beside the game,
else the game itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    ANY_CARD,
    BLINDS_AND_CARDS,
    CHIPS_PER_BB,
    Address,
    BettingTree,
    Line,
    NodeKind,
    Notation,
    PreflopRules,
    Street,
    bb_text,
    choices,
    dealt,
    flop_pots,
    line_text,
    parse_line,
    split_line,
    whole_line,
)
from allstreets.cards import (
    COMBO_COUNT,
    HAND_NAMES,
    HAND_SIZES,
    Flop,
    Runouts,
    canonical_flop,
    card_rank,
    cards_text,
    parse_board,
    parse_flop,
    runouts,
)
from allstreets.engines import CardModel
from allstreets.games import Lock, WholeGame
from allstreets.solutions.decision import BB, Decision, OnBoard
from allstreets.solutions.exact_flop import ExactFlop, ExactFlops
from allstreets.solutions.flops import Flops, GameFlops, ModelFlops, ratio_word
from allstreets.solutions.format import number_text
from allstreets.solutions.pot_view import PotView, in_suits
from allstreets.solutions.preflop import PreflopRoots, PreflopStrategies, Roots, SolutionFacts
from allstreets.solutions.source import SolverSource, Source
from allstreets.solutions.tables import Row
from allstreets.solutions.walk import (
    Boards,
    Deal,
    Figures,
    LockTarget,
    Node,
    NoNodeError,
    NotStoredError,
    Position,
    Solution,
    SolvedFlop,
)

if TYPE_CHECKING:
    from allstreets.solvers import QuantisedSolution, WholeGameSolver

Mix = dict[str, float]  # action → probability

UNKNOWN = "exploitability unknown"
NEAR = 3  # flops that a message names
CACHED_VIEWS = 8  # pots on flops, with all their values
CACHED_FLOPS = 8  # that were solved exactly, with the streets that were looked at
CACHED_LINES = 4096  # tables over flops write the same ones on every flop
ENDS = "this solution ends where the flop is dealt; a solution of the whole game continues"
NOT_STORED = "this solution stores no strategies after the flop; solve the flop for its ranges"
FLOP_ONLY = "with real combos, only the flop's decisions are stored"
NO_FLOPS = "this solution stores nothing after the flop: hands end where it is dealt"
FLOP_LAST = "cards: exact stores the flop: hands end there"
BLIND = (
    "cards: {kind}: the solution does not see turn and river cards, so none are dealt before the "
    "showdown"
)


class WholeSolution(Solution):
    """A solved whole game, a part of one, or flops solved one by one."""

    def __init__(self, roots: Roots, below: Flops | None, facts: SolutionFacts) -> None:
        super().__init__()
        self.roots, self.below, self.facts = roots, below, facts
        self.certificate, self.simplified = facts.certificate, facts.simplified
        self.exploitability = facts.exploitability  # mean best-response gain in mbb/hand, if known
        self.preflop_exploitability = facts.preflop_exploitability  # by best responses there alone
        self.values, self.iterations = facts.values, facts.iterations  # of OOP and IP in mbb/hand
        self.unit = roots.unit
        self.settings = [(label, Position(root)) for root, label in enumerate(roots.settings)]
        self.exact_flops: ExactFlops | None = None  # None: none are stored beside the solution
        self._view = lru_cache(CACHED_VIEWS)(self._new_view)
        self._exact = lru_cache(CACHED_FLOPS)(self._find_exact)
        self._root_text = lru_cache(CACHED_LINES)(roots.text)
        self._words = lru_cache(CACHED_LINES)(line_text)

    @classmethod
    def of(
        cls, solver: "WholeGameSolver", quantised: "QuantisedSolution | None" = None, **facts: Any
    ) -> "WholeSolution":
        """The solution that a solver holds, without files; `facts` such as seconds and name.

        It is what a bundle would store; `quantised` is the result of `quantise_solution`, if that
        is known already.
        """
        source = SolverSource(solver, quantised)
        return cls.game_of(solver.game, source, source.facts(**facts))

    @classmethod
    def game_of(cls, game: WholeGame, source: Source, facts: SolutionFacts) -> "WholeSolution":
        """A whole game whose numbers come from a `Source`."""
        roots = PreflopRoots(game.preflop, source.before)
        return cls(roots, GameFlops(game, source, facts.cards or CardModel()), facts)

    # The game and its figures.

    @property
    def before(self) -> PreflopStrategies:
        """Strategies and values before the flop."""
        return self._preflop.strategies

    @property
    def rules(self) -> PreflopRules:
        """The rules before the flop."""
        return self._preflop.rules

    @property
    def _preflop(self) -> PreflopRoots:
        if not isinstance(self.roots, PreflopRoots):
            raise InputError("flops solved one by one have no betting before the flop")
        return self.roots

    @property
    def stored(self) -> GameFlops:
        """The pots of a whole game on its flops."""
        if not isinstance(self.below, GameFlops):
            raise InputError(ENDS)
        return self.below

    @property
    def game(self) -> WholeGame:
        """The game that was solved."""
        return self.stored.game

    @property
    def models(self) -> ModelFlops:
        """Flops that were solved one by one."""
        if not isinstance(self.below, ModelFlops):
            raise InputError("this is not a model of flops")
        return self.below

    @property
    def is_game(self) -> bool:
        """Whether it is a whole game, whose flops can be solved for the ranges that get there."""
        return self.below is not None and self.below.is_game

    @property
    def as_game(self) -> "WholeSolution | None":
        """Itself, if it is a whole game."""
        return self if self.is_game else None

    @property
    def cards(self) -> CardModel:
        """The card model: what players know about the cards after the flop."""
        return CardModel() if self.below is None else self.below.cards

    @property
    def plays_every_flop(self) -> bool:
        """Whether every flop is played with real cards, because missing flops are drafted."""
        return self.exact_flops is not None and self.exact_flops.every

    @property
    def has_flops(self) -> bool:
        """Whether strategies after the flop are stored."""
        return self.below is not None and self.below.is_stored

    @property
    def name(self) -> str:
        """The solution's own name, else that of its folder."""
        return self.facts.name or super().name

    @property
    def streets(self) -> tuple[Street, ...]:
        """The streets whose decisions are stored."""
        last = self.cards.last_street if self.has_flops else Street.PREFLOP
        last = Street.RIVER if self.plays_every_flop else last
        return tuple(street for street in Street if street <= last)

    @property
    def chips_per_bb(self) -> float | None:
        """Chips of a big blind, the same in every game; flops one by one have pots instead."""
        return float(CHIPS_PER_BB) if self.unit is BB else None

    @property
    def limits(self) -> str:
        """The limits of its card model."""
        if self.plays_every_flop:
            return ""
        if not self.has_flops:
            return NO_FLOPS if flop_pots(self.before.tree) else ""
        if self.cards.stores_cards:
            return ""
        return FLOP_LAST if self.cards.plays_combos else BLIND.format(kind=self.cards.kind)

    @property
    def flops(self) -> list[Row]:
        """The table over flops, a row each: pandas.DataFrame(solution.flops) is a table."""
        if self.below is None:
            raise InputError("this solution ends at the flop: there is no table over flops")
        return list(self.below.rows)

    def rows_at(self, spr: float | None = None) -> list[Row]:
        """The table over flops; of flops one by one at a ratio, if one is named."""
        if spr is None:
            return self.flops
        ratio = self.models.sprs[self.roots.read(ratio_word(spr))]
        return [row for row in self.flops if row["spr"] == ratio]

    @property
    def figures(self) -> Figures:
        """Exploitability and values in mbb/hand."""
        error = self.exploitability
        accuracy = None if error is None else 2 * error
        return Figures(error, "mbb/hand", self.values, "mbb/hand", accuracy)

    def lock_target(self, line: str, where: str) -> LockTarget:
        """A decision before the flop, or on every flop."""
        target = self.game.node_at(line, where)
        return LockTarget(target.order, target.tree, target.node)

    def spans_boards(self, line: str) -> bool:
        """Whether a line continues after a flop that it does not name."""
        parts = split_line(line, self.roots.read)
        return parts.after is not None and parts.flop is None

    @property
    def locks(self) -> tuple[Lock, ...]:
        """The locked strategies: given, not solved."""
        if self.is_game:
            return self.game.lock
        return tuple(Lock.from_mapping(lock) for lock in self.facts.config.get("lock") or ())

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One row per check of the run: pandas.DataFrame(solution.metrics) is a table."""
        return [dict(row) for row in self.facts.metrics]

    # The walk.

    def read(self, line: str, flop: str | None = None, *, any_card: bool = False) -> Position:
        """The position that a line leads to."""
        return self._hinted(line, lambda text: self._read(text, flop, any_card))

    def address_line(self, address: Address) -> str:
        """The line of an address; it names turn and river where they are real cards."""
        root = self._preflop.read(address.words_on(Street.PREFLOP))
        named = bool(address.board) and self._notation(root, address.board).names_cards
        return address.line(named=named)

    def _read(self, line: str, flop: str | None, any_card: bool) -> Position:
        parts = split_line(
            line if flop is None else self.roots.with_root(line), self.roots.read, flop
        )
        root, after = self.roots.of_line(parts), (parts.after or "").strip()
        rest = after.replace("|", " ").split()
        if not self._sees_flop(root):
            if parts.flop is not None or rest:
                what = f"the flop {parts.cards}" if parts.cards else "the part after the bar"
                raise InputError(
                    f"line '{parts.before}' ends before the flop: leave {what} out, or "
                    "continue until the flop is dealt"
                )
            return Position(root)
        any_flop = any_card and parts.flop is None and parts.after is not None
        if parts.flop is None and not any_flop:
            if set(rest) - {"*"}:
                raise InputError(
                    f"line '{line}': the flop is dealt after '{self._root_text(root)}': write "
                    "three cards between bars, such as | AhKd7s |"
                )
            return Position(root)
        cards = (ANY_CARD,) * 3 if any_flop else parse_board(parts.cards)
        self._require_flop(root, cards, after)
        tree, notation = self._pot_tree(root), self._notation(root, cards)
        path = parse_line(tree, after, cards, any_card=any_card, notation=notation)
        averages = self._averages(root, cards)
        node = dealt(tree, path.node) if averages else path.node
        named = path.cards if notation.names_cards else ()
        position = Position(node, root, (*cards, *named))
        if self.exact_at(position) is None:
            require_street(self.cards, Street(int(tree.street[node])), line)
        return position

    def read_any_flop(self, line: str) -> tuple[int, int]:
        """(root, decision in its pot) of a line on any flop.

        The line may name a flop, which is ignored, or "*".
        """
        parts = split_line(self.roots.with_root(self.named_line(line)), self.roots.read)
        root, after = parts.root, parts.after or ""
        if not self._sees_flop(root):
            ways = self.node(Position(root)).ways_to_a_deal()
            if not ways:
                raise NoNodeError("No flop is dealt any more on this line.")
            raise NoNodeError("No flop has been dealt yet. These lines lead to one:", ways)
        flops = self._require_below(line)
        if flops.cards.stores_cards and "|" in after:
            raise InputError(
                f"line '{line}': tables over flops are of decisions on the flop, where turn and "
                "river are real cards"
            )
        tree = flops.pot(root).tree
        node = parse_line(tree, after, notation=self.unit.notation).node
        node = node if flops.cards.plays_combos else dealt(tree, node)
        require_street(flops.cards, Street(int(tree.street[node])), line)
        if tree.kind[node] != NodeKind.DECISION:
            raise InputError(f"line '{line}': no player acts there")
        return root, node

    def with_ratio(self, line: str, spr: float | None = None) -> str:
        """A line at a ratio of flops one by one; where there is only one, it may be left out."""
        return self.roots.at_ratio(line, spr)

    def _sees_flop(self, root: int) -> bool:
        """Whether the flop is dealt at a root."""
        return bool(self.roots.tree(root).kind[root] == NodeKind.CHANCE)

    def _require_below(self, line: str) -> Flops:
        if self.below is None:
            raise InputError(
                f"line '{line}' continues after the flop, and this solution ends there; a solution "
                "of the whole game knows what follows"
            )
        if not self.below.is_stored:
            raise NotStoredError(NOT_STORED)
        return self.below

    def _require_flop(self, root: int, cards: tuple[int, ...], after: str) -> None:
        """Refuse a flop that the solution does not have, and name near ones."""
        if self._exact(root, cards[:3]) is not None:
            return
        if ANY_CARD in cards:
            self._require_below(whole_line(self._root_text(root), "*", after))
            return
        line = whole_line(self._root_text(root), cards_text(cards), after)
        named, flops = canonical_flop(cards), self._require_below(line).solved(root)
        if any(solved.flop.number == named.flop.number for solved in flops):
            return
        text = cards_text(cards)
        same = "" if text == named.flop.text else f" ({named.flop.text} but for suits)"
        near = near_flops([solved.flop for solved in flops], named.flop)
        raise NoNodeError(
            f"the flop {text}{same} is not among the {len(flops):,} of this solution; nearest: "
            f"{', '.join(flop.text for flop in near)}",
            [(flop.text, whole_line(self._root_text(root), flop.text, after)) for flop in near],
        )

    def _averages(self, root: int, cards: tuple[int, ...]) -> bool:
        """Whether the strategies of a flop average over turn and river."""
        return self._exact(root, cards[:3]) is None and not self.cards.plays_combos

    def _notation(self, root: int, cards: tuple[int, ...]) -> Notation:
        """The notation of lines after a flop: turn and river are named where they are real."""
        real = self.cards.stores_cards or self._exact(root, cards[:3]) is not None
        return BLINDS_AND_CARDS if real else self.unit.notation

    def line(self, position: Position) -> str:
        """The canonical line to a position."""
        if position.root is None:
            return self._root_text(position.node)
        cards, tree = position.cards, self._pot_tree(position.root)
        words = self._words(tree, position.node, cards[3:], self._notation(position.root, cards))
        return whole_line(self._root_text(position.root), cards_text(cards[:3]), words)

    def line_on_any_flop(self, root: int, node: int) -> str:
        """The line to a decision on any flop: "r2.5 c | * | x"."""
        words = line_text(self._pot_tree(root), node, notation=self.unit.notation)
        return whole_line(self._root_text(root), "*", words)

    def _pot_tree(self, root: int) -> BettingTree:
        assert self.below is not None
        return self.below.pot(root).tree

    def tree(self, position: Position) -> BettingTree:
        """The betting before the flop, or that of the pot."""
        if position.root is None:
            return self.roots.tree(position.node)
        return self._pot_tree(position.root)

    def payoffs(self, position: Position) -> Floats:
        """[N, 2, 3]: results of the whole hand, in chips."""
        if position.root is None:
            return self.roots.payoffs(position.node)
        assert self.below is not None
        return self.below.pot(position.root).payoffs

    def board(self, position: Position) -> tuple[int, ...]:
        """The cards that were dealt."""
        return position.cards

    def deal(self, position: Position) -> Deal:
        """A flop, a card, or nothing that the solution sees."""
        if position.root is None:
            if self.below is None:
                return Deal(3, False, note=ENDS)
            known = self.has_flops or self.plays_every_flop
            note = "" if known else NOT_STORED
            return Deal(3, known, note=note, solvable=self.is_game)
        exact = self.exact_at(position)
        if exact is not None:
            return exact.deal(position)
        if self.cards.stores_cards:
            return Deal(1, True)
        if self.cards.plays_combos:
            return Deal(1, False, note=FLOP_ONLY)
        return Deal(0, True)

    def dealt(self, position: Position, cards: tuple[int, ...] = ()) -> Position:
        """The next street."""
        if position.root is None:
            return Position(0, position.node, cards)
        node = dealt(self.tree(position), position.node)
        return Position(node, position.root, (*position.cards, *cards))

    def above(self, position: Position) -> Position | None:
        """The position before the last action or card."""
        root, cards = position.root, position.cards
        if root is not None and not position.node:
            return Position(root)
        tree = self.tree(position)
        parent = int(tree.parent[position.node]) if position.node else -1
        if parent < 0 or (
            tree.kind[position.node] == NodeKind.CHANCE
            and root is None
            and (tree.kind[parent] == NodeKind.CHANCE)
        ):
            return None
        if tree.kind[parent] == NodeKind.CHANCE and len(cards) > 3:
            cards = cards[:-1]
        return Position(parent, root, cards)

    def runouts(self, position: Position) -> Runouts:
        """The cards that may come: ranges have no suits, so only the board tells suits apart."""
        same = runouts(position.cards[:3], [np.ones(COMBO_COUNT)])
        for card in position.cards[3:]:
            same = same.after(card)
        return same

    def flops_at(self, position: Position) -> Sequence[SolvedFlop]:
        """The flops that the game deals to a pot, whether what follows is stored or not.

        Where every flop is played, none is named: any may come.
        """
        if self.plays_every_flop:
            return ()
        return () if self.below is None else self.below.solved(position.node)

    def source(self, position: Position) -> str:
        """The source of a flop that was solved beside the game."""
        exact = self.exact_at(position)
        return "" if exact is None else exact.accuracy

    def flop_figures(self, position: Position) -> Row:
        """Figures of a flop that was solved separately."""
        if position.root is None or self.below is None:
            return {}
        return self.below.row(position.root, canonical_flop(position.cards[:3]).flop)

    def remarks(self, position: Position) -> list[str]:
        """Remarks on how the flop was solved, separately or exactly."""
        row, source = self.flop_figures(position), self.source(position)
        if not row:
            return [f"This flop is {source}.", ""] if source else []
        return [
            f"{row['flop']}, SPR {row['spr']:g}: {row['suits']}, {row['pairing']}, represents "
            f"{row['multiplicity']} of 22,100 flops",
            f"exploitability {100 * row['exploitability']:.2f} % of the pot, "
            f"{row['iterations']:,} iterations; EV OOP {number_text(row['ev_oop'], digits=3)}, IP "
            f"{number_text(row['ev_ip'], digits=3)} pots",
            "",
        ]

    def exact_at(self, position: Position) -> ExactFlop | None:
        """The spot that was solved exactly for the flop of a position; None: there is none."""
        if position.root is None:
            return None
        return self._exact(position.root, position.cards[:3])

    def source_note(self, position: Position) -> str:
        """The distance of the game's own play of such a flop from exact play."""
        exact = self.exact_at(position)
        return "" if exact is None else exact.note

    def refresh(self) -> None:
        """Look for flops that were solved exactly meanwhile."""
        if self.exact_flops is not None:
            self.exact_flops.refresh()
            self._exact.cache_clear()
            self._decisions.cache_clear()

    def _find_exact(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        if self.exact_flops is None or ANY_CARD in flop:
            return None
        return self.exact_flops.find(root, flop)

    # The numbers.

    def knows_ranges(self, position: Position) -> bool:
        """Ranges of flops one by one depend on the flop."""
        return position.root is not None or self.roots.knows_ranges

    def _decision(self, position: Position) -> Decision:
        line = self.line(position)
        if position.root is None:
            return self.roots.decision(position.node)
        exact = self.exact_at(position)
        if exact is not None:
            return replace(exact.decision(position), line=line)
        flops, cards = self._require_below(line), position.cards
        flop, node = canonical_flop(cards[:3]), position.node
        if len(cards) > 3:
            path = Line(tuple(self.tree(position).path_to(node)), cards[3:])
            streets = flops.streets(position.root, flop.flop)
            return replace(streets.at(path, cards[:3]), line=line)
        decision = flops.counted(self._view(position.root, flop.flop).node(node, line))
        return in_suits(decision, flop, cards)

    def _new_view(self, root: int, flop: Flop) -> PotView:
        return self._require_below(flop.text).view(root, flop)

    # Tables.

    def boards(self, line: str) -> Boards:
        """The decision that a line leads to, on one flop after the other; by combo where possible.

        The line names no flop: "r2.5 c | x"; of flops one by one "spr3.5 | * | x", or "x" alone.
        """
        root, node = self.read_any_flop(line)
        solved = self._require_below(line).solved(root)

        def decision(node: int) -> Boards:
            decisions = (self._on_board(flop, root, node) for flop in solved)
            line, tree = self.line_on_any_flop(root, node), self._pot_tree(root)
            return Boards(line, len(solved), decisions, tree, node, decision, lambda: nodes(node))

        def nodes(node: int) -> Iterator[tuple[float, Node]]:
            for flop in solved:
                yield flop.weight, self.node(Position(node, root, flop.flop.cards))

        return decision(node)

    def _on_board(self, solved: SolvedFlop, root: int, node: int) -> OnBoard:
        assert self.below is not None
        line = self.line(Position(node, root, solved.flop.cards))
        decision = self.below.view(root, solved.flop).node(node, line)
        return OnBoard(solved.weight, self.below.counted(decision))

    def flop_table(self, line: str) -> list[Row]:
        """One row per flop: how often play gets to a decision after it, and the frequencies there.

        reached: whether enough of both ranges gets there for that to have been learned.
        """
        root, node = self.read_any_flop(line)
        rows: list[Row] = []
        for solved in self._require_below(line).solved(root):
            decision = self._on_board(solved, root, node).node
            texture = solved.flop.texture
            rows.append(
                {
                    "flop": solved.flop.text,
                    "suits": texture.suits,
                    "pairing": texture.pairing,
                    "high_card": texture.high_card,
                    "weight": solved.weight,
                    "share": decision.share,
                    "reached": decision.reached,
                    **dict(zip(decision.actions, decision.taken.tolist(), strict=True)),
                }
            )
        return rows

    def opening_lines(self) -> list[str]:
        """The lines to the small blind's first decision and to the answer to his usual raise."""
        if self.node(self.start).kind != "decision":
            return []
        tree = self.before.tree
        taken = self.before.strategies[0] @ HAND_SIZES  # [A] combos that take each action
        raised = [
            (float(taken[index]), child)
            for index, (child, action) in enumerate(choices(tree, 0))
            if action.is_aggressive and tree.kind[child] == NodeKind.DECISION
        ]
        usual = [max(raised)[1]] if raised else []
        return [self._root_text(node) for node in (0, *usual)]

    def flop_lines(self) -> list[str]:
        """The lines to all pots that see a flop, the most frequent first; or to all ratios."""
        if self.settings:
            return [self.line(first) for _, first in self.settings]
        before = self.before
        seen = {
            pot.node: float(before.reach[pot.node, 0] @ before.pairs @ before.reach[pot.node, 1])
            for pot in self.stored.flop_pots
        }
        return [self._root_text(node) for node in sorted(seen, key=lambda node: -seen[node])]

    def values_at(self, flop: str) -> Floats:
        """[2, P, 169]: both players' values at the root of every pot on a flop.

        Totals over a class's combos and all of the opponent's, in chips times pairs of combos.
        """
        self._require_below(flop)
        named = parse_flop(flop)
        if self.stored.place_of(named.flop) is None:
            self._require_flop(self.stored.flop_pots[0].node, parse_board(flop), "")
        return self.stored.arrays(named.flop)["values"].astype(np.float64)

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

        Where hands are classes, two cards are read as theirs.
        """
        decision = self.at(line, flop).decision
        if hand is not None:
            return decision.hand(hand).frequencies
        held = decision.class_counts()
        names = (name for hand_class, name in enumerate(HAND_NAMES) if held[hand_class])
        return {name: decision.hand(name).frequencies for name in names}

    # Texts.

    def worth(self) -> list[str]:
        """Values of both players; for flops one by one, the result at each ratio."""
        lines = self.models.lines() if self.settings else []
        if self.values is not None:
            bb, sb = (number_text(value, "+", 1) for value in self.values)
            lines.append(f"worth {bb} mbb/hand to BB, {sb} to SB")
        return lines

    @property
    def headline(self) -> str:
        """One line: the game and the accuracy of its solution."""
        error, made = self.exploitability, self.simplified
        name = f"{self.facts.name}: " if self.facts.name else ""
        if self.settings:
            return f"{name}{self.cards.kind}, {self.models.count_text()}"
        below = ", betting before the flop"
        if self.is_game:
            flops = len(self.game.flops.flops)
            below = f", {flops:,} flop{'s' * (flops != 1)}, {self.cards}"
        how = "" if made is None else f", {made.head}"
        known = f"exploitable for {error:.3g} mbb/hand" if error is not None else UNKNOWN
        if error is not None and self.certificate is not None:
            known += f" ({self.certificate.real_exploitability_mbb:.3g} with real cards)"
        source = f" after {self.iterations:,} iterations"
        if not self.iterations:  # of another program, which does not say
            source = f", solved by {self.facts.algorithm}"
        return f"{name}{bb_text(self.rules.stack)} bb deep{below}{how}, {known}{source}"


def require_street(cards: CardModel, street: Street, line: str) -> None:
    """Refuse a line to a street that is not stored."""
    if street > cards.last_street:
        raise InputError(
            f"line '{line}': with cards: {cards.kind} the {street.text} is not stored, only "
            f"decisions on the {cards.last_street.text}"
        )


def near_flops(flops: Sequence[Flop], flop: Flop) -> list[Flop]:
    """The flops of a set that are most like another one."""
    return sorted(flops, key=lambda other: _distance(other, flop))[:NEAR]


def _distance(flop: Flop, other: Flop) -> tuple[int, int]:
    """The dissimilarity of two flops: suits and pairing before ranks."""
    texture = (flop.texture.suits != other.texture.suits) + (
        flop.texture.pairing != other.texture.pairing
    )
    ranks = (abs(card_rank(a) - card_rank(b)) for a, b in zip(flop.cards, other.cards, strict=True))
    return texture, sum(ranks)

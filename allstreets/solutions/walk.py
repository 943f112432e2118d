"""The one walk: a solution is a tree of nodes, and a line of play names one of them.

    solution = allstreets.load("solved/")
    node = solution.at("r2 c | Ks7h2d | x")      # a decision, a chance node or the end of a hand
    node.decision.taken                  # how often each action is taken
    for child in node.children: ...              # the nodes after each action, or after each card

`Node` has the facts of the rules: street, board, pot, stacks, the player who acts, and the next
nodes. Its `decision` has those of the solution: strategies, EVs, equities and reach, hand by hand
(`solutions.decision`). Everything is computed on demand.

There are two solutions: `SpotSolution`, one board and two ranges, and `WholeSolution`, the game
from the first action on. A `Position` is the address of a node in either: the node of a betting
tree, and the cards that were dealt on the way.
"""

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    Address,
    BettingTree,
    NodeKind,
    Outcome,
    Player,
    Street,
    action_label,
    action_text,
    action_word,
    choices,
    find_action,
    is_address,
    line_in_words,
    read_address,
    write_address,
)
from allstreets.cards import Flop, Runouts, cards_text
from allstreets.games import Lock
from allstreets.solutions.decision import Decision, Evs, OnBoard, Unit
from allstreets.solutions.format import NO_DECISION, locks_text
from allstreets.solutions.records import Certificate, MadeSimple
from allstreets.solutions.tables import Row

if TYPE_CHECKING:
    from allstreets.solutions.whole_game import WholeSolution

Kind = Literal["decision", "chance", "end"]
KINDS: dict[int, Kind] = {
    NodeKind.DECISION: "decision",
    NodeKind.CHANCE: "chance",
    NodeKind.FOLD: "end",
    NodeKind.SHOWDOWN: "end",
}
CACHED_DECISIONS = 96  # whose numbers stay in memory


class NoNodeError(InputError):
    """A line that leads nowhere; `hints` are (label, line) of nodes that were perhaps meant."""

    def __init__(self, message: str, hints: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.hints = tuple(hints)


class NotStoredError(NoNodeError):
    """A line to strategies that the solution does not store: the flop has to be solved first."""


@dataclass(frozen=True)
class Position:
    """The address of a node."""

    node: int = 0  # of the betting tree that it lies in
    root: int | None = None
    """The node before the flop that leads to its pot; None: no flop is dealt, or it is a spot."""
    cards: tuple[int, ...] = ()  # dealt on the way, in the suits on the table


@dataclass(frozen=True)
class SolvedFlop:
    """A flop that a solution can deal."""

    flop: Flop
    weight: float  # how many of the 22,100 flops it stands for
    exploitability_pct: float | None  # of the pot


@dataclass(frozen=True)
class Deal:
    """The cards that come at a chance node."""

    count: int  # 3: a flop; 1: a turn or river card; 0: none, the solution averages over it
    stored: bool  # whether the solution knows the play that follows
    solved_again: bool = False  # whether what follows is solved when it is looked at
    note: str = ""  # why play ends here
    solvable: bool = False  # whether a flop that is not stored can be solved from here


@dataclass(frozen=True)
class Figures:
    """The quality of a solution, and its value to both players."""

    exploitability: float | None  # in `unit`; None: not known
    unit: str  # "% of pot", "mbb/hand"
    evs: tuple[float, float] | None  # of OOP and IP at the start, in `ev_unit`; None: not known
    ev_unit: str  # "chips", "mbb/hand"
    accuracy: float | None  # the largest error of an EV: the most that one player could still gain
    pot: float | None = None  # of a spot, in chips


@dataclass(frozen=True, eq=False)
class Boards:
    """The same decision on many boards, which are read one after the other."""

    line: str  # to it
    count: int
    decisions: Iterator[OnBoard]
    tree: BettingTree  # that all boards share
    node: int  # the decision in that tree
    other: Callable[[int], "Boards"]  # another decision of the tree's first street
    nodes: Callable[[], Iterator[tuple[float, "Node"]]]
    """Boards that each stands for, and the decision there, once more."""


@dataclass(frozen=True)
class LockTarget:
    """The decision that the line of a lock names, on one board or on all flops."""

    key: Hashable  # lines to the same decision share it
    tree: BettingTree
    node: int


class Solution(ABC):
    """A solved game that can be walked."""

    folder: Path | None = None  # where it was loaded from
    origin: Mapping[str, Any] | None = None  # the whole game that it is a flop of
    certificate: Certificate | None = None  # how exploitable it is with real cards
    simplified: MadeSimple | None = None  # the solution that it simplifies
    unit: Unit  # of amounts and EVs, with the names of the seats
    start = Position()  # the first node
    settings: Sequence[tuple[str, Position]] = ()
    """(label, first node) of each setting that is picked before play begins; often none."""

    @property
    def as_game(self) -> "WholeSolution | None":
        """Itself, if it is a whole game, whose flops can be solved; else None."""
        return None

    @property
    def name(self) -> str:
        """The solution's own name, else that of its folder."""
        return "" if self.folder is None else self.folder.name

    @property
    @abstractmethod
    def streets(self) -> tuple[Street, ...]:
        """The streets whose decisions it knows."""

    @property
    @abstractmethod
    def chips_per_bb(self) -> float | None:
        """Chips of its trees in a big blind; None: not known."""

    @property
    def limits(self) -> str:
        """Differences between its play and a real hand, in words; "": none."""
        return ""

    @property
    @abstractmethod
    def figures(self) -> Figures:
        """The figures of quality and values."""

    @property
    @abstractmethod
    def locks(self) -> tuple[Lock, ...]:
        """The locked strategies: given, not solved."""

    @abstractmethod
    def lock_target(self, line: str, where: str) -> LockTarget:
        """The decision that a lock's line names; `where` is the line's place in messages."""

    def spans_boards(self, line: str) -> bool:
        """Whether a line means a decision on many boards, which it does not name."""
        del line
        return False

    def boards(self, line: str) -> Boards:
        """The decision that a line leads to, on one board after the other."""
        raise InputError(
            f"line '{line}': reports over boards are of whole games, models of flops "
            "and sets of spots (allstreets solve --boards … --output); this is a single board"
        )

    def __init__(self) -> None:
        self._decisions = lru_cache(CACHED_DECISIONS)(self._ended)

    # The walk.

    def at(self, line: str = "", flop: str | None = None) -> "Node":
        """The node that a line leads to; "" is the first one.

        The flop may be part of the line or a separate argument. An address of GTO Wizard is a line
        as well. A line that leads nowhere is an `InputError`.
        """
        return Node(self, self.read(self.named_line(line), flop))

    def named_line(self, line: str) -> str:
        """The line that a text names: itself, or that of an address of GTO Wizard."""
        return self.address_line(read_address(line)) if is_address(line) else line

    @abstractmethod
    def address_line(self, address: Address) -> str:
        """The line that an address names (`betting.addresses`)."""

    def node(self, position: Position) -> "Node":
        """The node at a position."""
        return Node(self, position)

    @abstractmethod
    def read(self, line: str, flop: str | None = None, *, any_card: bool = False) -> Position:
        """The position that a line leads to.

        `any_card` allows lines that leave cards open with `*`: these cards are ANY_CARD.
        """

    @abstractmethod
    def line(self, position: Position) -> str:
        """The canonical line to a position."""

    @abstractmethod
    def tree(self, position: Position) -> BettingTree:
        """The betting tree that a position lies in."""

    @abstractmethod
    def payoffs(self, position: Position) -> Floats:
        """[N, 2, 3]: results of that tree where a hand ends, in chips, by `Outcome`."""

    @abstractmethod
    def board(self, position: Position) -> tuple[int, ...]:
        """All cards on the table."""

    @abstractmethod
    def deal(self, position: Position) -> Deal:
        """The cards that come at a chance node."""

    @abstractmethod
    def dealt(self, position: Position, cards: tuple[int, ...] = ()) -> Position:
        """The position after the cards of a chance node."""

    @abstractmethod
    def above(self, position: Position) -> Position | None:
        """The position before the last action or card; None: this is the first one."""

    @abstractmethod
    def runouts(self, position: Position) -> Runouts:
        """The cards that may come where one card is dealt, and which of them are isomorphic."""

    def flops_at(self, position: Position) -> Sequence[SolvedFlop]:
        """The flops that may come where a flop is dealt."""
        del position
        return ()

    def source(self, position: Position) -> str:
        """The source of the strategies at a position, in words; "": the solution itself."""
        del position
        return ""

    def source_note(self, position: Position) -> str:
        """The distance of strategies from elsewhere to the solution's own, in words; often ""."""
        del position
        return ""

    def refresh(self) -> None:
        """Look for results that were solved meanwhile and belong to the solution."""
        return

    def remarks(self, position: Position) -> list[str]:
        """Lines that people read before the numbers of a position."""
        del position
        return []

    def flop_figures(self, position: Position) -> Row:
        """Figures of the flop of a position where flops were solved one by one, else nothing."""
        del position
        return {}

    # The numbers.

    @abstractmethod
    def _decision(self, position: Position) -> Decision:
        """Both ranges at a position, and the strategy where a player acts."""

    def knows_ranges(self, position: Position) -> bool:
        """Whether the solution has ranges at a position."""
        del position
        return True

    def decision(self, position: Position) -> Decision:
        """Both ranges at a position, and the strategy where a player acts; cached."""
        return self._decisions(position)

    def _ended(self, position: Position) -> Decision:
        """`_decision`; where a hand ends, hands are worth their share of the pot."""
        node, decision = self.node(position), self._decision(position)
        if node.kind != "end":
            return decision
        pot, folded = node.pot - node.rake, node.folded
        unknown = Evs.unknown(decision.hands, decision.strategy)
        ranges = replace(decision, evaluate=lambda: unknown)

        def evs() -> Evs:
            shares = ranges.equities
            if folded is not None:
                oop, ip = (np.full(len(shares[p]), float(p != folded)) for p in Player)
                shares = oop, ip
            return Evs((shares[0] * pot, shares[1] * pot))

        return replace(ranges, evaluate=evs, equate=lambda: ranges.equities)

    # Texts.

    @property
    @abstractmethod
    def headline(self) -> str:
        """One line: the game and the accuracy of its solution."""

    @abstractmethod
    def worth(self) -> list[str]:
        """Lines on its value to both players."""

    def _summary(self) -> list[str]:
        lines = [self.headline, *self.worth()]
        lines += [locks_text(self.locks)] if self.locks else []
        return lines if self.simplified is None else [*lines, *self.simplified.lines()]

    def __repr__(self) -> str:
        """One line: the game and the accuracy of its solution."""
        return f"<{type(self).__name__} {self.headline}>"

    def __str__(self) -> str:
        """Some lines: the game, the accuracy, the value, and the first decision."""
        lines, first = self._summary(), self.node(self.start)
        if first.kind == "decision":
            lines += ["", str(first)]
        return "\n".join([*lines, NO_DECISION] if first.kind == "end" else lines)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        first = self.node(self.start)
        head = "".join(f"<div>{html.escape(line.strip())}</div>" for line in self._summary())
        if first.kind == "decision":
            return head + first._repr_html_()
        return f"{head}<div>{NO_DECISION}</div>" if first.kind == "end" else head

    def _hinted(self, line: str, read: Callable[[str], Position]) -> Position:
        """`read` a line; if it fails, the error leads back to the part that was right."""
        try:
            return read(line)
        except InputError as error:
            kind = type(error) if isinstance(error, NoNodeError) else NoNodeError
            if getattr(error, "hints", ()):
                raise
            words = line.split()
            for count in range(len(words) - 1, -1, -1):
                try:
                    known = self.line(read(" ".join(words[:count])))
                except InputError:
                    continue
                label = f"back to '{known}'" if known else "back to the start"
                raise kind(str(error), [(label, known)]) from None
            raise


class Node:
    """A node of a solution: a decision, a chance node, or the end of a hand."""

    def __init__(self, solution: Solution, position: Position) -> None:
        self.solution, self.position = solution, position

    def __eq__(self, other: object) -> bool:
        """Whether both are the same node of the same solution."""
        if not isinstance(other, Node):
            return NotImplemented
        return self.solution is other.solution and self.position == other.position

    def __hash__(self) -> int:
        """Hash by the position."""
        return hash(self.position)

    @cached_property
    def tree(self) -> BettingTree:
        """The betting tree that it lies in."""
        return self.solution.tree(self.position)

    @property
    def index(self) -> int:
        """The node's number in that tree."""
        return self.position.node

    @cached_property
    def line(self) -> str:
        """The canonical line to it."""
        return self.solution.line(self.position)

    @property
    def kind(self) -> Kind:
        """ "decision", "chance" or "end"."""
        return KINDS[int(self.tree.kind[self.index])]

    @property
    def street(self) -> Street:
        """The street that is played."""
        return Street(int(self.tree.street[self.index]))

    @cached_property
    def board(self) -> tuple[int, ...]:
        """All cards on the table."""
        return self.solution.board(self.position)

    @property
    def unit(self) -> Unit:
        """The unit of amounts."""
        return self.solution.unit

    @property
    def pot(self) -> float:
        """Everything in the middle, uncalled bets included."""
        return self.unit.amount(self.tree.pot_at(self.index))

    @property
    def stacks(self) -> tuple[float, float]:
        """Chips that OOP and IP have left."""
        oop, ip = (self.unit.amount(self.tree.stack_at(self.index, player)) for player in Player)
        return oop, ip

    @property
    def actor(self) -> Player | None:
        """The player who acts; None: no player does."""
        return self.tree.player_at(self.index) if self.kind == "decision" else None

    @property
    def seat(self) -> str:
        """The name of the player who acts; "" where no player acts."""
        return "" if self.actor is None else self.unit.seats[self.actor]

    @property
    def to_call(self) -> float:
        """Chips that the player who acts has to call."""
        return self.unit.amount(self.tree.to_call_at(self.index)) if self.actor is not None else 0.0

    # Where a hand ends.

    @property
    def folded(self) -> Player | None:
        """The player who has folded; None: neither has."""
        if self.tree.kind[self.index] != NodeKind.FOLD:
            return None
        return Player(int(self.tree.player[self.index]))

    @property
    def rake(self) -> float:
        """The house's share where the hand ends."""
        shown = self.tree.kind[self.index] == NodeKind.SHOWDOWN
        outcome = Outcome.TIE if shown else Outcome.WIN
        results = self.solution.payoffs(self.position)[self.index, :, outcome]
        return self.unit.amount(-float(results.sum()))

    # The action that led here, and the nodes that follow.

    @property
    def action(self) -> str:
        """The word of the action or the cards that led here: "b33", "7h"; "" for the first node."""
        above = self.parent
        if above is None:
            return ""
        if above.kind == "chance":
            return cards_text(self.board[len(above.board) :])
        return action_word(self.tree, self.index, self.unit.notation)

    @property
    def label(self) -> str:
        """The same in words: "bet 33 (33 %)", "turn 7h"."""
        above = self.parent
        if above is None:
            return ""
        if above.kind == "chance":
            return f"{self.street.text} {self.action or 'any card'}"
        return action_label(self.tree, self.index, self.unit.notation)

    @property
    def words(self) -> str:
        """The line in words: "SB raises to 2, BB calls; flop Ks7h2d: BB checks"."""
        return line_in_words(self.line, self.unit.notation, self.path[0].street)

    @property
    def address(self) -> str:
        """The address of GTO Wizard that leads here, with amounts in the unit of the solution."""
        words: dict[Street, list[str]] = {}
        for node in self.path[1:]:
            action = node.tree.actions[node.index]
            if action is not None and node.parent is not None and node.parent.kind == "decision":
                street = words.setdefault(node.parent.street, [])
                street.append(action_text(action, self.unit.notation))
        return write_address(words, self.board)

    @cached_property
    def parent(self) -> "Node | None":
        """The node before the last action or card; None: this is the first one."""
        above = self.solution.above(self.position)
        return None if above is None else Node(self.solution, above)

    @property
    def path(self) -> "list[Node]":
        """The nodes from the first one to this one."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]

    @property
    def deal(self) -> Deal | None:
        """The cards that come here; None: none do."""
        return self.solution.deal(self.position) if self.kind == "chance" else None

    @property
    def children(self) -> "list[Node]":
        """The nodes after each action, or after each card that can be dealt.

        At a chance node these are the cards, or the solution's flops; none where the solution ends.
        """
        return list(self._children())

    def _children(self) -> "Iterator[Node]":
        solution, position = self.solution, self.position
        if self.kind == "decision":
            for child, _ in choices(self.tree, self.index):
                yield Node(solution, replace(position, node=child))
        deal = self.deal
        if deal is None or not deal.stored:
            return
        if deal.count == 0:
            yield Node(solution, solution.dealt(position))
        elif deal.count == 1:
            for card in np.flatnonzero(solution.runouts(position).representative >= 0).tolist():
                yield Node(solution, solution.dealt(position, (card,)))
        else:
            for solved in solution.flops_at(position):
                yield Node(solution, solution.dealt(position, solved.flop.cards))

    def child(self, action: str) -> "Node":
        """The node after an action ("b33%", "c") or a card ("7h"), as a line writes it."""
        if self.kind == "decision":
            node = find_action(self.tree, self.index, action, self.unit.notation)
            return Node(self.solution, replace(self.position, node=node))
        return self.solution.at(f"{self.line} | {action}")

    def ways_to_a_deal(self) -> list[tuple[str, str]]:
        """(label, line) for each action after which a card can come, without further bets."""
        ways = []
        for child in self.children:
            path = [child]
            while path[-1].kind == "decision":
                path += [node for node in path[-1].children if node.action in ("x", "c")][:1]
            if path[-1].kind == "chance":
                ways.append((", ".join(node.label for node in path), path[-1].line))
        return ways

    # The play of the solution.

    @property
    def ranges(self) -> Decision:
        """Both players' ranges and EVs here, whichever player acts."""
        return self.solution.decision(self.position)

    @property
    def ranges_known(self) -> bool:
        """Whether the solution knows both ranges here: not before a flop solved separately."""
        return self.solution.knows_ranges(self.position)

    @property
    def decision(self) -> Decision:
        """The solution's play here; an `InputError` if no player acts."""
        self.require_decision()
        return self.ranges

    def require_decision(self) -> None:
        """Refuse a node where no player acts, and say how the line continues."""
        if self.kind == "decision":
            return
        if self.kind == "end":
            raise InputError(f"line '{self.line}': no player acts there any more")
        deal = self.solution.deal(self.position)
        if not deal.stored:
            raise InputError(f"line '{self.line}': {deal.note}")
        if deal.count == 3:
            example = next(iter(self.solution.flops_at(self.position))).flop.text
            raise InputError(
                f"line '{self.line}': a flop is dealt there; name one, such as {example}"
            )
        raise InputError(f"line '{self.line}': a card is dealt there: write '{self.line} | 7h |'")

    @property
    def source(self) -> str:
        """The source of the strategies here, in words; "": the solution itself."""
        return self.solution.source(self.position)

    @property
    def source_note(self) -> str:
        """The distance of strategies from another source to the solution's own, in words."""
        return self.solution.source_note(self.position)

    @property
    def remarks(self) -> list[str]:
        """Lines that people read before the numbers here."""
        return self.solution.remarks(self.position)

    @property
    def flop_figures(self) -> Row:
        """Figures of the flop, where flops were solved one by one; else nothing."""
        return self.solution.flop_figures(self.position)

    def __repr__(self) -> str:
        """One line: the line and the kind of node."""
        acts = f"{self.seat} to act" if self.actor is not None else self.kind
        return f"<Node '{self.line}': {acts}, pot {self.pot:g} {self.unit.name}>"

    def __str__(self) -> str:
        """A small table: the player who acts, both ranges, the frequency and EV of each action."""
        if self.kind == "decision":
            return str(self.decision)
        where = f"{self.line or 'first node'}: pot {self.pot:g} {self.unit.name}"
        if self.kind == "end":
            return f"{where}, the hand is over"
        deal = self.solution.deal(self.position)
        cards = {3: "a flop is dealt", 1: "a card is dealt", 0: "any card"}[deal.count]
        return f"{where}, {cards}" + (f" ({deal.note})" if deal.note else "")

    def _repr_html_(self) -> str:
        """The table of a decision for notebooks."""
        return self.decision._repr_html_() if self.kind == "decision" else f"<pre>{self}</pre>"

"""Dealing a hand: both players' cards and the board, as often as the solution gets there.

1. The hand begins at the first node, at the end of a line, or at a pot that sees a flop. Among
several pots one is drawn by the product of both ranges that get there.
2. The flop of a whole game is drawn from its set by weight, in any isomorphic suits; both players'
combos are drawn independently from the ranges that get there.
3. If two of these cards are the same, everything is drawn again. So the chance of a deal is the
weight of the flop times both reaches, over compatible deals, as in the solution.
4. Turn and river are drawn from the rest of the deck, unless the line names them.

A hand may be filtered by the decisions that are `Wanted`: streets, kinds of pot, a line, textures
of flops.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from allstreets.base import Floats, InputError, suggest
from allstreets.betting import ANY_CARD, POT_KINDS, Player, Street
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_COUNT,
    DECK_SIZE,
    PAIRING_NAMES,
    RANKS,
    SUITS_NAMES,
    Texture,
    all_flops,
    parse_board,
    texture,
)
from allstreets.solutions import Node, Position, Solution, SolvedFlop
from allstreets.study.games import seen_pots
from allstreets.study.grading import STREETS, Answer
from allstreets.study.results import Repeat

Meaning = TypeVar("Meaning")

SEATS = {"bb": Player.OOP, "oop": Player.OOP, "sb": Player.IP, "ip": Player.IP}
POTS = {**{kind: kind for kind in POT_KINDS}, "single-raised": "raised", "srp": "raised"}
SUITS = tuple(SUITS_NAMES.values())
PAIRINGS = tuple(PAIRING_NAMES.values())


@dataclass(frozen=True)
class Wanted:
    """The decisions to practise; an empty set admits everything."""

    streets: frozenset[Street] = frozenset()
    pots: frozenset[str] = frozenset()  # of `POT_KINDS`
    line: str = ""  # decisions at its end and after it
    suits: frozenset[str] = frozenset()  # rainbow, two-tone, monotone
    pairings: frozenset[str] = frozenset()  # unpaired, paired, trips
    high_cards: frozenset[str] = frozenset()  # A, K, …

    @classmethod
    def parse(
        cls,
        streets: Sequence[str] = (),
        pots: Sequence[str] = (),
        line: str = "",
        suits: Sequence[str] = (),
        pairings: Sequence[str] = (),
        high_cards: Sequence[str] = (),
    ) -> "Wanted":
        """Read words of the user, each of which may name several items, with commas."""
        ranks = {rank: rank for rank in RANKS}
        return cls(
            frozenset(_read("street", streets, STREETS)),
            frozenset(_read("pot", pots, POTS)),
            line.strip(),
            frozenset(_read("suits of a flop", suits, {name: name for name in SUITS})),
            frozenset(_read("pairing of a flop", pairings, {name: name for name in PAIRINGS})),
            frozenset(_read("high card", [card.upper() for card in high_cards], ranks)),
        )

    def texture(self, flop: Texture) -> bool:
        """Whether a flop is wanted."""
        return (
            (not self.suits or flop.suits in self.suits)
            and (not self.pairings or flop.pairing in self.pairings)
            and (not self.high_cards or flop.high_card in self.high_cards)
        )

    @property
    def names_flops(self) -> bool:
        """Whether only some flops are wanted."""
        return bool(self.suits or self.pairings or self.high_cards)

    @property
    def sees_flop(self) -> bool:
        """Whether only decisions after the flop are practised."""
        later = bool(self.streets) and Street.PREFLOP not in self.streets
        return later or bool(self.pots) or self.names_flops

    def asks(self, street: Street) -> bool:
        """Whether decisions of a street are practised."""
        if self.sees_flop and street == Street.PREFLOP:
            return False
        return not self.streets or street in self.streets

    def fits(self, decision: Answer | Repeat) -> bool:
        """Whether a decision that was made is one of those that are practised."""
        if not self.asks(STREETS[decision.street]):
            return False
        if self.pots and decision.pot_kind not in self.pots:
            return False
        return not self.names_flops or self.texture(texture(parse_board(decision.board)[:3]))

    @property
    def last(self) -> Street:
        """The last street that is practised."""
        return max(self.streets, default=Street.RIVER)

    def check(self, solution: Solution) -> None:
        """Refuse a filter that a solution cannot meet."""
        kinds = set(seen_pots(solution).values())
        missing = [street.text for street in sorted(self.streets - set(solution.streets))]
        if missing:
            known = ", ".join(street.text for street in solution.streets)
            raise InputError(
                f"{solution.name} stores no decisions on the {missing[0]}: choose from {known}"
            )
        if (self.pots or self.names_flops) and not kinds:
            raise InputError(
                f"{solution.name} has at most one pot and one flop: leave kinds of pot and "
                "textures out"
            )
        if self.pots and not self.pots & kinds:
            raise InputError(
                f"{solution.name} has no {' or '.join(sorted(self.pots))} pots that see a flop: "
                f"it has {', '.join(kind for kind in POT_KINDS if kind in kinds)}"
            )
        if self.streets == {Street.PREFLOP} and self.sees_flop:
            raise InputError(
                "kinds of pot and textures apply to hands that see a flop: ask for a later street, "
                "or give the line before it with --line"
            )
        if self.sees_flop and Street.FLOP not in solution.streets and kinds:
            raise InputError(f"{solution.name} stores no decisions after the flop")
        solution.read(self.line, any_card=True)


def parse_seat(text: str) -> Player | None:
    """A seat; None: both in turn."""
    name = text.strip().lower()
    if name in ("", "both"):
        return None
    if name not in SEATS:
        raise InputError(f"'{text}' is not a seat: choose from sb (ip), bb (oop), both")
    return SEATS[name]


def _read(what: str, texts: Iterable[str], known: Mapping[str, Meaning]) -> list[Meaning]:
    """The meanings of words, in upper or lower case."""
    meanings = []
    for word in (part.strip() for text in texts for part in text.split(",")):
        name = word if word in known else word.lower()
        if name not in known:
            raise InputError(f"'{word}' is no {what}: {suggest(name, known)}")
        meanings.append(known[name])
    return meanings


BOARD = 5
MOST_DRAWS = 20_000  # of cards that collide


def node_key(position: Position) -> tuple[int | None, int]:
    """The node of a position, for any cards."""
    return position.root, position.node


@dataclass(frozen=True, eq=False)
class Start:
    """The node that hands begin at, with its ranges."""

    position: Position
    sums: tuple[Floats, Floats]
    """[1326] of OOP and IP: the weights of the ranges that get there, added up combo by combo."""

    @classmethod
    def at(cls, node: Node) -> "Start":
        """A node with the ranges that get there."""
        ranges = node.ranges
        oop, ip = (np.cumsum(ranges.combo_weights(player)) for player in Player)
        return cls(node.position, (oop, ip))

    @property
    def size(self) -> float:
        """The total reach of the node, without removal of common cards."""
        return float(self.sums[0][-1] * self.sums[1][-1])


@dataclass(frozen=True)
class Deal:
    """The cards of a hand."""

    start: Position
    combos: tuple[int, int]  # of OOP and IP
    board: tuple[int, ...]  # all five cards, also unseen ones

    def cards(self, player: Player) -> tuple[int, int]:
        """The two cards of a player."""
        high, low = sorted(COMBO_CARDS[self.combos[player]].tolist(), reverse=True)
        return high, low


class Dealer:
    """Deals hands that a filter wants; the same random numbers give the same hands."""

    def __init__(self, solution: Solution, wanted: Wanted) -> None:
        self.solution, self.wanted = solution, wanted
        self.end = solution.read(wanted.line, any_card=True)  # where the line leads
        self.path = solution.node(self.end).path
        self.keys = {node_key(node.position) for node in self.path}
        self.starts = tuple(Start.at(node) for node in self._first_nodes())
        self._sums = np.cumsum([start.size for start in self.starts])
        if not self._sums[-1] > 0:
            raise InputError(f"the solution never gets to '{wanted.line}': choose another line")

    def _first_nodes(self) -> list[Node]:
        """The nodes where hands begin: as late on the line as all cards are known."""
        wanted, root, pots = self.wanted, self.end.root, seen_pots(self.solution)
        last = self.path[-1]
        if last.kind == "end":
            raise InputError(f"line '{wanted.line}': the hand is over there, so no player decides")
        if root is None and pots and wanted.sees_flop:
            return self._wanted_pots(pots)
        if root is not None:
            if wanted.pots and pots[root] not in wanted.pots:
                raise InputError(
                    f"line '{wanted.line}' leads to a {pots[root]} pot: leave one of them out"
                )
            if wanted.names_flops and ANY_CARD not in self.end.cards[:3]:
                raise InputError(f"line '{wanted.line}' names its flop: leave textures out")
        known = [node for node in self.path if ANY_CARD not in node.position.cards]
        deals = {(None, pot) for pot in pots}
        starts = [
            node for node in known if node.kind == "decision" or node_key(node.position) in deals
        ]
        return starts[-1:] or known[:1]

    def _wanted_pots(self, pots: dict[int, str]) -> list[Node]:
        """The pots below the end of the line that are wanted."""
        tree, wanted = self.solution.tree(self.end), self.wanted
        nodes = [
            self.solution.node(Position(pot))
            for pot, kind in pots.items()
            if self.end.node in tree.path_to(pot) and (not wanted.pots or kind in wanted.pots)
        ]
        if not nodes:
            raise InputError(f"no such pot sees a flop after '{wanted.line}': choose another line")
        return nodes

    def deal(self, chance: np.random.Generator, held: tuple[Player, int] | None = None) -> Deal:
        """A hand; `held`: a player and the combo that he has."""
        combo = None if held is None else np.cumsum(np.arange(COMBO_COUNT) == held[1])
        for _ in range(MOST_DRAWS):
            start = self.starts[draw_index(chance, self._sums)]
            sums = [*start.sums]
            if held is not None and combo is not None:
                sums[held[0]] = combo
            board = self._board(chance, start.position)
            oop, ip = (draw_index(chance, ends) for ends in sums)
            named = [card for card in board if card != ANY_CARD]
            taken = [*named, *COMBO_CARDS[oop].tolist(), *COMBO_CARDS[ip].tolist()]
            if len(set(taken)) == len(taken):
                return Deal(start.position, (oop, ip), _filled(chance, board, taken))
        raise InputError("no two hands of both ranges fit beside this board and each other")

    def _board(self, chance: np.random.Generator, start: Position) -> list[int]:
        """Five cards; ANY_CARD for those that may be any."""
        solution = self.solution
        known = solution.board(start) or draw_flop(solution, start, chance, self.wanted.texture)
        later = solution.board(self.end)[len(known) :]
        board = [*known, *later]
        return board + [ANY_CARD] * (BOARD - len(board))


def _filled(
    chance: np.random.Generator, board: Sequence[int], taken: Sequence[int]
) -> tuple[int, ...]:
    """The board with cards that are left for those that may be any."""
    left = [card for card in range(DECK_SIZE) if card not in taken]
    drawn = iter(chance.choice(left, board.count(ANY_CARD), replace=False).tolist())
    return tuple(next(drawn) if card == ANY_CARD else card for card in board)


def draw_flop(
    solution: Solution,
    position: Position,
    chance: np.random.Generator,
    wanted: Callable[[Texture], bool],
) -> tuple[int, ...]:
    """A flop of the solution by its weight, in any isomorphic suits.

    If the solution deals none, any flop may come.
    """
    flops = solution.flops_at(position) or _every_flop()
    weights = [solved.weight if wanted(solved.flop.texture) else 0.0 for solved in flops]
    sums = np.cumsum(weights)
    if not sums[-1] > 0:
        raise InputError("no flop of this solution has these textures: choose others")
    drawn = flops[draw_index(chance, sums)].flop
    permutation = CARD_PERMUTATIONS[int(chance.integers(len(CARD_PERMUTATIONS)))]
    return tuple(sorted(permutation[list(drawn.cards)].tolist(), reverse=True))


@cache
def _every_flop() -> tuple[SolvedFlop, ...]:
    return tuple(SolvedFlop(flop, flop.multiplicity, None) for flop in all_flops())


def draw_index(chance: np.random.Generator, sums: Floats) -> int:
    """An index, by cumulative weights."""
    return int(np.searchsorted(sums, chance.random() * sums[-1], side="right"))

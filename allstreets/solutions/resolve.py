"""Solving again from a later street: the spot that a line leads to, with the ranges it has there.

1. The line is followed up to the card that opens the street.
2. Both reaches there become the ranges, what is in the middle the pot, what is left the stack.
3. Sizes, thresholds, rake and locks stay the same, so the tree below is the same tree.

Values of the new solution are equilibrium values for these ranges, not the old ones to the digit:
both lie within their exploitability of each other.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from allstreets.base import InputError
from allstreets.betting import (
    ANY_CARD,
    IP,
    OOP,
    Edit,
    Line,
    NodeKind,
    Player,
    Street,
    line_text,
    neat,
    parse_line,
)
from allstreets.cards import COMBO_COUNT, Range, card_text, cards_text, live_combos
from allstreets.games import Lock, Spot, sizes_mapping
from allstreets.solutions.decision import Decision
from allstreets.solutions.spot import SpotSolution, solve
from allstreets.solutions.stored_streets import StreetNumbers
from allstreets.solutions.walk import Position

CACHED_SPOTS = 4  # that stay in memory, solvers and all

# Called before a street is solved again: its spot, the line to it, the target.
Announce = Callable[[Spot, str, float], None]


def rest_of_line(text: str, cards: int) -> str:
    """What a canonical line says after so many dealt cards.

    >>> rest_of_line("x b33 c | 7h | x b60 | * | x", 1)
    'x b60 | * | x'
    """
    return "|".join(text.split("|")[2 * cards :]).strip()


def spot_below(result: SpotSolution, line: Line, cards: int) -> tuple[Spot, tuple[float, float]]:
    """The spot after the first `cards` cards of a line, and what both reaches were divided by."""
    spot, tree = result.spot, result.spot.tree
    chances = [node for node in line.nodes if tree.kind[node] == NodeKind.CHANCE]
    chance = chances[cards - 1]
    last = int(tree.parent[chance])
    dealt = tuple(line.cards[:cards])
    board = (*spot.cards, *dealt)
    where = line_text(tree, chance, dealt)
    numbers = result.street(dealt[:-1]).node(last)
    action = tree.children_of(last).tolist().index(chance)
    ranges, scales = [], []
    for player in Player:
        reach = numbers.reach[player]
        if player == numbers.player:
            reach = reach * numbers.strategy[action]
        weights = np.zeros(COMBO_COUNT)
        weights[numbers.combos[player]] = reach
        if not weights.max() > 0:
            raise InputError(
                f"'{where}': {player.name} never plays this, so nothing is known there"
            )
        whole = float(weights.max())
        try:
            held = Range(weights / whole).on(board)
        except InputError:
            raise InputError(
                f"'{where} | {card_text(dealt[-1])}': {player.name} holds nothing beside this card"
            ) from None
        scales.append(whole * held.largest)
        ranges.append(held.normalised())
    sizes = sizes_mapping(spot.rules)
    street = Street(int(tree.street[chance]) + 1)
    # On its first street OOP has bet sizes only: where he would donk, those are the donk sizes.
    first = sizes[f"{street.text}_{OOP.name.lower()}"]
    donk = first.pop("donk", None)
    if donk is not None and _leader(result, chance) == IP:
        first["bet"] = donk
    invested = tree.invested[chance, OOP].item()
    below = replace(
        spot,
        board=cards_text(board),
        oop=ranges[0],
        ip=ranges[1],
        pot=neat(spot.pot + 2 * invested),
        stack=neat(spot.stack - invested),
        grains=spot.rules.grains_per_chip,
        bet_sizes=sizes,
        donk=None,
        edit=_edits_below(spot, int(tree.children_of(chance)[0]), cards),
        lock=_locks_below(spot, int(tree.children_of(chance)[0]), dealt, ranges),
    )
    return below, (scales[0], scales[1])


def _leader(result: SpotSolution, chance: int) -> int:
    """Who made the last bet or raise of the street that a CHANCE node ends; −1: neither."""
    tree = result.spot.tree
    street = tree.street[chance]
    for node in reversed(tree.path_to(chance)):
        action = tree.actions[node]
        if tree.street[node] != street:
            break
        if action is not None and action.is_aggressive:
            return int(tree.player[tree.parent[node]])
    return -1


def _edits_below(spot: Spot, root: int, cards: int) -> tuple[Edit, ...]:
    """The edits that stand below a node, with lines that start there."""
    found = []
    for edit in spot.edit:
        line = parse_line(spot.tree, edit.line, board=spot.cards, any_card=True)
        if root in line.nodes:
            rest = rest_of_line(line_text(spot.tree, line.node, line.cards), cards)
            found.append(Edit.from_mapping({**edit.mapping(), "line": rest}))
    return tuple(found)


def _locks_below(
    spot: Spot, root: int, dealt: tuple[int, ...], ranges: list[Range]
) -> tuple[Lock, ...]:
    """The locks that stand below a node on this board, with lines that start there.

    Hands that do not get there are dropped from them.
    """
    found = []
    for lock in spot.lock:
        line = parse_line(spot.tree, lock.line, board=spot.cards, any_card=True)
        pairs = zip(line.cards, dealt, strict=False)
        if root in line.nodes and all(given in (ANY_CARD, card) for given, card in pairs):
            text = line_text(spot.tree, line.node, line.cards)
            named = tuple(card for card in line.cards if card != ANY_CARD)
            weights = ranges[spot.tree.player_at(line.node)].weights
            left = lock.held_by(weights * live_combos(named))
            if left is not None:
                found.append(replace(left, line=rest_of_line(text, len(dealt))))
    return tuple(found)


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
        self._below: dict[
            tuple[int, tuple[int, ...]], tuple[SpotSolution, tuple[float, float]]
        ] = {}

    @property
    def stored_streets(self) -> int:
        """Later streets are solved again."""
        return self.kept

    def _decision(self, position: Position) -> Decision:
        """Beyond the stored streets after solving them again."""
        tree = self.spot.tree
        if len(position.cards) < self.kept or tree.kind[position.node] != NodeKind.DECISION:
            return super()._decision(position)
        path = Line(tuple(tree.path_to(position.node)), position.cards)
        below, scales = self._solved(path)
        shown = below.at(rest_of_line(self.line(position), self.kept)).decision
        oop, ip = (
            replace(
                hands,
                reach=hands.reach * scale,
                weights=hands.weights * scales[0] * scales[1],
                start=float(whole.weights[hands.combos].sum()),
            )
            for hands, scale, whole in zip(shown.hands, scales, self.spot.ranges, strict=True)
        )
        line = self.line(position)
        return replace(shown, line=line, hands=(oop, ip), deal=lambda: self.pairs(shown.board))

    def _solved(self, line: Line) -> tuple[SpotSolution, tuple[float, float]]:
        tree, cards = self.spot.tree, self.kept
        roots = [
            below
            for above, below in zip(line.nodes, line.nodes[1:], strict=False)
            if tree.kind[above] == NodeKind.CHANCE
        ]
        key = roots[cards - 1], tuple(line.cards[:cards])
        if key in self._below:
            self._below[key] = self._below.pop(key)  # the last to be given up
        else:
            spot, scales = spot_below(self, line, cards)
            if self.announce is not None:
                self.announce(spot, line_text(tree, key[0], key[1]), self.target)
            self._below[key] = solve(spot, self.target, threads=self.threads), scales
            while len(self._below) > CACHED_SPOTS:
                del self._below[next(iter(self._below))]
        return self._below[key]

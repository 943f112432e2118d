"""A flop of a solved whole game as a separate spot: real combos, the ranges that get there.

1. The line before the flop leads to a pot: its chips, stacks, sizes and rake are the spot's.
2. A combo's weight is the reach of its class under the strategies before the flop; in an off-path
pot, its weight in the solution's entry range (`solvers.entry_ranges`).
   Whether the solution was trained on the flop makes no difference.
3. The board keeps the suits that were asked for. Weights are the same for all combos of a class,
   so another spelling of a flop is the same spot with its suits renamed (`fingerprint`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    BettingTree,
    FlopPot,
    Line,
    NodeKind,
    Player,
    WholeLine,
    action_text,
    line_text,
    parse_line,
    split_line,
)
from allstreets.cards import (
    COMBO_COUNT,
    COMBO_PERMUTATIONS,
    HAND_NAMES,
    HAND_OF_COMBO,
    SUIT_PERMUTATIONS,
    SUITS,
    CanonicalFlop,
    Range,
    cards_text,
    hand_combos,
    live_combos,
    parse_board,
)
from allstreets.games import (
    Lock,
    Spot,
    WholeGame,
    data_hash,
    sizes_mapping,
    spot_mapping,
    spot_root,
)
from allstreets.solutions.pot_evaluation import live
from allstreets.solutions.reached import LineReach
from allstreets.solutions.whole_game import WholeSolution

LEAST_REACH = 1e-5  # of a range's largest weight: less is left over from the first iterations
NAMED_LINES = 6  # in a message


@dataclass(frozen=True, eq=False)
class FlopSpot:
    """A flop of a whole game as a spot, with its pot."""

    spot: Spot
    ranges: tuple[Range, Range]  # all combos of a class weigh the same, on the flop or not
    line: str  # before the flop, in its canonical words
    flop: CanonicalFlop  # of the spot's board
    pot: FlopPot
    number: int  # of the pot among those that see a flop
    place: int | None  # of the flop among the solution's; None: the solution does not store it
    doubt: str  # why these are not the ranges of play, or were not learned; "" where they are

    @property
    def cards(self) -> str:
        """The flop in the suits that were asked for, highest card first."""
        return self.spot.board

    @property
    def name(self) -> str:
        """A name for people and for folders: "r2.5-c-QsJh2h"."""
        return "-".join([*self.line.split(), self.cards])

    @cached_property
    def fingerprint(self) -> str:
        """A hash that all spellings of the flop share, and no other flop, pot or ranges."""
        return data_hash(spot_mapping(replace(self.spot, board=self.flop.flop.text)))


def flop_spot(result: WholeSolution, line: str, flop: str | None = None) -> FlopSpot:
    """The spot of a flop after a line; the flop may be in the line, "r2.5 c | QsJh2h"."""
    parts = _find(result, line, flop)
    assert parts.flop is not None
    node, game = parts.root, result.game
    number = [pot.node for pot in game.flop_pots].index(node)
    pot, cards = game.flop_pots[number], tuple(sorted(parse_board(parts.cards), reverse=True))
    left = hand_combos(cards)  # [169]
    reach = np.where(left > 0, result.before.reach[node], 0.0)  # [2, 169]
    oop, ip = (reach @ left / left.sum()).tolist()
    shares = LineReach((oop, ip), np.zeros(0), np.zeros(0, np.bool_))
    weights = np.where(left > 0, result.before.pot_ranges[:, number], 0.0)
    seats = BIG_BLINDS.seats
    ranges = _range(weights[0], parts, Player.OOP), _range(weights[1], parts, Player.IP)
    return FlopSpot(
        spot=_locked(_spot(game, pot, cards_text(cards), ranges), result, number, parts.flop),
        ranges=ranges,
        line=line_text(game.tree, node, notation=BIG_BLINDS),
        flop=parts.flop,
        pot=pot,
        number=number,
        place=result.stored.place_of(parts.flop.flop) if result.has_flops else None,
        doubt=shares.why_not(seats) if result.before.ranges is None else shares.entered(seats),
    )


def suits_text(here: CanonicalFlop, there: CanonicalFlop) -> str:
    """The suits of a flop in another spelling of it: "c is s, s is c"; "" for the same ones.

    Suits that stay are left out.
    """
    back = np.argsort(SUIT_PERMUTATIONS[there.permutation])
    renamed = back[SUIT_PERMUTATIONS[here.permutation]].tolist()
    moved = [(suit, other) for suit, other in enumerate(renamed) if suit != other]
    return ", ".join(f"{SUITS[suit]} is {SUITS[other]}" for suit, other in moved)


def _find(result: WholeSolution, line: str, flop: str | None) -> WholeLine[int]:
    """A line that ends where the flop is dealt, and the flop."""
    parts = split_line(line, result.roots.read, flop)
    kind = result.game.tree.kind[parts.root]
    if kind != NodeKind.CHANCE:
        over = kind in (NodeKind.FOLD, NodeKind.SHOWDOWN)
        what = "the hand is over there" if over else "it ends before the flop"
        raise InputError(f"line '{parts.before}': {what}; lines that see one: {_lines(result)}")
    if parts.flop is None:
        rest = (parts.after or "").strip()
        wrong = f"'{rest}' is not a flop: " if rest else ""
        raise InputError(f"line '{parts.before}': {wrong}name a flop to solve, such as QsJh2h")
    if parts.after and parts.after.strip():
        raise InputError(
            f"line '{line}': a flop is solved from its first decision on: leave "
            f"'{parts.after.strip()}' out, and look at it in the solved spot"
        )
    return parts


def _lines(result: WholeSolution) -> str:
    lines = [f"'{line}'" for line in result.flop_lines()]
    more = ", …" if len(lines) > NAMED_LINES else ""
    return ", ".join(lines[:NAMED_LINES]) + more if lines else "none, all hands end before it"


def _range(reach: Floats, parts: WholeLine[int], player: Player) -> Range:
    """All combos of the classes that a player's strategy leaves [169], the largest weight 1."""
    largest = float(reach.max())
    if largest <= 0:
        raise InputError(
            f"line '{parts.before}': {player.seat} never gets to {parts.cards} that way, so there "
            "is no range to solve for; choose a line that is played"
        )
    weights = reach / largest
    return Range(np.where(weights >= LEAST_REACH, weights, 0.0)[HAND_OF_COMBO])


def _locked(spot: Spot, result: WholeSolution, number: int, flop: CanonicalFlop) -> Spot:
    """The spot with the locks of its pot; by combo where they depend on the flop."""
    pot, tree = result.stored.pot(result.game.flop_pots[number].node), spot.tree
    by_flop = [node for root, node in result.game.locks.by_flop if root == pot.pot.node]
    locks = [
        Lock(
            line_text(tree, node),
            hands={
                str(HAND_NAMES[hand]): _mix(tree, node, chances)
                for hand, chances in told.items()
                if (spot.ranges[tree.player_at(node)].weights[hand == HAND_OF_COMBO] > 0).any()
            },
        )
        for node, told in pot.tree.hand_locks.items()
    ]
    for node, chances in pot.tree.locks.items():
        line = parse_line(tree, line_text(tree, node), spot.cards, any_card=True)
        if node not in by_flop:
            locks.append(Lock(line_text(tree, node), strategy=_mix(tree, node, chances)))
            continue
        stored_at = result.stored.place_of(flop.flop) if result.has_flops else None
        if stored_at is None or result.cards.kind == "buckets":
            raise InputError(
                f"'{line_text(tree, node)}' is locked flop by flop, and the play of hands on "
                f"{spot.board} is not stored by combo"
            )
        strategy, _ = result.stored.view(pot.pot.node, flop.flop).stage_play(node)
        if result.cards.plays_classes:
            by_combo = np.where(live_combos(spot.cards), strategy[:, HAND_OF_COMBO], 0.0)
        else:
            by_combo = np.zeros((len(strategy), COMBO_COUNT))
            by_combo[:, flop.named_combos(live(flop.flop))] = strategy
        locks.append(played_lock(spot, line, by_combo)[0])
    return replace(spot, lock=tuple(locks))


def _mix(tree: BettingTree, node: int, chances: Sequence[float]) -> dict[str, float]:
    """Action → probability, of those that are taken."""
    words = (action_text(action) for action in tree.actions_at(node))
    return {word: chance for word, chance in zip(words, chances, strict=True) if chance}


def _spot(game: WholeGame, pot: FlopPot, board: str, ranges: tuple[Range, Range]) -> Spot:
    """The pot as a spot: the same betting tree, to the last chip."""
    rules = game.rules_of(pot)
    sizes: dict[str, Any] = sizes_mapping(rules)
    # Where no size is below a big blind, the smallest bet has no effect.
    least = rules.min_bet if game.may_bet_less else min(game.preflop.big_blind, CHIPS_PER_BB)
    return Spot(
        board=board,
        oop=ranges[Player.OOP],
        ip=ranges[Player.IP],
        pot=rules.pot,
        stack=rules.stack,
        bet_sizes=sizes,
        add_allin_threshold=rules.add_allin_threshold,
        force_allin_threshold=rules.force_allin_threshold,
        merging_threshold=rules.merging_threshold,
        rake=rules.rake,
        rake_cap=rules.rake_cap,
        max_raises=rules.max_raises,
        chips_per_bb=CHIPS_PER_BB,
        min_bet=None if least == CHIPS_PER_BB else least,
        grains=rules.grains,
    )


DIGITS = 7  # of locked probabilities: more would only make texts long


def played_lock(spot: Spot, line: Line, by_combo: Floats) -> tuple[Lock, Floats]:
    """A lock of a decision to a strategy [A, 1326], and what it plays.

    Combos that differ only in the names of suits play alike, even if a solver's last digits differ:
    otherwise cards that are isomorphic in the spot would have to be solved one by one.
    """
    root = spot_root(spot)
    for card in line.cards:
        root = root.after(card)
    renamed = np.array([by_combo[:, COMBO_PERMUTATIONS[p]] for p in root.symmetries])
    even = np.round(renamed.mean(axis=0), DIGITS)
    # The rounding error goes to the most frequent action.
    lost = np.where(even.any(axis=0), 1 - even.sum(axis=0), 0.0)
    even[even.argmax(axis=0), np.arange(COMBO_COUNT)] += lost
    by_combo = np.clip(np.round(even, DIGITS), 0.0, 1.0)
    words = [action_text(action) for action in spot.tree.actions_at(line.node)]
    ranges = {word: str(Range(row)) for word, row in zip(words, by_combo, strict=True) if row.any()}
    return Lock(line_text(spot.tree, line.node, line.cards), ranges=ranges), by_combo

"""Hands that a whole-game solution plays against itself, dealt and drawn by a seed."""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random

import numpy as np
from builders.whole_solution import solver_of, trained_once, whole_game

from allstreets.base import Floats
from allstreets.betting import (
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Player,
    Street,
    line_text,
)
from allstreets.cards import (
    COMBO_CARDS,
    HAND_OF_COMBO,
    live_combos,
    parse_board,
)
from allstreets.engines.card_model import EXACT
from allstreets.interop.played_hands import Ledger, PlayedHand
from allstreets.solutions import SpotSolution, flop_spot, solve
from allstreets.solutions.whole_game import WholeSolution

FLOP = "7s7h7d"
LIMPED = "c x"
STACK = 3
BB = Fraction(1)


@cache
def solution() -> WholeSolution:
    """Three big blinds, one flop with real combos, half-pot bets and one raise a street."""
    solver = solver_of(whole_game([FLOP], STACK, "50%", ()), 0, EXACT)
    return WholeSolution.of(trained_once(solver, 25))


@cache
def flop_solution() -> SpotSolution:
    """The limped pot on the flop, all streets of it."""
    return solve(flop_spot(solution(), LIMPED, FLOP).spot, 1e-3, threads=1)


def play(seed: int, *, limped: bool = False) -> PlayedHand:
    """A hand; `limped`: one of those that see the flop."""
    chance, result = Random(seed), solution()
    combos = _deal(chance, result, limped)
    holes = [(int(COMBO_CARDS[one][0]), int(COMBO_CARDS[one][1])) for one in combos]
    taken = {*holes[0], *holes[1], *parse_board(FLOP)}
    left = [card for card in range(52) if card not in taken]
    runout = chance.sample(left, 2)
    ledger = Ledger(("bob", "ann"), (Fraction(STACK), Fraction(STACK)), BB)
    ledger.post_blind(Player.IP, BB / 2)
    ledger.post_blind(Player.OOP, BB)
    tree, node = result.before.tree, 0
    line = iter(_path(tree, result.roots.read(LIMPED))) if limped else None
    while tree.kind[node] == NodeKind.DECISION:
        mix = result.before.strategies[node][:, HAND_OF_COMBO[combos[tree.player_at(node)]]]
        place = _draw(chance, mix) if line is None else next(line)
        node = _act(ledger, tree, node, place, Street.PREFLOP)
    if tree.kind[node] == NodeKind.CHANCE:
        _play_flop(ledger, chance, combos, runout)
    return ledger.end(
        name=f"{'limped ' if limped else ''}{seed}",
        holes=(holes[0], holes[1]),
        board=(*parse_board(FLOP), *runout),
        results=(Fraction(0), Fraction(0)),  # who wins is no matter of decisions
    )


def _play_flop(ledger: Ledger, chance: Random, combos: tuple[int, int], runout: list[int]) -> None:
    """Play on with the strategies of the one solution of flop, turn and river."""
    exact, node, dealt, street = flop_solution(), 0, list[int](), Street.FLOP
    tree = exact.spot.tree
    while not tree.is_terminal[node]:
        if tree.kind[node] == NodeKind.CHANCE:
            dealt.append(runout[len(dealt)])
            street, node = Street(street + 1), int(tree.children_of(node)[0])
            continue
        decision = exact.at(line_text(tree, node, dealt)).decision
        hand = int(np.flatnonzero(decision.combos == combos[decision.player])[0])
        place = _draw(chance, np.maximum(decision.strategy[:, hand], 0.0))
        node = _act(ledger, tree, node, place, street)


def _path(tree: BettingTree, node: int) -> list[int]:
    """The places of the actions on the way to a node."""
    return [
        tree.children_of(above).tolist().index(below)
        for above, below in pairwise(tree.path_to(node))
    ]


def _draw(chance: Random, mix: Floats) -> int:
    return chance.choices(range(len(mix)), mix.tolist())[0]


def _deal(chance: Random, result: WholeSolution, limped: bool) -> tuple[int, int]:
    """Combos of OOP and IP, as often as they are dealt beside the flop, or get to see it."""
    live = live_combos(parse_board(FLOP)).astype(float)
    node = result.roots.read(LIMPED if limped else "")
    reach = result.before.reach[node][:, HAND_OF_COMBO] * live
    while True:
        oop, ip = (chance.choices(range(len(live)), weights.tolist())[0] for weights in reach)
        if not set(COMBO_CARDS[oop].tolist()) & set(COMBO_CARDS[ip].tolist()):
            return oop, ip


def _act(ledger: Ledger, tree: BettingTree, node: int, place: int, street: Street) -> int:
    child = int(tree.children_of(node)[place])
    action = tree.actions[child]
    assert action is not None
    to = Fraction(str(action.amount)) / CHIPS_PER_BB
    ledger.act(street, tree.player_at(node), action.kind, to)
    return child

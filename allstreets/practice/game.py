"""A solution to play hands on: loading it, its pots, the flops that it deals, and what hands win.

| solution                    | turn and river                                                   |
|-----------------------------|------------------------------------------------------------------|
| spot                        | real cards                                                       |
| whole game, `boards`; flops | real cards                                                       |
| that were solved exactly    |                                                                  |
| whole game, `classes`,      | streets of betting without a card: the solution does not see it, |
| `buckets`, `sampled`        | and at the showdown the board is dealt                           |
| whole game, `exact`         | not stored: the hand ends with the flop                          |
| preflop, `store: preflop`   | not stored: the hand ends before the flop                        |
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import POT_KINDS, Street, flop_pots
from allstreets.cards import CARD_PERMUTATIONS, Texture, all_flops
from allstreets.solutions import Position, Solution, SolvedFlop
from allstreets.storage import SpotSet, load

UNOPENED, SPOT = "unopened", "spot"
NO_BIG_BLIND = "the spot does not say what a big blind is: a chip counts as one"
MODELS = (
    "{folder} holds flops solved one by one, with ranges that nobody plays: practise with a spot "
    "(allstreets solve) or a whole game (allstreets train)"
)


def load_playable(folder: Path) -> Solution:
    """A solved spot or whole game; an `InputError` for what cannot be played."""
    folder = folder.resolve()
    solution = load(folder)
    if isinstance(solution, SpotSet):
        example = next((entry.folder for entry in solution.entries), "…")
        raise InputError(
            f"{folder} holds spots that were solved together: practise with one of them, "
            f"{folder / example}"
        )
    if solution.unit.name == "pot":
        raise InputError(MODELS.format(folder=folder))
    if solution.at().kind == "end":
        raise InputError(f"nothing is decided in {folder}: both players are all-in")
    return solution


def bb_chips(solution: Solution) -> float:
    """Chips in a big blind; a chip counts as one where the solution does not say."""
    return solution.chips_per_bb or 1.0


def practice_note(solution: Solution) -> str:
    """A player has to know this of a solution; "": nothing."""
    return NO_BIG_BLIND if solution.chips_per_bb is None else solution.limits


def seen_pots(solution: Solution) -> dict[int, str]:
    """The nodes that see a flop, with their kinds; empty: no pot does, or it is a spot."""
    return {pot.node: pot.kind for pot in flop_pots(solution.tree(solution.start))}


def pot_kind(solution: Solution, position: Position) -> str:
    """The kind of pot by the raises before the flop: "unopened", "limped", …, or "spot"."""
    tree = solution.tree(solution.start)
    if tree.first_street > Street.PREFLOP:
        return SPOT
    path = tree.path_to(position.node if position.root is None else position.root)
    actions = [tree.actions[node] for node in path[1:]]
    raises = sum(action is not None and action.is_aggressive for action in actions)
    return POT_KINDS[min(raises, len(POT_KINDS) - 1)] if actions else UNOPENED


def draw_flop(
    solution: Solution,
    position: Position,
    chance: np.random.Generator,
    wanted: Callable[[Texture], bool],
) -> tuple[int, ...]:
    """A flop of the solution by its weight, in any of the suits that make it the same.

    Where the solution deals none, any flop may come.
    """
    flops = solution.flops_at(position) or _every_flop()
    weights = [solved.weight if wanted(solved.flop.texture) else 0.0 for solved in flops]
    sums = np.cumsum(weights)
    if not sums[-1] > 0:
        raise InputError("no flop of this solution is like that: choose other textures")
    drawn = flops[draw_index(chance, sums)].flop
    permutation = CARD_PERMUTATIONS[int(chance.integers(len(CARD_PERMUTATIONS)))]
    return tuple(sorted(permutation[list(drawn.cards)].tolist(), reverse=True))


@cache
def _every_flop() -> tuple[SolvedFlop, ...]:
    return tuple(SolvedFlop(flop, flop.multiplicity, None) for flop in all_flops())


def draw_index(chance: np.random.Generator, sums: Floats) -> int:
    """An index, by weights that are added up."""
    return int(np.searchsorted(sums, chance.random() * sums[-1], side="right"))


def won_bb(solution: Solution, position: Position) -> Floats:
    """[2, 3]: what OOP and IP win at the end of a hand in big blinds, by `Outcome`.

    What was put in since the solution starts counts as lost. Results of a spot are relative to half
    of its starting pot, which neither player has put in since.
    """
    tree = solution.tree(solution.start)
    share = tree.pot / 2 if tree.first_street > Street.PREFLOP else 0.0
    won: Floats = (solution.payoffs(position)[position.node] + share) / bb_chips(solution)
    return won

"""A flat game as the tree that sampling walks over: compact nodes, chance moves in constant time.

Axis letters: N nodes. See `cfr.kernels.external_sampling.Tree` for the arrays.

Two things differ from the tree of `flat`. Chance moves that follow one another directly, such as
the deal of one card after another, become one move. And the order is that of a walk: the children
of a node stay neighbours, and all that is below the first child comes before what is below the
second. A walk goes down into a part of the tree and stays there, so what it needs next is mostly
near what it has just read.
"""

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.cfr.game import CHANCE, NOWHERE, TERMINAL, FlatGame
from allstreets.cfr.kernels.external_sampling import Tree


def sampling_tree(game: FlatGame) -> Tree:
    """Order the nodes of `game` for walks and prepare its chance nodes."""
    numbers, chances, firsts, counts = _walking_order(game)
    order = np.array(numbers)
    inner = game.actor[order] != TERMINAL
    nodes = np.zeros((len(order), 4), dtype=np.uint32)
    nodes[:, 0] = game.actor[order]
    nodes[:, 1] = counts
    nodes[:, 2] = 4 * np.array(firsts)
    sets = game.information_set[order]
    nodes[:, 3] = np.where(sets == NOWHERE, 0, game.slot_start[sets])
    utility = nodes.view(np.float64)  # [N, 2]: the second half of a node's bytes
    utility[~inner, 1] = game.utility[order][~inner]
    probability = np.array(chances)
    accept, alias = np.ones(len(order)), np.arange(len(order))
    for chance in np.flatnonzero(game.actor[order] == CHANCE):
        children = slice(firsts[chance], firsts[chance] + counts[chance])
        accept[children], other = alias_table(probability[children])
        alias[children] = firsts[chance] + other
    return Tree(
        nodes=nodes.reshape(-1),
        utility=utility.reshape(-1),
        accept=accept,
        alias=(4 * alias).astype(np.uint32),
        probability=probability,
        slot_start=game.slot_start,
    )


def alias_table(probabilities: Floats) -> tuple[Floats, Longs]:
    """(accept, alias) of Walker's method: draw i uniformly, keep it with accept[i], else alias[i].

    >>> alias_table(np.array([0.5, 0.5]))[0].tolist()
    [1.0, 1.0]

    Walker (1977), An efficient method for generating discrete random variables.
    """
    count = len(probabilities)
    accept, alias = np.ones(count), np.arange(count)
    scaled = probabilities * count
    small = [i for i in range(count) if scaled[i] < 1 - 1e-12]
    large = [i for i in range(count) if scaled[i] > 1 + 1e-12]
    while small and large:
        giver, taker = large[-1], small.pop()
        accept[taker], alias[taker] = scaled[taker], giver
        scaled[giver] -= 1 - scaled[taker]
        if scaled[giver] < 1 + 1e-12:
            large.pop()
            if scaled[giver] < 1 - 1e-12:
                small.append(giver)
    return accept, alias


def _walking_order(game: FlatGame) -> tuple[list[int], list[float], list[int], list[int]]:
    """Of each node of the new order: its number in `game`, nature's probability of the move into
    it, the place of its first child in the new order, the number of its children."""
    numbers, chances, firsts, counts = [0], [1.0], [0], [0]
    waiting = [0]
    while waiting:
        place = waiting.pop()
        children = _children(game, numbers[place])
        firsts[place], counts[place] = len(numbers), len(children)
        waiting += reversed(range(len(numbers), len(numbers) + len(children)))
        numbers += [child for child, _ in children]
        chances += [chance for _, chance in children]
        firsts += [0] * len(children)
        counts += [0] * len(children)
    return numbers, chances, firsts, counts


def _children(game: FlatGame, node: int) -> list[tuple[int, float]]:
    """The node's children and nature's probability of each, chance moves in a row as one."""
    first = int(game.first_child[node])
    children: list[tuple[int, float]] = []
    for child in range(first, first + int(game.child_count[node])):
        chance = float(game.probability[child])
        if game.actor[node] == CHANCE and game.actor[child] == CHANCE:
            children += [(below, chance * more) for below, more in _children(game, child)]
        else:
            children.append((child, chance))
    return children

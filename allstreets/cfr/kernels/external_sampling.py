"""External-sampling Monte Carlo CFR: walks over the tree of histories with an explicit stack.

Axis letters: N nodes, K slots, D depth of the stack, A largest number of actions, S streams,
T iterations.

A walk for one player tries all his actions, and samples one move wherever nature or the opponent
moves. A sampled move needs no room on the stack, since a value passes through it unchanged; only
the player's own nodes need some.

The time goes into finding the next node, so a node is four numbers in a row, and is named by its
**address**, the position of the first of them: 4 · (number of the node). Indices are unsigned:
signed ones would be checked for counting from the end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Ints, Longs, inner_kernel, kernel

CHANCE = 2
TERMINAL = 3
ZERO, ONE, TWO, THREE = (np.uint64(number) for number in range(4))
# A node's numbers, from its address on: who moves, how many children, address of the first child,
# first slot of the information set. At a terminal the last two are the bytes of its utility.
CHILDREN, FIRST_CHILD, SLOT = ONE, TWO, THREE
NODE = TWO  # address = number << NODE


class Tree(NamedTuple):
    """A game's histories; made once, never changed."""

    nodes: NDArray[np.uint32]  # [4 N]
    utility: Floats  # [2 N] the same bytes: to the first player, at address / 2 + 1
    accept: Floats  # [N] below nature: keep this child …
    alias: NDArray[np.uint32]  # [N] … or else take the one at that address
    slot_start: Ints  # [I + 1] first slot of each information set


class Learned(NamedTuple):
    """Tables by slot: what a walk reads, and what it adds to."""

    regrets: Floats  # [K]
    strategy: Floats  # [K] regret matching of `regrets`
    new_regrets: Floats  # [K] where regrets are added; `regrets` itself if at once
    new_sums: Floats  # [K] where strategies are added


class Stack(NamedTuple):
    """The scratch arrays of one stream's walks."""

    path: NDArray[np.uint64]  # [2 D] address of a node, the child that is being tried
    shares: Floats  # [D] share of the node in the average
    values: Floats  # [D, A] in a row, A a power of 2: value of each child
    counts: Longs  # [2] actions skipped, actions due


class Skipping(NamedTuple):
    """Pruning, iteration by iteration, in the unit of the stored regrets."""

    thresholds: Floats  # [T] skip actions with a regret below
    everything: Flags  # [T] explore: visit also what would be skipped
    floor: float  # no regret falls below
    # The opponent's average is summed on the way, also below actions that are mostly skipped.
    # There an exploring visit stands for so many, of which the others were saved.
    interval: float


@kernel
def random_number(seed: np.uint64) -> float:
    """A number from [0, 1): SplitMix64's mixing of `seed` (Steele, Lea & Flood 2014)."""
    mixed = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.int64(mixed >> np.uint64(11)) * 2.0**-53


@kernel
def run_walks(
    tree: Tree,
    learned: Learned,
    stack: Stack,
    random: NDArray[np.uint64],
    done: Longs,
    iterations: int,
    at_once: bool,
    skipping: Skipping | None,
) -> None:
    """Run `iterations`, each with a walk for each player.

    `random` [1] is the stream's random state, `done` [1] counts its iterations. With `at_once` the
    strategy follows every change of a regret; else it is fixed and regrets accumulate in
    `new_regrets`. With `skipping` actions are left out; without it the kernel is compiled for that.

    A walk:
    1. Down: at a node of the player push it and try its first action; at one of nature's or the
       opponent's sample a move, and add the opponent's strategy to his average. He gets there as
       often as his strategy leads there, so his reach is not multiplied in again.
    2. At a terminal: take its utility. Up: hand the value to the node on top of the stack. If it
       has another action to try, go down there; else its value is the mean under the strategy, and
       each action's regret grows by what it is better than that; pop it and continue up.
    """
    # Arrays are taken out of their tuples once: each taking costs two atomic counts of references.
    nodes, utility, accept, alias = tree.nodes, tree.utility, tree.accept, tree.alias
    regrets, strategy = learned.regrets, learned.strategy
    new_regrets, new_sums = learned.new_regrets, learned.new_sums
    path, shares, values, counts = stack.path, stack.shares, stack.values, stack.counts
    shift = ZERO  # row d of `values` begins at d << shift
    while (ONE << shift) * np.uint64(len(shares)) < np.uint64(len(values)):
        shift += ONE
    seed = random[0]
    for walk in range(2 * iterations):
        row, player = walk // 2, np.uint32(walk % 2)
        sign = 1.0 if player == 0 else -1.0
        node, depth = ZERO, ZERO
        share = 1.0  # of the current node in the average
        threshold, floor, everything, interval = -np.inf, -np.inf, False, 1.0
        if skipping is not None:
            threshold, floor = skipping.thresholds[row], skipping.floor
            everything, interval = skipping.everything[row], skipping.interval
        while True:
            actor = nodes[node]
            if actor == player:
                child = ZERO
                if skipping is not None:
                    shares[depth] = share
                    slot = np.uint64(nodes[node + SLOT])
                    count = np.uint64(nodes[node + CHILDREN])
                    if not everything:
                        child = tried(regrets, strategy, slot, child, count, threshold, counts)
                    elif can_skip(regrets, strategy, slot, threshold):
                        share *= interval
                path[TWO * depth] = node
                path[TWO * depth + ONE] = child
                depth += ONE
                node = np.uint64(nodes[node + FIRST_CHILD]) + (child << NODE)
                continue
            if actor == CHANCE:
                seed += np.uint64(0x9E3779B97F4A7C15)
                number = random_number(seed) * nodes[node + CHILDREN]
                whole = np.int64(number)
                node = np.uint64(nodes[node + FIRST_CHILD]) + (np.uint64(whole) << NODE)
                keep = number - whole < accept[node >> NODE]
                node = node if keep else np.uint64(alias[node >> NODE])
                continue
            if actor != TERMINAL:
                slot = np.uint64(nodes[node + SLOT])
                last = slot + np.uint64(nodes[node + CHILDREN]) - ONE
                seed += np.uint64(0x9E3779B97F4A7C15)
                number = random_number(seed)
                # No branch on the random number: it would be mispredicted half of the time.
                total = strategy[slot]
                child = np.uint64(number >= total)
                new_sums[slot] += share * total
                for k in range(slot + ONE, last):
                    new_sums[k] += share * strategy[k]
                    total += strategy[k]
                    child += np.uint64(number >= total)
                if last > slot:
                    new_sums[last] += share * strategy[last]
                node = np.uint64(nodes[node + FIRST_CHILD]) + (child << NODE)
                continue
            value = sign * utility[(node >> ONE) + ONE]
            while depth > ZERO:
                top = depth - ONE
                node = path[TWO * top]
                child = path[TWO * top + ONE] + ONE
                slot = np.uint64(nodes[node + SLOT])
                count = np.uint64(nodes[node + CHILDREN])
                begin = top << shift
                values[begin + child - ONE] = value
                if skipping is not None:
                    share = shares[top]
                    if not everything:
                        child = tried(regrets, strategy, slot, child, count, threshold, counts)
                    elif child < count and can_skip(regrets, strategy, slot + child, threshold):
                        share *= interval
                if child < count:
                    path[TWO * top + ONE] = child
                    node = np.uint64(nodes[node + FIRST_CHILD]) + (child << NODE)
                    break
                depth = top
                if skipping is not None:
                    counts[1] += np.int64(count)
                if skipping is None and at_once and count == TWO:
                    value = learn_two(regrets, strategy, slot, values[begin], values[begin + ONE])
                    continue
                if skipping is None and at_once and count == THREE:
                    value = learn_three(
                        regrets,
                        strategy,
                        slot,
                        values[begin],
                        values[begin + ONE],
                        values[begin + TWO],
                    )
                    continue
                value = 0.0
                for a in range(count):
                    value += strategy[slot + a] * values[begin + a]
                for a in range(count):
                    new = new_regrets[slot + a] + (values[begin + a] - value)
                    if skipping is not None:
                        if not everything and can_skip(regrets, strategy, slot + a, threshold):
                            continue
                        if at_once:
                            new = max(new, floor)
                    new_regrets[slot + a] = new
                if at_once:
                    match_set(regrets, strategy, slot, count)
            if depth == ZERO:
                break
        done[0] += player
        random[0] = seed


@inner_kernel
def learn_two(
    regrets: Floats,
    strategy: Floats,
    slot: np.uint64,
    first: float,
    second: float,
) -> float:
    """Regrets and strategy of a set of two actions, given their values; the value of the set.

    Most sets have two or three actions. Without loops, which end unpredictably when twos and
    threes mix, an iteration on Leduc takes a fifth less.
    """
    value = strategy[slot] * first + strategy[slot + ONE] * second
    regret = regrets[slot] + (first - value)
    other = regrets[slot + ONE] + (second - value)
    regrets[slot], regrets[slot + ONE] = regret, other
    regret, other = max(regret, 0.0), max(other, 0.0)
    total = regret + other
    factor = 1.0 / total if total > 0.0 else 0.0
    constant = 0.0 if total > 0.0 else 0.5
    strategy[slot] = regret * factor + constant
    strategy[slot + ONE] = other * factor + constant
    return float(value)


@inner_kernel
def learn_three(
    regrets: Floats,
    strategy: Floats,
    slot: np.uint64,
    first: float,
    second: float,
    third: float,
) -> float:
    """Learn like `learn_two`, from three actions."""
    value = strategy[slot] * first + strategy[slot + ONE] * second + strategy[slot + TWO] * third
    regret = regrets[slot] + (first - value)
    other = regrets[slot + ONE] + (second - value)
    last = regrets[slot + TWO] + (third - value)
    regrets[slot], regrets[slot + ONE], regrets[slot + TWO] = regret, other, last
    regret, other, last = max(regret, 0.0), max(other, 0.0), max(last, 0.0)
    total = regret + other + last
    factor = 1.0 / total if total > 0.0 else 0.0
    constant = 0.0 if total > 0.0 else 1.0 / 3.0
    strategy[slot] = regret * factor + constant
    strategy[slot + ONE] = other * factor + constant
    strategy[slot + TWO] = last * factor + constant
    return float(value)


@inner_kernel
def match_set(regrets: Floats, strategy: Floats, slot: np.uint64, count: np.uint64) -> None:
    """Regret matching at one information set."""
    total = 0.0
    for action in range(count):
        total += max(regrets[slot + action], 0.0)
    factor = 1.0 / total if total > 0.0 else 0.0
    constant = 0.0 if total > 0.0 else 1.0 / count
    for action in range(count):
        strategy[slot + action] = max(regrets[slot + action], 0.0) * factor + constant


@inner_kernel
def can_skip(regrets: Floats, strategy: Floats, slot: np.uint64, threshold: float) -> bool:
    """Whether an action may be left out: not played, and with a regret below the threshold."""
    return bool(strategy[slot] == 0.0 and regrets[slot] < threshold)


@inner_kernel
def tried(
    regrets: Floats,
    strategy: Floats,
    slot: np.uint64,
    child: np.uint64,
    count: np.uint64,
    threshold: float,
    counts: Longs,
) -> np.uint64:
    """The first action from `child` on that is not skipped; the number of actions if none is."""
    while child < count and can_skip(regrets, strategy, slot + child, threshold):
        counts[0] += 1
        child += ONE
    return child


@kernel
def put_together(
    tree: Tree,
    regrets: Floats,
    sums: Floats,
    strategy: Floats,
    new_regrets: Floats,
    new_sums: Floats,
    floor: float,
) -> None:
    """Add the sums of the streams, [S, K], in the order of the streams; then match again."""
    for stream in range(new_regrets.shape[0]):
        for k in range(len(regrets)):
            regrets[k] += new_regrets[stream, k]
            sums[k] += new_sums[stream, k]
            new_regrets[stream, k] = 0.0
            new_sums[stream, k] = 0.0
    for k in range(len(regrets)):
        regrets[k] = max(regrets[k], floor)
    match_all(tree, regrets, strategy)


@kernel
def match_all(tree: Tree, regrets: Floats, strategy: Floats) -> None:
    """Regret matching at all information sets."""
    for number in range(len(tree.slot_start) - 1):
        slot = np.uint64(tree.slot_start[number])
        match_set(regrets, strategy, slot, np.uint64(tree.slot_start[number + 1]) - slot)

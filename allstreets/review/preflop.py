"""The betting before the flop of a played hand, followed through the tree of a whole game."""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.betting import BettingTree, NodeKind, Player, Street
from allstreets.cards import HAND_OF_COMBO, HAND_SIZES, combo_index
from allstreets.hands import PlayedHand
from allstreets.review.drafts import Draft, Draws, draft
from allstreets.review.judging import (
    NEVER,
    OUTSIDE,
    SHADE,
    ev_grid,
    judge,
    option_words,
    range_texts,
    strategy_grid,
    weight_of,
    within,
)
from allstreets.review.mapping import map_action
from allstreets.review.plays import worth_of, worth_text
from allstreets.review.records import ReviewedDecision
from allstreets.solutions import WholeSolution, is_reached

LEAST_REACH = 1e-5  # of a range's largest: less is what the first iterations have left behind


@dataclass(frozen=True)
class Arrival:
    """What the betting before the flop leads to."""

    decisions: tuple[ReviewedDecision, ...]
    node: int  # of the tree, where the flop is dealt or the hand is over
    ranges: tuple[Floats, Floats] | None  # [1326] of OOP and IP; None: not known
    why: str  # why they are not


def follow_preflop(hand: PlayedHand, hero: Player, result: WholeSolution, draws: Draws) -> Arrival:
    """Judge the hero's decisions before the flop, and find the ranges that see it."""
    tree, hole = result.game.tree, hand.holes[hero]
    assert hole is not None
    combo = combo_index(*hole)
    node, why = 0, ""
    decisions: list[ReviewedDecision] = []
    for moment in hand.moments():
        if moment.action.street != Street.PREFLOP:
            break
        mine = moment.action.player == hero
        start = draft(hand, moment)
        if not why:
            why = _off_tree(tree, node, moment.action.player)
        if why:
            decisions += [start.unjudged(why)] if mine else []
            continue
        found = map_action(tree, node, moment, draws.at(moment.place))
        if found is None:
            seat = moment.action.player.seat
            why = f"{NEVER}: it has no '{start.taken}' of {seat} there, or anything like it"
            decisions += [start.unjudged(why)] if mine else []
            continue
        if mine:
            decisions.append(_judged(start, result, node, combo, found.place, found.same))
        node = found.node
    if why:
        return Arrival(tuple(decisions), node, None, why)
    return Arrival(tuple(decisions), node, *_ranges(result, node))


def _off_tree(tree: BettingTree, node: int, player: Player) -> str:
    """Why a decision of the hand is none of the tree; "" where it is."""
    if tree.kind[node] != NodeKind.DECISION:
        return "the solution has nothing left to decide here: its sizes have led to an all-in"
    if tree.player_at(node) != player:
        return f"{NEVER}: there it is {tree.player_at(node).seat}'s turn"
    return ""


def _judged(
    start: Draft, result: WholeSolution, node: int, combo: int, taken: int, same: bool
) -> ReviewedDecision:
    words, decision = option_words(result.game.tree, node), result.before.node(node)
    found = judge(decision, words, combo, taken)
    worth = worth_of(result)
    notes = [found.note] if found.note else []
    if decision.reached and weight_of(decision, combo) < SHADE:
        notes.append(OUTSIDE)
    return start.judged(
        found,
        counted_as=words[taken],
        same=same,
        notes=notes,
        ranges=range_texts(decision),
        strategy=strategy_grid(decision),
        evs=ev_grid(decision),
        within=None if worth is None else within(worth / 1000, decision.share),
        judged_by=f"the solution before the flop{worth_text(result)}",
    )


def _ranges(result: WholeSolution, node: int) -> tuple[tuple[Floats, Floats] | None, str]:
    """Both ranges at a node of the tree, by combo, or why there are none."""
    reach = result.before.reach[node]  # [2, 169]
    oop, ip = (reach @ (HAND_SIZES / HAND_SIZES.sum())).tolist()
    if not is_reached((oop, ip)):
        least = Player(int(np.argmin((oop, ip))))
        share = f"{100 * min(oop, ip):.2g} %" if min(oop, ip) > 0 else "none"
        return None, f"{NEVER}: {least.seat} plays this with {share} of his hands"
    weights = reach / reach.max(axis=1, keepdims=True)
    weights = np.where(weights >= LEAST_REACH, weights, 0.0)[:, HAND_OF_COMBO]
    return (weights[0], weights[1]), ""

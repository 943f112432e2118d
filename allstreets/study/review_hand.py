"""The review of one hand: its decisions before the flop, then street by street."""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import Player, Street
from allstreets.cards import cards_text, combo_index
from allstreets.interop import Amounts, Moment, PlayedHand
from allstreets.solutions import Node
from allstreets.study.games import SolvedGame, distance_notes
from allstreets.study.grading import (
    NEVER,
    SHADE,
    GradedDecision,
    share_text,
    weight_of,
    within,
)
from allstreets.study.played_actions import (
    Draws,
    Mapped,
    bare_decision,
    graded_as,
    map_action,
    played_word,
    pot_kind,
)
from allstreets.study.review_folder import DIGITS, HandReview
from allstreets.study.review_streets import Effort, follow_postflop

LEAST_REACH = 1e-5  # of a range's largest weight: less is left over from the first iterations


def review_hand(
    hand: PlayedHand, hero: Player, game: SolvedGame, effort: Effort, seed: int = 1
) -> HandReview:
    """Grade every decision of the hero with a whole game and with spots solved for it."""
    hole = hand.holes[hero]
    if hole is None:
        raise InputError(f"{hand.label}: the cards of {hand.players[hero]} are not known")
    draws = Draws(seed, hand.label)
    arrival = follow_preflop(hand, hero, game, draws)
    decisions = list(arrival.decisions)
    if arrival.ranges is not None:
        decisions += follow_postflop(hand, hero, game, arrival.node, arrival.ranges, effort, draws)
    else:
        decisions += [
            bare_decision(hand, moment, arrival.why)
            for moment in hand.moments()
            if moment.action.street > Street.PREFLOP and moment.action.player == hero
        ]
    oop, ip = ("" if cards is None else cards_text(cards) for cards in hand.holes)
    return HandReview(
        name=hand.label,
        file=hand.file,
        line=hand.line,
        hero=hand.players[hero],
        seat=hero.seat,
        cards=cards_text(sorted(hole, reverse=True)),
        players=hand.players,
        holes=(oop, ip),
        stacks_bb=_bb(hand.stacks),
        antes_bb=_bb(hand.antes),
        blinds_bb=_bb(hand.blinds),
        board=cards_text(hand.board),
        actions=tuple(
            (action.street.text, action.player.seat, played_word(action)) for action in hand.actions
        ),
        results_bb=_bb(hand.results),
        kind=pot_kind(hand),
        solution=game.name,
        solution_stack_bb=game.stack,
        stack_bb=round(float(hand.stack), DIGITS),
        notes=distance_notes(game, hand),
        decisions=tuple(decisions),
    )


def _bb(amounts: Amounts) -> tuple[float, float]:
    return round(float(amounts[0]), DIGITS), round(float(amounts[1]), DIGITS)


@dataclass(frozen=True)
class Arrival:
    """The end of the betting before the flop."""

    decisions: tuple[GradedDecision, ...]
    node: Node  # where the flop is dealt or the hand is over
    ranges: tuple[Floats, Floats] | None  # [1326] of OOP and IP; None: not known
    why: str  # why they are not known


def follow_preflop(hand: PlayedHand, hero: Player, game: SolvedGame, draws: Draws) -> Arrival:
    """Grade the hero's decisions before the flop, and find the ranges that see it."""
    hole = hand.holes[hero]
    assert hole is not None
    node, combo, why = game.solution.at(), combo_index(*hole), ""
    decisions: list[GradedDecision] = []
    for moment in hand.moments():
        if moment.action.street != Street.PREFLOP:
            break
        mapped = None
        if not why:
            mapped = map_action(node.tree, node.index, moment, draws.at(moment.place))
            why = _off_tree(game, node, moment, mapped)
        if moment.action.player == hero:
            bare = bare_decision(hand, moment, why)
            decisions.append(
                bare if why or mapped is None else _graded(bare, game, node, combo, mapped)
            )
        if not why and mapped is not None:
            node = node.children[mapped.place]
    if why:
        return Arrival(tuple(decisions), node, None, why)
    return Arrival(tuple(decisions), node, *_ranges(node))


def _off_tree(game: SolvedGame, node: Node, moment: Moment, mapped: Mapped | None) -> str:
    """The reason why the solution lacks a decision of the hand; "" if it has it."""
    player = moment.action.player
    if node.actor is None:
        return "the solution has nothing left to decide here: its sizes have led to an all-in"
    if node.actor != player:
        return f"{NEVER}: there it is {node.seat}'s turn"
    if not game.has_kind(moment):
        return f"{NEVER}: it is push or fold, and has no '{played_word(moment.action)}'"
    if mapped is None:
        word = played_word(moment.action)
        return f"{NEVER}: it has no '{word}' of {player.seat} there, nor a similar one"
    return ""


def _graded(
    bare: GradedDecision, game: SolvedGame, node: Node, combo: int, mapped: Mapped
) -> GradedDecision:
    decision, worth = node.decision, game.exploitability
    return graded_as(
        bare,
        mapped,
        decision,
        combo,
        outside=decision.reached and weight_of(decision, combo) < SHADE,
        within_bb=None if worth is None else within(worth / 1000, decision.share),
        evaluated_by=f"the solution before the flop{game.worth_text}",
    )


def _ranges(node: Node) -> tuple[tuple[Floats, Floats] | None, str]:
    """Both ranges at a node before the flop, by combo, or the reason why there are none."""
    ranges = node.ranges
    if not ranges.reached:
        shares = ranges.line_reach.shares
        least = Player(int(np.argmin(shares)))
        return (
            None,
            f"{NEVER}: {least.seat} plays this with {share_text(shares[least])} of his hands",
        )
    oop, ip = (ranges.combo_weights(player) for player in Player)
    return (_trimmed(oop / oop.max()), _trimmed(ip / ip.max())), ""


def _trimmed(weights: Floats) -> Floats:
    return np.where(weights >= LEAST_REACH, weights, 0.0)

"""The review of one hand: its decisions before the flop, then street by street."""

from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import cards_text
from allstreets.hands import Amounts, PlayedHand
from allstreets.review.drafts import Draws, draft
from allstreets.review.games import SolvedGame, distance_notes
from allstreets.review.postflop import follow_postflop
from allstreets.review.preflop import follow_preflop
from allstreets.review.records import HandReview
from allstreets.review.spots import Effort
from allstreets.review.words import played_word, pot_kind


def review_hand(
    hand: PlayedHand, hero: Player, game: SolvedGame, effort: Effort, seed: int = 1
) -> HandReview:
    """Judge every decision of the hero by a whole game and by spots that are solved for it."""
    hole = hand.holes[hero]
    if hole is None:
        raise InputError(f"{hand.label}: the cards of {hand.players[hero]} are not known")
    draws = Draws(seed, hand.label)
    arrival = follow_preflop(hand, hero, game.result, draws)
    decisions = list(arrival.decisions)
    if arrival.ranges is not None:
        decisions += follow_postflop(hand, hero, game.result, arrival, effort, draws)
    else:
        decisions += [
            draft(hand, moment).unjudged(arrival.why)
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
        actions=tuple((one.street.text, one.player.seat, played_word(one)) for one in hand.actions),
        results_bb=_bb(hand.results),
        kind=pot_kind(hand),
        solution=game.name,
        solution_stack_bb=game.stack,
        stack_bb=round(float(hand.stack), 4),
        notes=distance_notes(game, hand),
        decisions=tuple(decisions),
    )


def _bb(amounts: Amounts) -> tuple[float, float]:
    return round(float(amounts[0]), 4), round(float(amounts[1]), 4)

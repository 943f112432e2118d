"""A reviewed hand step by step: every action with the cards and chips as they were before it."""

from collections.abc import Iterator
from dataclasses import dataclass

from allstreets.betting import Player, Street
from allstreets.review.records import HandReview

Chips = tuple[float, float]  # of OOP and IP, in big blinds
DIGITS = 4


@dataclass(frozen=True)
class ReplayStep:
    """An action, and how things stood when it was taken."""

    street: str
    board: str
    player: Player
    word: str
    pot_bb: float  # with the bets of this street, each as far as it can be called
    bets_bb: Chips  # put in on this street
    left_bb: Chips  # behind


def replay_steps(hand: HandReview) -> Iterator[ReplayStep]:
    """All actions of a hand."""
    seats = {player.seat: player for player in Player}
    bets, street = list(hand.blinds_bb), Street.PREFLOP
    left = [hand.stacks_bb[p] - hand.antes_bb[p] - hand.blinds_bb[p] for p in Player]
    pot = sum(hand.antes_bb) + sum(hand.blinds_bb)
    for name, seat, word in hand.actions:
        player = seats[seat]
        if name != street.text:
            bets, street = [0.0, 0.0], next(one for one in Street if one.text == name)
        excess = max(bets[player.opponent] - bets[player] - left[player], 0.0)
        yield ReplayStep(
            street=name,
            board=hand.board[: 2 * (street + 2)] if street > Street.PREFLOP else "",
            player=player,
            word=word,
            pot_bb=round(pot - excess, DIGITS),
            bets_bb=(round(bets[0], DIGITS), round(bets[1], DIGITS)),
            left_bb=(round(left[0], DIGITS), round(left[1], DIGITS)),
        )
        paid = _paid(word, bets[player], bets[player.opponent], left[player])
        bets[player] += paid
        left[player] -= paid
        pot += paid


def _paid(word: str, own: float, other: float, left: float) -> float:
    """What an action adds; its word gives the total on this street."""
    kind, total = word[0], word[1:]
    if kind == "a":
        return left
    if kind == "c":
        return min(max(other - own, 0.0), left)
    return min(float(total) - own, left) if total else 0.0

"""A player who follows the solution loses nothing: the mean loss is 0 within its accuracy."""

import pytest
from builders.self_play import flop_solution, play, solution

from allstreets.betting import Player
from allstreets.study import Effort, GradedDecision, SolvedGame, review_hand

EFFORT = Effort(target=2e-3, seconds=1e6, threads=1)


def decisions(seed: int, hero: Player, *, limped: bool = False) -> list[GradedDecision]:
    hand = play(seed, limped=limped)
    review = review_hand(hand, hero, SolvedGame("self", solution()), EFFORT)
    assert len(review.decisions) == sum(action.player == hero for action in hand.actions)
    return list(review.decisions)


def test_before_the_flop() -> None:
    found = [
        one
        for seed in range(120)
        for player in Player
        for one in decisions(seed, player)
        if one.street == "preflop"
    ]
    losses = [one.loss_bb for one in found if one.loss_bb is not None]
    assert len(losses) == len(found) > 150
    certified = solution().exploitability
    assert certified is not None
    assert certified < 2.0  # mbb/hand
    # What best responses gain bounds what one action at a time can: 2 players, mbb.
    assert sum(losses) / 120 <= 2 * certified / 1000


@pytest.mark.long
def test_after_the_flop() -> None:
    """Each street is solved again for its ranges; play is that of one solution of all streets.

    Long: a flop is solved exactly.
    """
    found = [
        one
        for seed in range(3)
        for one in decisions(seed, Player(seed % 2), limped=True)
        if one.street != "preflop"
    ]
    losses = [one.loss_bb for one in found if one.loss_bb is not None]
    assert len(losses) == len(found) >= 6
    pot = 2.0  # bb when the flop is seen
    worth = flop_solution().exploitability + EFFORT.target
    assert sum(losses) / len(losses) <= 2 * pot * worth
    assert all(one.solved_to is not None and one.solved_to <= EFFORT.target for one in found)
    assert all(one.counted_as and not one.note for one in found)


def test_deviations_cost() -> None:
    """The same decisions taken the other way: some are costly, none earns anything."""
    found = [one for seed in range(40) for one in decisions(seed, Player.IP)]
    dear = 0
    for one in found:
        evs = {option.action: option.ev_bb for option in one.options}
        known = [ev for ev in evs.values() if ev is not None]
        taken = evs[one.counted_as]
        assert taken is not None
        assert one.loss_bb is not None
        assert abs(max(known) - taken - one.loss_bb) < 1e-5
        dear += max(known) - min(known) > 0.2
    assert dear > 10

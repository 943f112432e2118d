"""Corrected results are unbiased and vary less: exact, over every history of Leduc hold'em."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cfr.toys.leduc import Leduc, LeducState
from allstreets.play import Corrected

CARDS = 6
HANDS = np.arange(CARDS)
History = tuple[tuple[LeducState, int], ...]  # each state with the choice that was made there


def beside(reach: Floats) -> Floats:
    """Two players never hold the same card."""
    return np.asarray(reach.sum() - reach)


@cache
def strategy(line: str, actions: int, seed: int) -> Floats:
    """[A, 6]: a mix for every card, some actions never taken."""
    chance = np.random.default_rng([seed, *line.encode()])
    mix = chance.random((actions, CARDS)) ** 3
    mix[0, chance.integers(CARDS)] = 0.0
    return np.asarray(mix / mix.sum(axis=0))


def line(state: LeducState) -> str:
    public = state.cards[2] if len(state.cards) == 3 else ""
    return f"{state.rounds} {public}"


def histories(
    state: LeducState, made: History = (), chance: float = 1.0
) -> Iterator[tuple[LeducState, History, float]]:
    """Every terminal state with the way to it and its probability."""
    if state.is_terminal:
        yield state, made, chance
        return
    if state.is_chance:
        outcomes = [chance for _, chance in state.chance_outcomes()]
    else:
        mix = strategy(line(state), len(state.actions()), 1)
        outcomes = mix[:, state.cards[state.player]].tolist()
    for index, share in enumerate(outcomes):
        if share > 0:
            yield from histories(state.child(index), (*made, (state, index)), chance * share)


def corrected(
    end: LeducState, made: History, guesses: int | None, outside: Player | None = None
) -> float:
    """The result of a history; `guesses` is the seed of what it is thought to be worth."""
    reach = [
        np.equal(HANDS, end.cards[player]).astype(float) if player == outside else np.ones(CARDS)
        for player in Player
    ]
    hand = Corrected(beside, (reach[0], reach[1]))
    for state, index in made:
        if state.is_chance:
            if len(state.cards) == 2:  # the public card
                card = state.child(index).cards[2]
                pairs = [hand_pairs(hand, each) for each in range(CARDS)]
                worth = np.random.default_rng([*line(state).encode()]).random(CARDS)
                if guesses is not None:
                    hand.dealt(np.array(pairs), guesses * worth, card)
                hand.blocked(beside, np.not_equal(HANDS, card).astype(float))
            continue
        player = Player(state.player)
        if player == outside:
            continue
        mix = strategy(line(state), len(state.actions()), 1)
        evs = None if guesses is None else values(state, guesses)
        hand.acted(player, mix, evs, index)
    weights = np.outer(*hand.reach) * (1 - np.eye(CARDS))
    results = [
        [
            LeducState((a, b, *end.cards[2:]), end.rounds, end.invested).utility() if a != b else 0
            for b in range(CARDS)
        ]
        for a in range(CARDS)
    ]
    return hand.result(float((weights * results).sum() / weights.sum()))


def hand_pairs(hand: Corrected, card: int) -> float:
    """The weight of the pairs that do not hold a card."""
    left = np.not_equal(HANDS, card)
    return float((np.outer(*hand.reach) * (1 - np.eye(CARDS)))[np.ix_(left, left)].sum())


def values(state: LeducState, scale: int) -> Floats:
    """[A, 6]: guesses; some are not known."""
    chance = np.random.default_rng([scale, *line(state).encode()])
    evs = scale * chance.normal(size=(len(state.actions()), CARDS))
    evs[chance.random(evs.shape) < 0.2] = np.nan
    return np.asarray(evs)


def corrected_all(guesses: int | None, outside: Player | None = None) -> list[float]:
    """Of every history; it depends on what is seen alone, and on an outside player's card."""
    known: dict[tuple[str, int], float] = {}
    for end, made, _ in every():
        key = line(end), -1 if outside is None else end.cards[outside]
        if key not in known:
            known[key] = corrected(end, made, guesses, outside)
    return [known[line(e), -1 if outside is None else e.cards[outside]] for e, _, _ in every()]


@cache
def every() -> tuple[tuple[LeducState, History, float], ...]:
    return tuple(histories(Leduc().root()))


def moments(results: list[float]) -> tuple[float, float]:
    chances = np.array([chance for _, _, chance in every()])
    mean = float(chances @ results)
    return mean, float(chances @ (np.array(results) - mean) ** 2)


@pytest.mark.parametrize(
    ("outside", "scale"),
    [(None, None), (None, 1), (None, 5), (Player.OOP, None), (Player.OOP, 1), (Player.IP, 5)],
)
def test_the_mean_is_the_value_whatever_the_guesses(
    outside: Player | None, scale: int | None
) -> None:
    assert sum(chance for _, _, chance in every()) == pytest.approx(1.0, abs=1e-12)
    raw, raw_variance = moments([end.utility() for end, _, _ in every()])
    mean, variance = moments(corrected_all(scale, outside))
    assert mean == pytest.approx(raw, abs=1e-12)
    if scale is None:  # the mean over hands that may be held takes luck away by itself
        assert variance < raw_variance * (0.8 if outside is None else 0.95)
    if scale == 5:  # guesses that are far off cost variance, and no truth
        assert variance > raw_variance


@cache
def sums() -> dict[str, tuple[float, float]]:
    """Public line → Σ of probability × result of the histories on it, and Σ of probability."""
    totals: dict[str, tuple[float, float]] = {}
    for end, made, chance in every():
        seen = {line(state) for state, _ in made if not state.is_chance} | {line(end)}
        for one in seen:
            total, mass = totals.get(one, (0.0, 0.0))
            totals[one] = total + chance * end.utility(), mass + chance
    return totals


def worth(state: LeducState) -> tuple[float, float]:
    """The mean of all hands on a public line, and its probability."""
    if state.is_chance:
        afters = [worth(after_card(state, card)) for card in range(CARDS)]
        mass = sum(chance for _, chance in afters)
        return sum(mean * chance for mean, chance in afters) / mass if mass else 0.0, mass
    total, mass = sums().get(line(state), (0.0, 0.0))
    return total / mass if mass else 0.0, mass


def after_card(state: LeducState, card: int) -> LeducState:
    """A state on the public line after a card, whatever is held."""
    held = [other for other in range(CARDS) if other != card][:2]
    return LeducState((*held, card), state.rounds, state.invested)


def exact(made: History, end: LeducState) -> float:
    """A history corrected with the true means."""
    hand = Corrected(beside, (np.ones(CARDS), np.ones(CARDS)))
    for state, index in made:
        if len(state.cards) < 2:
            continue
        if state.is_chance:
            afters = [worth(after_card(state, card)) for card in range(CARDS)]
            means, chances = np.array(afters).T
            card = state.child(index).cards[2]
            hand.dealt(chances, means, card)
            hand.blocked(beside, np.not_equal(HANDS, card).astype(float))
            continue
        player, mix = Player(state.player), strategy(line(state), len(state.actions()), 1)
        sign = 1 if player == Player.OOP else -1
        evs = [[sign * worth(state.child(action))[0]] * CARDS for action in range(len(mix))]
        hand.acted(player, mix, np.array(evs), index)
    return hand.result(worth(end)[0])


def test_true_values_leave_no_luck() -> None:
    """Where guesses are the true means, every history has the same corrected result."""
    known: dict[str, float] = {}
    for end, made, _ in every():
        if line(end) not in known:
            known[line(end)] = exact(made, end)
    mean, variance = moments([known[line(end)] for end, _, _ in every()])
    assert variance == pytest.approx(0.0, abs=1e-18)
    assert mean == pytest.approx(moments([end.utility() for end, _, _ in every()])[0])

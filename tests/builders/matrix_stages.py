"""Stages for tests of matrix games: made up, and of a real flop."""

from functools import cache

import numpy as np
from reference.matrix import NaiveStage

from allstreets.betting import POSTFLOP, Street
from allstreets.cards import parse_board
from allstreets.cards.hands import COMBO_CARDS, COMBO_MASKS, HAND_OF_COMBO
from allstreets.cards.matchups import matchups
from allstreets.engines.matrix.cards import Stage


def ordered_stage(
    generator: np.random.Generator,
    streets: tuple[Street, ...],
    hands: int,
    before: Stage | None = None,
    removal: bool = True,
) -> Stage:
    """Random hands in order of strength, so that neighbours want the same; one has no combos."""
    combos = generator.integers(1, 12, hands).astype(np.float64)
    combos[hands // 2] = 0
    cards = np.zeros((hands, 52))
    for hand in range(hands):
        held = generator.choice(52, (int(combos[hand]), 2))
        np.add.at(cards[hand], held.reshape(-1), 1.0)
    down = None
    if before is not None:
        chances = generator.dirichlet(np.full(hands, 0.3), len(before.combos))
        combos = before.combos @ chances
        down = (before.combos[:, None] * chances / combos).astype(np.float32)
    strength = np.sort(generator.normal(size=hands))
    margin = np.tanh(2 * (strength[:, None] - strength)) * np.outer(combos, combos)
    keeps = removal and before is None
    return Stage(streets, combos, cards if keeps else None, margin.astype(np.float32), down)


def naive_stages(stages: tuple[Stage, ...]) -> list[NaiveStage]:
    """The same with dense matrices."""
    found = []
    for stage in stages:
        pairs = np.outer(stage.combos, stage.combos)
        if stage.cards is not None:
            for own in range(len(pairs)):
                pairs[own, own] += stage.combos[own]
                for other in range(len(pairs)):
                    pairs[own, other] -= sum(stage.cards[own] * stage.cards[other])
        down = None if stage.down is None else stage.down.astype(np.float64)
        streets = tuple(int(street) for street in stage.streets)
        found.append(NaiveStage(streets, pairs, stage.margin.astype(np.float64), down))
    return found


@cache
def real_stage(flop: str) -> Stage:
    """The 169 hands on a flop, the turn and river integrated out."""
    board = parse_board(flop)
    dead = [bool(set(cards) & set(board)) for cards in COMBO_CARDS.tolist()]
    live = np.flatnonzero(~np.array(dead))
    found = matchups(board, live, live)
    fits = (COMBO_MASKS[live][:, None] & COMBO_MASKS[live]) == 0
    share = np.where(fits, (2.0 * found.wins + found.ties) / found.runouts - 1, 0.0)
    member = (HAND_OF_COMBO[live][:, None] == np.arange(169)).astype(np.float64)
    holds = (COMBO_CARDS[live][:, :, None] == np.arange(52)).sum(axis=1)
    margin = (member.T @ share @ member).astype(np.float32)
    stage = Stage(POSTFLOP, member.sum(axis=0), member.T @ holds, margin)
    np.testing.assert_allclose(stage.pairs, member.T @ fits @ member)
    return stage

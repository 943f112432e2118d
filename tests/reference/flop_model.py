"""Slow facts about a flop, hand class by hand class, that share no code with the tables."""

import numpy as np
from numpy.typing import NDArray
from reference.matrix import NaiveGame, NaiveStage

from allstreets.betting import BettingTree
from allstreets.cards import COMBO_CARDS, HAND_NAMES, combo_text, evaluate
from allstreets.cards.matchups import matchups

THREES = (0, 1, 2, 4, 9)  # 222 with 3 and 4: the weakest three of a kind

Array = NDArray[np.float64]


def class_of(combo: int) -> int:
    """The hand class of a combo, by its name."""
    text = combo_text(combo)
    kind = "" if text[0] == text[2] else "s" if text[1] == text[3] else "o"
    return HAND_NAMES.index(text[0] + text[2] + kind)


def naive_classes(board: tuple[int, ...]) -> NaiveStage:
    """Pairs and margins of the 169 classes, summed over pairs of combos."""
    combos = [c for c in range(1326) if not set(COMBO_CARDS[c].tolist()) & set(board)]
    counted = matchups(board, np.array(combos), np.array(combos))
    lost = counted.runouts - counted.wins.astype(float) - counted.ties
    held = np.zeros((len(combos), 52))
    member = np.zeros((len(combos), 169))
    for place, combo in enumerate(combos):
        held[place, COMBO_CARDS[combo]] = 1
        member[place, class_of(combo)] = 1
    fits = (held @ held.T == 0).astype(float)
    margin = fits * (counted.wins - lost) / counted.runouts
    return NaiveStage((1, 2, 3), member.T @ fits @ member, member.T @ margin @ member)


def judged(
    tree: BettingTree, payoffs: Array, stages: list[NaiveStage], strategies: dict[int, Array]
) -> NaiveGame:
    """A slow game that plays these strategies."""
    game = NaiveGame(tree, payoffs, stages)
    game.sums = dict(strategies)
    return game


def set_or_better(board: tuple[int, ...], hand: int) -> bool:
    """Whether every combo of a class that fits beside the board makes three of a kind or more."""
    live = [c for c in range(1326) if class_of(c) == hand]
    live = [c for c in live if not set(COMBO_CARDS[c].tolist()) & set(board)]
    strengths = evaluate([(*board, *COMBO_CARDS[combo].tolist()) for combo in live] or [THREES])
    return bool(live) and bool((strengths >= evaluate([THREES])).all())

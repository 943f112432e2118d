"""Which hands play alike on a board, where a model puts them together."""

import numpy as np

from allstreets.betting import Player
from allstreets.cards import COMBO_COUNT, combo_text
from allstreets.explorer.views.range_words import weights_text
from allstreets.solutions import Decision


def alike_lines(scene: Decision, player: Player, hand: int) -> list[str]:
    """A line for each row or group that combos of a hand are in: "9s8s, 9h8h: 61 combos, T7s …"."""
    combos = scene.hands[player].combos
    if scene.alike is None or combos is None:
        return []
    groups, classes = scene.alike[player], scene.hands[player].classes
    lines = []
    for group in np.unique(groups[classes == hand]).tolist():
        inside = groups == group
        own = np.sort(combos[inside & (classes == hand)])[::-1]  # spades first
        weights = np.zeros(COMBO_COUNT)
        weights[combos[inside]] = 1.0
        lines.append(
            f"{', '.join(combo_text(combo) for combo in own.tolist())}: group {group}, "
            f"{int(inside.sum())} combos: {weights_text(weights, scene.board)}"
        )
    return lines

"""The 13×13 picture of a range: pairs on the diagonal, suited hands above it, offsuit below."""

from collections.abc import Callable, Sequence

import numpy as np
from rich.style import Style
from rich.text import Text

from allstreets.base import Flags, Floats
from allstreets.cards import HAND_COUNT, HAND_NAMES, RANKS, grid_cell

BARS = " ▁▂▃▄▅▆▇█"
# From red through yellow to green: readable with dark letters on top.
HEAT = ((214, 96, 77), (253, 219, 120), (90, 174, 97))
ABSENT = Style(color="grey50")
MARGIN = Style(bold=True)
MIX_WIDTH = 5  # letters of a cell, and so the steps of its colours

Cell = Callable[[int], list[tuple[str, Style]]]


def grid(cell: Cell, *, margins: bool = False) -> Text:
    """All hands as thirteen lines; `cell` gives the letters of one, piece by piece with its style.

    With `margins` the ranks stand above and to the left, for cells that do not name their hand.
    """
    cells = {grid_cell(hand): cell(hand) for hand in range(HAND_COUNT)}
    picture = Text()
    if margins:
        width = sum(len(letters) for letters, _ in cells[0, 0])
        picture.append(
            "  " + "".join(f"{rank:^{width}}" for rank in reversed(RANKS)) + "\n", MARGIN
        )
    for row, rank in enumerate(reversed(RANKS)):
        if margins:
            picture.append(f"{rank} ", MARGIN)
        for column in range(len(RANKS)):
            for letters, style in cells[row, column]:
                picture.append(letters, style)
        picture.append("\n")
    return picture


def weight_grid(weights: Floats) -> Text:
    """Hands [169] by weight: a bar of that height beside the name, a dot for none at all."""

    def cell(hand: int) -> list[tuple[str, Style]]:
        weight = float(weights[hand])
        if weight <= 0:
            return [(f"{'·':^4} ", ABSENT)]
        bar = BARS[max(1, round(weight * (len(BARS) - 1)))]
        return [(f"{HAND_NAMES[hand]:<3}{bar} ", Style(color="green", bold=weight == 1))]

    return grid(cell)


def heat_grid(shares: Floats) -> Text:
    """Hands [169] by a share from 0 to 1 in per cent, coloured; a dot where it is NaN."""

    def cell(hand: int) -> list[tuple[str, Style]]:
        share = float(shares[hand])
        if np.isnan(share):
            return [(f"{'·':^5}", ABSENT)]
        return [(f"{100 * share:^5.0f}", _paint(heat_colour(share)))]

    return grid(cell, margins=True)


def heat_colour(share: float) -> str:
    """The colour between red (0) and green (1)."""
    position = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    left = min(int(position), len(HEAT) - 2)
    mixed = [
        round(low + (high - low) * (position - left))
        for low, high in zip(HEAT[left], HEAT[left + 1], strict=True)
    ]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"


def share_bar(first: float, width: int) -> Text:
    """A bar split between two players."""
    cut = round(first * width)
    bar = Text()
    bar.append("█" * cut, Style(color=heat_colour(1.0)))
    bar.append("░" * (width - cut), Style(color=heat_colour(0.0)))
    return bar


def mix_grid(
    shares: Floats,
    symbols: Sequence[str],
    colours: Sequence[str],
    marked: Flags | None = None,
) -> Text:
    """Hands by their mix of actions, `shares` [A, 169]: the cell is coloured in these proportions.

    For eyes and terminals without colour it names the most frequent action and its per cent. A star
    stands behind hands that are `marked` [169].
    """

    def cell(hand: int) -> list[tuple[str, Style]]:
        mix = shares[:, hand]
        if np.isnan(mix).any():
            return [(f"{'·':^{MIX_WIDTH}}", ABSENT)]
        most = int(np.argmax(mix))
        ends = np.round(np.cumsum(mix) * MIX_WIDTH)
        painted = [colours[int(np.searchsorted(ends, place + 0.5))] for place in range(MIX_WIDTH)]
        mark = "*" if marked is not None and marked[hand] else " "
        letters = f"{symbols[most]}{100 * mix[most]:3.0f}{mark}"
        return [(letter, _paint(colour)) for letter, colour in zip(letters, painted, strict=False)]

    picture = grid(cell, margins=True)
    picture.right_crop(1)  # the end of the last line
    return picture


def _paint(colour: str) -> Style:
    return Style(color="black", bgcolor=colour)

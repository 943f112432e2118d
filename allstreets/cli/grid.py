"""The 13×13 picture of a range: pairs on the diagonal, suited hands above it, offsuit below."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.style import Style
from rich.text import Text

from allstreets.cards import HAND_COUNT, HAND_NAMES, RANKS, grid_cell

BARS = " ▁▂▃▄▅▆▇█"
# From red through yellow to green: readable with dark letters on top.
HEAT = ((214, 96, 77), (253, 219, 120), (90, 174, 97))
ABSENT = Style(color="grey50")
MARGIN = Style(bold=True)
MIX_WIDTH = 5  # letters of a cell, and so the steps of its colours

Cell = Callable[[int], tuple[str, Style]]


def grid(cell: Cell, *, margins: bool = False) -> Text:
    """All hands as thirteen lines; `cell` gives the letters and the style of one.

    With `margins` the ranks stand above and to the left, for cells that do not name their hand.
    """
    rows: list[list[tuple[str, Style]]] = [[("", Style())] * 13 for _ in range(13)]
    for hand in range(HAND_COUNT):
        row, column = grid_cell(hand)
        rows[row][column] = cell(hand)
    picture = Text()
    if margins:
        width = len(rows[0][0][0])
        picture.append(
            "  " + "".join(f"{rank:^{width}}" for rank in reversed(RANKS)) + "\n", MARGIN
        )
    for rank, row_cells in zip(reversed(RANKS), rows, strict=True):
        if margins:
            picture.append(f"{rank} ", MARGIN)
        for letters, style in row_cells:
            picture.append(letters, style)
        picture.append("\n")
    return picture


def weight_grid(weights: NDArray[np.float64]) -> Text:
    """Hands [169] by weight: a bar of that height beside the name, a dot for none at all."""

    def cell(hand: int) -> tuple[str, Style]:
        weight = float(weights[hand])
        if weight <= 0:
            return f"{'·':^4} ", ABSENT
        bar = BARS[max(1, round(weight * (len(BARS) - 1)))]
        return f"{HAND_NAMES[hand]:<3}{bar} ", Style(color="green", bold=weight == 1)

    return grid(cell)


def heat_grid(shares: NDArray[np.float64]) -> Text:
    """Hands [169] by a share from 0 to 1 in per cent, coloured; a dot where it is NaN."""

    def cell(hand: int) -> tuple[str, Style]:
        share = float(shares[hand])
        if np.isnan(share):
            return f"{'·':^5}", ABSENT
        style = Style(color="black", bgcolor=heat_colour(share))
        return f"{100 * share:^5.0f}", style

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
    shares: NDArray[np.float64],
    symbols: Sequence[str],
    colours: Sequence[str],
    marked: NDArray[np.bool_] | None = None,
) -> Text:
    """Hands by their mix of actions, `shares` [A, 169]: the cell is coloured in these proportions.

    For eyes and terminals without colour it names the most frequent action and its per cent. A star
    stands behind hands that are `marked` [169].
    """
    cells: dict[int, tuple[str, list[str]]] = {}
    for hand in range(HAND_COUNT):
        mix = shares[:, hand]
        if np.isnan(mix).any():
            continue
        most = int(np.argmax(mix))
        ends = np.round(np.cumsum(mix) * MIX_WIDTH)
        painted = [colours[int(np.searchsorted(ends, place + 0.5))] for place in range(MIX_WIDTH)]
        mark = "*" if marked is not None and marked[hand] else " "
        cells[hand] = f"{symbols[most]}{100 * mix[most]:3.0f}{mark}", painted

    picture = Text()
    picture.append("  " + "".join(f"{rank:^{MIX_WIDTH}}" for rank in reversed(RANKS)), MARGIN)
    by_place = {grid_cell(hand): hand for hand in range(HAND_COUNT)}
    for row, rank in enumerate(reversed(RANKS)):
        picture.append(f"\n{rank} ", MARGIN)
        for column in range(13):
            letters, painted = cells.get(by_place[row, column], (f"{'·':^{MIX_WIDTH}}", []))
            if not painted:
                picture.append(letters, ABSENT)
            for letter, colour in zip(letters, painted, strict=False):
                picture.append(letter, Style(color="black", bgcolor=colour))
    return picture

"""The 13×13 picture of a mix of actions: names, proportions, and absent hands."""

import numpy as np

from allstreets.cards import HAND_NAMES
from allstreets.cli.terminal.decisions import MIX_WIDTH, mix_grid

COLOURS = ("#000001", "#000002", "#000003")


def shares(
    **hands: tuple[float, float, float],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    mix = np.full((3, 169), np.nan)
    for name, chances in hands.items():
        mix[:, HAND_NAMES.index(name)] = chances
    return mix


def test_letters() -> None:
    picture = mix_grid(
        shares(AA=(0.2, 0.7, 0.1), KK=(1, 0, 0), AKs=(0, 0.004, 0.996)), "fcr", COLOURS
    )
    lines = picture.plain.splitlines()
    assert len(lines) == 14
    assert lines[0].split() == list("AKQJT98765432")
    assert lines[1].startswith("A c 70 r100   ·  ")
    assert lines[2].startswith("K   ·  f100   ·  ")
    assert all(len(line) == 2 + 13 * MIX_WIDTH for line in lines)


def test_colours_stand_in_proportion() -> None:
    picture = mix_grid(shares(AA=(0.2, 0.6, 0.2)), "fcr", COLOURS)
    painted = [
        str(span.style).rpartition("on ")[2]
        for span in picture.spans
        if "on #" in str(span.style)
        for _ in range(span.end - span.start)
    ]
    assert painted == [COLOURS[0], COLOURS[1], COLOURS[1], COLOURS[1], COLOURS[2]]


def test_rounding_never_runs_out_of_colours() -> None:
    chance = np.random.default_rng(1)
    mix = chance.dirichlet([0.3, 0.3, 0.3], size=169).T
    assert len(mix_grid(mix, "fcr", COLOURS).plain.splitlines()) == 14
    mix_grid(np.full((3, 169), 1 / 3) - 1e-9, "fcr", COLOURS)

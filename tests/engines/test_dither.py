"""Rounding that leaves no trace in a running mean."""

import numpy as np
import pytest

from allstreets.base.jit import kernel
from allstreets.engines.simd.quantise import dither, dither_phase
from allstreets.engines.simd.vectors import fma, load, splat, steps, store_dithered


@kernel
def blend(average: np.ndarray, strategy: np.ndarray, weight: np.float32, phase: np.float32) -> None:
    """One step of a running mean of sixteen fractions."""
    mean = load(average, 0)
    moved = fma(splat(weight), load(strategy, 0) * steps(average) - mean, mean)
    store_dithered(average, 0, moved, dither(phase))


def run(strategies: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """(the kernel's mean in 16 bits, the mean in 64) of strategies [T, 16] in turn, by 1/t."""
    average, mean = np.zeros(16, np.int16), np.zeros(16)
    for t in range(1, rounds + 1):
        strategy = strategies[t % len(strategies)]
        blend(average, strategy.astype(np.float32), np.float32(1 / t), np.float32(dither_phase(t)))
        mean += (strategy - mean) / t
    return average / 32767, mean


def test_a_mean_in_sixteen_bits_follows_that_in_sixty_four() -> None:
    """Rounded to the nearest number it would stand still after some thousands of steps."""
    strategies = np.random.default_rng(3).random((7, 16))
    strategies[:, :2] = np.arange(7)[:, None] % 2  # pure, now one action, now the other
    short, exact = run(strategies, 20_000)
    assert np.abs(short - exact).max() < 1e-3
    assert abs((short - exact).mean()) < 2e-4


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_what_is_always_or_never_played_is_kept_exactly(probability: float) -> None:
    short, _ = run(np.full((1, 16), probability), 5000)
    assert (short == probability).all()


def test_what_is_no_longer_played_fades_to_nothing() -> None:
    average = np.full(16, 40, np.int16)
    for t in range(4000):
        phase = np.float32(dither_phase(t))
        blend(average, np.zeros(16, np.float32), np.float32(0.005), phase)
    assert (average == 0).all()

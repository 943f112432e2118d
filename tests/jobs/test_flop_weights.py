"""Flops solved one by one weigh what their set says, in means and in the values before the flop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_flops import FLOPS, run_small, small_config

from allstreets.cards import HAND_COUNT, hand_pairs, parse_flop, spread_flops
from allstreets.jobs.preflop import model_values
from allstreets.solutions import WholeSolution, summary_of
from allstreets.solvers import mean_over_flops

QUICK: dict[str, Any] = {"iterations": 2, "exploitability_threshold": 0}


def weights_of(result: WholeSolution) -> dict[str, float]:
    return {row["flop"]: row["weight"] for row in result.flops}


def test_weights_of_a_set(tmp_path: Path) -> None:
    result = run_small(tmp_path / "run", **QUICK, flops="spread_3").result()
    spread = spread_flops(3)
    weights = weights_of(result)
    assert weights == {flop.text: pytest.approx(22_100 / 3) for flop in spread.flops}
    rows = result.flops
    mean = sum(row["ev_oop"] for row in rows) / 3
    assert summary_of(rows)["ev_oop"] == pytest.approx(mean)
    shares = [[result.models.pair_values(0, flop)[0] for flop in spread.flops]]
    expected = mean_over_flops(spread, {2.0: shares[0]})
    np.testing.assert_allclose(model_values(result).shares, expected.shares, rtol=1e-9)
    pairs = sum(hand_pairs(flop.cards) for flop in spread.flops)
    found = model_values(result).pairs
    assert found.shape == (HAND_COUNT, HAND_COUNT)
    np.testing.assert_allclose(found / found.sum(), pairs / np.sum(pairs), rtol=1e-9)


def test_named_flops_and_mixed_folders_weigh_what_they_are_dealt(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    named = run_small(folder, **QUICK, flops=FLOPS[:2]).result()
    dealt = {row["flop"]: float(row["multiplicity"]) for row in named.flops}
    assert weights_of(named) == dealt
    both = run_small(folder, resume=True, **QUICK, flops="spread_2").result()
    assert len(both.flops) == 4
    assert all(row["weight"] == row["multiplicity"] for row in both.flops)


def test_which_sets_have_weights() -> None:
    assert small_config(flops=FLOPS).flop_weights() == {}
    assert small_config(flops="Ks7d2c, 9h8h2c").flop_weights() == {}
    subset = small_config(flops="subset_25").flop_weights()
    assert sum(subset.values()) == pytest.approx(22_100)
    assert all(parse_flop(text).flop.text == text for text in subset)


def test_older_folders_have_no_weights() -> None:
    rows = [
        {"flop": "a", "spr": 1.0, "multiplicity": 4, "exploitability": 0.0, "converged": True}
        | {"iterations": 1, "ev_oop": one, "ev_ip": 1 - one, "bet_oop": 0.0, "bet_ip": 0.0}
        for one in (0.25, 0.75)
    ]
    assert summary_of(rows)["ev_oop"] == 0.5

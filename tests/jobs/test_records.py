"""Records survive the way to JSON and back."""

import json
from dataclasses import asdict

import pytest

from allstreets.cfr.metrics import Metrics
from allstreets.jobs import Check

CHECK = Check(100, 1 / 3, None, 640, 10_000_000, Metrics(exploitability=0.1, max_regret=1e-300))


def test_a_row_is_flat_and_comes_back_bit_for_bit() -> None:
    row = json.loads(json.dumps(CHECK.to_row()))
    assert row["exploitability"] == 0.1
    assert row["regret_bound"] is None
    assert row.keys() == (asdict(CHECK).keys() - {"metrics"}) | asdict(CHECK.metrics).keys()
    assert Check.from_row(row) == CHECK


def test_a_figure_of_a_later_version_is_not_known_in_an_earlier_row() -> None:
    row = CHECK.to_row()
    del row["strategy_entropy"]
    assert Check.from_row({**row, "another": 3}) == CHECK


def test_other_rows() -> None:
    with pytest.raises(KeyError):
        Check.from_row({"iteration": 3})

"""The kept form of a whole game is the evaluated one; files are compared in `storage`."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import buckets, classes, forgotten, played, result

from allstreets.engines import protocol
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES
from allstreets.solvers import precision
from allstreets.solvers.precision import evaluate_quantised, quantise_solution


def test_values_are_those_of_what_is_read_back() -> None:
    found, own = quantise_solution(classes()).values, played(result()).evaluate().own
    assert found is not None
    np.testing.assert_allclose(found, own, atol=1e-6 * np.abs(own).max())


@pytest.mark.parametrize("make", [classes, buckets])
def test_flops_are_evaluated_a_few_at_a_time(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = make()
    at_once = evaluate_quantised(solver, ONE_BYTE)
    assert not np.array_equal(at_once.own, solver.evaluate().own)
    monkeypatch.setattr(protocol, "ASIDE_BYTES", 1)
    monkeypatch.setattr(protocol, "LEAST_FLOPS", 1)
    by_flop = evaluate_quantised(solver, ONE_BYTE)
    np.testing.assert_array_equal(by_flop.best, at_once.best)
    np.testing.assert_array_equal(by_flop.own, at_once.own)


def test_what_is_not_known_is_kept_finely() -> None:
    trained = classes().exploitability()
    assert trained is not None
    assert trained > precision.FINE_BELOW
    assert quantise_solution(classes(), trained).numbers == ONE_BYTE
    assert quantise_solution(classes()).numbers == TWO_BYTES
    nothing = quantise_solution(forgotten())
    assert (nothing.values, nothing.figures.exploitability) == (None, None)


def test_an_error_leaves_the_strategies_as_they_were() -> None:
    games = classes().engine
    assert isinstance(games, MatrixEngine)
    before = {name: array.tobytes() for name, array in games.state().items()}

    def interrupted() -> None:
        with games.quantised(range(2), ONE_BYTE):
            assert before != {name: array.tobytes() for name, array in games.state().items()}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert before == {name: array.tobytes() for name, array in games.state().items()}

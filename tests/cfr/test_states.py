"""A state of something else is refused."""

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.cfr.states import check_state

OWN = {"regrets": np.zeros(3), "iterations": np.zeros(1, dtype=np.int64)}


def test_accepts_its_own() -> None:
    check_state({name: array + 1 for name, array in OWN.items()}, OWN)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"regrets": np.zeros(4)}, "from another game"),
        ({"regrets": np.zeros(3, dtype=np.float32)}, "from another game"),
        ({"random": np.zeros(1)}, "unknown ['random']"),
        ({"regrets": np.array([0, np.nan, 0])}, "damaged"),
    ],
)
def test_refuses_others(change: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(InputError) as error:
        check_state({**OWN, **change}, OWN)
    assert words in str(error.value)


def test_refuses_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"missing \['iterations'\]"):
        check_state({"regrets": np.zeros(3)}, OWN)

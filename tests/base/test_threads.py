"""The number of threads that a user may request."""

import pytest

from allstreets.base import InputError, processors, thread_count


def test_one_a_processor_or_what_is_asked_for() -> None:
    assert thread_count(None) == processors() >= 1
    assert thread_count(1) == 1
    assert thread_count(64) == 64


@pytest.mark.parametrize("wanted", [0, -1])
def test_too_few(wanted: int) -> None:
    with pytest.raises(InputError, match=f"threads: {wanted} is too few: give 1 or more"):
        thread_count(wanted)


def test_too_many_is_told_with_what_there_is() -> None:
    with pytest.raises(InputError, match=rf"processes: 100000 is too many.* {processors()} proc"):
        thread_count(100_000, "processes")

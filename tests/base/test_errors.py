"""Hints name what was probably meant."""

from allstreets.base import InputError, suggest


def test_suggest() -> None:
    assert suggest("Tunde", ["tuned", "linear"]) == "did you mean 'tuned'?"
    assert suggest("zzz", ["tuned", "linear"]) == "choose one of: tuned, linear"


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)

"""Hints name what was probably meant."""

from allstreets.base import InputError, shorten, shortened, suggest


def test_suggest() -> None:
    assert suggest("Tunde", ["tuned", "linear"]) == "did you mean 'tuned'?"
    assert suggest("zzz", ["tuned", "linear"]) == "choose one of: tuned, linear"


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)


def test_text_of_a_user_is_shown_short_and_as_what_it_is() -> None:
    assert shorten("AKs, é €") == "AKs, é €"
    assert shorten("x" * 200) == "x" * 200
    assert shorten("x" * 201) == "x" * 199 + "…"
    assert shorten("a\x1b[2J\n\u202eb\ud800") == r"a\x1b[2J\n\u202eb\ud800"
    assert shorten("\0" * 10**6, 12) == r"\x00\x00\x0…"
    assert shortened("\n" * 100, 5) == r"'\n\n…'"

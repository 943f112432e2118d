"""Messages: hints at the word that was probably meant, short quotations, no control characters."""

import pickle

import pytest

from allstreets.base import InputError, clean_message, printable, shorten, shortened, suggest
from allstreets.base.errors import LIMIT, LONGEST, MOST


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


def test_shorten() -> None:
    assert shorten("a\xa0b\ufeff\u200b") == r"a\xa0b\ufeff\u200b"  # what nobody sees
    assert shorten("AKs") == "AKs"
    assert shorten("\x1b[31m\n\t\x9b\u202e\ud800é♠") == "\\x1b[31m\\n\\t\\x9b\\u202e\\ud800é♠"
    assert shorten("x" * LIMIT) == "x" * LIMIT
    assert shorten("x" * (LIMIT + 1)) == "x" * (LIMIT - 1) + "…"
    assert len(shorten("\x1b" * LIMIT)) == LIMIT
    assert shorten("abcdef", 4) == "abc…"
    assert shortened("abc\x07") == "'abc\\x07'"
    assert printable("one\ntwo\x1b[2J\r") == "one\ntwo\\x1b[2J\\r"


LONG = "x y\x1b" * 1000


@pytest.mark.parametrize(
    "message",
    [
        f"'{LONG}' is not a card",
        f"{LONG!r} is not a card",
        f"the line '{LONG}': there is no 'b50%'",
        f"sizes: {[LONG] * 3} is not a list of sizes such as [33%, 75%, a]",
        f"sizes: {list(range(1000))} is not a list of sizes such as [33%, 75%, a]",
        f"lock: {dict.fromkeys(range(1000), 1)} is no lock",
        f"{'x' * 5000} does not exist",
        f"'it's {LONG}' is no 'range'",
    ],
)
def test_messages_repeat_little_of_an_input(message: str) -> None:
    told = str(InputError(message))
    assert "\x1b" not in told
    assert "…" in told
    assert len(told) <= LIMIT + 60
    assert told.endswith(message[-6:])  # what is wrong with it is still said
    assert str(InputError(told)) == told
    assert str(pickle.loads(pickle.dumps(InputError(message)))) == told


def test_messages_stay_as_they_are_otherwise() -> None:
    for message in (
        "one line\nRestore the folder from a backup: it's the same 'x', isn't it?",
        f"choose one of: {', '.join(map(str, range(200)))}",
        "",
    ):
        assert clean_message(message) == message
    assert len(clean_message("it is x " * 1000)) == MOST
    assert clean_message("no file 'a\nb'\nsecond line") == "no file 'a\\nb'\nsecond line"


def test_a_message_of_any_length_is_cleaned_at_once() -> None:
    hostile = "no range: " + " 'a" * 2_000_000  # each quote opens a text that never ends
    assert len(clean_message(hostile)) <= MOST
    assert len(clean_message(f"{hostile}\n" * 3)) <= 4 * MOST
    listed = "\n".join(f"line {number}: no key 'stack'" for number in range(150))
    assert len(listed) < LONGEST < len(f"{listed}\n{'x y ' * 1000}")
    assert clean_message(f"{listed}\n{'x y ' * 1000}").startswith(listed)

"""Damaged tables of locks, scripts of PioSOLVER and ranges of every kind: read, or one message."""

from collections.abc import Callable

import pytest
from harness.fuzzing import damaged_cases, internal_errors
from interop.test_pio_script import VIEWER, script

from allstreets.base import InputError
from allstreets.cards import Range, RangeKind
from allstreets.cli.terminal.streams import decoded
from allstreets.games import read_bounds
from allstreets.interop import read_pio_script

QUICK, LONG = 70, 6_700  # of each kind
TABLES = (
    "node,action,frequency\nx,bet,30%\nx b50%,call,<=45%\nx b50%,fold,0.55\n",
    '\ufeffhands;ignored\r\n"node","action", "frequency","n"\r\n"x x | 2c |",x,>=.3,7\r\n',
)
SCRIPTS = (
    VIEWER.read_text(encoding="utf-8"),
    script(["0 33 116 400", "0 33 400", "50 150 400", "50 400"]) + "set_accuracy 1 fraction\n",
    script(["0 30 90", "0 0 0 45"], board="AsKdQh", stack=90) + "set_rake 0.05 3\n",
)
MIXED = Range.parse("AA:0.5,KQs,T9s-76s,AhKd:0.25,22+")
RANGES = (*(MIXED.text(kind) for kind in RangeKind), "50%(AA,[25]KK[/25]),QQ-88:50%")


def as_a_command(read: Callable[[str], object]) -> Callable[[bytes], None]:
    """Bytes as a command reads them from a file; messages are short, and show what is in them."""

    def reader(data: bytes) -> None:
        try:
            read(decoded(data, "the file"))
        except InputError as error:
            message = str(error)
            assert len(message) < 1_000, message[:100]
            assert message.replace("\n", "").isprintable(), message
            raise

    return reader


READERS = {
    "locks": (TABLES, as_a_command(lambda text: read_bounds(text, "seen.csv"))),
    "pio": (SCRIPTS, as_a_command(read_pio_script)),
    "ranges": (RANGES, as_a_command(Range.parse)),
}


def failures(kind: str, count: int) -> list[str]:
    texts, read = READERS[kind]
    valid = [text.encode() for text in texts]
    return internal_errors(read, damaged_cases(valid, count), (InputError,))


@pytest.mark.parametrize("kind", READERS)
def test_some_damaged_texts(kind: str) -> None:
    assert failures(kind, QUICK) == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", READERS)
def test_many_damaged_texts(kind: str) -> None:
    assert failures(kind, LONG) == []

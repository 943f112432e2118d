"""Damaged input for everything that reads other people's files.

A case is made from a valid text by a few random edits: bytes are flipped, cut, doubled or replaced
by values that parsers trip over. The seed of a case is its number, so that a failure names the
case that repeats it.
"""

import random
from collections.abc import Callable, Iterator, Sequence

NASTY = (
    b"",
    b"\x00",
    b"\r",
    b"\n" * 50,
    b" " * 500,
    b"-1",
    b"0",
    b"1e400",
    b"1e9999999",
    b"9" * 400,
    b"NaN",
    b"Infinity",
    b"true",
    b"null",
    b"[]",
    b"{}",
    b"[" * 300,
    b'{"a":' * 300,
    b'"\\ud800"',
    b"../../x",
    b"=1+1",
    b"\x1b[31m",
    b"\xff\xfe",
    b"\xe2\x80\xae",
    b",,,",
    b"$",
    b"'" * 3,
)
"""What a parser may not have thought of."""


def damaged(text: bytes, case: int) -> bytes:
    """The `case`-th damaged form of a valid text."""
    rng = random.Random(case)
    data = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice((0, 1, 2, 8, 64)))
        edit = rng.randrange(5)
        if edit == 0 and data:
            data[min(start, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif edit == 1:
            del data[start:end]
        elif edit == 2:
            data[start:start] = data[start:end] * rng.choice((1, 2, 40))
        elif edit == 3:
            data[start:end] = rng.choice(NASTY)
        else:
            del data[start:]
    return bytes(data)


def damaged_cases(
    valid: Sequence[bytes], count: int, start: int = 0
) -> Iterator[tuple[int, bytes]]:
    """`count` numbered cases from some valid texts in turn."""
    for case in range(start, start + count):
        yield case, damaged(valid[case % len(valid)], case)


def internal_errors(
    read: Callable[[bytes], object],
    cases: Iterator[tuple[int, bytes]],
    expected: tuple[type[BaseException], ...],
) -> list[str]:
    """Each case on which `read` raised anything but an expected error, with what it raised."""
    failures = []
    for case, data in cases:
        try:
            read(data)
        except expected:
            pass
        except Exception as error:  # whatever it is, a user would have seen a traceback
            failures.append(f"case {case}: {type(error).__name__}: {error}"[:200])
    return failures

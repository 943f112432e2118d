"""What is wrong in a config, in words: one line for each problem, all of them at once."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from allstreets.base import InputError

MAX_SHOWN = 50  # a file of another kind may have thousands

# Where a value stands: keys and list positions from the top.
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong: in which line (0 = not known), at which key, and what."""

    line: int
    key: str
    text: str

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{self.key}: {self.text}" if self.key else f"{place}{self.text}"


class ConfigError(InputError):
    """All that is wrong in a config, as one text and one by one."""

    def __init__(self, text: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(text)
        self.problems = problems


def problems_error(source: str, problems: Iterable[Problem]) -> ConfigError:
    """All problems as one error: how many on the first line, then one line each, in file order."""
    found = sorted(set(problems))
    lines = [f"{source}: {'1 problem' if len(found) == 1 else f'{len(found)} problems'}"]
    lines += [_cut(str(problem), 300) for problem in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        lines.append(f"and {len(found) - MAX_SHOWN} more")
    return ConfigError("\n  ".join(lines), tuple(found))


def key_text(path: KeyPath) -> str:
    """A path as a person reads it.

    >>> key_text(("solver", "raise_sizes", 1))
    'solver.raise_sizes[1]'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any) -> str:
    """A value as it may stand in the file, cut to a readable length.

    >>> shown(True), shown(None), shown("yes"), shown([1, 2.5])
    ('true', 'nothing', "'yes'", '[1, 2.5]')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{'-' if value < 0 else ''}.{'nan' if math.isnan(value) else 'inf'}"
    text = "a block of keys" if isinstance(value, dict) else repr(value)
    return _cut(text, 60)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."

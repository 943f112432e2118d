"""Edits of a tree: single sizes that are added or removed at one node.

    edit:
      - {line: "x b33%", add: 150%}
      - {line: "x x | * |", remove: b75%}

A line is followed while the tree grows. Cards are no part of the tree: `| * |` stands for any.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.betting.sizes import Sizes, parse_sizes, sizes_text

DEAL = "|"  # among the words of an edit: a card is dealt
KEYS = ("line", "add", "remove")


@dataclass(frozen=True)
class Edit:
    """Sizes that a node has beside those of its street, and bets that it does not have."""

    words: tuple[str, ...]  # the way to the node
    add: Sizes = ()
    remove: tuple[str, ...] = ()  # as in a line: "b75%", "r120", "a"

    @classmethod
    def from_mapping(cls, keys: Mapping[str, Any]) -> "Edit":
        """Read an edit as a spot file has it."""
        for key in keys:
            if key not in KEYS:
                raise InputError(f"edit: unknown key '{key}': {suggest(str(key), KEYS)}")
        line = str(keys.get("line") or "")
        what = f"edit '{line}'"
        add, remove = keys.get("add"), keys.get("remove")
        if not add and not remove:
            raise InputError(f"{what}: say what to 'add' (150%) or to 'remove' (b75%)")
        sizes = parse_sizes(add, raises=True, what=f"{what}, add") if add else ()
        texts: Iterable[str] = remove.split(",") if isinstance(remove, str) else remove or ()
        words = tuple(str(word).strip() for word in texts if str(word).strip())
        return cls(_words(line), sizes, words)

    def mapping(self) -> dict[str, Any]:
        """The edit as a spot file has it."""
        keys: dict[str, Any] = {"line": self.line}
        if self.add:
            keys["add"] = sizes_text(self.add)
        if self.remove:
            keys["remove"] = ",".join(self.remove)
        return keys

    @property
    def line(self) -> str:
        """The line as text."""
        return " ".join("| * |" if word == DEAL else word for word in self.words)


def _words(line: str) -> tuple[str, ...]:
    words: list[str] = []
    for position, part in enumerate(line.split(DEAL)):
        if position % 2:
            if part.strip() != "*":
                raise InputError(
                    f"edit '{line}': '{part.strip()}': the tree is the same for every card: "
                    "write | * |"
                )
            words.append(DEAL)
        else:
            words += part.split()
    return tuple(words)

"""Edits of a tree as the form has them, a node a line: "x b33%: +150%, -b75%"."""

from collections.abc import Iterable
from typing import Any

from allstreets.base import InputError
from allstreets.betting import Edit

ADD, REMOVE = "+", "-"


def read_edits(text: str) -> list[dict[str, Any]]:
    """The edits as a spot file has them."""
    found = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip():
            continue
        line, colon, changes = row.partition(":")
        words = [word.strip() for word in changes.split(",") if word.strip()]
        if not colon or not words or any(word[0] not in (ADD, REMOVE) for word in words):
            raise InputError(
                f"single nodes, line {number}: write a line, a colon, and what to add or remove: "
                "x b33%: +150%, -b75%"
            )
        lists = {
            key: ",".join(word[1:].strip() for word in words if word[0] == sign)
            for key, sign in (("add", ADD), ("remove", REMOVE))
        }
        keys = {"line": line.strip(), **{key: some for key, some in lists.items() if some}}
        try:
            Edit.from_mapping(keys)
        except InputError as error:
            raise InputError(f"single nodes, line {number}: {error}") from None
        found.append(keys)
    return found


def edits_text(edits: Iterable[Edit]) -> str:
    """The opposite of `read_edits`."""
    return "\n".join(f"{edit.line}: {changes_text(edit)}" for edit in edits)


def changes_text(edit: Edit) -> str:
    """What an edit adds and removes."""
    added, removed = (f"{ADD}{size}" for size in edit.add), (f"{REMOVE}{w}" for w in edit.remove)
    return ", ".join((*added, *removed))

"""What people call their solutions: label.json beside a manifest, part of no checksum."""

import json
from pathlib import Path

from pydantic import ValidationError

from allstreets.base import InputError, write_atomic
from allstreets.explorer.models.solution import Label

LABEL = "label.json"
SCHEMA = 1


def read_label(folder: Path) -> Label:
    """The label of a solution; an empty one where there is none, or none that can be read."""
    try:
        found = json.loads((folder / LABEL).read_bytes())
        return Label(name=str(found.get("name", "")), note=str(found.get("note", "")))
    except (OSError, ValueError, AttributeError, ValidationError):
        return Label()


def write_label(folder: Path, label: Label) -> None:
    """Keep a label, whole or not at all; an empty one is taken away."""
    name, note = label.name.strip(), label.note.strip()
    try:
        if not name and not note:
            (folder / LABEL).unlink(missing_ok=True)
            return
        text = json.dumps({"version": SCHEMA, "name": name, "note": note}, indent=1)
        write_atomic(folder / LABEL, lambda out: out.write(text.encode()))
    except OSError as error:
        raise InputError(f"cannot write {folder / LABEL}: {error.strerror}") from None

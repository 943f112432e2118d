"""What people call their solutions: label.json beside a manifest, part of no checksum."""

import json
from pathlib import Path

from allstreets.base import (
    DamagedFileError,
    InputError,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.solution import Label

LABEL = "label.json"
SCHEMA = 1


def read_label(folder: Path) -> Label:
    """The label of a solution, an empty one where there is none; `InputError`: it is damaged."""
    try:
        found = read_json_object(folder / LABEL)
        known = {key: found[key] for key in Label.model_fields if key in found}
        return typed_record(Label, known)
    except FileNotFoundError:
        return Label()
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{LABEL} is damaged ({why}): mend it, or name the solution again"
        ) from None


def write_label(folder: Path, label: Label) -> None:
    """Keep a label, whole or not at all; an empty one is taken away.

    The folder may be deleted meanwhile: it is not made again.
    """
    name, note = label.name.strip(), label.note.strip()
    try:
        if not name and not note:
            (folder / LABEL).unlink(missing_ok=True)
            return
        text = json.dumps({"version": SCHEMA, "name": name, "note": note}, indent=1)
        write_atomic(folder / LABEL, lambda out: out.write(text.encode()), make_folder=False)
    except FileNotFoundError:
        raise MissingError("there is no such solution: it was moved or removed") from None
    except OSError as error:
        raise InputError(f"cannot write {folder / LABEL}: {error.strerror}") from None

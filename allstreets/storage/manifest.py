"""Manifests: the JSON file that says what a folder holds, with a checksum over itself."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

from allstreets.base import DamagedFileError, InputError, Place, shortened, write_atomic
from allstreets.games import data_hash
from allstreets.solutions import MadeSimple
from allstreets.storage.manifest_facts import MisfitError, require_facts, require_plain_data

MANIFEST = "manifest.json"
CERTIFICATE = "certificate/certificate.json"  # beside it, if the solution has one
AGAIN = "Restore the folder from a backup, or solve again in another folder."
KIND_SHOWN = 40  # letters of a kind that is not known
MISFITS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions that readers raise where parts of a solution do not fit together."""

Kind = Literal["spot", "spots", "postflop", "preflop", "unified"]

# What each kind of folder is called, and the command that makes one.
KINDS: dict[Kind, tuple[str, str]] = {
    "spot": ("a solved spot", "allstreets solve … --output"),
    "spots": ("a set of solved spots", "allstreets solve … --output"),
    "postflop": ("a model of flops", "allstreets train … --output"),
    "preflop": ("a preflop solution", "allstreets train … --output"),
    "unified": ("a solved whole game", "allstreets train … --output"),
}
SCHEMAS: dict[Kind, int] = {"spot": 2, "spots": 1, "postflop": 3, "preflop": 1, "unified": 2}
"""Schema of manifests and files: a change that old code would misread takes the next number."""


def write_manifest(folder: Place, facts: Mapping[str, Any]) -> None:
    """Write `facts` and their checksum, whole or not at all."""

    text = _text({**facts, "checksum": data_hash(facts)})
    write_atomic(folder / MANIFEST, lambda out: out.write(text.encode()))


def _text(facts: Mapping[str, Any]) -> str:
    """JSON with a line for each fact, and for each entry of a list.

    What is wrapped further is many times slower to write: json does it in Python, and the manifest
    of all flops has thousands of rows.
    """

    def one(value: Any) -> str:
        return json.dumps(value, allow_nan=False)

    lines = []
    for key, value in facts.items():
        entries = value if isinstance(value, list | tuple) else ()
        inside = ",\n".join(f"  {one(entry)}" for entry in entries)
        lines.append(f" {one(key)}: " + (f"[\n{inside}\n ]" if inside else one(value)))
    return "{\n" + ",\n".join(lines) + "\n}"


def cannot_write(folder: Place, error: OSError) -> InputError:
    """The error for a full disk, or a folder without permission."""
    return InputError(
        f"cannot write the solution to {folder}: {error.strerror or error}; make room or name "
        "another folder"
    )


def folder_kind(folder: Place) -> str:
    """The kind of a folder: "spot", "postflop", …; an `InputError` if it has no manifest."""
    makers = dict.fromkeys(maker for _, maker in KINDS.values())
    return str(_read(folder, " or ".join(makers)).get("kind"))[:KIND_SHOWN]


def stored_token(folder: Place) -> str | None:
    """The token in the names of all files of the solution that a folder holds now."""
    with suppress(InputError):
        return str(_read(folder, "").get("token"))
    return None


@contextmanager
def damage_told(folder: Place, *, asked: bool = False) -> Iterator[None]:
    """Wrap the reading of a folder: parts that do not fit together are reported as damage.

    Checksums show what has changed since it was written, not who wrote it. Where the user `asked`
    for a node of the solution, an `InputError` is about that request and passes.
    """
    try:
        yield
    except InputError as error:
        if asked:
            raise
        raise InputError(f"the solution in {folder} is damaged: {error}.\n{AGAIN}") from error
    except (DamagedFileError, *MISFITS) as error:
        told = f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error)
        raise InputError(f"the solution in {folder} is damaged: {told}.\n{AGAIN}") from error


def read_manifest(folder: Place, kind: Kind) -> dict[str, Any]:
    """The facts of a folder of this kind, checked."""

    what, maker = KINDS[kind]
    manifest = _read(folder, maker)
    facts = {key: value for key, value in manifest.items() if key != "checksum"}
    if facts.get("kind") != kind:
        command = maker.partition(" …")[0]
        raise InputError(f"{folder} is not {what}; name a folder made by {command}")
    require_schema(folder, facts, SCHEMAS[kind])
    if manifest.get("checksum") != data_hash(facts):
        raise InputError(f"{folder / MANIFEST} is damaged: it fails its checksum.\n{AGAIN}")
    try:
        require_facts(facts, kind)
    except MisfitError as error:
        raise InputError(f"{folder / MANIFEST} is damaged: {error}.\n{AGAIN}") from None
    return manifest


def require_schema(folder: Place, facts: Mapping[str, Any], schema: int) -> None:
    """Refuse a folder of an older or a newer format, and say what to do about it."""
    stored = facts.get("schema")
    if stored == schema:
        return
    advice = "open it with that version, or solve again in another folder"
    if isinstance(stored, int) and stored > schema:
        advice = "update allstreets to that version"
    raise InputError(
        f"{folder} was written by allstreets {_brief(facts.get('code_version'))} in another format "
        f"(schema {_brief(stored)}, this is {schema}); {advice}"
    )


def _read(folder: Place, maker: str) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        manifest.items()
        require_plain_data(manifest)
    except FileNotFoundError:
        what = "does not exist" if not folder.exists() else "holds no solution (no manifest.json)"
        raise InputError(f"{folder} {what}; make one with: {maker}") from None
    except NotADirectoryError:
        raise InputError(f"{folder} is a file; name the folder of a solution") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except MisfitError as error:
        raise InputError(f"{path} is damaged: {error}.\n{AGAIN}") from None
    except (ValueError, RecursionError, AttributeError):
        raise InputError(f"{path} is damaged.\n{AGAIN}") from None
    return manifest


def require_same(
    folder: Place, there: Mapping[str, Any], here: Mapping[str, Any], what: str
) -> None:
    """Refuse a folder with other settings; `what` it holds: "spot"."""
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    if keys:
        first = keys[0]
        raise InputError(
            f"{folder} holds another {what}: {', '.join(keys)} differ "
            f"({first} {_short(there.get(first))} there, {_short(here.get(first))} here).\n"
            "Name another folder."
        )


def require_trained(folder: Place, manifest: Mapping[str, Any]) -> None:
    """Refuse simple strategies: they were made from others, and cannot be resumed."""
    if manifest.get("simplified") is not None:
        made = MadeSimple.read(manifest["simplified"])
        raise InputError(
            f"{folder} holds simple strategies ({made.rule}), which cannot be solved further.\n"
            f"Name another folder, or go on with what they were made from: {made.source}"
        )


def _short(value: Any) -> str:
    return _brief(json.dumps(value))


def _brief(value: Any) -> str:
    return shortened(str(value))[1:-1]

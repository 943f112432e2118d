"""Small JSON files, which people edit and disks damage: whole as written, or damaged and why."""

import json
from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from allstreets.base.files import DamagedFileError

Record = TypeVar("Record")


def read_json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; it can be sent and stored again unchanged.

    Raises `DamagedFileError` with the reason where the file holds anything else, and `OSError`
    where it cannot be read at all.
    """
    return json_object(path.read_bytes())


def json_object(data: bytes) -> dict[str, Any]:
    """The object that the bytes of a JSON file hold; as `read_json_object`."""
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_finite, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()  # half a character would stop a later writer
    except RecursionError:
        raise DamagedFileError("it is nested too deeply") from None
    except ValueError as error:
        raise DamagedFileError(str(error)) from None
    if not isinstance(value, dict):
        raise DamagedFileError("it contains no object")
    return value


def typed_record(kind: type[Record], data: Mapping[str, Any]) -> Record:
    """A record (a pydantic model or a dataclass) from stored data, its types checked."""
    try:
        record: Record = _reader(cast(Any, kind)).validate_python(data)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise DamagedFileError(f"{field} is not as written") from None
    return record


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is not a number")
    return number

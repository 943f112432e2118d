"""One flop, one file: arrays and facts in a safetensors file that knows its checksum.

A file is written whole or not at all, and read by memory map: what is not looked at is not copied.
It says by itself what it holds, so that a folder of them needs no other list to be complete.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from allstreets.base import write_checked_arrays
from allstreets.base.files import Arrays, DamagedFileError, checksum
from allstreets.storage.mapped import map_arrays

SUFFIX = ".safetensors"


def write_flop_file(
    path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and a JSON object of facts; raises `OSError` when there is no room."""
    write_checked_arrays(path, arrays, facts)


def open_flop_file(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The mapped arrays and the facts of a file; raises `DamagedFileError` if it is not whole."""
    arrays, metadata = map_arrays(path)
    text = metadata.get("facts", "")
    if metadata.get("checksum") != checksum(arrays, text):
        raise DamagedFileError(f"{path} fails its checksum")
    facts: dict[str, Any] = json.loads(text)
    return arrays, facts

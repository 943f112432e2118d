"""A folder of files for another program, which is complete or absent."""

import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from allstreets.base import InputError

README = "README.txt"


def require_absent(folder: Path) -> None:
    """Refuse a folder that holds files."""
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputError(f"{folder} exists: name a new folder, or an empty one")


def write_folder(folder: Path, contents: Iterable[tuple[Path, bytes]]) -> int:
    """Write files into a new folder; return their number without README.txt.

    The folder gets its name after the last file.
    """
    require_absent(folder)
    made, files = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp"), 0
    try:
        for where, content in contents:
            path = made / where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            files += path.name != README
        if folder.exists():
            folder.rmdir()  # it is empty
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return files

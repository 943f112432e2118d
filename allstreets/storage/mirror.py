"""A solution elsewhere, read through a copy on this machine: files are fetched when needed.

    CACHE/remote/1f0a93c25b7e/run/.remote           the URL
                                  manifest.json     fetched whenever it is opened
                                  flops-1f0a93c2/   what has been looked at so far

Whoever reads a solution maps its files into memory, which needs files of this machine; a file is
fetched as a whole, once. Files of a solution that has been replaced are removed.
"""

import hashlib
import json
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from allstreets.base import InputError, Place, Remote, cache_folder, place_of

MARK = ".remote"
DEPTH = 3  # of folders below the one with the mark
SMALL = ("metrics.jsonl", "certificate/certificate.json")


def mirrored(where: str | Place, first: str = "manifest.json") -> Path:
    """The folder of this machine to read a solution from: a copy, where it is elsewhere."""
    place = place_of(where)
    if isinstance(place, Path):
        return place
    token = hashlib.sha256(place.url.encode()).hexdigest()[:12]
    folder = cache_folder() / "remote" / token / place.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(place.url)
        (folder / first).unlink(missing_ok=True)
        _fetch(place / first, folder / first)
    except FileNotFoundError:
        raise InputError(
            f"{place} holds no solution (no {first}); make one with: allstreets train … --output "
            f"{place} --cluster auto"
        ) from None
    except OSError as error:
        raise InputError(
            f"{place} cannot be read: {str(error).strip() or type(error).__name__}\n"
            "Check the address, and that you have the right to read there."
        ) from None
    for name in SMALL:
        (folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            _fetch(place / name, folder / name)
    _clear_replaced(folder, first)
    return folder


def _clear_replaced(folder: Path, manifest: str) -> None:
    """Remove the files of solutions that others have replaced."""
    with suppress(OSError, ValueError):
        token = str(json.loads((folder / manifest).read_bytes()).get("token"))
        for path in [*folder.glob("preflop-*"), *folder.glob("flops-*")]:
            if token in path.name:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def origin(folder: Path) -> str:
    """What people call a folder: the URL that it is a copy of, or its own name."""
    try:
        return (folder / MARK).read_text()
    except OSError:
        return str(folder)


def fetch_missing(path: Path) -> None:
    """Fetch a file of a copy; nothing happens anywhere else."""
    folder, names = path.parent, [path.name]
    for _ in range(DEPTH):
        if (folder / MARK).is_file():
            _fetch(Remote((folder / MARK).read_text()) / "/".join(reversed(names)), path)
            return
        names.append(folder.name)
        folder = folder.parent


def _fetch(source: Remote, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        source.fetch(temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)

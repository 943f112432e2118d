"""A solution elsewhere, read through a copy on this machine: files are fetched when needed.

    CACHE/remote/1f0a93c25b7e/run/.remote           the URL
                                  manifest.json     fetched whenever it is opened
                                  flops-1f0a93c2/   the flops looked at so far

Readers map the files of a solution into memory, which takes local files; a file is fetched as a
whole, once. Files of a solution that has been replaced are removed.

Only copies in the cache folder are filled: a folder from elsewhere cannot name an address.
"""

import hashlib
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from allstreets.base import InputError, Place, Remote, cache_folder, place_of
from allstreets.storage.manifest import CERTIFICATE, MANIFEST, stored_token
from allstreets.storage.packs import packed_name, unpacked

MARK = ".remote"
UNNAMED = "solution"  # a copy of an address that ends in no name
SMALL = ("metrics.jsonl", CERTIFICATE)


def mirrored(where: str | Place) -> Path:
    """The folder of this machine to read a solution from: a copy, where it is elsewhere.

    A ready-made solution is named as the library does, or by its pack.
    """
    source = place_of(where)
    if isinstance(source, Path):
        return unpacked(source)
    token = hashlib.sha256(source.url.encode()).hexdigest()[:12]
    folder = _copies() / token / (UNNAMED if source.name in ("", ".", "..") else source.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(source.url)
        (folder / MANIFEST).unlink(missing_ok=True)
        _fetch(source / MANIFEST, folder / MANIFEST)
    except FileNotFoundError:
        raise InputError(
            f"{source} contains no solution (no {MANIFEST}); make one with: allstreets train … "
            f"--output {source} --cluster auto"
        ) from None
    except OSError as error:
        raise InputError(
            f"{source} cannot be read: {str(error).strip() or type(error).__name__}\n"
            "Check the address, and that you have the right to read there."
        ) from None
    for name in SMALL:
        (folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            _fetch(source / name, folder / name)
    _clear_replaced(folder)
    return folder


def _clear_replaced(folder: Path) -> None:
    """Remove the files of solutions that others have replaced."""
    token = stored_token(folder)
    with suppress(OSError):
        for path in [*folder.glob("preflop-*"), *folder.glob("flops-*")]:
            if token is None or token in path.name:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def _copies() -> Path:
    """The folder of all copies: only ours, and the only one whose marks are read."""
    return (cache_folder() / "remote").resolve()


def _copy_of(path: Path) -> tuple[Remote, tuple[str, ...]] | None:
    """The address that a copy was made from, and the way from there to a path inside the copy."""
    path = path.resolve()
    if not path.is_relative_to(_copies()):
        return None
    token, name, *inside = (*path.relative_to(_copies()).parts, "", "")
    try:
        url = (_copies() / token / name / MARK).read_text()
    except OSError:
        return None
    return Remote(url), tuple(part for part in inside if part)


def origin(folder: Path) -> str:
    """The name of a folder in messages: the URL or name that it copies, or its own path."""
    name = packed_name(folder)
    if name is not None:
        return name
    copy = _copy_of(folder)
    return str(folder) if copy is None or copy[1] else copy[0].url


def fetch_missing(path: Path) -> None:
    """Fetch a file of a copy; nothing happens anywhere else."""
    copy = _copy_of(path)
    if copy is not None and copy[1]:
        source, inside = copy
        _fetch(source / "/".join(inside), path)


def _fetch(source: Remote, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        source.fetch(temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)

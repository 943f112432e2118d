"""Files common to the folders of preflop and whole-game solutions.

    FOLDER/manifest.json                        facts, metrics by iteration, checksums
           preflop-1f0a93c2.safetensors         strategies and values before the flop
           flops-1f0a93c2/AsKh7d.safetensors    of a whole game: one file per flop

Every save gives its files new names, syncs them, and renames the manifest into place last: whenever
a writer dies, the folder holds one whole solution.

A flop's file takes about as long to reach the disk as to be computed. Each is synced separately, by
a few threads side by side: that took 5.9 s for 1,755 files of 600 kB, where syncing them all at the
end took 8.8 s. They are written under their final names, since readers open only files that the
manifest names.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from allstreets.base import Arrays, DamagedFileError, InputError, Place, Remote, sync_folder
from allstreets.betting import BettingTree
from allstreets.engines import CardModel
from allstreets.games import PreflopGame, data_hash
from allstreets.solutions import MadeSimple, PreflopStrategies, SolutionFacts
from allstreets.storage.claim import LOCK_NAME
from allstreets.storage.manifest import (
    AGAIN,
    MANIFEST,
    SCHEMAS,
    Kind,
    cannot_write,
    damage_reported,
    read_manifest,
    require_same,
    require_trained,
    stored_token,
)
from allstreets.storage.mapped import open_mapped, write_mapped
from allstreets.version import __version__

SUFFIX = ".safetensors"
RUN_FILES = {LOCK_NAME, "certificate", "checkpoints", "metrics.jsonl", "models", "work"}
"""Files that a run stores beside its solution."""

_OURS = re.compile(
    r"(preflop|flops)-[0-9a-f]{8}(\.safetensors)?"
    r"|\.(preflop-[0-9a-f]{8}\.safetensors|manifest\.json|metrics\.jsonl)\.[0-9a-f]{8}\.tmp"
)
_SET_ASIDE = re.compile(r"metrics\.jsonl\.[0-9a-f]{8}\.damaged")
PLAIN = ("iterations", "algorithm", "memory", "seed", "seconds", "name", "description")
OLD_MEMORY = {"values": "per_batch"}  # as earlier versions wrote it
FIGURES = ("exploitability", "preflop_exploitability", "values")
THREADS = 4  # that pack and write flops
OPENED = 64  # flops whose files stay open
Entry = dict[str, Any]  # bytes and sha256 of a file
FolderType = TypeVar("FolderType", Path, Remote, Place)


def facts_mapping(facts: "SolutionFacts", kind: Kind) -> dict[str, Any]:
    """The head of a manifest."""
    written = asdict(facts)
    return {
        "schema": SCHEMAS[kind],
        "kind": kind,
        "code_version": __version__,
        **{key: written[key] for key in PLAIN},
        "cards": None if facts.cards is None else str(facts.cards),
        "card_model": None if facts.cards is None else facts.cards.facts(),
        "figures": {"unit": "mbb/hand", **{key: written[key] for key in FIGURES}},
        "config": dict(facts.config),
        "config_hash": data_hash(dict(facts.config)),
        "metrics": [dict(row) for row in facts.metrics],
        **({} if facts.simplified is None else {"simplified": facts.simplified.mapping()}),
    }


def facts_of(manifest: Mapping[str, Any]) -> "SolutionFacts":
    """The facts that `facts_mapping` wrote."""
    figures = {key: manifest["figures"].get(key) for key in FIGURES}
    plain = {key: manifest[key] for key in PLAIN}
    plain["memory"] = OLD_MEMORY.get(plain["memory"], plain["memory"])
    values = figures.pop("values")
    made = manifest.get("simplified")
    return SolutionFacts(
        **plain,
        **figures,
        cards=_card_model(manifest),
        values=None if values is None else (float(values[0]), float(values[1])),
        config=manifest["config"],
        metrics=tuple(manifest["metrics"]),
        simplified=None if made is None else MadeSimple.read(made),
    )


def _card_model(manifest: Mapping[str, Any]) -> "CardModel | None":
    """The card model of a manifest; older ones have it in the config alone."""
    if manifest.get("card_model") is not None:
        return CardModel.of(manifest["card_model"])
    if manifest["cards"] is None:
        return None
    config = manifest["config"]
    facts = {key: config[key] for key in ("precision", "seed") if key in config}
    counts = [config.get(f"num_hand_buckets_{street}") for street in ("flop", "turn", "river")]
    if None not in counts:
        facts["buckets"] = counts
    return CardModel.of({"kind": config.get("cards", "classes"), **facts})


def require_ours(folder: Place) -> None:
    """Refuse a file, or a folder without a solution that contains other files."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the solution")
    if (folder / MANIFEST).exists():
        return
    known = (_OURS, _SET_ASIDE)
    names = {path.name for path in _in(folder)} - RUN_FILES
    if not all(any(pattern.fullmatch(name) for pattern in known) for name in names):
        raise InputError(f"{folder} contains other files; name a new folder for the solution")


def require_new(folder: Place) -> None:
    """Refuse a folder that holds anything but the leftovers of an interrupted save."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the solution")
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} already contains a solution; name another folder")
    names = {path.name for path in _in(folder)} - {LOCK_NAME}
    if not all(_OURS.fullmatch(name) for name in names):
        raise InputError(f"{folder} contains other files; name a new folder for the solution")


def require_folder(folder: Place, kind: Kind, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to: other files, another solution, or this one."""
    require_ours(folder)
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder, kind)
        require_trained(folder, manifest)
        if not resume:
            raise InputError(
                f"{folder} already contains a solution of {manifest['iterations']:,} iterations; "
                "continue it with --resume, or name another folder"
            )


def require_same_game(
    folder: Place,
    kind: Kind,
    of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    here: Mapping[str, Any],
) -> None:
    """Refuse to replace a solution of another game; `of` reads the game out of a manifest."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the solution")
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder, kind)
        require_trained(folder, manifest)
        require_same(folder, of(manifest), here, "game")


def write_new(path: Place, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that no reader opens before the manifest names it, and sync it."""
    if isinstance(path, Remote):
        path.write_whole(write)
        return
    with path.open("xb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def open_file(
    folder: Path, token: str, path: Path, entry: Mapping[str, Any], advice: str = AGAIN
) -> Arrays:
    """The mapped arrays of a file that a manifest with this token names, checked byte by byte."""
    try:
        return open_mapped(path, entry, verify=True)
    except DamagedFileError as error:
        if not path.exists() and stored_token(folder) not in (None, token):
            raise InputError(f"{folder} was saved again in the meantime: open it again") from None
        raise InputError(f"the solution in {folder} is damaged: {error}.\n{advice}") from None


def open_preflop(
    folder: Path,
    manifest: Mapping[str, Any],
    tree: "BettingTree",
    game: Callable[[], PreflopGame] | None = None,
) -> "PreflopStrategies":
    """The part of a solution before the flop; compact ones need the `game` that was solved."""
    entry = manifest["files"]["preflop"]
    arrays = open_file(folder, manifest["token"], folder / entry["file"], entry)
    with damage_reported(folder):
        return PreflopStrategies.unpack(tree, arrays, game)


@contextmanager
def saving(folder: Place) -> Iterator[None]:
    """Wrap a save: only the files of one whole solution remain, the new one or the previous one."""
    try:
        yield
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        clear_unfinished(folder)


def clear_unfinished(folder: Place) -> None:
    """Remove the leftovers of interrupted saves; only for the folder's writer.

    A failure costs disk space, not the solution.
    """
    token = stored_token(folder)
    if token is None and (folder / MANIFEST).exists():
        return  # unreadable: the files beside it may be all that remains
    for path in _in(folder):
        if _OURS.fullmatch(path.name) and (token is None or token not in path.name):
            drop(path)


def drop(path: Place) -> None:
    """Remove a file or a folder, if it exists and can be removed."""
    if isinstance(path, Remote):
        path.remove()
        return
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def copy_solution(folder: Path, output: Path) -> Path:
    """Copy the solution in a folder to another folder, without the files that runs stored beside
    it.

    A folder that holds this solution already stays as it is.
    """
    if (output / MANIFEST).exists():
        if (output / MANIFEST).read_bytes() == (folder / MANIFEST).read_bytes():
            return output
        raise InputError(f"{output} contains another solution; name another folder")
    temporary = output.with_name(f".{output.name}.{secrets.token_hex(4)}.tmp")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, temporary, ignore=shutil.ignore_patterns(*RUN_FILES, "spots", ".*"))
        temporary.rename(output)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return output


def _in(folder: Place) -> list[Place]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def flops_folder(folder: FolderType, token: str) -> FolderType:
    """The folder of a bundle's flops."""
    return folder / f"flops-{token}"


def write_flops(
    folder: Place, token: str, names: Sequence[str], arrays: Callable[[int], Arrays]
) -> list[Entry]:
    """Write the file of every flop, with its arrays given by place; returns their entries."""
    target = flops_folder(folder, token)
    target.mkdir(exist_ok=True)

    def write(index: int) -> Entry:
        return write_flop(target, names[index], arrays(index))

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            entries = list(pool.map(write, range(len(names))))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    sync_folder(target)
    return entries


def write_flop(target: Place, name: str, arrays: Arrays) -> Entry:
    """Write the file of a flop into the folder of a bundle's flops."""
    return write_mapped(target / f"{name}{SUFFIX}", arrays, write_new)


def without_files(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the manifest without the facts of its file."""
    return {key: value for key, value in row.items() if key not in ("bytes", "sha256")}


class FlopFiles:
    """The flops of a bundle, each opened and verified when it is first needed."""

    def __init__(
        self, folder: Path, token: str, entries: Iterable[Mapping[str, Any]], advice: str = AGAIN
    ) -> None:
        self._folder, self._token, self._advice = folder, token, advice
        self._entries = {str(entry["flop"]): entry for entry in entries}
        self.arrays = lru_cache(OPENED)(self._open)

    def _open(self, flop: str) -> Arrays:
        """The arrays of a flop."""
        path = flops_folder(self._folder, self._token) / f"{flop}{SUFFIX}"
        return open_file(self._folder, self._token, path, self._entries[flop], self._advice)

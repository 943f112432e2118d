"""Bundles of whole games: preflop through river on every flop, opened by reading the manifest.

    FOLDER/manifest.json                            facts, metrics, a row a flop, checksums
           preflop-1f0a93c2.safetensors             strategies and values before the flop
           flops-1f0a93c2/AsKh7d.safetensors        strategies of all pots on a flop, and values

What is in a flop's file is told in `solvers.flops.packing`, and what of each card model is kept in
`solvers.flops.hands`. A solution made with `memory: values` has no flops: strategies are gone.

A file takes about as long to reach the disk as to be computed. Each is synced by itself, by a few
threads side by side: that took 5.9 s for 1,755 files of 600 kB, where syncing them all in the end
took 8.8 s. They are written under their own names, since nobody looks before the manifest says so.
"""

import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base.files import Arrays, sync_folder
from allstreets.storage.manifest import read_manifest, write_manifest
from allstreets.storage.mapped import write_mapped
from allstreets.storage.solution_files import (
    SUFFIX,
    facts_mapping,
    facts_of,
    open_file,
    open_preflop,
    require_folder,
    require_same_game,
    saving,
    write_new,
)

if TYPE_CHECKING:
    from allstreets.solvers.preflop.solution import PreflopSolution
    from allstreets.solvers.unified.kept import Kept
    from allstreets.solvers.unified.result import UnifiedResult
    from allstreets.solvers.unified.solver import UnifiedSolver
    from allstreets.solvers.unified.source import Row, SolverSource

SCHEMA = 2  # of manifest and files; a change that old code would misread takes the next number
KIND = "unified"
THREADS = 4  # that pack and write flops
OPENED = 64  # flops whose files stay open

KEPT = {
    "classes": "all decisions after the flop, by hand class",
    "buckets": "all decisions after the flop, by bucket of the street",
    "exact": "the decisions on the flop, by combo, with their EVs; not those on turn and river",
}
NOTHING_KEPT = "no decisions after the flop: memory: values keeps none"


def require_unified_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to, before it begins."""
    require_folder(folder, KIND, SCHEMA, resume=resume)


def save_unified(
    solver: "UnifiedSolver",
    folder: Path | str,
    *,
    config: Mapping[str, Any],
    kept: "Kept | None" = None,
    metrics: Sequence[Mapping[str, Any]] = (),
    seconds: float = 0.0,
    name: str | None = None,
    description: str | None = None,
) -> None:
    """Write a bundle, or bring one of the same game up to date; anything else is an `InputError`.

    `kept` is what `keep` found of the solver as it stands; it is found where it is not given. All
    figures are those of what the bundle keeps.
    """
    from allstreets.solvers.unified.source import SolverSource
    from allstreets.solvers.unified.text import game_mapping

    folder = Path(folder)
    require_same_game(folder, KIND, SCHEMA, _game_of, _identity(solver))
    source = SolverSource(solver, kept)
    facts = source.facts(
        memory=config.get("memory", "resident" if source.is_kept else "values"),
        config=dict(config),
        metrics=tuple(metrics),
        seconds=seconds,
        name=name,
        description=description,
    )
    token = secrets.token_hex(4)
    preflop, flops = folder / f"preflop-{token}{SUFFIX}", folder / f"flops-{token}"
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        files = {"preflop": {"file": preflop.name, **write_mapped(preflop, source.before.arrays())}}
        write_manifest(
            folder,
            {
                **facts_mapping(facts, KIND, SCHEMA),
                "game": game_mapping(solver.game),
                "batches": _batches(solver),
                "kept": KEPT[facts_kind(solver)] if source.is_kept else NOTHING_KEPT,
                "token": token,
                "files": files,
                "flops": _write_flops(source, flops) if source.is_kept else list(source.rows),
            },
        )


def facts_kind(solver: "UnifiedSolver") -> str:
    """The card model without its settings: "classes", "buckets", "exact"."""
    from allstreets.solvers.flops.hands import CardModel

    return CardModel.parse(solver.games.model).kind


def _write_flops(source: "SolverSource", folder: Path) -> "list[Row]":
    """Write a file a flop; returns the rows of the manifest, each with its checksum."""
    folder.mkdir()

    def write(place: int) -> "Row":
        row = source.rows[place]
        path = folder / f"{row['flop']}{SUFFIX}"
        return {**row, **write_mapped(path, source.arrays(place), write_new)}

    rows = len(source.rows)  # everything that all flops share is computed here, once
    source.arrays(0)
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            found = list(pool.map(write, range(rows)))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    sync_folder(folder)
    return found


def _batches(solver: "UnifiedSolver") -> list[Any]:
    batches = solver.batches
    return [batches.size, batches.iterations, batches.choice]


def _identity(solver: "UnifiedSolver") -> dict[str, Any]:
    """What two solutions must share to be of the same game, in words for people."""
    from allstreets.solvers.unified.text import game_mapping

    flops = solver.game.flops
    return {
        **game_mapping(solver.game),
        "flops": [flop.text for flop in flops.flops],
        "weights": flops.weights.tolist(),
        "cards": solver.games.model,
        "algorithm": str(solver.schedule),
        "batches": _batches(solver),
        "seed": solver.batches.seed,
    }


def _game_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """`_identity` as a manifest tells it."""
    return {
        **manifest["game"],
        "flops": [row["flop"] for row in manifest["flops"]],
        "weights": [row["weight"] for row in manifest["flops"]],
        **{key: manifest[key] for key in ("cards", "algorithm", "batches", "seed")},
    }


def load_unified(folder: Path | str) -> "UnifiedResult":
    """Open a bundle. Reads manifest and preflop part; a flop is read when it is asked for."""
    from allstreets.solvers.unified.result import UnifiedResult
    from allstreets.solvers.unified.text import game_of

    folder = Path(folder)
    manifest = read_manifest(folder, KIND, SCHEMA)
    rows = manifest["flops"]
    game = game_of(manifest["game"], [row["flop"] for row in rows], [row["weight"] for row in rows])
    source = BundleSource(folder, manifest, open_preflop(folder, manifest, game.tree))
    return UnifiedResult(game, source, facts_of(manifest))


class BundleSource:
    """The numbers of a bundle."""

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], before: "PreflopSolution"
    ) -> None:
        self.folder, self.before = folder, before
        self._token, self._entries = str(manifest["token"]), manifest["flops"]
        self.arrays = lru_cache(OPENED)(self._open)

    @property
    def rows(self) -> "tuple[Row, ...]":
        """One row a flop."""
        files = ("bytes", "sha256")
        return tuple(
            {key: value for key, value in row.items() if key not in files} for row in self._entries
        )

    def _open(self, flop: int) -> Arrays:
        """What is known of a flop, by its place."""
        entry = self._entries[flop]
        path = self.folder / f"flops-{self._token}" / f"{entry['flop']}{SUFFIX}"
        return open_file(self.folder, self._token, path, entry)

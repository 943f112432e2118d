"""Bundles of whole games and of preflop solutions, opened by reading the manifest.

    FOLDER/manifest.json                            facts, metrics, one row per flop, checksums
           preflop-1f0a93c2.safetensors             strategies and values before the flop
           flops-1f0a93c2/AsKh7d.safetensors        strategies of all pots on a flop, and values

The arrays of a flop's file are listed in `engines.quantised`. A solution made with `store: preflop`
or `memory: per_batch` has no flops: their strategies are gone. A preflop solution never had any.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import Arrays, Place, place_of, sync_folder
from allstreets.betting import build_preflop_tree
from allstreets.engines import CardModel
from allstreets.games import (
    Lock,
    PreflopGame,
    game_mapping,
    game_of,
    preflop_locks,
    rules_mapping,
    rules_of,
)
from allstreets.solutions import (
    PreflopRoots,
    PreflopStrategies,
    Row,
    SolverSource,
    StoredGame,
    WholeSolution,
)
from allstreets.storage.certificates import read_certificate
from allstreets.storage.claim import claim
from allstreets.storage.kept_flops import KeptExactFlops
from allstreets.storage.manifest import Kind, damage_reported, read_manifest, write_manifest
from allstreets.storage.mapped import write_mapped
from allstreets.storage.mirror import mirrored
from allstreets.storage.solution_files import (
    SUFFIX,
    FlopFiles,
    facts_mapping,
    facts_of,
    flops_folder,
    open_preflop,
    require_folder,
    require_new,
    require_same_game,
    saving,
    without_files,
    write_flop,
    write_flops,
)

if TYPE_CHECKING:
    from allstreets.solvers import QuantisedSolution, WholeGameSolver

PREFLOP: Kind = "preflop"
UNIFIED: Kind = "unified"
KEPT = {
    "classes": "all decisions after the flop, by hand class",
    "buckets": "all decisions after the flop, by bucket of the street",
    "exact": "the decisions on the flop, by combo, with their EVs; not those on turn and river",
    "sampled": "all decisions after the flop, by hand class",
    "boards": "all decisions after the flop: by combo, with EVs, on the flop, by combo on the "
    "turn, by river bucket",
}
NOTHING_KEPT = "no decisions after the flop"
ROW_DIGITS = 5  # of the figures of a flop in a compact solution


def require_preflop_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to, before the run begins."""
    require_folder(folder, PREFLOP, resume=resume)


def save_preflop(
    result: "WholeSolution", folder: Path | str, *, identity: Mapping[str, Any]
) -> None:
    """Write a bundle, or bring one of the same game up to date; anything else is an `InputError`.

    `identity` are JSON facts, besides the rules, that distinguish games: the source of the values
    of flops, say.
    """
    folder = Path(folder)
    game = {**identity, "preflop": rules_mapping(result.rules)}
    require_same_game(folder, PREFLOP, lambda manifest: manifest["game"], game)
    token = secrets.token_hex(4)
    path = folder / f"preflop-{token}{SUFFIX}"
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        entry = {"file": path.name, **write_mapped(path, result.before.arrays())}
        head = facts_mapping(result.facts, PREFLOP)
        write_manifest(folder, {**head, "game": game, "token": token, "files": {"preflop": entry}})


def load_preflop(folder: Path | str) -> "WholeSolution":
    """Open a bundle."""
    folder = Path(folder)
    manifest = read_manifest(folder, PREFLOP)
    with damage_reported(folder):
        rules, facts = rules_of(manifest["game"]["preflop"]), facts_of(manifest)
        tree = build_preflop_tree(rules)
    before = open_preflop(folder, manifest, tree)
    with damage_reported(folder):
        locks = tuple(Lock.from_mapping(lock) for lock in facts.config.get("lock") or ())
        before = replace(before, locks=preflop_locks(tree, locks))
    solution = WholeSolution(PreflopRoots(rules, before), None, facts)
    solution.folder = folder
    return solution


def require_unified_folder(folder: Place, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to, before the run begins."""
    require_folder(folder, UNIFIED, resume=resume)


def save_unified(
    solver: "WholeGameSolver",
    folder: Place | str,
    *,
    config: Mapping[str, Any],
    quantised: "QuantisedSolution | None" = None,
    metrics: Sequence[Mapping[str, Any]] = (),
    seconds: float = 0.0,
    name: str | None = None,
    description: str | None = None,
    before: Mapping[str, Any] | None = None,
) -> None:
    """Write a bundle, or bring one of the same game up to date; anything else is an `InputError`.

    `quantised` is the result of `quantise_solution` for the solver's present state; None: computed
    here. All figures are those of the stored strategies. `before` is the solution from which a lock
    made it: its `folder`, and the `line` that was locked.
    """
    folder = place_of(folder)
    require_same_game(folder, UNIFIED, _game_of, _identity(solver))
    source = SolverSource(solver, quantised)
    facts = source.facts(
        memory=config.get("memory", "resident" if solver.can_evaluate else "per_batch"),
        config=dict(config),
        metrics=tuple(metrics),
        seconds=seconds,
        name=name,
        description=description,
    )
    token = secrets.token_hex(4)
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        entries: list[dict[str, Any]] = [{} for _ in source.rows]
        if source.stores_flops:
            names = [row["flop"] for row in source.rows]
            entries = source.write(folder, token, names) or _write(source, folder, token, names)
        whole = StoredGame(solver.game, source.before, source.rows, facts)
        _finish(folder, token, whole, entries, _batches(solver), before)


@contextmanager
def writing_unified(folder: Path, flops: Sequence[str]) -> Iterator["GameWriter"]:
    """Write a whole game into a new folder, flop by flop; an unfinished one is removed."""
    require_new(folder)
    with claim(folder), saving(folder):
        yield GameWriter(folder, flops)


class GameWriter:
    """Writes a bundle; everything it receives goes to disk, not to memory."""

    def __init__(self, folder: Path, flops: Sequence[str]) -> None:
        self._folder, self._names, self._token = folder, flops, secrets.token_hex(4)
        self._entries: list[dict[str, Any]] = [{} for _ in flops]
        self._flops = flops_folder(folder, self._token)

    def add(self, index: int, arrays: Arrays) -> None:
        """Write a flop, by its place."""
        self._flops.mkdir(exist_ok=True)
        self._entries[index] = write_flop(self._flops, self._names[index], arrays)

    def finish(self, whole: StoredGame) -> None:
        """Write the rest, which completes the solution."""
        if any(self._entries):
            sync_folder(self._flops)
        _finish(self._folder, self._token, whole, self._entries, batches=None)


def save_compact(solution: WholeSolution, folder: Path, name: str) -> None:
    """Write the play of a whole game before the flop into a new folder, in a tenth of the bytes.

    It stores the values of the pots, from which the others follow, and only the last figures of the
    run.
    """
    facts = replace(solution.facts, name=name, metrics=solution.facts.metrics[-1:])
    rows = tuple(_rounded(row) for row in solution.stored.source.rows)
    whole = StoredGame(solution.game, solution.before, rows, facts)
    require_new(folder)
    with claim(folder), saving(folder):
        token = secrets.token_hex(4)
        _finish(folder, token, whole, [{} for _ in rows], batches=None, compact=True)


def _rounded(row: Row) -> Row:
    """A row of the table over flops, as it is shown; a weight is part of the game."""
    shown = {
        key: round(value, ROW_DIGITS)
        for key, value in row.items()
        if key != "weight" and isinstance(value, float)
    }
    return {**row, **shown}


def _finish(
    folder: Place,
    token: str,
    whole: StoredGame,
    entries: Sequence[Mapping[str, Any]],
    batches: Sequence[Any] | None,
    before: Mapping[str, Any] | None = None,
    *,
    compact: bool = False,
) -> None:
    """Write everything that is not by flop, and the manifest last."""
    facts, preflop = whole.facts, folder / f"preflop-{token}{SUFFIX}"
    written = write_mapped(preflop, whole.before.arrays(compact=compact))
    files = {"preflop": {"file": preflop.name, **written}}
    cards = facts.cards if any(entries) else None
    write_manifest(
        folder,
        {
            **facts_mapping(facts, UNIFIED),
            "game": game_mapping(whole.game),
            **({"before": dict(before)} if before is not None else {}),
            "batches": batches,
            "kept": NOTHING_KEPT if cards is None else KEPT[cards.kind],
            "token": token,
            "files": files,
            "flops": [{**row, **entry} for row, entry in zip(whole.rows, entries, strict=True)],
        },
    )


def _write(
    source: SolverSource, folder: Place, token: str, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Write the file of every flop, in this process."""
    source.arrays(0)  # the part that all flops share is computed once
    return write_flops(folder, token, names, source.arrays)


def _batches(solver: "WholeGameSolver") -> list[Any]:
    batches = solver.batches
    return [batches.size, batches.iterations, batches.choice]


def _identity(solver: "WholeGameSolver") -> dict[str, Any]:
    """The facts that two solutions of the same game share, in words."""
    flops = solver.game.flops
    return {
        **game_mapping(solver.game),
        "flops": [flop.text for flop in flops.flops],
        "weights": flops.weights.tolist(),
        "cards": str(solver.engine.model),
        "algorithm": str(solver.schedule),
        "batches": _batches(solver),
        "seed": solver.batches.seed,
    }


def _game_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """`_identity` as a manifest records it."""
    return {
        **manifest["game"],
        "flops": [row["flop"] for row in manifest["flops"]],
        "weights": [row["weight"] for row in manifest["flops"]],
        **{key: manifest[key] for key in ("algorithm", "batches", "seed")},
        "cards": manifest["cards"].removesuffix(", values only"),  # of older manifests
    }


def load_unified(folder: Place | str) -> "WholeSolution":
    """Open a bundle. Reads manifest and preflop part; a flop is read when it is needed."""
    folder = mirrored(folder)
    manifest = read_manifest(folder, UNIFIED)
    rows = manifest["flops"]
    flops, weights = [row["flop"] for row in rows], [row["weight"] for row in rows]
    with damage_reported(folder):
        game = game_of(manifest["game"], flops, weights)
        tree, locks, facts = game.tree, game.locks.preflop, facts_of(manifest)
        for pot in game.flop_pots:
            game.rules_of(pot)  # trees are built when they are needed, rules are checked here

    def before_the_flop() -> PreflopGame:
        return game.before_the_flop(game.dealt(facts.cards or CardModel()))

    before = replace(open_preflop(folder, manifest, tree, before_the_flop), locks=locks)
    source = BundleSource(folder, manifest, before)
    facts = replace(facts, certificate=read_certificate(folder, manifest))
    solution = WholeSolution.game_of(game, source, facts)
    solution.folder, solution.exact_flops = folder, KeptExactFlops(folder, solution)
    return solution


class BundleSource:
    """The numbers of a bundle."""

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], before: "PreflopStrategies"
    ) -> None:
        self.folder, self.before, self._entries = folder, before, manifest["flops"]
        self._files = FlopFiles(folder, manifest["token"], self._entries)

    @property
    def stores_flops(self) -> bool:
        """Whether there are strategies after the flop."""
        return all("sha256" in entry for entry in self._entries)

    @property
    def rows(self) -> "tuple[Row, ...]":
        """One row per flop."""
        return tuple(without_files(entry) for entry in self._entries)

    def arrays(self, flop: int) -> Arrays:
        """The stored arrays of a flop, given by its index."""
        return self._files.arrays(self._entries[flop]["flop"])

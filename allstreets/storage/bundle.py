"""Bundles: a solved spot in a folder, opened by reading its manifest alone.

    FOLDER/manifest.json                       facts, metrics by iteration, checksums
           nodes-flop-1f0a93c2.safetensors     the numbers of every decision of a street
           flop-1f0a93c2.safetensors           regrets and average strategy of a street

The numbers of the first street are always there, so that it is shown at once. `full` keeps regrets
and strategies of all streets: every node can be shown and the solving can go on. `flop` and `turn`
keep the numbers up to that street, a few per cent of the size; later streets are solved again.

Every save gives its files new names and renames the manifest into place last: whatever the
moment at which a writer dies, the folder holds one whole solution.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from allstreets.base import InputError, write_atomic
from allstreets.base.files import Arrays, DamagedFileError
from allstreets.storage import manifest as manifests
from allstreets.storage.manifest import AGAIN, MANIFEST, require_same
from allstreets.storage.mapped import open_mapped, write_mapped
from allstreets.version import __version__

if TYPE_CHECKING:
    from allstreets.betting import Street
    from allstreets.cfr.schedules import Schedule
    from allstreets.solvers import Spot, SpotResult, SpotSolver
    from allstreets.solvers.spot.resolve import Announce
    from allstreets.solvers.spot.stored import StreetNumbers

SCHEMA = 1  # of the manifest; a change that old code would misread takes the next number
KIND = "spot"
_OURS = re.compile(
    r"(nodes-)?(flop|turn|river)-[0-9a-f]{8}\.safetensors"
    r"|\.((nodes-)?(flop|turn|river)-[0-9a-f]{8}\.safetensors|manifest\.json)\.[0-9a-f]{8}\.tmp"
)
Saved = Literal["flop", "turn", "full"]


def spot_identity(
    spot: "Spot", algorithm: "str | Schedule" = "tuned", precision: str = "float32"
) -> dict[str, Any]:
    """What two solutions must share to be the same: the game, the algorithm, the precision."""
    from allstreets.cfr.schedules import parse_schedule
    from allstreets.solvers.spot.text import spot_mapping

    schedule = parse_schedule(algorithm) if isinstance(algorithm, str) else algorithm
    return {**spot_mapping(spot), "algorithm": str(schedule), "precision": precision}


def _identity(solver: "SpotSolver") -> dict[str, Any]:
    return spot_identity(solver.spot, solver.schedule, solver.subgame.precision)


def require_saved(spot: "Spot", saved: str) -> None:
    """Refuse to keep streets that the spot does not have."""
    from allstreets.betting import Street

    if saved not in ("flop", "turn", "full"):
        raise InputError(f"save '{saved}' is not known: write flop, turn or full")
    first = spot.tree.first_street
    if saved != "full" and Street[saved.upper()] < first:
        raise InputError(f"save {saved}: the spot starts on the {first.text}; save more, or full")


def require_free(folder: Path, identity: Mapping[str, Any]) -> None:
    """Refuse a folder that holds anything: a bundle, or files that are not ours."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the solution")
    if not folder.is_dir() or not any(path.name != ".lock" for path in folder.iterdir()):
        return
    if not (folder / MANIFEST).exists():
        raise InputError(f"{folder} holds other files; name a new folder for the solution")
    manifest = read_manifest(folder)
    require_same(folder, manifest["config"], identity, KIND)
    raise InputError(
        f"{folder} already holds this spot, solved to iteration {manifest['iterations']:,}; "
        "go on with it by --resume, or name another folder"
    )


def save_spot(
    solver: "SpotSolver | SpotResult",
    folder: Path | str,
    saved: Saved = "full",
    *,
    exploitability: float | None = None,
    seconds: float = 0.0,
    metrics: Sequence[Mapping[str, Any]] = (),
    name: str | None = None,
    description: str | None = None,
) -> None:
    """Write a bundle, or bring one of the same spot up to date; anything else is an `InputError`.

    `exploitability` is a fraction of the pot; it is computed where it is not given.
    """
    from allstreets.solvers import SpotResult
    from allstreets.solvers.spot.text import data_hash

    if isinstance(solver, SpotResult):
        if solver.solver is None:
            raise InputError("only what was solved in this program can be saved: copy the folder")
        seconds = seconds or solver.seconds
        if exploitability is None and solver.exploitability == solver.exploitability:
            exploitability = solver.exploitability
        solver = solver.solver
    folder = Path(folder)
    require_saved(solver.spot, saved)
    identity = _identity(solver)
    if (folder / MANIFEST).exists():
        require_same(folder, read_manifest(folder)["config"], identity, KIND)
    else:
        require_free(folder, identity)
    if exploitability is None:
        exploitability = solver.exploitability() / solver.spot.pot
    evs = solver.expected_values()
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": KIND,
        "code_version": __version__,
        "name": name,
        "description": description,
        "config": identity,
        "config_hash": data_hash(identity),
        "saved": saved,
        "iterations": solver.iterations,
        "seconds": seconds,
        "exploitability": exploitability,
        "evs": list(evs),
        "metrics": [dict(row) for row in metrics],
    }
    try:
        token = secrets.token_hex(4)
        manifest["files"] = {
            file: _write_street(folder, f"{file}-{token}.safetensors", arrays)
            for file, arrays in _files(solver, saved)
        }
        manifest["checksum"] = data_hash(manifest)
        text = json.dumps(manifest, indent=1, allow_nan=False)
        write_atomic(folder / MANIFEST, lambda out: out.write(text.encode()))
    except OSError as error:
        raise InputError(
            f"cannot write the solution to {folder}: {error.strerror or error}; "
            "make room or name another folder"
        ) from error
    _drop_old(folder, {entry["file"] for entry in manifest["files"].values()})


def _write_street(folder: Path, file: str, arrays: Arrays) -> dict[str, Any]:
    return {"file": file, **write_mapped(folder / file, arrays)}


def _files(solver: "SpotSolver", saved: str) -> Iterator[tuple[str, Arrays]]:
    """(name, arrays) of every file of a bundle, one at a time: together they may not fit."""
    from allstreets.solvers.spot.stored import board_names, pack_street

    subgame, tree = solver.subgame, solver.spot.tree
    for level, street in enumerate(_kept_streets(subgame.levels, saved)):
        arrays: Arrays = {}
        for prefix, cards in board_names(subgame.streets[0].runouts[0], level):
            packed = pack_street(solver.view(cards), tree, street)
            arrays |= {f"{prefix}.{name}": array for name, array in packed.items()}
        yield f"nodes-{street.text}", arrays
    if saved != "full":
        return
    state = solver.state()
    for level, street in enumerate(subgame.levels):
        mark = f".{street.text}."
        own = {name: array for name, array in state.items() if mark in name}
        if level == 0:
            own |= {name: array for name, array in state.items() if "." not in name}
        yield street.text, own


def _kept_streets(levels: "Sequence[Street]", saved: str) -> "list[Street]":
    """The streets whose numbers are kept: the first one, and those up to the one that is named."""
    last = levels[0] if saved == "full" else type(levels[0])[saved.upper()]
    return [street for street in levels if street <= max(last, levels[0])]


def load_spot(folder: Path | str, announce: "Announce | None" = None) -> "SpotResult":
    """Open a bundle. Reads the manifest; everything else is read when it is asked for.

    `announce` is told when a street that was not kept is about to be solved again.
    """
    from allstreets.solvers import Spot, SpotResult
    from allstreets.solvers.spot.resolve import TrimmedResult
    from allstreets.subgames.exact_forest import deal_streets

    folder = Path(folder)
    manifest = read_manifest(folder)
    config = dict(manifest["config"])
    algorithm, precision = config.pop("algorithm"), config.pop("precision")
    try:
        spot = Spot.from_mapping(config)
    except InputError as error:  # which nobody has typed
        raise InputError(f"the solution in {folder} is damaged: {error}.\n{AGAIN}") from None
    kept = _kept_streets(deal_streets(spot.tree), manifest["saved"])
    opened = _Opened(folder, manifest, spot, kept, algorithm, precision)
    result: SpotResult
    if manifest["saved"] == "full":
        result = SpotResult(spot, opened.view)
    else:
        target = max(float(manifest["exploitability"]), 0.001)
        result = TrimmedResult(spot, opened.view, len(kept), target, announce)
    result.exploitability = float(manifest["exploitability"])
    result.known_evs = manifest["evs"][0], manifest["evs"][1]
    result.iterations, result.seconds = manifest["iterations"], manifest["seconds"]
    return result


class _Opened:
    """The files of a bundle, opened street by street."""

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        spot: "Spot",
        kept: "list[Street]",
        algorithm: str,
        precision: str,
    ) -> None:
        from allstreets.cards import Range

        self._folder, self._manifest = folder, manifest
        self._spot, self._kept = spot, kept
        # Spots were once stored with their weights as given; now the largest is 1.
        ranges = [Range.parse(manifest["config"][key]) for key in ("oop_range", "ip_range")]
        self._largest = ranges[0].largest, ranges[1].largest
        self._settings = algorithm, precision
        self._nodes: dict[int, Arrays] = {}
        self._solver: SpotSolver | None = None

    def view(self, cards: tuple[int, ...]) -> "StreetNumbers":
        """The street that is reached when `cards` have been dealt."""
        from allstreets.solvers.spot.estimate import spot_root
        from allstreets.solvers.spot.stored import StoredStreet, board_name

        level = len(cards)
        if level >= len(self._kept):
            if self._manifest["saved"] != "full":
                raise InputError("this street was not kept: ask for a node by its line")
            return self._solved().view(cards)
        if level not in self._nodes:
            file = f"nodes-{self._kept[level].text}"
            self._nodes[level] = read_street(self._folder, self._manifest, file, verify=True)
        name, renamed = board_name(spot_root(self._spot), cards)
        arrays = {
            key.removeprefix(f"{name}."): array
            for key, array in self._nodes[level].items()
            if key.startswith(f"{name}.")
        }
        return StoredStreet(self._spot.tree, self._kept[level], arrays, renamed, self._largest)

    def _solved(self) -> "SpotSolver":
        """A solver whose average strategies are the mapped files."""
        from allstreets.solvers import SpotSolver

        if self._solver is None:
            algorithm, precision = self._settings
            solver = SpotSolver(self._spot, algorithm, precision=precision)
            subgame = solver.subgame
            for level, street in enumerate(subgame.levels):
                arrays = read_street(self._folder, self._manifest, street.text, verify=False)
                pair = [arrays[f"average.{street.text}.{who}"] for who in ("oop", "ip")]
                subgame.averages[level] = pair
            self._solver = solver
        return self._solver


def read_street(folder: Path, manifest: Mapping[str, Any], name: str, *, verify: bool) -> Arrays:
    """The arrays of one file of a bundle."""
    entry = manifest["files"][name]
    try:
        return open_mapped(folder / entry["file"], entry, verify=verify)
    except DamagedFileError as error:
        raise InputError(f"the solution in {folder} is damaged: {error}.\n{AGAIN}") from None


def require_resumable(folder: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a folder that a solver cannot go on from; returns the manifest."""
    manifest = read_manifest(folder)
    require_same(folder, manifest["config"], identity, KIND)
    if manifest["saved"] != "full":
        raise InputError(
            f"{folder} was saved with --save {manifest['saved']}, which keeps no regrets to go on "
            "from; solve anew in another folder, with --save full"
        )
    return manifest


def restore_spot(solver: "SpotSolver", folder: Path) -> dict[str, Any]:
    """Let a solver go on from a full bundle of the same spot; returns the manifest."""
    manifest = require_resumable(folder, _identity(solver))
    state: Arrays = {}
    for street in solver.subgame.levels:
        state |= read_street(folder, manifest, street.text, verify=True)
    solver.restore(state)
    return manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """The facts of a bundle, checked."""
    return manifests.read_manifest(folder, KIND, SCHEMA)


def _drop_old(folder: Path, keep: set[str]) -> None:
    """Remove what earlier saves left; a failure costs room, not the solution."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in keep:
                path.unlink()

"""Bundles: a solved spot in a folder, opened by reading its manifest alone.

    FOLDER/manifest.json                       facts, metrics by iteration, checksums
           nodes-flop-1f0a93c2.safetensors     the numbers of every decision of a street
           flop-1f0a93c2.safetensors           regrets and average strategy of a street

The numbers of the first street are always stored, so it is shown immediately. `full` stores regrets
and strategies of all streets: every node can be shown and solving can resume. `flop` and `turn`
store the numbers up to that street, a few per cent of the size; later streets are solved again.

Every save gives its files new names and renames the manifest into place last: whenever a writer
dies, the folder holds one whole solution.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from allstreets import engines, solvers  # its kernels are loaded when something is played
from allstreets.base import Arrays, DamagedFileError, InputError, Longs, thread_count
from allstreets.betting import Player, Street
from allstreets.cfr import Schedule, parse_schedule
from allstreets.engines import CardModel, RiverGroups, deal_streets
from allstreets.games import Spot, data_hash, spot_mapping, spot_root
from allstreets.solutions import (
    DEFAULT_TARGET,
    Announce,
    MadeSimple,
    SpotSolution,
    StoredStreet,
    StreetNumbers,
    TrimmedSolution,
    board_name,
    board_names,
    pack_street,
)
from allstreets.storage import manifest as manifests
from allstreets.storage.claim import LOCK_NAME
from allstreets.storage.manifest import (
    MANIFEST,
    SCHEMAS,
    Kind,
    cannot_write,
    damage_reported,
    require_same,
    require_trained,
    write_manifest,
)
from allstreets.storage.mapped import BlockSums, CheckedFile, open_mapped, write_mapped
from allstreets.version import __version__

if TYPE_CHECKING:
    from allstreets.engines import ExactSubgame, TurnPart
    from allstreets.solvers import SpotSolver

KIND: Kind = "spot"
_OURS = re.compile(
    r"(nodes-)?(flop|turn|river)-[0-9a-f]{8}\.safetensors"
    r"|\.((nodes-)?(flop|turn|river)-[0-9a-f]{8}\.safetensors|manifest\.json)\.[0-9a-f]{8}\.tmp"
)
Saved = Literal["flop", "turn", "full"]
DRAFT_PRECISION = "float16"  # of regrets and strategies in the game with buckets
OPEN_TURNS = 8  # of a flop, with the cards of all their rivers


def spot_identity(
    spot: "Spot",
    algorithm: "str | Schedule" = "ahead",
    precision: str = "float32",
    river_groups: RiverGroups = "none",
    tremble: float = 0.0,
    draft: CardModel | None = None,
) -> dict[str, Any]:
    """The facts that identify a solution: its game, its algorithm and its storage.

    `draft` is the card model of a draft, which has its own storage.
    """
    schedule = parse_schedule(algorithm) if isinstance(algorithm, str) else algorithm
    more = {"river_groups": river_groups} if river_groups != "none" else {}
    trembles = {"tremble": tremble} if tremble else {}
    how = {"algorithm": str(schedule), "precision": precision, **more, **trembles}
    if draft is not None:
        how = {"algorithm": str(schedule), "precision": DRAFT_PRECISION, "draft": draft.facts()}
    return {**spot_mapping(spot), **how}


SETTINGS = ("algorithm", "precision", "river_groups", "tremble", "draft")  # beside the spot


def solver_identity(solver: "SpotSolver") -> dict[str, Any]:
    """The facts that identify what a solver solves."""
    return spot_identity(
        solver.spot,
        solver.schedule,
        solver.learner.precision,
        solver.river_groups,
        solver.tremble,
        solver.draft_cards,
    )


def _is_replaced(config: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Whether a bundle is a draft of the same spot, which any solution of it may replace."""
    there, here = (
        {key: value for key, value in facts.items() if key not in SETTINGS}
        for facts in (config, identity)
    )
    return "draft" in config and there == here


def require_saved(spot: "Spot", saved: str) -> None:
    """Refuse to save streets that the spot does not have."""
    if saved not in ("flop", "turn", "full"):
        raise InputError(f"save '{saved}' is not known: write flop, turn or full")
    first = spot.tree.first_street
    if saved != "full" and Street[saved.upper()] < first:
        raise InputError(f"save {saved}: the spot starts on the {first.text}; save more, or full")


def require_free(folder: Path, identity: Mapping[str, Any]) -> None:
    """Refuse a folder that holds a bundle, or files that are not ours."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the solution")
    if not folder.is_dir():
        return
    if not (folder / MANIFEST).exists():
        if all(path.name == LOCK_NAME or _OURS.fullmatch(path.name) for path in folder.iterdir()):
            return  # at most the leftovers of an interrupted save
        raise InputError(f"{folder} contains other files; name a new folder for the solution")
    manifest = read_spot_manifest(folder)
    if _is_replaced(manifest["config"], identity):
        return
    require_same(folder, manifest["config"], identity, KIND)
    require_trained(folder, manifest)
    raise InputError(
        f"{folder} already contains this spot, solved to iteration {manifest['iterations']:,}; "
        "continue it with --resume, or name another folder"
    )


def save_spot(
    solver: "SpotSolver | SpotSolution",
    folder: Path | str,
    saved: Saved = "full",
    *,
    exploitability: float | None = None,
    seconds: float = 0.0,
    metrics: Sequence[Mapping[str, Any]] = (),
    name: str | None = None,
    description: str | None = None,
    origin: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    simplified: MadeSimple | None = None,
) -> None:
    """Write a bundle, or bring one of the same spot up to date; anything else is an `InputError`.

    `exploitability` is a fraction of the pot; it is computed where it is not given. `origin` names
    the flop and the whole game of the spot (`solutions.Origin`), `before` the solution and the line
    from which a lock made it, `simplified` the solution whose strategies it simplifies.
    """
    solution = solver if isinstance(solver, SpotSolution) else SpotSolution.of(solver)
    if solution.solver is None:
        raise InputError("only what was solved in this program can be saved: copy the folder")
    solver, seconds = solution.solver, seconds or solution.seconds
    if exploitability is None and solution.exploitability == solution.exploitability:
        exploitability = solution.exploitability
    folder = Path(folder)
    require_saved(solver.spot, saved)
    identity = solver_identity(solver)
    if (folder / MANIFEST).exists():
        stored = read_spot_manifest(folder)
        if not _is_replaced(stored["config"], identity):
            require_same(folder, stored["config"], identity, KIND)
            require_trained(folder, stored)
    else:
        require_free(folder, identity)
    if exploitability is None:
        exploitability = solver.exploitability() / solver.spot.pot
    manifest: dict[str, Any] = {
        "schema": SCHEMAS[KIND],
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
        "evs": list(solution.evs),
        "metrics": [dict(row) for row in metrics],
    }
    if origin is not None:
        manifest["origin"] = dict(origin)
    if before is not None:
        manifest["before"] = dict(before)
    if simplified is not None:
        manifest["simplified"] = simplified.mapping()
    try:
        token = secrets.token_hex(4)
        manifest["files"] = {
            file: _write_street(folder, f"{file}-{token}.safetensors", arrays)
            for file, arrays in _files(solver, solution.street(), saved)
        }
        write_manifest(folder, manifest)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        clear_unfinished_spot(
            folder
        )  # of a save that fails, which would take room, or of the previous one


def _write_street(folder: Path, file: str, arrays: Arrays) -> dict[str, Any]:
    sums = BlockSums()
    entry = write_mapped(folder / file, arrays, sums=sums)
    return {"file": file, **entry, "blocks": sums.entry()}


def _files(solver: "SpotSolver", first: StreetNumbers, saved: str) -> Iterator[tuple[str, Arrays]]:
    """(name, arrays) of every file of a bundle, one at a time: together they may not fit.

    The numbers of the `first` street are known.
    """
    subgame, tree = solver.subgame, solver.spot.tree
    for level, street in enumerate(_kept_streets(subgame.levels, saved)):
        arrays: Arrays = {}
        for prefix, cards in board_names(subgame.streets[0].runouts[0], level):
            board = (*solver.spot.cards, *cards)
            numbers = solver.view(cards) if level else first
            packed = pack_street(numbers, tree, street, board, equity=level == 0)
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
    """The streets with stored numbers: the first one, and those up to the named one."""
    last = levels[0] if saved == "full" else type(levels[0])[saved.upper()]
    return [street for street in levels if street <= max(last, levels[0])]


def load_spot(folder: Path | str, announce: "Announce | None" = None) -> "SpotSolution":
    """Open a bundle. Reads the manifest; everything else is read, and verified, when needed.

    `announce` is called when a street that was not stored is about to be solved again.
    """
    folder = Path(folder)
    manifest = read_spot_manifest(folder)
    spot, settings = _spot_of(folder, manifest)
    with damage_reported(folder):
        kept = _kept_streets(deal_streets(spot.tree), manifest["saved"])
    opened = _Opened(folder, manifest, spot, kept, settings)
    result: SpotSolution
    if manifest["saved"] == "full":
        result = SpotSolution(spot, opened.view)
    else:
        target = max(float(manifest["exploitability"]), 0.001)
        target = target if settings.draft is None else min(target, DEFAULT_TARGET)
        result = TrimmedSolution(spot, opened.view, len(kept), target, announce)
    result.exploitability = float(manifest["exploitability"])
    result.known_evs = manifest["evs"][0], manifest["evs"][1]
    result.iterations, result.seconds = manifest["iterations"], manifest["seconds"]
    result.origin, result.folder = manifest.get("origin"), folder
    result.given_name, result.draft = manifest.get("name"), settings.draft
    with damage_reported(folder):
        made = manifest.get("simplified")
        result.simplified = None if made is None else MadeSimple.read(made)
    return result


def read_spot(folder: Path) -> Spot:
    """The spot of a bundle, by its manifest alone."""
    return _spot_of(folder, read_spot_manifest(folder))[0]


class _Settings(NamedTuple):
    """The settings that a spot was solved with."""

    algorithm: str
    precision: str
    river_groups: RiverGroups
    tremble: float
    draft: CardModel | None


def _spot_of(folder: Path, manifest: Mapping[str, Any]) -> tuple[Spot, _Settings]:
    """The spot of a manifest, and how it was solved."""
    config = dict(manifest["config"])
    with damage_reported(folder):  # wrong input here comes from the manifest, not from the user
        draft = config.pop("draft", None)
        settings = _Settings(
            config.pop("algorithm"),
            config.pop("precision"),
            config.pop("river_groups", "none"),
            config.pop("tremble", 0.0),
            None if draft is None else CardModel.of(draft),
        )
        # Before a lock was stored with `alike`, it held after its own cards alone.
        config["lock"] = [{"alike": False, **lock} for lock in config.get("lock") or ()]
        spot = Spot.from_mapping(config)
        return spot if "grains" in config else spot.counted_as_before(), settings


class _Game(NamedTuple):
    """A game that plays strategies from files."""

    subgame: "ExactSubgame"
    starts: tuple[tuple[int, int], ...]  # by street: where those of OOP and IP begin in the files


class _Opened:
    """The files of a bundle, opened street by street."""

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        spot: "Spot",
        kept: "list[Street]",
        settings: _Settings,
    ) -> None:
        self._folder, self._manifest = folder, manifest
        self._spot, self._kept = spot, kept
        self._settings = settings
        self._files: dict[str, CheckedFile] = {}
        self._opened_game = lru_cache(OPEN_TURNS)(self._open_game)

    def view(self, cards: tuple[int, ...]) -> "StreetNumbers":
        """The street that is reached when `cards` have been dealt."""
        level = len(cards)
        if level >= len(self._kept) and self._manifest["saved"] != "full":
            raise InputError("this street was not saved: look up a node by its line")
        with damage_reported(self._folder, asked=True):
            if level >= len(self._kept):
                return self._played(cards)
            return self._stored(cards)

    def _stored(self, cards: tuple[int, ...]) -> "StreetNumbers":
        """A street with stored numbers."""
        street = self._kept[len(cards)]
        file = self._open(f"nodes-{street.text}")
        name, renamed = board_name(spot_root(self._spot), cards)
        own = [key for key in file if key.startswith(f"{name}.")]
        arrays = {key.removeprefix(f"{name}."): file[key] for key in own}
        return StoredStreet(self._spot.tree, street, arrays, renamed)

    def _played(self, cards: tuple[int, ...]) -> "StreetNumbers":
        """A view of a game with the mapped files as average strategies.

        It plays the boards on the path to its own, its own board, and all below. Their strategies
        are verified first and released from memory afterwards: all boards together may not fit.
        """
        game = self._game(cards[0])
        parts = list(self._average_parts(game, cards))
        for file, name, first, last in parts:
            file.verify(name, first, last)
        oop, ip = (
            held.weights[game.subgame.streets[0].combos(player, 0)]
            for player, held in enumerate(self._spot.ranges)
        )
        view = engines.StreetView(game.subgame, (oop, ip), cards)
        for file, name, first, last in parts:
            file.release(name, first, last)
        return view

    def _average_parts(
        self, game: "_Game", cards: tuple[int, ...]
    ) -> "Iterator[tuple[CheckedFile, str, int, int]]":
        """(file, array, first slot, last slot) of the average strategies of a view of `cards`."""
        subgame = game.subgame
        numbers = engines.find_board(subgame, cards).numbers
        for level, street in enumerate(subgame.levels):
            if level < len(numbers):
                first, last = numbers[level], numbers[level] + 1
            else:
                children = subgame.boards[0][level - 1].children
                first, last = int(children[first]), int(children[last])
            for player in Player:
                slots = subgame.boards[player][level].own_slots + game.starts[level][player]
                name = f"average.{street.text}.{player.name.lower()}"
                yield self._open(street.text), name, int(slots[first]), int(slots[last])

    @cached_property
    def _combos(self) -> tuple[Longs, Longs]:
        oop, ip = (np.flatnonzero(held.weights) for held in self._spot.ranges)
        return oop, ip

    @cached_property
    def _turn_parts(self) -> dict[int, "TurnPart"]:
        return engines.turn_parts(spot_root(self._spot), self._combos)

    def _game(self, card: int) -> "_Game":
        """The game after a card: that turn alone of a flop whose hands share no strategies."""
        shares = self._settings.river_groups != "none"
        if shares or len(deal_streets(self._spot.tree)) < 3:
            return self._opened_game(None)
        return self._opened_game(int(spot_root(self._spot).representative[card]))

    def _open_game(self, turn: int | None) -> "_Game":
        """The game with one turn, or all of it."""
        spot, root, how = self._spot, spot_root(self._spot), self._settings
        weights = spot.ranges[0].weights, spot.ranges[1].weights
        shared = partial(engines.suit_street_buckets, weights=weights)
        subgame = engines.ExactSubgame(
            spot.tree,
            spot.payoffs,
            root if turn is None else engines.turn_alone(root, turn),
            self._combos,
            thread_count(None),
            how.precision,
            buckets=None if how.river_groups == "none" else shared,
            learns=False,
        )
        return self._mapped(subgame, None if turn is None else self._turn_parts[turn])

    def _mapped(self, subgame: "ExactSubgame", part: "TurnPart | None") -> "_Game":
        """A game that plays the stored strategies of all turns, or of one."""
        starts = []
        for level, street in enumerate(subgame.levels):
            file, actions = self._open(street.text), subgame.slots[level].actions
            oop, ip = (0, 0) if part is None or not level else part.rows[level - 1]
            first = oop * actions[0], ip * actions[1]
            for player, who in enumerate(("oop", "ip")):
                last = first[player] + int(subgame.boards[player][level].own_slots[-1])
                stored = file.unverified(f"average.{street.text}.{who}")
                if len(stored) < last:
                    raise DamagedFileError(f"the strategies of the {street.text} are cut short")
                subgame.averages[level][player] = stored[first[player] : last]
            starts.append(first)
        return _Game(subgame, tuple(starts))

    def _open(self, name: str) -> CheckedFile:
        if name not in self._files:
            entry = self._manifest["files"][name]
            self._files[name] = CheckedFile(self._folder / entry["file"], entry)
        return self._files[name]


def _read_street(folder: Path, manifest: Mapping[str, Any], name: str) -> Arrays:
    """All arrays of one file of a bundle, every byte verified."""
    with damage_reported(folder):
        entry = manifest["files"][name]
        return open_mapped(folder / entry["file"], entry, verify=True)


def require_resumable(folder: Path, identity: Mapping[str, Any]) -> None:
    """Refuse a folder that a solver cannot resume from."""
    require_trained(folder, _require_full(folder, identity))


def _require_full(folder: Path, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a folder without the regrets and strategies of a spot; returns the manifest."""
    manifest = read_spot_manifest(folder)
    require_same(folder, manifest["config"], identity, KIND)
    if manifest["saved"] != "full":
        raise InputError(
            f"{folder} was saved with --save {manifest['saved']}, which keeps no regrets to "
            "resume from; solve again in another folder, with --save full"
        )
    return manifest


def restore_spot(solver: "SpotSolver", folder: Path) -> dict[str, Any]:
    """Restore a solver from a full bundle of the same spot; return the manifest."""
    manifest = _require_full(folder, solver_identity(solver))
    state: Arrays = {}
    for street in solver.subgame.levels:
        state |= _read_street(folder, manifest, street.text)
    with damage_reported(folder):
        solver.restore(state)
    return manifest


def open_spot_solver(folder: Path, threads: int | None = None) -> "SpotSolver":
    """A solver restored from a full bundle."""
    manifest = read_spot_manifest(folder)
    if manifest["saved"] != "full":
        raise InputError(
            f"{folder} was saved with --save {manifest['saved']}: strategies of later streets are "
            "not stored.\nSolve the spot again in another folder, with --save full"
        )
    spot, how = _spot_of(folder, manifest)
    with damage_reported(folder):
        solver = solvers.SpotSolver(
            spot, how.algorithm, threads, how.precision, how.river_groups, tremble=how.tremble
        )
    restore_spot(solver, folder)
    return solver


def read_spot_manifest(folder: Path) -> dict[str, Any]:
    """The facts of a bundle, checked."""
    return manifests.read_manifest(folder, KIND)


def clear_unfinished_spot(folder: Path) -> None:
    """Remove the leftovers of interrupted saves; only for the folder's writer.

    A failure costs disk space, not the solution.
    """
    with suppress(OSError, InputError):  # where the manifest cannot be read, nothing is touched
        keep: set[str] = set()
        if (folder / MANIFEST).exists():
            keep = {entry["file"] for entry in read_spot_manifest(folder)["files"].values()}
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in keep:
                path.unlink()

"""Bundles of preflop solutions: what a solver of the betting before the flop found.

FOLDER/manifest.json                       facts, metrics by iteration, checksums
       preflop-1f0a93c2.safetensors        strategies and values of every node
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from allstreets.betting import build_preflop_tree
from allstreets.games import Lock, preflop_locks, rules_mapping, rules_of
from allstreets.solutions import PreflopRoots, WholeSolution
from allstreets.storage.manifest import Kind, damage_told, read_manifest, write_manifest
from allstreets.storage.mapped import write_mapped
from allstreets.storage.solution_files import (
    SUFFIX,
    facts_mapping,
    facts_of,
    open_preflop,
    require_folder,
    require_same_game,
    saving,
)

KIND: Kind = "preflop"


def require_preflop_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to, before it begins."""
    require_folder(folder, KIND, resume=resume)


def save_preflop(
    result: "WholeSolution", folder: Path | str, *, identity: Mapping[str, Any]
) -> None:
    """Write a bundle, or bring one of the same game up to date; anything else is an `InputError`.

    `identity` are JSON facts that distinguish games besides the rules: where the values of flops
    come from, say.
    """

    folder = Path(folder)
    game = {**identity, "preflop": rules_mapping(result.rules)}
    require_same_game(folder, KIND, lambda manifest: manifest["game"], game)
    token = secrets.token_hex(4)
    path = folder / f"preflop-{token}{SUFFIX}"
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        entry = {"file": path.name, **write_mapped(path, result.before.arrays())}
        head = facts_mapping(result.facts, KIND)
        write_manifest(folder, {**head, "game": game, "token": token, "files": {"preflop": entry}})


def load_preflop(folder: Path | str) -> "WholeSolution":
    """Open a bundle."""

    folder = Path(folder)
    manifest = read_manifest(folder, KIND)
    with damage_told(folder):
        rules, facts = rules_of(manifest["game"]["preflop"]), facts_of(manifest)
        tree = build_preflop_tree(rules)
    before = open_preflop(folder, manifest, tree)
    with damage_told(folder):
        locks = tuple(Lock.from_mapping(lock) for lock in facts.config.get("lock") or ())
        before = replace(before, locks=preflop_locks(tree, locks))
    solution = WholeSolution(PreflopRoots(rules, before), None, facts)
    solution.folder = folder
    return solution

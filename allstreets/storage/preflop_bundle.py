"""Bundles of preflop solutions: what a solver of the betting before the flop came to.

FOLDER/manifest.json                       facts, metrics by iteration, checksums
       preflop-1f0a93c2.safetensors        strategies and values of every node
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.storage.manifest import read_manifest, write_manifest
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

if TYPE_CHECKING:
    from allstreets.solvers.unified.result import PreflopResult

SCHEMA = 1  # a change that old code would misread takes the next number
KIND = "preflop"


def require_preflop_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run cannot write to, before it begins."""
    require_folder(folder, KIND, SCHEMA, resume=resume)


def save_preflop(
    result: "PreflopResult", folder: Path | str, *, identity: Mapping[str, Any]
) -> None:
    """Write a bundle, or bring one of the same game up to date; anything else is an `InputError`.

    `identity` are JSON facts that tell games apart besides the rules: where the values of flops
    come from, say.
    """
    from allstreets.solvers.unified.text import rules_mapping

    folder = Path(folder)
    game = {**identity, "preflop": rules_mapping(result.rules)}
    require_same_game(folder, KIND, SCHEMA, lambda manifest: manifest["game"], game)
    token = secrets.token_hex(4)
    path = folder / f"preflop-{token}{SUFFIX}"
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        entry = {"file": path.name, **write_mapped(path, result.before.arrays())}
        head = facts_mapping(result.facts, KIND, SCHEMA)
        write_manifest(folder, {**head, "game": game, "token": token, "files": {"preflop": entry}})


def load_preflop(folder: Path | str) -> "PreflopResult":
    """Open a bundle."""
    from allstreets.betting import build_preflop_tree
    from allstreets.solvers.unified.result import PreflopResult
    from allstreets.solvers.unified.text import rules_of

    folder = Path(folder)
    manifest = read_manifest(folder, KIND, SCHEMA)
    rules = rules_of(manifest["game"]["preflop"])
    before = open_preflop(folder, manifest, build_preflop_tree(rules))
    return PreflopResult(rules, before, facts_of(manifest))

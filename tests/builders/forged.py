"""Forged manifests: changed, with a correct checksum."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allstreets.games import data_hash

Facts = dict[str, Any]


def forge(path: Path, change: Callable[[Facts], object]) -> None:
    """Change the facts of a manifest or a certificate where it lies."""
    facts = json.loads(path.read_bytes())
    facts.pop("checksum")
    change(facts)
    path.write_text(sealed(facts))


def sealed(facts: Facts) -> str:
    """Facts as JSON with the checksum over them."""
    return json.dumps({**facts, "checksum": data_hash(facts)})

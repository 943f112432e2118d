"""What manifests and certificates hold: one of somebody else may hold anything.

A checksum shows that a manifest is as its writer left it, not that its writer was this program. So
the facts that readers rely on are compared with the descriptions below, once, when a manifest is
read. A fact is described by

- types: an `int` is also a `float`, a `bool` is neither;
- `PLAIN`: a name without a path, so that no manifest leads out of its folder;
- a tuple: a list of as many facts, `[each]`: a list of any number;
- a mapping by key: those that end in "?" may be missing or null; `{str: each}`: any keys.

Keys that are not described may hold whatever JSON holds.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from allstreets.base import shortened

PLAIN = "the plain name of a file"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
DEEPEST = 40  # of lists and mappings in each other
LARGEST = 2**63  # of whole numbers
SHOWN = 40  # letters of a fact in a message
WORDS = {str: "a text", int: "a whole number", float: "a number", dict: "a mapping", bool: "a bool"}

FILE = {
    "file": PLAIN,
    "bytes": int,
    "sha256": str,
    "blocks?": {"bytes": int, "crc32": str},
}
BEFORE = {"folder": str, "line": str}
SIMPLIFIED = {
    "folder?": str,
    "name?": str,
    "rule": str,
    "grid?": float,
    "sizes?": int,
    "drop?": float,
    "players": [str],
    "unit": str,
    "judged": str,
    "before": float,
    "after": float,
    "prices": {str: float},
}
LABELS = {"name?": str, "description?": str, "code_version": str}
METRIC = {"iteration?": int, "seconds?": float, "exploitability?": float}
ROW = {
    "flop": PLAIN,
    "weight?": float,
    "multiplicity?": int,
    "exploitability?": float,
    "iterations?": int,
    "bytes?": int,
    "sha256?": str,
}
SOLUTION = {
    **LABELS,
    "iterations": int,
    "algorithm": str,
    "memory?": str,
    "seed": int,
    "seconds": float,
    "cards?": str,
    "card_model?": dict,
    "figures": {
        "exploitability?": float,
        "preflop_exploitability?": float,
        "values?": (float, float),
    },
    "config": dict,
    "metrics": [METRIC],
    "simplified?": SIMPLIFIED,
    "token": PLAIN,
    "files": {"preflop": FILE},
    "game": {"preflop": {"stack": float}, "lock?": [dict]},
}
FACTS: dict[str, dict[str, Any]] = {
    "spot": {
        **LABELS,
        "config": {
            "board": str,
            "pot": float,
            "stack": float,
            "algorithm": str,
            "precision": str,
            "river_groups?": str,
            "lock?": [dict],
        },
        "saved": str,
        "iterations": int,
        "seconds": float,
        "exploitability": float,
        "evs": (float, float),
        "metrics": [METRIC],
        "files": {str: FILE},
        "origin?": dict,
        "before?": BEFORE,
        "simplified?": SIMPLIFIED,
    },
    "spots": {
        "spots": [
            {
                "name": str,
                "board": str,
                "weight": float,
                "folder": PLAIN,
                "identity": str,
                "row?": dict,
            }
        ]
    },
    "postflop": {
        **LABELS,
        "config": dict,
        "card_model": {"kind": str},
        "token": PLAIN,
        "wanted": [(str, float)],
        "seconds": float,
        "rows": [
            {**ROW, "spr": float, "exploitability": float, "iterations": int, "multiplicity": int}
        ],
    },
    "preflop": SOLUTION,
    "unified": {**SOLUTION, "flops": [{**ROW, "weight": float}], "before?": BEFORE},
    "certificate": {
        "real_exploitability_mbb": float,
        "interval_mbb": (float, float),
        "after_flop_mbb": float,
        "unseen_gap_mbb": float,
        "own_exploitability_mbb?": float,
        "chosen": str,
        "flops": int,
        "trained_flops": int,
        "completion?": str,
        "seed": int,
        "seconds": float,
        "code_version": str,
        "judged": str,
    },
}


class MisfitError(ValueError):
    """A fact is not what its reader expects; the message says which and what."""


def require_plain_data(data: Any, depth: int = DEEPEST) -> None:
    """Refuse numbers and texts that nothing can be done with, and what is nested without end."""
    if isinstance(data, dict | list):
        if not depth:
            raise MisfitError(f"it is nested more than {DEEPEST} times")
        for each in [*data, *data.values()] if isinstance(data, dict) else data:
            require_plain_data(each, depth - 1)
    elif isinstance(data, str):
        if not data.isascii() and any("\ud800" <= letter <= "\udfff" for letter in data):
            raise MisfitError("it holds half a letter")
    elif isinstance(data, float) and not math.isfinite(data):
        raise MisfitError("it holds a number that is none")
    elif isinstance(data, int) and not -LARGEST <= data < LARGEST:
        raise MisfitError("it holds a number that is too large")


def require_facts(facts: Mapping[str, Any], kind: str) -> None:
    """Refuse a manifest, or a "certificate", that does not hold what one of its kind does."""
    _require(facts, FACTS[kind], "")


def _require(found: Any, described: Any, where: str) -> None:
    if isinstance(described, dict):
        _require_type(found, dict, where)
        for key, each in described.items():
            if key is str:
                for name, value in found.items():
                    _require(value, each, f"{where}.{name}")
                continue
            name = key.removesuffix("?")
            if name != key and found.get(name) is None:
                continue
            if name not in found:
                raise MisfitError(f"{f'{where}.{name}'.lstrip('.')} is missing")
            _require(found[name], each, f"{where}.{name}")
    elif isinstance(described, list | tuple):
        many = isinstance(described, list)
        if not isinstance(found, list) or not (many or len(found) == len(described)):
            raise _misfit(found, "a list" if many else f"a list of {len(described)}", where)
        for place, value in enumerate(found):
            _require(value, described[0 if many else place], f"{where}[{place}]")
    elif described == PLAIN:
        if not isinstance(found, str) or not _PLAIN.fullmatch(found) or ".." in found:
            raise _misfit(found, PLAIN, where)
    else:
        _require_type(found, described, where)


def _require_type(found: Any, wanted: type, where: str) -> None:
    types: tuple[type, ...] = (int, float) if wanted is float else (wanted,)
    if not isinstance(found, types) or (isinstance(found, bool) and wanted is not bool):
        raise _misfit(found, WORDS[wanted], where)


def _misfit(found: Any, wanted: str, where: str) -> MisfitError:
    name = where.lstrip(".") or "it"
    return MisfitError(f"{name} is {shortened(ascii(found), SHOWN)}, not {wanted}")

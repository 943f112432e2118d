"""Facts in manifests and certificates, checked: a stranger's may hold anything.

A checksum shows that a manifest is as its writer left it, not that its writer was this program. So
the facts that readers rely on are compared with the descriptions below, once, when a manifest is
read. A fact is described by

- types: an `int` is also a `float`, a `bool` is neither; `str | None` may be null;
- a set: one of its texts;
- `PLAIN`: a name without a path, so that no manifest leads out of its folder;
- a tuple: a list of as many facts, `[each]`: a list of any number;
- a mapping by key: those that end in "?" may be missing or null; `{str: each}`: any keys.

Keys that are not described may hold whatever JSON holds.
"""

import math
import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, get_args

from allstreets.base import shortened
from allstreets.cards import PAIRING_NAMES, RANKS, SUITS_NAMES

PLAIN = "the plain name of a file"
_PLAIN = re.compile(r"(?!\.)[^\x00-\x1f\x7f/\\:]{1,200}")  # no path, no drive, nothing hidden
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
LABELS = {"name": str | None, "description": str | None, "code_version": str}
METRIC = {
    "iteration": int,
    "seconds?": float,
    "exploitability?": float,
    "avg_positive_regret?": float,
}
SIZES = {str: {str: str}}  # of a street, or of a street and a player: bets, raises, donk bets
PREFLOP_RULES = {
    "stack": float,
    "raise_cap": int | None,
    "ante?": float,
    "small_blind?": float,
    "big_blind?": float,
    "force_allin_threshold?": float,
    "rake?": float,
    "rake_cap?": float,
    "no_flop_no_drop?": bool,
    "bb_ante?": float,
    "limp?": bool,
    "allin_spr?": float,
    "raise_sizes": {str: [[str]]},
}
GAME = {
    "preflop": PREFLOP_RULES,
    "postflop_sizes": SIZES,
    "postflop_max_raises": int | None,
    "postflop_add_allin_threshold": float,
    "postflop_force_allin_threshold": float,
    "postflop_merging_threshold": float,
    "postflop_min_bet?": float,
    "postflop_pot_sizes?": {str: SIZES},
    "lock?": [dict],
    "flop_set": str,
}
SOLVED_FLOP = {  # by itself
    "flop": PLAIN,
    "spr": float,
    "weight?": float,
    "multiplicity": int,
    "suits": frozenset(SUITS_NAMES.values()),
    "pairing": frozenset(PAIRING_NAMES.values()),
    "high_card": frozenset(RANKS),
    "exploitability": float,
    "converged": bool,
    "iterations": int,
    "ev_oop": float,
    "ev_ip": float,
    "bet_oop": float,
    "bet_ip": float,
    "bytes": int,
    "sha256": str,
}
FLOP = {  # of a whole game
    "flop": PLAIN,
    "weight": float,
    "share?": float,
    "exploitability_pct?": float,
    "ev_oop_bb?": float,
    "ev_ip_bb?": float,
    "bytes?": int,
    "sha256?": str,
}
SOLUTION = {
    **LABELS,
    "iterations": int,
    "algorithm": str,
    "memory": str | None,
    "seed": int,
    "seconds": float,
    "cards": str | None,
    "card_model?": dict,
    "figures": {
        "exploitability": float | None,
        "preflop_exploitability": float | None,
        "values?": (float, float),
    },
    "config": dict,
    "metrics": [METRIC],
    "simplified?": SIMPLIFIED,
    "token": PLAIN,
    "files": {"preflop": FILE},
    "game": {"preflop": PREFLOP_RULES, "lock?": [dict]},
}
FACTS: dict[str, dict[str, Any]] = {
    "spot": {
        **LABELS,
        "config": {
            "board": str,
            "oop_range": str,
            "ip_range": str,
            "pot": float,
            "stack": float,
            "bet_sizes": SIZES,
            "algorithm": str,
            "precision": str,
            "river_groups?": str,
            "tremble?": float,
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
                "row": dict | None,
            }
        ]
    },
    "postflop": {
        **LABELS,
        "config": {
            "sizes": SIZES,
            "max_raises_per_street": int | None,
            "algorithm": str,
            "exploitability_threshold": float,
        },
        "card_model": {"kind": str},
        "token": PLAIN,
        "wanted": [(str, float)],
        "seconds": float,
        "rows": [SOLVED_FLOP],
    },
    "preflop": SOLUTION,
    "unified": {
        **SOLUTION,
        "game": GAME,
        "kept?": str,
        "flops": [FLOP],
        "before?": BEFORE,
    },
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


def _require(value: Any, described: Any, where: str) -> None:
    if isinstance(described, dict):
        _require_type(value, dict, where)
        for key, each in described.items():
            if key is str:
                for name, item in value.items():
                    _require(item, each, f"{where}.{name}")
                continue
            name = key.removesuffix("?")
            if name != key and value.get(name) is None:
                continue
            if name not in value:
                raise MisfitError(f"{f'{where}.{name}'.lstrip('.')} is missing")
            _require(value[name], each, f"{where}.{name}")
    elif isinstance(described, list | tuple):
        many = isinstance(described, list)
        if not isinstance(value, list) or not (many or len(value) == len(described)):
            raise _misfit(value, "a list" if many else f"a list of {len(described)}", where)
        for index, item in enumerate(value):
            _require(item, described[0 if many else index], f"{where}[{index}]")
    elif isinstance(described, frozenset):
        _require_type(value, str, where)
        if value not in described:
            raise _misfit(value, f"one of {', '.join(sorted(described))}", where)
    elif described == PLAIN:
        if not isinstance(value, str) or not _PLAIN.fullmatch(value):
            raise _misfit(value, PLAIN, where)
    else:
        _require_type(value, described, where)


def _require_type(value: Any, described: Any, where: str) -> None:
    if isinstance(described, UnionType):
        if value is None:
            return
        described, _ = get_args(described)  # the other one is that of null
    types = (int, float) if described is float else (described,)
    if not isinstance(value, types) or (isinstance(value, bool) and described is not bool):
        raise _misfit(value, WORDS[described], where)


def _misfit(value: Any, wanted: str, where: str) -> MisfitError:
    name = where.lstrip(".") or "it"
    return MisfitError(f"{name} is {shortened(ascii(value), SHOWN)}, not {wanted}")

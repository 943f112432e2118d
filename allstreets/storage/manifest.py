"""Manifests: the JSON file that says what a folder holds, with a checksum over itself.

The checksum proves that a manifest is unchanged, not that this program wrote it: a stranger's may
contain anything. So the facts that readers rely on, in manifests and certificates, are compared
with the descriptions below, once, when they are read. A fact is described by

- types: an `int` is also a `float`, a `bool` is neither; `str | None` may be null;
- a set: one of its texts;
- `PLAIN`: a name without a path, so that no manifest leads out of its folder;
- a tuple: a list of as many facts, `[each]`: a list of any number;
- a mapping by key: those that end in "?" may be missing or null; `{str: each}`: any keys.

Keys that are not described may hold whatever JSON holds.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import UnionType
from typing import Any, Literal, get_args

from allstreets.base import DamagedFileError, InputError, Place, shortened, write_atomic
from allstreets.cards import PAIRING_NAMES, RANKS, SUITS_NAMES
from allstreets.games import data_hash
from allstreets.solutions import MadeSimple

PLAIN = "the plain name of a file"
_PLAIN = re.compile(r"(?!\.)[^\x00-\x1f\x7f/\\:]{1,200}")  # no path, no drive, nothing hidden
DEEPEST = 40  # of lists and mappings in each other
LARGEST = 2**63  # of whole numbers
SHOWN = 40  # letters of a fact in a message
WORDS = {str: "a text", int: "a whole number", float: "a number", dict: "a mapping", bool: "a bool"}

FILE = {"file": PLAIN, "bytes": int, "sha256": str, "blocks?": {"bytes": int, "crc32": str}}
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
    "lines?": [str],
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
SOLVED_FLOP = {  # alone
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
    "unified": {**SOLUTION, "game": GAME, "kept?": str, "flops": [FLOP], "before?": BEFORE},
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
MANIFEST = "manifest.json"
CERTIFICATE = "certificate/certificate.json"  # beside it, if the solution has one
AGAIN = "Restore the folder from a backup, or solve again in another folder."
KIND_SHOWN = 40  # letters of a kind that is not known
MISFITS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions that readers raise where parts of a solution do not fit together."""
Kind = Literal["spot", "spots", "postflop", "preflop", "unified"]
# The name of each kind of folder, and the command that makes one.
KINDS: dict[Kind, tuple[str, str]] = {
    "spot": ("a solved spot", "allstreets solve … --output"),
    "spots": ("a set of solved spots", "allstreets solve … --output"),
    "postflop": ("a model of flops", "allstreets train … --output"),
    "preflop": ("a preflop solution", "allstreets train … --output"),
    "unified": ("a solved whole game", "allstreets train … --output"),
}
SCHEMAS: dict[Kind, int] = {"spot": 2, "spots": 1, "postflop": 3, "preflop": 1, "unified": 2}
"""Schema of manifests and files: a change that old code would misread takes the next number."""


class MisfitError(ValueError):
    """A fact is not what its reader expects; the message names it and says what is wrong."""


def require_plain_data(data: Any, depth: int = DEEPEST) -> None:
    """Refuse useless numbers and texts, and data that is nested too deeply."""
    if isinstance(data, dict | list):
        if not depth:
            raise MisfitError(f"it is nested more than {DEEPEST} times")
        for each in [*data, *data.values()] if isinstance(data, dict) else data:
            require_plain_data(each, depth - 1)
    elif isinstance(data, str):
        if not data.isascii() and any("\ud800" <= letter <= "\udfff" for letter in data):
            raise MisfitError("it contains half a letter")
    elif isinstance(data, float) and not math.isfinite(data):
        raise MisfitError("it contains NaN or infinity")
    elif isinstance(data, int) and not -LARGEST <= data < LARGEST:
        raise MisfitError("it contains a number that is too large")


def require_facts(facts: Mapping[str, Any], kind: str) -> None:
    """Refuse a manifest, or a "certificate", that lacks the facts of its kind."""
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
        described, _ = get_args(described)  # the other type is that of null
    types = (int, float) if described is float else (described,)
    if not isinstance(value, types) or (isinstance(value, bool) and described is not bool):
        raise _misfit(value, WORDS[described], where)


def _misfit(value: Any, wanted: str, where: str) -> MisfitError:
    name = where.lstrip(".") or "it"
    return MisfitError(f"{name} is {shortened(ascii(value), SHOWN)}, not {wanted}")


def write_manifest(folder: Place, facts: Mapping[str, Any]) -> None:
    """Write `facts` and their checksum, whole or not at all."""
    text = _text({**facts, "checksum": data_hash(facts)})
    write_atomic(folder / MANIFEST, lambda out: out.write(text.encode()))


def _text(facts: Mapping[str, Any]) -> str:
    """JSON with a line for each fact, and for each entry of a list.

    More line breaks are many times slower to write: json does them in Python, and the manifest of
    all flops has thousands of rows.
    """

    def one(value: Any) -> str:
        return json.dumps(value, allow_nan=False)

    lines = []
    for key, value in facts.items():
        entries = value if isinstance(value, list | tuple) else ()
        inside = ",\n".join(f"  {one(entry)}" for entry in entries)
        lines.append(f" {one(key)}: " + (f"[\n{inside}\n ]" if inside else one(value)))
    return "{\n" + ",\n".join(lines) + "\n}"


def cannot_write(folder: Place, error: OSError) -> InputError:
    """The error for a full disk, or a folder without permission."""
    return InputError(
        f"cannot write the solution to {folder}: {error.strerror or error}; make room or name "
        "another folder"
    )


def folder_kind(folder: Place) -> str:
    """The kind of a folder: "spot", "postflop", …; an `InputError` if it has no manifest."""
    makers = dict.fromkeys(maker for _, maker in KINDS.values())
    return str(_read(folder, " or ".join(makers)).get("kind"))[:KIND_SHOWN]


def stored_token(folder: Place) -> str | None:
    """The token in the names of all files of the solution that a folder holds now."""
    with suppress(InputError):
        return str(_read(folder, "").get("token"))
    return None


@contextmanager
def damage_reported(folder: Place, *, asked: bool = False) -> Iterator[None]:
    """Wrap the reading of a folder: parts that do not fit together are reported as damage.

    Checksums show what has changed since it was written, not who wrote it. Where the user `asked`
    for a node of the solution, an `InputError` is about that request and passes.
    """
    try:
        yield
    except InputError as error:
        if asked:
            raise
        raise InputError(f"the solution in {folder} is damaged: {error}.\n{AGAIN}") from error
    except (DamagedFileError, *MISFITS) as error:
        problem = (
            f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error)
        )
        raise InputError(f"the solution in {folder} is damaged: {problem}.\n{AGAIN}") from error


def read_manifest(folder: Place, kind: Kind) -> dict[str, Any]:
    """The facts of a folder of this kind, checked."""
    what, maker = KINDS[kind]
    manifest = _read(folder, maker)
    facts = {key: value for key, value in manifest.items() if key != "checksum"}
    if facts.get("kind") != kind:
        command = maker.partition(" …")[0]
        raise InputError(f"{folder} is not {what}; name a folder made by {command}")
    require_schema(folder, facts, SCHEMAS[kind])
    if manifest.get("checksum") != data_hash(facts):
        raise InputError(f"{folder / MANIFEST} is damaged: it fails its checksum.\n{AGAIN}")
    try:
        require_facts(facts, kind)
    except MisfitError as error:
        raise InputError(f"{folder / MANIFEST} is damaged: {error}.\n{AGAIN}") from None
    return manifest


def require_schema(folder: Place, facts: Mapping[str, Any], schema: int) -> None:
    """Refuse a folder of an older or a newer format, and say what to do about it."""
    stored = facts.get("schema")
    if stored == schema:
        return
    advice = "open it with that version, or solve again in another folder"
    if isinstance(stored, int) and stored > schema:
        advice = "update allstreets to that version"
    raise InputError(
        f"{folder} was written by allstreets {_brief(facts.get('code_version'))} in another format "
        f"(schema {_brief(stored)}, this is {schema}); {advice}"
    )


def _read(folder: Place, maker: str) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        manifest.items()
        require_plain_data(manifest)
    except FileNotFoundError:
        missing = not folder.exists()
        what = "does not exist" if missing else "contains no solution (no manifest.json)"
        raise InputError(f"{folder} {what}; make one with: {maker}") from None
    except NotADirectoryError:
        raise InputError(f"{folder} is a file; name the folder of a solution") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except MisfitError as error:
        raise InputError(f"{path} is damaged: {error}.\n{AGAIN}") from None
    except (ValueError, RecursionError, AttributeError):
        raise InputError(f"{path} is damaged.\n{AGAIN}") from None
    return manifest


def require_same(
    folder: Place, there: Mapping[str, Any], here: Mapping[str, Any], what: str
) -> None:
    """Refuse a folder with other settings; `what` it holds: "spot"."""
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    if keys:
        first = keys[0]
        raise InputError(
            f"{folder} contains another {what}: {', '.join(keys)} differ "
            f"({first} {_short(there.get(first))} there, {_short(here.get(first))} here).\n"
            "Name another folder."
        )


def require_trained(folder: Place, manifest: Mapping[str, Any]) -> None:
    """Refuse simple strategies: they were made from others, and cannot be resumed."""
    if manifest.get("simplified") is not None:
        made = MadeSimple.read(manifest["simplified"])
        raise InputError(
            f"{folder} contains simple strategies ({made.rule}), which cannot be solved further.\n"
            f"Name another folder, or continue with their original: {made.source}"
        )


def _short(value: Any) -> str:
    return _brief(json.dumps(value))


def _brief(value: Any) -> str:
    return shortened(str(value))[1:-1]

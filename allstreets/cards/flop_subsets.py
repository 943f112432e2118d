"""The subsets that come with the package: which flops, what they weigh, and what that costs.

    subsets/subset_95.json    flops: {"AsKh7d": 231.42, …}, how it was made and how evaluated

`allstreets flops --choose 95 --output FILE` writes such a file. `error` is the distance that the
choice leaves (`flop_choice.flop_set_error`). `judged` has a row per game: what a strategy that was
trained on these flops alone is exploitable for among all flops, as measured by
benchmarks/flop_subsets.py.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from allstreets.base import InputError

FOLDER = Path(__file__).parent / "subsets"
FILE = re.compile(r"subset_(\d+)\.json")

Subset = dict[str, Any]


@cache
def subset_counts() -> tuple[int, ...]:
    """How many flops the subsets of the package have, rising."""
    matches = (FILE.fullmatch(path.name) for path in FOLDER.iterdir())
    return tuple(sorted(int(match[1]) for match in matches if match))


@cache
def read_subset(count: int) -> Subset:
    """The file of a subset: flops with their weights, and facts about it."""
    if count not in subset_counts():
        raise InputError(
            f"there is no subset_{count}: there are {_listed()}; spread_{count} takes the middles "
            "of equal parts"
        )
    subset: Subset = json.loads(subset_path(count).read_text(encoding="utf-8"))
    return subset


def stated_error(name: str) -> float | None:
    """The error of a subset of the package as its file states it; None for any other name."""
    match = FILE.fullmatch(f"{name}.json")
    if match is None or int(match[1]) not in subset_counts():
        return None
    return float(read_subset(int(match[1]))["error"])


def subset_path(count: int) -> Path:
    """Where the subset of so many flops is, or would be."""
    return FOLDER / f"subset_{count}.json"


def fitting_subset(count: int) -> int | None:
    """The largest subset of at most so many flops; None: all are larger."""
    return max((one for one in subset_counts() if one <= count), default=None)


def subset_text(
    weights: Mapping[str, float], error: float, made: str, judged: list[Subset] | None = None
) -> str:
    """The text of a subset's file."""
    facts = {"made": made, "error": round(error, 6), "judged": judged or []}
    head = json.dumps(facts, indent=1, ensure_ascii=False)[:-2]
    rows = ",\n".join(f"  {json.dumps(flop)}: {weight}" for flop, weight in weights.items())
    return f'{head},\n "flops": {{\n{rows}\n }}\n}}\n'


def _listed() -> str:
    names = [f"subset_{count}" for count in subset_counts()]
    return f"{', '.join(names[:-1])} and {names[-1]}"

"""Keys and values that have been renamed: the table, and data with today's names.

An old name is read in every section that has its present key and no key of the old name.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from allstreets.training.config_model import ConfigModel, alternatives, choices
from allstreets.training.problems import KeyPath

POT_SHARE = "it is a share of the pot now, by true best response: 0.01 is 1 % of the pot"


@dataclass(frozen=True)
class OldName:
    """A key that is called `new` today."""

    new: str
    note: str | None = None  # what else has changed, such as the unit: a warning
    section: str | None = None  # the only section that ever had it; None: any
    unset: tuple[Any, ...] = ()  # values that left the choice to other keys: as if not given


ALIASES: dict[str, OldName] = {
    "batch_size": OldName("flop_batch_size"),
    "cfr_delta_threshold": OldName("exploitability_threshold", POT_SHARE, "postflop_model"),
    "cfr_exploitability_threshold": OldName("exploitability_threshold", section="postflop_model"),
    "cfr_regret_threshold": OldName("exploitability_threshold", POT_SHARE, "postflop_model"),
    "cfr_variant": OldName("algorithm"),
    "close_after": OldName("drop_unplayed_every"),
    "convergence_check_interval": OldName("check_interval"),
    "convergence_threshold": OldName("regret_threshold"),
    "exploitability_threshold_mbb": OldName("exploitability_threshold", section="solver"),
    "fixed_flops": OldName("flops", unset=([],)),
    "max_canonical_flops": OldName("flops", unset=(0,)),
    "max_flop_boards": OldName("flops", unset=(0,)),
    "max_raises": OldName("max_raises_per_street"),
    "mccfr_sample_pct": OldName("sample_pct"),
    "postflop_max_raises_per_street": OldName("max_raises_per_street"),
    "postflop_solve_iterations": OldName("iterations"),
    "postflop_spr": OldName("postflop_sprs"),
    "prune_explore_freq": OldName("explore_interval"),
    "raises_per_street": OldName("max_raises_per_street"),
    "solve_type": OldName("cards"),
    "target": OldName("exploitability_threshold"),
}

OLD_VALUES: dict[str, dict[str, str]] = {
    "cards": {"exhaustive": "classes", "bucketed": "buckets", "mccfr": "sampled"},
    "memory": {"values": "per_batch"},
    "preset": {
        "exhaustive_fast": "classes_fast",
        "exhaustive_standard": "classes_standard",
        "mccfr_fast": "sampled_fast",
        "mccfr_standard": "sampled_standard",
    },
}
"""Today's key → old value → today's value."""


@dataclass
class Renaming:
    """Renames what is old at every depth, and records what messages need.

    Paths that go in, and those of `sections`, have today's names; `clashes` and `notes` name keys
    as they are written.
    """

    clashes: list[tuple[KeyPath, str]] = field(default_factory=list)
    notes: list[tuple[KeyPath, str]] = field(default_factory=list)
    sections: dict[KeyPath, list[type[ConfigModel]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _written: dict[KeyPath, str] = field(default_factory=dict)

    def as_written(self, path: KeyPath) -> KeyPath:
        """`path` with the keys that stand in the file."""
        return tuple(self._written.get(path[: depth + 1], part) for depth, part in enumerate(path))

    def apply(self, data: Any, annotation: Any, path: KeyPath = ()) -> Any:
        """`data` with today's names, wherever `annotation` holds a `ConfigModel`."""
        for choice in alternatives(annotation):
            inner = get_args(choice)
            if isinstance(choice, type) and issubclass(choice, ConfigModel):
                if _may_be(data, choice):
                    data = self._section(data, choice, path)
            elif isinstance(data, list) and inner:
                data = [self.apply(value, inner[0], (*path, i)) for i, value in enumerate(data)]
            elif isinstance(data, dict) and len(inner) == 2:
                data = {key: self.apply(data[key], inner[1], (*path, key)) for key in data}
        return data

    def _section(
        self, data: Mapping[str, Any], model: type[ConfigModel], path: KeyPath
    ) -> dict[str, Any]:
        self.sections[path].append(model)
        known = model.named_fields()
        result: dict[str, Any] = {}
        for key, value in data.items():
            old = None if key in known else ALIASES.get(key)
            if old is None or old.new not in known or not _has(path, old):
                name = key
            elif _is_unset(value, old) or not self._rename(key, old, data, path):
                continue
            else:
                name = old.new
            result[name] = value
            if name in known:
                value = _today(name, value, choices(known[name]))
                result[name] = self.apply(value, known[name].annotation, (*path, name))
        return result

    def _rename(self, key: str, old: OldName, data: Mapping[str, Any], path: KeyPath) -> bool:
        """Note that `key` is `old.new` here; false where that key is given too."""
        place, here = (*self.as_written(path), key), (*path, old.new)
        other = old.new if old.new in data else self._written.get(here)
        if other is not None:
            what = f"an old name of '{old.new}', but '{other}' is given too; keep one of them"
            self.clashes.append((place, what))
            return False
        self._written[here] = key
        if old.note:
            self.notes.append((place, f"an old name of '{old.new}'; {old.note}"))
        return True


def _has(path: KeyPath, old: OldName) -> bool:
    return old.section is None or path[-1:] == (old.section,)


def _is_unset(value: Any, old: OldName) -> bool:
    return not isinstance(value, bool) and value in old.unset


def _today(key: str, value: Any, known: list[Any]) -> Any:
    """`value`, or what it is called today where that is among the `known` values of `key`."""
    new = OLD_VALUES.get(key, {}).get(value) if isinstance(value, str) else None
    return new if new in known else value


def _may_be(data: Any, model: type[ConfigModel]) -> bool:
    """Whether `data` can be a section of this kind: its `type` key, if it has one, must fit."""
    if not isinstance(data, dict):
        return False
    tag = model.model_fields.get("type")
    return tag is None or "type" not in data or data["type"] in get_args(tag.annotation)

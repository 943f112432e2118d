"""The sections of a config: their problems, their strict base, and names that have changed.

Values are checked as JSON is: `1` is a number and never true, `"12"` is text and never 12, a list
fills a tuple field. A validator of a whole section must run after its fields (`mode="after"`):
before them it would turn off that leniency for tuples.

An old name is read in every section that has its present key and no key of the old name.
"""

import ast
import inspect
import math
import types
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from allstreets.base import InputError

MAX_SHOWN = 50  # a file of another kind may have thousands

# The path of a value: keys and list positions from the top.
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, order=True)
class Problem:
    """A problem: its line (0 = not known), its key, and its text."""

    line: int
    key: str
    text: str

    def __str__(self) -> str:
        prefix = f"line {self.line}: " if self.line else ""
        return f"{prefix}{self.key}: {self.text}" if self.key else f"{prefix}{self.text}"


class ConfigError(InputError):
    """All problems in a config, as one text and one by one."""

    def __init__(self, text: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(text)
        self.problems = problems


def problems_error(source: str, problems: Iterable[Problem]) -> ConfigError:
    """All problems as one error: their number, then a line for each, in file order."""
    distinct = sorted(set(problems))
    lines = [f"{source}: {'1 problem' if len(distinct) == 1 else f'{len(distinct)} problems'}"]
    lines += [_cut(str(problem), 300) for problem in distinct[:MAX_SHOWN]]
    if len(distinct) > MAX_SHOWN:
        lines.append(f"and {len(distinct) - MAX_SHOWN} more")
    return ConfigError("\n  ".join(lines), tuple(distinct))


def key_text(path: KeyPath) -> str:
    """A path, in words.

    >>> key_text(("solver", "raise_sizes", 1))
    'solver.raise_sizes[1]'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any) -> str:
    """A value as it is written in the file, cut to a readable length.

    >>> shown(True), shown(None), shown("yes"), shown([1, 2.5])
    ('true', 'nothing', "'yes'", '[1, 2.5]')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{'-' if value < 0 else ''}.{'nan' if math.isnan(value) else 'inf'}"
    text = "a block of keys" if isinstance(value, dict) else repr(value)
    return _cut(text, 60)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


class ConfigWarning(UserWarning):
    """A config is valid, but may not mean what its author intended. The message is one line."""


class WrongKeyError(ValueError):
    """Raised by a validator of a whole section to name the key to change.

    The validator of a field may name a place inside it: a position in its list, or a path.
    """

    def __init__(self, key: str | int | KeyPath, text: str) -> None:
        super().__init__(text)
        self.path: KeyPath = key if isinstance(key, tuple) else (key,)


class ConfigModel(BaseModel):
    """A section of a config file."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, validate_default=True
    )

    other_files: ClassVar[Mapping[str, str]] = {}
    """Keys that only files of another kind have, with advice for those files."""

    @classmethod
    def named_fields(cls) -> dict[str, FieldInfo]:
        """The fields by the keys that a file has."""
        return {known.alias or name: known for name, known in cls.model_fields.items()}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema, in which a field's docstring is its description.

        Pydantic would read the sources of every section whenever one of them is imported.
        """
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for key, text in cls._docstrings().items():
            properties[key].setdefault("description", text)
        return schema

    @classmethod
    def _docstrings(cls) -> dict[str, str]:
        """Docstrings by the keys of a file, with those of sections that this one extends."""
        docs: dict[str, str] = {}
        for section in reversed(cls.__mro__):
            if issubclass(section, ConfigModel):
                [definition] = ast.parse(dedent(inspect.getsource(section))).body
                assert isinstance(definition, ast.ClassDef)
                for field, text in pairwise(definition.body):
                    match field, text:
                        case (
                            ast.AnnAssign(target=ast.Name(name)),
                            ast.Expr(value=ast.Constant(str(words))),
                        ):
                            docs[name] = inspect.cleandoc(words)
        known = cls.model_fields
        return {known[name].alias or name: text for name, text in docs.items() if name in known}


def alternatives(annotation: Any) -> list[Any]:
    """The members of a union, flat; other annotations stand for themselves."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [part for choice in get_args(annotation) for part in alternatives(choice)]
    return [annotation]


def choices(known: FieldInfo | None) -> list[Any]:
    """The values that a field of fixed values takes."""
    values: list[Any] = []
    for choice in alternatives(known.annotation) if known else ():
        if get_origin(choice) is Literal:
            values += get_args(choice)
        elif hasattr(choice, "__members__"):
            values += [member.value for member in choice]
    return values


POT_SHARE = "it is a share of the pot now, by true best response: 0.01 is 1 % of the pot"


@dataclass(frozen=True)
class OldName:
    """A key that is called `new` today."""

    new: str
    note: str | None = None  # other changes, such as the unit: a warning
    section: str | None = None  # the only section that ever had it; None: any
    unset: tuple[Any, ...] = ()  # values that left the choice to other keys: treated as not given


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
    """Renames old keys and values at every depth, and records what messages need.

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
        """`path` with the keys as written in the file."""
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
        """Record that `key` is `old.new` here; false where that key is given too."""
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
    """`value`, or its present name if that is among the `known` values of `key`."""
    new = OLD_VALUES.get(key, {}).get(value) if isinstance(value, str) else None
    return new if new in known else value


def _may_be(data: Any, model: type[ConfigModel]) -> bool:
    """Whether `data` can be a section of this kind: its `type` key, if it has one, must fit."""
    if not isinstance(data, dict):
        return False
    tag = model.model_fields.get("type")
    return tag is None or "type" not in data or data["type"] in get_args(tag.annotation)

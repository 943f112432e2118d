"""Keys that have been renamed: data with today's names, and the way back to what was written."""

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from allstreets.training.config_model import ConfigModel
from allstreets.training.problems import KeyPath


@dataclass
class Renaming:
    """Renames the old keys of a model at every depth, and keeps what a message needs to know.

    Paths that go in have today's names; `clashes` and `notes` name keys as they are written.
    """

    clashes: list[tuple[KeyPath, str]] = field(default_factory=list)
    notes: list[tuple[KeyPath, str]] = field(default_factory=list)
    _written: dict[KeyPath, str] = field(default_factory=dict)

    def as_written(self, path: KeyPath) -> KeyPath:
        """`path` with the keys that stand in the file."""
        return tuple(self._written.get(path[: depth + 1], part) for depth, part in enumerate(path))

    def apply(self, data: Any, annotation: Any, path: KeyPath = ()) -> Any:
        """`data` with today's names, wherever `annotation` holds a `ConfigModel`."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, ConfigModel):
            return self._section(data, annotation, path) if may_be(data, annotation) else data
        if origin is Annotated:
            return self.apply(data, arguments[0], path)
        if origin in (Union, types.UnionType):
            for choice in arguments:
                data = self.apply(data, choice, path)
            return data
        if isinstance(data, list) and arguments:
            return [self.apply(value, arguments[0], (*path, i)) for i, value in enumerate(data)]
        if isinstance(data, dict) and len(arguments) == 2:
            return {key: self.apply(data[key], arguments[1], (*path, key)) for key in data}
        return data

    def _section(
        self, data: Mapping[str, Any], model: type[ConfigModel], path: KeyPath
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in data.items():
            old = model.old_names.get(key)
            name = old.new if old else key
            here = (*path, name)
            if old:
                place = (*self.as_written(path), key)
                other = name if name in data else self._written.get(here)
                if other is not None:
                    what = f"an old name of '{name}', but '{other}' is given too; keep one of them"
                    self.clashes.append((place, what))
                    continue
                self._written[here] = key
                if old.warning:
                    self.notes.append((place, f"an old name of '{name}'; {old.warning}"))
            known = model.model_fields.get(name)
            result[name] = self.apply(value, known.annotation, here) if known else value
        return result


def may_be(data: Any, model: type[ConfigModel]) -> bool:
    """Whether `data` can be a section of this kind: its `type` key, if it has one, must fit."""
    if not isinstance(data, dict):
        return False
    for name, known in model.model_fields.items():
        if get_origin(known.annotation) is Literal and name in data:
            return data[name] in get_args(known.annotation)
    return True

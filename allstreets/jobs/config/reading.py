"""Config files: YAML in, a checked model out, or one error that names everything that is wrong.

1. Read the file as plain data with the line of every key (`yaml_file`).
2. Give old keys and values their present names (`model.Renaming`).
3. Check against the pydantic model and put its complaints into words.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from allstreets.base import InputError, suggest
from allstreets.jobs.config.model import (
    ConfigModel,
    ConfigWarning,
    KeyPath,
    Problem,
    Renaming,
    WrongKeyError,
    choices,
    key_text,
    problems_error,
    shown,
)
from allstreets.jobs.config.yaml_file import YamlFile, parse_yaml, read_yaml

M = TypeVar("M", bound=ConfigModel)
Override = Callable[[dict[str, Any]], Iterable[KeyPath]]
"""Puts what the command line says into the data of a file; returns the keys that it has set."""


def read_config(path: Path, model: type[M], override: Override | None = None) -> M:
    """Read and check a YAML file; all problems come in one `InputError`.

    An old key with another meaning gives a `ConfigWarning` of one line. What `override` puts into
    the data is checked with it.
    """
    return _of_file(read_yaml(path), model, str(path), override)


def read_config_text(text: str, model: type[M], source: str, override: Override | None = None) -> M:
    """As `read_config`, of YAML that lies in no file; `source` names it in messages."""
    return _of_file(parse_yaml(text, source), model, source, override)


def _of_file(file: YamlFile, model: type[M], source: str, override: Override | None = None) -> M:
    if not isinstance(file.data, dict):
        what = "a list" if isinstance(file.data, list) else shown(file.data)
        raise InputError(f"{source} must hold 'key: value' lines at its top level, not {what}")
    return _check(file.data, model, source, file.lines, file.problems, override)


def check_config(data: Mapping[str, Any], model: type[M], source: str = "config") -> M:
    """Check data of a program or of the command line as `read_config` does a file.

    `source` names the data in messages, such as "command line".
    """
    plain = json.loads(json.dumps(dict(data), default=str))  # text keys, lists for tuples
    return _check(plain, model, source, {}, ())


def config_schema(model: type[ConfigModel]) -> dict[str, Any]:
    """The JSON schema of a model, for editors and for people who look a key up."""
    schema = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _check(
    written: Mapping[str, Any],
    model: type[M],
    source: str,
    lines: Mapping[KeyPath, int],
    found: Sequence[Problem],
    override: Override | None = None,
) -> M:
    flags: set[KeyPath] = set()

    def problem(path: KeyPath, text: str) -> Problem:
        return Problem(0 if path in flags else _line(lines, path), key_text(path), text)

    renaming = Renaming()
    data = renaming.apply(written, model)
    if override is not None:
        flags.update(override(data))
    problems = [*found, *(problem(path, text) for path, text in renaming.clashes)]
    # Problems found while reading are not reported again.
    settled = {each.key for each in problems if each.key}
    checked: M | None = None
    try:
        # As JSON, because there strictness is about values: a list may fill a tuple.
        checked = model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        complaints = [
            problem(renaming.as_written(path), text)
            for path, text in explain(error, data, renaming.sections)
        ]
        problems += [each for each in complaints if each.key not in settled]
    if problems or checked is None:
        ours = {key_text(path) for path in flags}
        elsewhere = bool(ours) and all(each.key in ours for each in problems)
        raise problems_error("command line" if elsewhere else source, problems)
    for path, note in renaming.notes:
        line = lines.get(path)
        place = f"{source}, line {line}" if line else source
        warnings.warn(f"{place}: {key_text(path)}: {note}", ConfigWarning, stacklevel=3)
    return checked


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """The line of `path`, or of the nearest key above it (a missing key has none), or else 0."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 0)


Sections = Mapping[KeyPath, list[type[ConfigModel]]]
"""Where sections stand in the data, and of which kinds each may be."""

# What a field wants, by pydantic's name of the complaint.
WANTED = {
    "bool_type": "true or false",
    "dict_type": "a block of keys",
    "float_type": "a number",
    "frozen_set_type": "a list",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "a block of keys",
    "model_type": "a block of keys",
    "none_required": "nothing",
    "path_type": "a path",
    "set_type": "a list",
    "string_type": "text",
    "tuple_type": "a list",
}

LIMITS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


def explain(error: ValidationError, data: Any, sections: Sections) -> Iterator[tuple[KeyPath, str]]:
    """(key path, what is wrong) for every complaint; those about one place are put together.

    A field that may be of several types gets a complaint for each; they become one sentence.
    """
    wanted: dict[KeyPath, list[str]] = {}
    values: dict[KeyPath, ErrorDetails] = {}
    for detail in error.errors(include_url=False):
        place = _place(detail, data)
        if detail["type"] in WANTED:
            wanted.setdefault(place, []).append(WANTED[detail["type"]])
            values.setdefault(place, detail)
        else:
            yield _explain_one(detail, place, sections)
    for place, kinds in wanted.items():
        detail = values[place]
        text = f"must be {' or '.join(dict.fromkeys(kinds))}, not {shown(detail['input'])}"
        yield place, text + _advice(kinds, detail["input"], _field(place, sections))


def _explain_one(detail: ErrorDetails, place: KeyPath, sections: Sections) -> tuple[KeyPath, str]:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    known = _field(place, sections)
    if kind == "extra_forbidden":
        models = sections.get(place[:-1], ())
        keys = dict.fromkeys(key for model in models for key in model.named_fields())
        return place, f"unknown key; {suggest(str(place[-1]), keys)}"
    if kind == "missing":
        return place, f"is missing; add it{_example(known)}"
    if kind in LIMITS:
        word, key = LIMITS[kind]
        limit = str(context[key]).removesuffix(".0")
        return place, f"must be {word} {limit}, not {shown(value)}{_example(known)}"
    if kind == "finite_number":
        return place, f"must be a finite number, not {shown(value)}"
    if kind in ("literal_error", "enum"):
        texts = [choice for choice in choices(known) if isinstance(choice, str)]
        if isinstance(value, str) and texts:
            return place, f"{shown(value)} is not known; {suggest(value, texts)}"
        return place, f"must be {context['expected']}, not {shown(value)}"
    if kind in ("too_short", "too_long"):
        word, key = ("at least", "min") if kind == "too_short" else ("at most", "max")
        count = context[f"{key}_length"]
        entries = "1 entry" if count == 1 else f"{count} entries"
        return place, f"must have {word} {entries}, not {context['actual_length']}"
    if kind == "union_tag_invalid":
        tags = str(context["expected_tags"]).replace("'", "").split(", ")
        key = str(context["discriminator"]).strip("'")
        text = f"{shown(context['tag'])} is not known; {suggest(context['tag'], tags)}"
        return (*place, key), text
    if kind == "union_tag_not_found":
        return place, f"the key {context['discriminator']} is missing; add it"
    if kind == "value_error":
        problem = context["error"]
        if isinstance(problem, WrongKeyError):
            return (*place, *problem.path), str(problem)
        return place, str(problem)
    return place, f"{re.sub('^[A-Z][a-z]+ should', 'must', detail['msg'])}, not {shown(value)}"


def _place(detail: ErrorDetails, data: Any) -> KeyPath:
    """Where the complaint belongs in the file: without the names pydantic gives to alternatives."""
    path: list[str | int] = []
    for part in detail["loc"]:
        inside = (
            part in data
            if isinstance(data, dict)
            else isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            path.append(part)
            data = data[part]
    if detail["type"] == "missing":
        path.append(detail["loc"][-1])
    return tuple(path)


def _advice(kinds: Iterable[str], value: Any, known: FieldInfo | None) -> str:
    """Suggest a replacement for a value of the wrong type."""
    if "a whole number" in kinds and isinstance(value, float) and value.is_integer():
        return f"; write {int(value)}"
    if "true or false" in kinds and isinstance(value, str):
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(value.lower())
        return f"; write {meant}" if meant else ""
    if "a list" in kinds and not isinstance(value, dict | list) and value is not None:
        return f"; write [{value}]"
    if "text" in kinds and isinstance(value, int | float):
        return f'; quote it: "{shown(value)}"'
    if "a number" in kinds or "a whole number" in kinds:
        try:
            float(value)
        except (TypeError, ValueError):
            return _example(known)
        return "; remove the quotes" if isinstance(value, str) else _example(known)
    return _example(known)


def _example(known: FieldInfo | None) -> str:
    if known is None or not known.examples:
        return ""
    return f", for example {shown(known.examples[0])}"


def _field(place: KeyPath, sections: Sections) -> FieldInfo | None:
    """The field that stands at `place`, or that `place` lies in (an entry of a list)."""
    for end in range(len(place), 0, -1):
        for model in sections.get(place[: end - 1], ()):
            if known := model.named_fields().get(str(place[end - 1])):
                return known
    return None

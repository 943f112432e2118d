"""Config files: YAML in, a checked model out, or one error that names every problem.

1. Read the file as plain data with the line of every key.
2. Give old keys and values their present names (`model.Renaming`).
3. Check against the pydantic model and put its complaints into plain words.

ruamel.yaml composes the file (YAML 1.2) into nodes that know their lines. Limits apply while it
reads and while it expands aliases: no file takes more than a second or a few megabytes. Only plain
data comes out: mappings with text keys, lists, text, numbers, true, false and null.
"""

import json
import re
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import ReaderError

from allstreets.base import InputError, decode_text, suggest
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

MAX_BYTES = 1_000_000
MAX_LINES = 100_000
MAX_LINE = 100_000  # characters; the time of some tokens grows with the square of their length
MAX_VALUES = 20_000  # after every alias is expanded, too
MAX_DEPTH = 50
STANDARD = "tag:yaml.org,2002:"  # written "!!" in a file
NUMBERS = ("!!int", "!!float", "!!bool")
Node = ScalarNode | SequenceNode | MappingNode
TAGS: dict[type, tuple[str, ...]] = {
    ScalarNode: ("!!str", "!!null", "!!timestamp", "!!merge", "!!value", *NUMBERS),
    SequenceNode: ("!!seq",),
    MappingNode: ("!!map",),
}
KEEP_ONE = "keep one of the two"
CAUSES = {
    "'\\t'": "indent with spaces, not with tabs",
    "mapping values are not": "is a text with ': ' not in quotes, or the indentation uneven?",
    "cannot start any token": "put the text in quotes",
    "stream end": "is a bracket or a quote left open?",
    "end of stream": "is a bracket or a quote left open?",
    "block end": "is the indentation uneven?",
    "document start": "is the indentation uneven?",
    "undefined alias": "its anchor (&) must stand before it",
}
"""The usual causes of a parser error."""
M = TypeVar("M", bound=ConfigModel)
Override = Callable[[dict[str, Any]], Iterable[KeyPath]]
"""Puts the flags of the command line into the data of a file; returns the keys it has set."""
Sections = Mapping[KeyPath, list[type[ConfigModel]]]
"""The places of sections in the data, and the kinds that each may be."""
# What a field expects, by pydantic's name of the complaint.
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


@dataclass(frozen=True)
class YamlFile:
    """The data of a file, the line of every key and list entry, and problems met while reading."""

    data: Any
    lines: dict[KeyPath, int]
    problems: tuple[Problem, ...]


def read_yaml(path: Path) -> YamlFile:
    """Read `path`; an unreadable file or bad syntax is an `InputError` with the line."""
    return parse_yaml(read_yaml_text(path), str(path))


def parse_yaml(text: str, source: str) -> YamlFile:
    """Read YAML from `text`; `source` names it in messages."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Parser = _LimitedParser
    yaml.composer.warn_double_anchors = False
    plain = _Plain(yaml.constructor)
    try:
        _check_lines(text)
        top = yaml.compose(text)
        data = None if top is None else plain.value(top, ())
    except _LimitError as error:
        problem = Problem(error.line, "", str(error))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = Problem(mark.line + 1 if mark else 0, "", _syntax_text(error))
    except ReaderError as error:
        what = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML; remove it"
        problem = Problem(text.count("\n", 0, error.position) + 1, "", what)
    except (YAMLError, ValueError, TypeError, AttributeError, IndexError) as error:
        # Rare slips of the parser on malformed directives; the file is bad all the same.
        problem = Problem(0, "", f"not valid YAML: {error}")
    else:
        if top is None:
            raise InputError(f"{source} is empty; write at least one 'key: value' line")
        return YamlFile(data, plain.lines, tuple(plain.problems))
    raise problems_error(source, [problem])


def read_yaml_text(path: Path) -> str:
    """The text of a file that may be a config; an unreadable one is an `InputError`."""
    try:
        # Opening a pipe waits for a writer, indefinitely if there is none.
        is_readable = path.is_dir() or stat.S_ISREG(path.stat().st_mode)
        data = b""
        if is_readable:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"config file {path} does not exist; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a YAML file in it") from None
    except OSError as error:
        raise InputError(f"config file {path} cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL character in the name
        raise InputError(f"{str(path)!r} is not the name of a file; check the path") from None
    if not is_readable:
        raise InputError(f"{path} is a pipe or a device; write the config to a file and name that")
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{path} is larger than 1 MB; a config is a few kB, is this the right file?"
        )
    text = decode_text(data, str(path))
    if "\0" in text:
        raise InputError(f"{path} is not a text file; name a YAML file")
    return text


def _check_lines(text: str) -> None:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise _LimitError(MAX_LINES + 1, f"more than {MAX_LINES:,} lines; is this the right file?")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            what = f"longer than {MAX_LINE:,} characters; is this the right file?"
            raise _LimitError(number, what)


def _syntax_text(error: MarkedYAMLError) -> str:
    problem = " ".join(str(error.problem or error.context).split())
    cause = next((f"; {CAUSES[part]}" for part in CAUSES if part in problem), "")
    return f"not valid YAML: {problem}{cause}"


class _LimitError(Exception):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def _check_limits(line: int, values: int, depth: int, how: str = "") -> None:
    if values > MAX_VALUES:
        what = f"more than {MAX_VALUES:,} values{how}; a config contains a few hundred"
        raise _LimitError(line, what)
    if depth > MAX_DEPTH:
        what = f"nested more than {MAX_DEPTH} levels deep; is this the right file?"
        raise _LimitError(line, what)


class _LimitedParser(Parser):
    """Stops at anything that no config needs, before it is built."""

    documents = values = depth = 0

    def get_event(self) -> Any:
        event = super().get_event()
        line = event.start_mark.line + 1
        if isinstance(event, events.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _LimitError(line, "a second document begins ('---'); keep one")
            if event.version not in (None, (1, 2)):
                raise _LimitError(line, "only YAML 1.2 is read; remove the %YAML line")
        self.values += isinstance(event, events.NodeEvent)
        self.depth += isinstance(event, events.CollectionStartEvent)
        self.depth -= isinstance(event, events.CollectionEndEvent)
        _check_limits(line, self.values, self.depth)
        return event


class _Plain:
    """Nodes as plain data; collects the lines, and problems that do not stop the reading."""

    def __init__(self, constructor: Any) -> None:
        self._construct = constructor.construct_object
        self._values = 0
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[Problem] = []

    def value(self, node: Node, path: KeyPath, above: tuple[Node, ...] = ()) -> Any:
        """The value of `node`; `above` are the nodes that contain it."""
        self.lines.setdefault(path, _node_line(node))
        self._check(node, path, above)
        kind = str(node.tag).replace(STANDARD, "!!")
        if kind not in TAGS[type(node)]:
            self._problem(node, path, f"the tag {shown(kind)} is not known; remove it")
        if isinstance(node, MappingNode):
            return self._mapping(node, path, above)
        if isinstance(node, SequenceNode):
            inside = (*above, node)
            return [self.value(child, (*path, i), inside) for i, child in enumerate(node.value)]
        if kind not in NUMBERS:
            return None if kind == "!!null" else node.value
        try:
            return self._construct(node)
        except (ValueError, LookupError):
            self._problem(node, path, f"{shown(node.value)} cannot be read as {kind[2:]}")

    def _mapping(self, node: Node, path: KeyPath, above: tuple[Node, ...]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        first: dict[str, int] = {}
        inside = (*above, node)
        # Merged keys come last, so that keys which are written out keep their lines.
        for key_node, child in sorted(node.value, key=lambda pair: _is_merge(pair[0])):
            key, here = key_node.value, (*path, key_node.value)
            if not isinstance(key_node, ScalarNode):
                self._problem(key_node, path, "a key must be text; is a bracket misplaced?")
            elif _is_merge(key_node):
                for source in child.value if isinstance(child, SequenceNode) else [child]:
                    if isinstance(source, MappingNode):
                        self._check(source, path, inside)
                        merged = self._mapping(source, path, inside) | merged
                    else:
                        self._problem(child, here, "takes a mapping, such as *base")
            elif key in data:
                line = first[key]
                self._problem(key_node, here, f"given twice, first in line {line}; {KEEP_ONE}")
            else:
                first[key] = _node_line(key_node)
                self.lines.setdefault(here, first[key])
                data[key] = self.value(child, here, inside)
        return merged | data

    def _check(self, node: Node, path: KeyPath, above: tuple[Node, ...]) -> None:
        """Apply the limits where aliases are expanded."""
        self._values += 1
        # The value of an alias has the line of its anchor; keys on the way have their own.
        line = max(self.lines.get(path[:end], 0) for end in range(len(path) + 1))
        if node in above:
            name = node.anchor
            raise _LimitError(line, f"the alias *{name} is inside its own anchor &{name}")
        depth = len(above) + (not isinstance(node, ScalarNode))
        _check_limits(line, self._values, depth, " with aliases written out")

    def _problem(self, node: Node, path: KeyPath, text: str) -> None:
        self.problems.append(Problem(_node_line(node), key_text(path), text))


def _node_line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _is_merge(key_node: Node) -> bool:
    return str(key_node.tag) == f"{STANDARD}merge"


def read_config(path: Path, model: type[M], override: Override | None = None) -> M:
    """Read and check a YAML file; all problems come in one `InputError`.

    An old key with another meaning gives a `ConfigWarning` of one line. Data that `override` adds
    is checked with the rest.
    """
    return _of_file(read_yaml(path), model, str(path), override)


def read_config_text(text: str, model: type[M], source: str, override: Override | None = None) -> M:
    """Read YAML that is not in a file like `read_config`; `source` names it in messages."""
    return _of_file(parse_yaml(text, source), model, source, override)


def _of_file(file: YamlFile, model: type[M], source: str, override: Override | None = None) -> M:
    if not isinstance(file.data, dict):
        what = "a list" if isinstance(file.data, list) else shown(file.data)
        raise InputError(f"{source} must have 'key: value' lines at its top level, not {what}")
    foreign = next((key for key in file.data if key in model.other_files), None)
    if foreign is not None:
        raise InputError(f"{source} {model.other_files[foreign]}")
    return _check(file.data, model, source, file.lines, file.problems, override)


def check_config(data: Mapping[str, Any], model: type[M], source: str = "config") -> M:
    """Check data of a program or of the command line as `read_config` does a file.

    `source` names the data in messages, such as "command line".
    """
    plain = json.loads(json.dumps(dict(data), default=str))  # text keys, lists for tuples
    return _check(plain, model, source, {}, ())


def config_schema(model: type[ConfigModel]) -> dict[str, Any]:
    """The JSON schema of a model, for editors and for people who look up a key."""
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
        location = f"{source}, line {line}" if line else source
        warnings.warn(f"{location}: {key_text(path)}: {note}", ConfigWarning, stacklevel=3)
    return checked


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """The line of `path`, or of the nearest key above it (a missing key has none), or else 0."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 0)


def explain(error: ValidationError, data: Any, sections: Sections) -> Iterator[tuple[KeyPath, str]]:
    """(key path, problem) for every complaint; those about one place are merged.

    A field that may be of several types gets a complaint for each; they become one sentence.
    """
    wanted: dict[KeyPath, list[str]] = {}
    values: dict[KeyPath, ErrorDetails] = {}
    for detail in error.errors(include_url=False):
        path = _place(detail, data)
        if detail["type"] in WANTED:
            wanted.setdefault(path, []).append(WANTED[detail["type"]])
            values.setdefault(path, detail)
        else:
            yield _explain_one(detail, path, sections)
    for path, kinds in wanted.items():
        detail = values[path]
        text = f"must be {' or '.join(dict.fromkeys(kinds))}, not {shown(detail['input'])}"
        yield path, text + _advice(kinds, detail["input"], _field(path, sections))


def limit_text(detail: ErrorDetails) -> str:
    """The limit that a number is beyond, one of `LIMITS`."""
    word, key = LIMITS[detail["type"]]
    limit = str(detail["ctx"][key]).removesuffix(".0")
    return f"must be {word} {limit}, not {shown(detail['input'])}"


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
        return place, f"{limit_text(detail)}{_example(known)}"
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
    """The place of a complaint in the file, without the names pydantic gives to alternatives."""
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
    """The field at `place`, or around it (for an entry of a list)."""
    for end in range(len(place), 0, -1):
        for model in sections.get(place[: end - 1], ()):
            if known := model.named_fields().get(str(place[end - 1])):
                return known
    return None

"""A YAML file read as plain data that remembers its lines.

ruamel.yaml composes the file (YAML 1.2) into nodes that know their lines. Limits hold while it
reads and while aliases are written out: no file takes more than a second or a few megabytes. Only
plain data comes out: mappings with text keys, lists, text, numbers, true, false and null.
"""

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as kinds
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import ReaderError

from allstreets.base import InputError
from allstreets.jobs.config.model import KeyPath, Problem, key_text, problems_error, shown

MAX_BYTES = 1_000_000
MAX_LINES = 100_000
MAX_LINE = 100_000  # characters; the time of some tokens grows with the square of their length
MAX_VALUES = 20_000  # also after every alias is written out
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


@dataclass(frozen=True)
class YamlFile:
    """The data of a file, the line of every key and list entry, and what was wrong on the way."""

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
        raise InputError(f"{path} is larger than 1 MB; a config is a few kB, is this the file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path} is not UTF-8 text (line {line}); save it as UTF-8") from None
    if "\0" in text:
        raise InputError(f"{path} is not a text file; name a YAML file")
    return text


def _check_lines(text: str) -> None:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise _LimitError(MAX_LINES + 1, f"more than {MAX_LINES:,} lines; is this the file?")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            raise _LimitError(number, f"longer than {MAX_LINE:,} characters; is this the file?")


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
        what = f"more than {MAX_VALUES:,} values{how}; a config holds a few hundred"
        raise _LimitError(line, what)
    if depth > MAX_DEPTH:
        raise _LimitError(line, f"nested more than {MAX_DEPTH} levels deep; is this the file?")


class _LimitedParser(Parser):
    """Stops at what no config needs, before anything is built of it."""

    documents = values = depth = 0

    def get_event(self) -> Any:
        event = super().get_event()
        line = event.start_mark.line + 1
        if isinstance(event, kinds.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _LimitError(line, "a second document begins ('---'); keep one")
            if event.version not in (None, (1, 2)):
                raise _LimitError(line, "only YAML 1.2 is read; remove the %YAML line")
        self.values += isinstance(event, kinds.NodeEvent)
        self.depth += isinstance(event, kinds.CollectionStartEvent)
        self.depth -= isinstance(event, kinds.CollectionEndEvent)
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
        self.lines.setdefault(path, _line(node))
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
        # What is merged comes last, so that keys which are written out keep their lines.
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
                first[key] = _line(key_node)
                self.lines.setdefault(here, first[key])
                data[key] = self.value(child, here, inside)
        return merged | data

    def _check(self, node: Node, path: KeyPath, above: tuple[Node, ...]) -> None:
        """Hold the limits where aliases are written out."""
        self._values += 1
        # What an alias stands for knows the line of its anchor; keys on the way know their own.
        line = max(self.lines.get(path[:end], 0) for end in range(len(path) + 1))
        if node in above:
            name = node.anchor
            raise _LimitError(line, f"the alias *{name} stands inside its own anchor &{name}")
        depth = len(above) + (not isinstance(node, ScalarNode))
        _check_limits(line, self._values, depth, " with aliases written out")

    def _problem(self, node: Node, path: KeyPath, text: str) -> None:
        self.problems.append(Problem(_line(node), key_text(path), text))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _is_merge(key_node: Node) -> bool:
    return str(key_node.tag) == f"{STANDARD}merge"

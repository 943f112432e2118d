"""A YAML file read as plain data that remembers its lines.

YAML 1.2 by ruamel.yaml's event stream, which is flat: limits are enforced while it flows, before
anything is built, so that no file can take more than a second or a few megabytes. Only plain data
comes out: mappings with text keys, lists, text, numbers, true, false and null.
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.training.problems import KeyPath, Problem, key_text, problems_error, shown

if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.events import Event

MAX_BYTES = 1_000_000
MAX_LINES = 100_000
MAX_LINE = 100_000  # characters; the time of some tokens grows with the square of their length
MAX_VALUES = 20_000  # after every alias is written out
MAX_DEPTH = 50
_STANDARD = "tag:yaml.org,2002:"  # written "!!" in a file


@dataclass(frozen=True)
class YamlFile:
    """The data of a file, the line of every key and list entry, and what was wrong on the way."""

    data: Any
    lines: dict[KeyPath, int]
    problems: tuple[Problem, ...]


def read_yaml(path: Path) -> YamlFile:
    """Read `path`; an unreadable file or bad syntax is an `InputError` with the line."""
    return parse_yaml(_read_text(path), str(path))


def parse_yaml(text: str, source: str) -> YamlFile:
    """Read YAML from `text`; `source` names it in messages."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    yaml = YAML(typ="safe", pure=True)
    try:
        _check_lines(text)
        top = _Builder(yaml.parse(text)).document()
    except _LimitError as error:
        raise problems_error(source, [Problem(error.line, "", error.text)]) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise problems_error(source, [Problem(line, "", _syntax_text(error))]) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML; remove it"
        raise problems_error(source, [Problem(line, "", what)]) from None
    except (YAMLError, ValueError, TypeError, AttributeError, IndexError) as error:
        # Rare slips of the parser on malformed directives; the file is bad all the same.
        raise problems_error(source, [Problem(0, "", f"not valid YAML: {error}")]) from None
    if top is None:
        raise InputError(f"{source} is empty; write at least one 'key: value' line")
    plain = _Plain(yaml)
    data = plain.value(top, ())
    return YamlFile(data, plain.lines, tuple(plain.problems))


def _read_text(path: Path) -> str:
    try:
        # Opening a pipe waits for its writer, for ever if there is none.
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


def _syntax_text(error: Any) -> str:
    """The parser's complaint in one line, with the usual cause where there is one."""
    problem = " ".join(str(error.problem or error.context).split())
    cause = ""
    if "'\\t'" in problem:
        cause = "; indent with spaces, not with tabs"
    elif "mapping values are not allowed" in problem:
        cause = "; is a text with ': ' not in quotes, or the indentation uneven?"
    elif "cannot start any token" in problem:
        cause = "; put the text in quotes"
    elif "<stream end>" in problem or "end of stream" in problem:
        cause = "; is a bracket or a quote left open?"
    elif "block end" in problem or "document start" in problem:
        cause = "; is the indentation uneven?"
    return f"not valid YAML: {problem}{cause}"


class _LimitError(Exception):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


@dataclass
class _Node:
    """One value of the file: its children are shared where an alias names it again."""

    line: int
    tag: str | None
    kind: str  # "scalar", "list" or "mapping"
    text: str = ""
    implicit: tuple[bool, bool] = (True, False)
    children: list["_Node"] = field(default_factory=list)  # of a mapping: key, value, key, …
    values: int = 1  # this one and all below it, aliases written out
    depth: int = 1
    closed: bool = False  # an alias to a node that is still open would make it contain itself

    def add(self, child: "_Node", line: int) -> None:
        self.children.append(child)
        self.values += child.values
        self.depth = max(self.depth, child.depth + 1)
        if self.values > MAX_VALUES:
            what = f"more than {MAX_VALUES:,} values with aliases written out"
            raise _LimitError(line, f"{what}; a config holds a few hundred")


class _Builder:
    """The event stream as a tree of nodes, within the limits."""

    def __init__(self, events: Iterator["Event"]) -> None:
        self._events = events
        self._anchors: dict[str, _Node] = {}
        self._count = 0

    def document(self) -> _Node | None:
        from ruamel.yaml import events as kinds

        top: _Node | None = None
        documents = 0
        for event in self._events:
            line = event.start_mark.line + 1
            if isinstance(event, kinds.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _LimitError(line, "a second document begins ('---'); keep one")
                if event.version not in (None, (1, 2)):
                    raise _LimitError(line, "only YAML 1.2 is read; remove the %YAML line")
            elif not isinstance(
                event, kinds.StreamStartEvent | kinds.StreamEndEvent | kinds.DocumentEndEvent
            ):
                top = self._node(event, 1)
        return top

    def _node(self, event: Any, depth: int) -> _Node:
        from ruamel.yaml import events as kinds

        line = event.start_mark.line + 1
        self._count += 1
        if self._count > MAX_VALUES:
            raise _LimitError(
                line, f"more than {MAX_VALUES:,} values; a config holds a few hundred"
            )
        if isinstance(event, kinds.AliasEvent):
            return self._alias(str(event.anchor), line, depth)
        tag = str(event.ctag) if event.ctag else None
        if isinstance(event, kinds.ScalarEvent):
            node = _Node(line, tag, "scalar", event.value, event.implicit, closed=True)
            self._remember(event, node)
            return node
        self._check_depth(depth, line)
        node = _Node(
            line, tag, "list" if isinstance(event, kinds.SequenceStartEvent) else "mapping"
        )
        self._remember(event, node)
        for child in self._events:
            if isinstance(child, kinds.CollectionEndEvent):
                break
            node.add(self._node(child, depth + 1), child.start_mark.line + 1)
        node.closed = True
        return node

    def _remember(self, event: Any, node: _Node) -> None:
        if event.anchor is not None:
            self._anchors[str(event.anchor)] = node

    def _alias(self, name: str, line: int, depth: int) -> _Node:
        node = self._anchors.get(name)
        if node is None:
            raise _LimitError(line, f"the alias *{name} has no anchor &{name} before it")
        if not node.closed:
            raise _LimitError(line, f"the alias *{name} stands inside its own anchor &{name}")
        self._check_depth(depth + node.depth - 1, line)
        return node

    def _check_depth(self, depth: int, line: int) -> None:
        if depth > MAX_DEPTH:
            raise _LimitError(line, f"nested more than {MAX_DEPTH} levels deep; is this the file?")


class _Plain:
    """Nodes as plain data; collects the lines, and problems that do not stop the reading."""

    def __init__(self, yaml: "YAML") -> None:
        self._yaml = yaml
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[Problem] = []

    def value(self, node: _Node, path: KeyPath) -> Any:
        self.lines.setdefault(path, node.line)
        if node.kind == "scalar":
            return self._scalar(node, path)
        if node.tag not in (None, f"{_STANDARD}map", f"{_STANDARD}seq"):
            self._unknown_tag(node, path)
        if node.kind == "list":
            return [self.value(child, (*path, index)) for index, child in enumerate(node.children)]
        return self._mapping(node, path)

    def _mapping(self, node: _Node, path: KeyPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, child in zip(node.children[::2], node.children[1::2], strict=True):
            if key_node.kind != "scalar":
                self._problem(key_node, path, "a key must be text; is a bracket misplaced?")
                continue
            key = key_node.text
            here = (*path, key)
            if key == "<<" and key_node.implicit[0]:
                self._merge(child, path, merged)
            elif key in data:
                first = self.lines[here]
                text = f"given twice, first in line {first}; keep one of the two"
                self._problem(key_node, here, text)
            else:
                self.lines[here] = key_node.line
                data[key] = self.value(child, here)
        return merged | data

    def _merge(self, node: _Node, path: KeyPath, merged: dict[str, Any]) -> None:
        """`<<: *base` takes the keys of another mapping; keys that are written out come first."""
        for source in node.children if node.kind == "list" else [node]:
            if source.kind != "mapping":
                self._problem(node, (*path, "<<"), "takes a mapping, such as *base")
                return
            inner = _Plain(self._yaml)
            for key, value in inner._mapping(source, path).items():
                merged.setdefault(key, value)
            self.problems += inner.problems
            for place, line in inner.lines.items():
                self.lines.setdefault(place, line)

    def _scalar(self, node: _Node, path: KeyPath) -> Any:
        from ruamel.yaml.nodes import ScalarNode

        resolve = self._yaml.resolver.resolve
        tag = node.tag or str(resolve(ScalarNode, node.text, node.implicit))
        kind = tag.removeprefix(_STANDARD)
        if kind == "null":
            return None
        if kind in ("int", "float", "bool"):
            try:
                return self._yaml.constructor.construct_object(ScalarNode(tag, node.text))
            except (ValueError, LookupError):
                self._problem(node, path, f"{shown(node.text)} cannot be read as {kind}")
                return None
        if kind in ("str", "timestamp", "merge", "value"):
            return node.text
        self._unknown_tag(node, path)
        return node.text

    def _unknown_tag(self, node: _Node, path: KeyPath) -> None:
        tag = str(node.tag).replace(_STANDARD, "!!")
        self._problem(node, path, f"the tag {shown(tag)} is not known; remove it")

    def _problem(self, node: _Node, path: KeyPath, text: str) -> None:
        self.problems.append(Problem(node.line, key_text(path), text))

"""The blocks of a page of documentation: text in a fence, or indented by four spaces."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

PROGRAM = ("allstreets", ".venv/bin/allstreets")
KINDS = {"console": "commands", "sh": "commands", "bash": "commands"}
"""Words after a fence that mean the same."""


@dataclass(frozen=True)
class Block:
    """Some lines of a page, and what they are: commands, python, yaml, json or text."""

    page: str
    line: int  # of its first line in the page, from 1
    kind: str
    text: str

    @property
    def place(self) -> str:
        """The block's file and line, as editors and compilers write them."""
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """The commands of a block: behind `$` where one stands, else all lines; \\ joins two."""
        lines = self.text.replace("\\\n", " ").splitlines()
        typed = [line[2:] for line in lines if line.startswith("$ ")]
        return typed or [line for line in lines if line.strip() and not line.startswith("#")]

    def shown(self) -> list[list[str]]:
        """The output that a page shows below each command; "…" stands for what it leaves out."""
        below: list[list[str]] = []
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                below.append([])
            elif below:
                below[-1].append(line.rstrip())
        return below or [[] for _ in self.commands()]


def blocks_of(page: Path, name: str | None = None) -> Iterator[Block]:
    """The blocks of a page in their order."""
    name = page.name if name is None else name
    lines = [*page.read_text(encoding="utf-8").splitlines(), ""]
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.lstrip().startswith("```"):
            indent = len(line) - len(line.lstrip())
            word = line.strip().strip("`").split(" ")[0]
            end = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == "```")
            text = "\n".join(one[indent:] for one in lines[number + 1 : end])
            yield Block(name, number + 2, KINDS.get(word, word), text)
            number = end + 1
        elif line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            text = "\n".join(one[4:] for one in lines[number:end]).rstrip()
            if not _goes_on_a_list(lines, number):
                yield Block(name, number + 1, _guess(text), text)
            number = end
        else:
            number += 1


def _goes_on_a_list(lines: list[str], number: int) -> bool:
    """Whether lines indented by four spaces are the second paragraph of a point of a list."""
    above = [line for line in lines[:number] if line.strip() and not line.startswith(" ")]
    return bool(above) and re.match(r"([-*]|\d+\.) ", above[-1]) is not None


def _guess(text: str) -> str:
    """The kind of an indented block. A fence names it, and is needed if this finds none."""
    first = text.split(maxsplit=1)[0]
    if first in (*PROGRAM, "$", "make"):
        return "commands"
    try:
        if isinstance(YAML(typ="safe").load(text), dict):
            return "yaml"
    except YAMLError:
        pass
    try:
        ast.parse(text)
    except SyntaxError:
        return ""
    return "python"

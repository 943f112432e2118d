"""Check prose: phrases that make a native speaker stumble, each with what to write instead.

    python tests/harness/prose.py    # every page, and every docstring and comment of the package

A finding names file, line, phrase and remedy; the exit code is then 1. Code, in fences or between
backquotes, is left alone. Spelling is codespell's part.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md")
PACKAGE = "allstreets"

BANNED = {
    r"\bhold(s|ing)? (a player|him|it) to\b": "force a player to deviate; lock",
    r"\bdearest\b|\bdearer\b": "costliest, costlier",
    r"\bin (the )?place of\b": "instead of",
    r"\bgo(es|ne|ing)? on (from|with)\b": "resume, continue",
    r"\bsame bits\b": "bit-identical",
    r"\b(no )?matter of (theirs|his|its)\b": "unaffected",
    r"\bby luck\b": "by chance, at random",
    r"\bwho plays as\b": "name the player",
    r"\bshort of its end\b": "within its accuracy",
    r"\b(is|are|be) told (by|in)\b": "says, shows",
    r"\bnobody (ever )?takes\b": "off-path",
    r"\bbrought by way of\b": "through",
    r"\bis asked of (him|it)\b": "he is asked for",
    r"\bthe one that seems\b": "what seems",
    r"\b(hero and villain)\b(?!.*\|)": "player and opponent",
    r"\b(some|every)body\b": "a player, a user; all others",
    r"\bwhoever\b": "the player who; any reader",
    r"\banew\b": "again",
    r"\b(is|are) what (is|was)\b": "name the thing",
    r"\butili[sz]e": "use",
    r"\bin order to\b": "to",
    r"\bplease note\b|(?-i:\bNote that\b)": "say it",
    r"\b(s|ns|ms|kB|MB|GB|seconds|milliseconds|bb|numbers) an? (iteration|flop|spot|hand|pot)\b": (
        "per iteration"
    ),
    r"\b(ns|kB|MB|numbers) an? (row|slot|decision)\b": "per row",
    r"\b(flops?|spots?|pieces?|groups?|parts|pots|deals?|hands?) (in|at) work\b": "in progress",
    r",? for people[.,:;]": "in words; in messages",
    r"\bso much is not\b": "that much is not",
    r"\b(solve[sd]?|plays?|ends?|starts?|part|tree|flop|hand) (\w+ )?by itself\b": "alone",
    r"\bsays? which by\b": "choose one with",
    r"\bso many (?!of\b|that\b|as\b)": "this many; several",
    r"\bbut for\b": "except for",
    r"\bsize less\b": "size fewer",
    r"\bfor who\b": "for people who, for players who",
    r"\bfor ever\b": "forever",
    r"\bholds no play\b": "stores no play",
}
"""What is not written, as a regular expression, and what is."""

OPENINGS = {
    r"(What|How|When|Where|Which|Who|Whose|Of|Within it|So many)\b": (
        'a noun or a verb: "The range of …", "Return …"'
    ),
}
"""How a docstring does not open."""

CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->")


class Finding(NamedTuple):
    """A phrase to rewrite."""

    path: Path
    line: int
    phrase: str
    remedy: str

    def __str__(self) -> str:
        """The finding as compilers write one."""
        return f"{self.path}:{self.line}: “{self.phrase}”: {self.remedy}"


LOOSE = [re.compile(phrase.replace(r"\b", "").lower()) for phrase in BANNED]
"""The phrases in lower case, inside of words too: quick to search. Most files have none of them."""


def findings_in_page(path: Path, text: str) -> Iterator[Finding]:
    """The banned phrases of a page, outside of its code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield from _findings(path, number, CODE.sub(" ", line))


def findings_in_module(path: Path, text: str) -> Iterator[Finding]:
    """The banned phrases of a module's docstrings and comments, and the banned openings."""
    lower = CODE.sub(" ", text).lower()
    suspect = any(phrase.search(lower) for phrase in LOOSE)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _findings_of_opening(path, node)
        if suspect and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines = str(node.value.value).splitlines()
            for number, line in enumerate(lines, node.lineno):
                yield from _findings(path, number, CODE.sub(" ", line))
    for token in tokenize.generate_tokens(io.StringIO(text if suspect else "").readline):
        if token.type == tokenize.COMMENT:
            yield from _findings(path, token.start[0], CODE.sub(" ", token.string))


def _findings_of_opening(
    path: Path, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Finding]:
    docstring = ast.get_docstring(node, clean=False)
    for opening, remedy in OPENINGS.items():
        if docstring is not None and (match := re.match(opening, docstring)) is not None:
            yield Finding(path, node.body[0].lineno, f"{match[0]} …", remedy)


def _findings(path: Path, number: int, line: str) -> Iterator[Finding]:
    for phrase, remedy in BANNED.items():
        for match in re.finditer(phrase, line, re.IGNORECASE):
            yield Finding(path, number, match[0], remedy)


def all_findings(root: Path = ROOT) -> Iterator[Finding]:
    """The findings of every page and of the package."""
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            yield from findings_in_page(path.relative_to(root), path.read_text(encoding="utf-8"))
    for path in sorted((root / PACKAGE).rglob("*.py")):
        if "node_modules" not in path.parts:
            yield from findings_in_module(path.relative_to(root), path.read_text(encoding="utf-8"))


def main() -> int:
    """Print the findings; 1 if there is one."""
    found = list(all_findings())
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

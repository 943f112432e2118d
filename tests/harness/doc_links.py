"""Links of a page of documentation, and whether they lead to something in the repository."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def broken_links(page: Path) -> Iterator[str]:
    """Links of a page to files that do not exist, or to headings that a page does not have."""
    for target in LINK.findall(_prose(page)):
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            yield target


def _prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    seen: Counter[str] = Counter()
    anchors = set()
    for heading in HEADING.findall(_prose(page)):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return anchors

"""Pages of the site whose sources are not in docs/: README, notebooks, commands, keys, …

Links are written for a reader of the repository; on the site each leads to the page that its target
became. Commands and keys are printed by `reference.py`, which runs in the program's environment.
"""

import json
import os
import posixpath
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
GENERATED = ("commands", "keys")
PYTHON = os.environ.get("ALLSTREETS_PYTHON", ".venv/bin/python")
PLAIN = ("CITATION.cff", "LICENSE")  # links to them stay those of the repository
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/."""
    root = Path(config.config_file_path).parent
    notebooks = [f"notebooks/{path.name}" for path in sorted((root / "notebooks").glob("*.ipynb"))]
    for source in (*MOVED, *notebooks):
        text = (root / source).read_text(encoding="utf-8")
        if source in notebooks:
            text = "\n\n".join(_cells(json.loads(text)))
        files.append(File.generated(config, _page_of(source), content=text))
    for name in GENERATED:
        text = subprocess.run(
            [PYTHON, "docs/tools/reference.py", name],
            cwd=root,
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ).stdout
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead the links of a page from files of the repository to pages of the site."""
    here = page.file.src_uri
    source = next((path for path, moved in MOVED.items() if moved == here), None)
    folder = posixpath.dirname(here if here.startswith("notebooks/") else source or f"docs/{here}")

    def led(link: re.Match[str]) -> str:
        target = _page_of(posixpath.normpath(posixpath.join(folder, link[1])))
        return posixpath.relpath(target, posixpath.dirname(here) or ".") + (link[2] or "")

    return LINK.sub(led, markdown)


def _page_of(path: str) -> str:
    """The page that a file of the repository has become."""
    if path.endswith(".ipynb"):
        return path.removesuffix(".ipynb") + ".md"
    return MOVED.get(path, path.removeprefix("docs/"))


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    """Prose as it stands, code with what came out below it."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield text
            continue
        yield f"```python\n{text}\n```"
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                yield f"![](data:image/png;base64,{''.join(data['image/png']).strip()})"
            else:
                yield f"```text\n{''.join(data['text/plain']).rstrip()}\n```"

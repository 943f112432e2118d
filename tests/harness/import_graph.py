"""The imports between files of the checkout, read from their text: nothing is run."""

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "allstreets", ROOT / "tests")


def python_files() -> list[Path]:
    """All Python files of the program and of its tests."""
    found = (path for folder in SOURCES for path in folder.rglob("*.py"))
    return sorted(path for path in found if "node_modules" not in path.parts)


def distances(changed: Iterable[Path], imports: Mapping[Path, set[Path]]) -> dict[Path, int]:
    """The number of imports between a file and the nearest changed one; others are left out."""
    importers: dict[Path, set[Path]] = {}
    for path, targets in imports.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    found = dict.fromkeys(changed, 0)
    queue = deque(found)
    while queue:
        path = queue.popleft()
        for importer in importers.get(path, ()):
            if importer not in found:
                found[importer] = found[path] + 1
                queue.append(importer)
    return found


@cache
def import_graph() -> dict[Path, set[Path]]:
    """Each file's imports, in functions too. A name of a package counts where it is defined."""
    return {path: set(_imported(path)) for path in python_files()}


def _imported(path: Path) -> Iterator[Path]:
    for module, name in _imports(path):
        found = _definition(module, name)
        if found is not None:
            yield found


@cache
def _imports(path: Path) -> tuple[tuple[str, str | None], ...]:
    """Modules and names as they are written; the checkout has no relative imports."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "allstreets":
            found.append(("allstreets", node.attr))  # as in allstreets.simplify(…)
    return tuple(found)


def _definition(module: str, name: str | None) -> Path | None:
    """The file that an import leads to: through packages that pass a name on."""
    if name is not None:
        below = _file(f"{module}.{name}")
        if below is not None:
            return below
    path = _file(module)
    if path is None or path.name != "__init__.py" or name is None:
        return path
    for source, passed_on in (*_imports(path), *_listed(path)):
        if passed_on == name and source.startswith("allstreets"):
            return _definition(source, name)
    return path


@cache
def _listed(path: Path) -> tuple[tuple[str, str | None], ...]:
    """The modules and public names of a package, as its stub lists them."""
    stub = path.with_suffix(".pyi")
    if not stub.is_file():
        return ()
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return tuple(
        (f"{package}.{node.module}", alias.name)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


@cache
def _file(module: str) -> Path | None:
    for root in (ROOT, ROOT / "tests"):  # helpers of tests are imported by their bare names
        path = root.joinpath(*module.split("."))
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None

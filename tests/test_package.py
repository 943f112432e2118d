"""The names that the package offers at its top."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest
from harness.installed import check_installed
from ruamel.yaml import YAML

import allstreets

ROOT = Path(__file__).parents[1]


LAYERS = sorted(path.parent.name for path in (ROOT / "allstreets").glob("*/__init__.pyi"))


def offered(package: str) -> list[str]:
    """The public names of a package, by its stub."""
    stub = ROOT.joinpath(*package.split("."), "__init__.pyi")
    nodes = ast.parse(stub.read_text()).body
    names = [name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    assert len(names) == len(set(names))
    return sorted(name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("package", ["allstreets", *(f"allstreets.{name}" for name in LAYERS)])
def test_every_public_name_is_there(package: str) -> None:
    layer = import_module(package)
    assert dir(layer) == offered(package)
    for name in dir(layer):
        assert getattr(layer, name) is not None
    with pytest.raises(AttributeError, match="attribute solv"):
        layer.solv  # noqa: B018


def test_a_module_does_not_hide_the_name_that_it_shares() -> None:
    script = (
        "import allstreets.cards.equity, allstreets.storage.claim\n"
        "from allstreets.cards import equity\n"
        "from allstreets.storage import claim\n"
        "assert callable(equity) and callable(claim)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(module, whether inside a function) of all imports of ours in a file."""
    tree = ast.parse(path.read_text())
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("allstreets."):
            yield str(node.module), id(node) in inside


def test_other_layers_are_imported_by_their_public_names_at_the_top_of_a_file() -> None:
    package = ROOT / "allstreets"
    files = [path for path in package.rglob("*.py") if "node_modules" not in path.parts]
    assert len(files) > 250
    round_it, within = [], []
    for path in files:
        own = path.relative_to(package).parts[0]
        for module, inside in imports(path):
            layer, *deeper = module.split(".")[1:]
            free = (own, "cli")  # the program itself starts at cli.main
            by_file = {"kernels", "simd"} & set(deeper)
            if deeper and layer not in free and not by_file:
                round_it.append((path.name, module))
            if inside and own != "cli":  # help and completion answer before anything is loaded
                within.append((path.name, module))
    assert round_it == []
    assert within == []


def test_importing_the_package_costs_nothing() -> None:
    script = "import sys, allstreets; print([m for m in ('numpy', 'numba') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_tab_completion_offers_the_public_names_before_they_are_used() -> None:
    script = "import sys, allstreets; print(*dir(allstreets)); assert 'numpy' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == offered("allstreets")


def test_the_citation_and_the_changelog_name_the_version() -> None:
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == allstreets.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text()
    released = re.findall(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    assert released[0] == (allstreets.__version__, str(citation["date-released"]))


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "allstreets" / "py.typed").is_file()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it and without a network, unpacked outside the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    pip = (sys.executable, "-m", "pip", "wheel", *options, "--no-build-isolation")
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"allstreets-{allstreets.__version__}-py3-none-any.whl"
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_has_page_library_and_subsets(unpacked: Path) -> None:
    package = ROOT / "allstreets"
    shelf = package / "library"
    kept = [*shelf.glob("*.zip"), *shelf.glob("games/*.yaml"), *package.glob("cards/subsets/*")]
    assert len(kept) >= 15
    kept += [path for path in (package / "explorer/page").rglob("*") if path.is_file()]  # if built
    for path in [*kept, package / "py.typed", package / "cards/__init__.pyi"]:
        assert (unpacked / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    assert not (unpacked / "allstreets/explorer/web").exists()
    tops = {path.name for path in unpacked.iterdir()}
    assert tops == {"allstreets", f"allstreets-{allstreets.__version__}.dist-info"}


def test_the_wheel_describes_itself(unpacked: Path) -> None:
    """An index shows this page without the checkout, so links lead nowhere but into the web."""
    (folder,) = unpacked.glob("*.dist-info")
    headers, _, page = (folder / "METADATA").read_text(encoding="utf-8").partition("\n\n")
    assert "License-Expression: MIT" in headers
    assert "Description-Content-Type: text/markdown" in headers
    assert page == (ROOT / "docs/howto/install.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https://)[^)]*\)", page) == []
    offered = set(re.findall(r"^Provides-Extra: (\w+)$", headers, re.MULTILINE))
    assert set(re.findall(r"`allstreets\[(\w+)\]`", page)) == offered
    assert (folder / "licenses/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    bundled = unpacked / "allstreets/explorer/page/licenses.md"
    if bundled.parent.exists():
        named = re.findall(r"^## (\w+) - [\d.]+ \((\w+)\)$", bundled.read_text(), re.MULTILINE)
        assert {"svelte", "uplot"} <= {name for name, _ in named}
        assert {licence for _, licence in named} == {"MIT"}


def test_the_unpacked_wheel_runs_outside_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    paths = {"PYTHONPATH": str(unpacked)}
    where = "import allstreets; print(*allstreets.__path__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", where],
        cwd=tmp_path,
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(unpacked))
    # As `make wheel` names the interpreter: by a path from here.
    check_installed(
        os.path.relpath(sys.executable),
        paths=paths,
        page=(unpacked / "allstreets/explorer/page").exists(),
    )


def test_the_image_is_built_of_files_that_it_may_see() -> None:
    """What the Dockerfile copies is there and not ignored, and the build finds what it names."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = [line[1:] for line in ignored if line.startswith("!")]
    copies = re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    sources = {source.removeprefix("./") for line in copies for source in line.split()}
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(f"{source}/".startswith(f"{top}/") for top in allowed), source
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"pyproject.toml", project["readme"], *project["license-files"]} <= sources

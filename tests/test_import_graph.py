"""The graph of imports, and the tests that a change concerns."""

from pathlib import Path

from harness.import_graph import ROOT, distances, import_graph, python_files
from harness.quick import nearest


def file(name: str) -> Path:
    path = ROOT / name
    assert path.is_file()
    return path


def test_the_nearest_tests_come_first() -> None:
    for name, tests in (
        ("allstreets/cards/ranges.py", ["tests/cards/test_ranges.py"]),
        ("allstreets/jobs/spots.py", ["tests/jobs/test_spots.py"]),
        ("tests/cards/test_card.py", ["tests/cards/test_card.py"]),
        ("docs/ranges.md", ["tests/test_docs.py"]),
    ):
        expected = [file(test) for test in tests]
        assert nearest([file(name)])[: len(expected)] == expected


def test_names_count_where_they_are_defined() -> None:
    imports = import_graph()
    graph = imports[file("tests/test_import_graph.py")]
    assert graph == {file("tests/harness/import_graph.py"), file("tests/harness/quick.py")}
    # By its package's name, and in a function.
    assert file("allstreets/cards/ranges.py") in imports[file("tests/cli/test_verbs.py")]
    assert file("allstreets/storage/claim.py") in imports[file("tests/storage/test_claim.py")]
    # As an attribute of the whole program.
    (simple,) = (ROOT / "tests").rglob("test_simple_games.py")
    assert "simplify.py" in {path.name for path in imports[simple]}


def test_distances_are_shortest_ways() -> None:
    a, b, c, d = map(Path, "abcd")
    imports = {a: {b}, b: {c}, c: set[Path](), d: {c, a}}
    assert distances([c], imports) == {c: 0, b: 1, d: 1, a: 2}
    assert distances([d], imports) == {d: 0}


def test_every_test_imports_what_it_tests() -> None:
    modules = [path for path in python_files() if "allstreets" in path.relative_to(ROOT).parts[:1]]
    found = distances(modules, import_graph())
    tests = [path for path in python_files() if path.name.startswith("test_")]
    alone = {path.name for path in tests if path not in found}
    # These run the program as a process, or read files.
    read = {
        "test_benchmarks.py",
        "test_doctests.py",
        "test_import_graph.py",
        "test_notebooks.py",
        "test_prose.py",
    }
    assert alone <= {"test_jit.py", *read}

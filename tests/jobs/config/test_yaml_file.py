"""YAML as plain data with lines; bad files get a message, never a hang."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.jobs.config.reading import MAX_LINE, parse_yaml, read_yaml


def message(text: str) -> str:
    with pytest.raises(InputError) as error:
        parse_yaml(text, "x.yaml")
    return str(error.value)


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse_yaml(text, "x.yaml").problems]


def test_values_are_those_of_yaml_1_2() -> None:
    text = "[22, 22:0.5, 1:30, 76s:0.5, yes, on, true, ~, 1e-4, 1_000, 017, 2024-01-01, '22', 1.]"
    assert parse_yaml(text, "x").data == [
        22,
        "22:0.5",
        "1:30",
        "76s:0.5",
        "yes",
        "on",
        True,
        None,
        0.0001,
        1000,
        17,
        "2024-01-01",
        "22",
        1.0,
    ]


def test_lines() -> None:
    file = parse_yaml("# head\na:\n  b: [1,\n      2]\n  c:\n    - x\n    - {y: 3}\n", "x")
    assert file.data == {"a": {"b": [1, 2], "c": ["x", {"y": 3}]}}
    expected = {
        (): 2,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "b", 0): 3,
        ("a", "b", 1): 4,
        ("a", "c"): 5,
        ("a", "c", 0): 6,
        ("a", "c", 1): 7,
        ("a", "c", 1, "y"): 7,
    }
    assert file.lines == expected


def test_aliases_and_merged_keys() -> None:
    text = "base: &b {k: 1, l: 2}\nsame: *b\nmore: {<<: *b, k: 3}\nlist: {<<: [*b, {l: 5, m: 4}]}"
    file = parse_yaml(text, "x")
    assert file.data == {
        "base": {"k": 1, "l": 2},
        "same": {"k": 1, "l": 2},
        "more": {"k": 3, "l": 2},
        "list": {"k": 1, "l": 2, "m": 4},
    }
    assert file.lines["more", "k"] == 3
    assert file.lines["same", "k"] == 1
    assert problems("<<: 3\na: 1") == ["line 1: <<: takes a mapping, such as *base"]


def test_numbers_as_keys_are_text() -> None:
    assert parse_yaml("22: 0.5\ntrue: 1\n", "x").data == {"22": 0.5, "true": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: 1\nb: 2\na: 3\n",
            "line 3: a: given twice, first in line 1; keep one of the two",
        ),
        (
            "s:\n  22: 1\n  '22': 2\n",
            "line 3: s.22: given twice, first in line 2; keep one of the two",
        ),
        ("a: !sum 3\n", "line 1: a: the tag '!sum' is not known; remove it"),
        (
            "a: !!python/object:os.system {x: 1}\n",
            "line 1: a: the tag '!!python/object:os.system' is not known; remove it",
        ),
        ("a: !!int pair\n", "line 1: a: 'pair' cannot be read as int"),
        ("? [a, b]\n: 1\n", "line 1: a key must be text; is a bracket misplaced?"),
    ],
)
def test_problems_that_do_not_stop_the_reading(text: str, expected: str) -> None:
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: 1\nb: c: d\n",
            "line 2: not valid YAML: mapping values are not allowed here; "
            "is a text with ': ' not in quotes, or the indentation uneven?",
        ),
        (
            "a:\n\t- b\n",
            "line 2: not valid YAML: found character '\\t' that cannot start any token; "
            "indent with spaces, not with tabs",
        ),
        (
            "a: [1,\n",
            "line 2: not valid YAML: expected the node content, but found '<stream end>'; "
            "is a bracket or a quote left open?",
        ),
        (
            "a: @b\n",
            "line 1: not valid YAML: found character '@' that cannot start any token; "
            "put the text in quotes",
        ),
        (
            "a: *b\n",
            "line 1: not valid YAML: found undefined alias 'b'; its anchor (&) must stand before "
            "it",
        ),
        ("a: &b [*b]\n", "line 1: the alias *b is inside its own anchor &b"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document begins ('---'); keep one"),
        ("%YAML 1.1\n---\na: 1\n", "line 2: only YAML 1.2 is read; remove the %YAML line"),
        ("a: 1\nb: \x07\n", "line 2: the character U+0007 is not allowed in YAML; remove it"),
        ("a: " + "!" * MAX_LINE, "line 1: longer than 100,000 characters; is this the right file?"),
        ("\n" * 100_000, "line 100001: more than 100,000 lines; is this the right file?"),
    ],
)
def test_syntax_errors_name_the_line(text: str, expected: str) -> None:
    assert message(text) == f"x.yaml: 1 problem\n  {expected}"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n...\n"])
def test_empty(text: str) -> None:
    if text.startswith("---"):
        assert parse_yaml(text, "x.yaml").data is None
    else:
        assert message(text) == "x.yaml is empty; write at least one 'key: value' line"


def laughs() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    return "\n".join(lines)


MANY = "more than 20,000 values with aliases written out; a config contains a few hundred"
DEEP = "line 1: nested more than 50 levels deep; is this the right file?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            laughs(),
            f"line 5: {MANY}",
        ),
        (
            "a: &a {k: 1}\n"
            + "".join(
                f"{i}: &{i} {{<<: [*{p}, *{p}]}}\n"
                for i, p in zip("bcdefghijklmnopqrstu", "abcdefghijklmnopqrst", strict=True)
            ),
            f"line 13: {MANY}",
        ),
        ("[" * 99_000, DEEP),
        ("{a: " * 20_000, DEEP),
        ("- " * 40_000, DEEP),
        (
            "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 2000)),
            "line 50: nested more than 50 levels deep; is this the right file?",
        ),
        (
            "[" + "1, " * 300_000,
            "line 1: longer than 100,000 characters; is this the right file?",
        ),
        ("- 1\n" * 90_000, "line 20000: more than 20,000 values; a config contains a few hundred"),
    ],
    ids=["laughs", "merges", "brackets", "braces", "dashes", "alias chain", "line", "list"],
)
def test_bombs_are_refused_quickly(text: str, expected: str) -> None:
    began = time.process_time()  # not the clock on the wall: other tests run beside this one
    found = message(text)
    assert time.process_time() - began < 2
    assert found == f"x.yaml: 1 problem\n  {expected}"


def test_fifty_levels_are_allowed() -> None:
    parse_yaml("[" * 50 + "]" * 50, "x")
    assert "nested more than 50" in message("[" * 51 + "]" * 51)


def test_a_file_of_100_mb_takes_no_time_and_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.write(b"a: 1\n")
        file.truncate(100_000_000)
    began = time.process_time()
    with pytest.raises(InputError) as error:
        read_yaml(path)
    assert time.process_time() - began < 1
    assert str(error.value) == (
        f"{path} is larger than 1 MB; a config is a few kB, is this the right file?"
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_bombs_take_little_memory(tmp_path: Path) -> None:
    """In a process of its own, which may not use more than 300 MB in all."""
    path = tmp_path / "laughs.yaml"
    path.write_text(laughs())
    script = (
        "import sys, pathlib\n"
        "from allstreets.jobs.config.reading import read_yaml\n"
        "try: read_yaml(pathlib.Path(sys.argv[1]))\n"
        "except ValueError as error: print(error)\n"
        # The peak of getrusage would count the parent's memory too, from before the exec.
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(next(line for line in status.splitlines() if line.startswith('VmHWM')).split()[1])"
    )
    output = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "more than 20,000 values" in output[1]
    assert int(output[-1]) * 1024 < 300e6


def test_files_that_are_not_files(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    with pytest.raises(InputError) as error:
        read_yaml(missing)
    assert str(error.value) == f"config file {missing} does not exist; check the path"
    with pytest.raises(InputError) as error:
        read_yaml(tmp_path)
    assert str(error.value) == f"{tmp_path} is a folder; name a YAML file in it"
    (tmp_path / "file").write_text("a: 1")
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read_yaml(tmp_path / "file" / "x.yaml")
    with pytest.raises(InputError, match="is not the name of a file; check the path"):
        read_yaml(tmp_path / "a\0b")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.yaml"
    path.touch()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError) as error:
        read_yaml(path)
    assert str(error.value) == f"config file {path} cannot be read: Permission denied"


def test_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(InputError) as error:
        read_yaml(path)
    assert str(error.value) == f"{path} is not UTF-8 text (line 2); save it as UTF-8"
    path.write_bytes(b"PK\x03\x04\x00\x00")
    with pytest.raises(InputError) as error:
        read_yaml(path)
    assert str(error.value) == f"{path} is not a text file; name a YAML file"


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    file = read_yaml(path)
    assert file.data == {"a": 1, "b": 2}
    assert file.lines["b",] == 2


TOKENS = [*"ab\n[]{},:?|>'\"\\#\t1@`-_+=!~", "b: ", "- ", "  ", "&x ", "*x", "!!int ", "!!map "]
TOKENS += ["%YAML 1.2\n", "%TAG ! x\n", "---", "...", "<<: ", ".inf", "0b2", "0o9", "\ufeff", "\r"]


@given(st.lists(st.sampled_from(TOKENS), max_size=25).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    refused = data = None
    try:
        data = parse_yaml(text, "x.yaml").data
    except InputError as error:
        refused = str(error)
    assert refused is None or "x.yaml" in refused
    assert isinstance(data, dict | list | str | int | float | bool | None)


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is a pipe or a device; write the config to a file"):
        read_yaml(tmp_path / "pipe")

"""Every block of the README and of the docs does what it says, and every link leads somewhere.

The blocks of a page are run in their order, in one folder with the samples and one Python
namespace, as a reader would. What takes long is made short here and nowhere else: `SHORTER`,
`DRAFT`, `SMALLER` and `NOT_RUN`. Many spots are solved in this process, one after the other;
tests/jobs/test_spots.py starts processes.
"""

import json
import re
import shlex
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from builders.smoke import smoke_solution
from harness.doc_blocks import PROGRAM, Block, blocks_of
from harness.doc_links import broken_links
from ruamel.yaml import YAML

from allstreets.base.errors import InputError
from allstreets.cli.main import app, main
from allstreets.engines import CardModel
from allstreets.jobs import ConfigWarning, Here, read_spot, read_train_config
from allstreets.jobs import spots as solving_many
from allstreets.solvers import Completion
from allstreets.storage import NearestStackWarning

ROOT = Path(__file__).parents[1]
DOCS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "reference"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
LINKED = [
    *(*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]

SHORTER = {"solve": ("--max-iterations", "5"), "review": ("--seconds-per-spot", "0.1")}
"""Added to a verb that does not say itself how long it runs: the end is earlier, nothing else."""

DRAFT = Completion(CardModel("boards", groups=16, rows=32), 8)
"""Replaces drafts with more buckets and iterations."""

SMALLER = {
    "smoke.yaml": {"epochs: 200": "epochs: 10"},  # as Python trains it; commands find it solved
    "flops.yaml": {"preset:": "flops: [AhKd7s, 9h8h2c]\n  preset:"},  # of 1,755
    "flop.yaml": {
        "oop_range: 66+,A8s+,A5s-A4s,": "oop_range: AA  # ",
        "ip_range: QQ-22,AQs-A2s,": "ip_range: QQ,65s  # ",
    },
    "tournament.txt": {"Ann: posts small blind 50\n": ""},  # hands that see a flop are skipped then
    "one.phh": {"'p1 cc', 'd db 9c9h2s', 'p1 cc', 'p2 cbr 200', 'p1 f'": "'p1 cbr 300', 'p2 f'"},
    "library.md": {"chart hu-20bb --png": "chart pf-10bb --png"},
    "review.md": {'review_hands("sample_hands"': 'review_hands("sample_hands/one.phh"'},
    "any-flop.md": {"7d7h7c --target 1%": "7d7h7c --max-iterations 1"},
    # On this flop most runouts are alike.
    "README.md": {"--flop QsJh2h --draft": "--flop 7s7h7d --draft"},
    "solve-a-flop.md": {"--flop QsJh2h --draft": "--flop 7s7h7d --draft"},
}
"""What stands in a file or page, and what stands there instead while its page is tested."""

NOT_RUN = {
    "explore": "it serves until it is stopped; tests/explorer/test_server.py runs it",
    "mcp": "it serves until its input ends; tests/agents/test_mcp.py runs it",
    "practice": "it asks for keys; tests/cli/test_practice.py presses them",
    "lock": "it solves a spot again; tests/cli/test_lock.py runs it",
    "match": "it takes two solved games; tests/play/test_match.py runs it",
    "play": "it takes a table; tests/play/test_player.py runs it",
    "certify": "it deals every card of many flops; tests/jobs/test_certificate.py runs it",
    "library": "it builds for hours; tests/jobs/test_library.py builds small ones",
}
"""Verbs whose arguments are read, no more, and why."""

TRAIN_SMOKE = ["train", "sample_configurations/smoke.yaml", "--output"]
"""The game that most pages look at: commands find it as a reader does, trained to its end."""

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")

SPOT: dict[str, Any] = {
    "board": "AhTd6s3c",
    "oop_range": "22+,A2s+,KTs+",
    "ip_range": "22+,A2s+,KTs+",
    "pot": 100,
    "stack": 500,
    "bets": "50%",
}
GAME: dict[str, Any] = {
    "type": "unified_cfr",
    "cards": "classes",
    "stack_depth": 20,
    "flops": "spread_3",
}
MODEL: dict[str, Any] = {"preset": "fast", "flops": ["AhKd7s"]}


class Page:
    """The folder and the namespace in which the blocks of one page are run."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capture = capture
        self.names: dict[str, Any] = {"__name__": "a page"}
        for samples in ("sample_spots", "sample_configurations", "sample_hands"):
            shutil.copytree(ROOT / samples, folder / samples)
            for path in (folder / samples).iterdir():
                path.write_text(_smaller(path.name, path.read_text()))

    def run(self, block: Block) -> None:
        """Do what a block says; an error of any sort fails the test."""
        match block.kind:
            case "commands":
                for command, shown in zip(block.commands(), block.shown(), strict=True):
                    self._command(command, block.place, shown)
            case "python":
                numbered = "\n" * (block.line - 1) + block.text  # so that errors name the line
                exec(compile(numbered, block.page, "exec"), self.names)
            case "yaml":
                self._yaml(block)
            case "json":
                json.loads(block.text)
            case "text":
                pass
            case _:
                pytest.fail(f"{block.place}: name its language after ```: console, python, … text")

    def _command(self, command: str, place: str, promised: Sequence[str] = ()) -> str:
        """Run a command; what it printed, "" if it is not run here."""
        words = shlex.split(command, comments=True)
        if words[0] == "make":
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(words[1:]) <= set(targets), f"{place}: {command} is not in the Makefile"
            return ""
        assert words[0] in PROGRAM, f"{place}: {command} is not run by this test"
        end = words.index(">") if ">" in words else len(words)
        arguments, target = words[1:end], words[end + 1 :]
        verb = arguments[0]
        if verb in NOT_RUN:
            verbs: Any = typer.main.get_command(app)
            group = verbs.commands[verb]
            for name in arguments[1:2]:
                if name in getattr(group, "commands", ()):
                    group, arguments = group.commands[name], arguments[1:]
            group.make_context(verb, arguments[1:])
            return ""
        if arguments[:-1] == TRAIN_SMOKE:
            shutil.copytree(smoke_solution(), arguments[-1])
            return ""
        more = SHORTER.get(verb, ())
        with warnings.catch_warnings():
            warnings.simplefilter("always", NearestStackWarning)  # it is printed, as for readers
            code = main([*arguments, *(more if not set(more) & set(arguments) else ())])
        shown = self.capture.readouterr()
        assert code == 0, f"{place}: {command}\n{shown.err}"
        assert shown.out, f"{place}: {command} says nothing"
        printed = [line.rstrip() for line in shown.out.splitlines()]
        if not more:
            missing = [
                line
                for line in promised
                if "…" not in line and not any(_alike(line, each) for each in printed)
            ]
            assert not missing, f"{place}: {command} does not print {missing}"
        for path in target:
            Path(path).write_text(shown.out)
        assert "\nnot reached: " not in shown.out, (
            f"{place}: {command}: shows a line that is not played"
        )
        return f"{shown.out}\n{shown.err}"

    def keep(self, block: Block) -> Path:
        """A block of YAML as a file; `# name.yaml` on top of it says how commands call it."""
        named = re.match(r"# (\S+\.yaml)$", block.text.splitlines()[0])
        path = self.folder / (named[1] if named else "block.yaml")
        path.write_text(_smaller(path.name, block.text))
        return path

    def _yaml(self, block: Block) -> None:
        """A whole file, or keys of one."""
        path = self.keep(block)
        keys = YAML(typ="safe").load(block.text)
        spot = {key: SPOT[key] for key in SPOT if not (key == "bets" and "bet_sizes" in keys)}
        problems = []
        for reading in (
            *(keys, spot | keys),
            *({"solver": GAME | keys}, {"postflop_model": MODEL | keys}),
        ):
            try:
                _read(reading, path if reading is keys else self.folder / "completed.yaml")
            except InputError as error:
                problems.append(str(error))
            else:
                return
        pytest.fail(f"{block.place}: no file can have these keys\n" + "\n".join(problems))


def _read(keys: Mapping[str, Any], path: Path) -> None:
    """Read a file as `solve` or `train` do."""
    if path.name == "completed.yaml":
        path.write_text(json.dumps(keys))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigWarning)
        if "solver" in keys or "postflop_model" in keys:
            read_train_config(path)
        else:
            read_spot(path, {})


def _alike(line: str, printed: str) -> bool:
    """Whether two lines have the same words, and figures as another processor may compute them."""
    words, others = (NUMBER.sub("#", each).split() for each in (line, printed))
    if words != others:
        return False
    figures, theirs = (
        np.array([float(each.replace(",", "")) for each in NUMBER.findall(text)])
        for text in (line, printed)
    )
    return bool(np.allclose(figures, theirs, rtol=0.02, atol=0.2))


def _smaller(name: str, text: str) -> str:
    for before, after in SMALLER.get(name, {}).items():
        assert before in text, f"{name} no longer has {before!r}"
        text = text.replace(before, after)
    return text


def named(path: Path) -> str:
    """A page in the name of its test."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_block_of_a_page(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "unpacked"))  # flops are kept there
    monkeypatch.setattr(solving_many, "Processes", lambda _: Here())
    monkeypatch.setattr("allstreets.jobs.spot.DRAFT", DRAFT)
    page = Page(tmp_path, capsys)
    short = tmp_path / path.name
    short.write_text(_smaller(path.name, path.read_text(encoding="utf-8")), encoding="utf-8")
    blocks = list(blocks_of(short))
    for block in blocks:
        if block.kind == "yaml":
            page.keep(block)  # a command may stand above the file that it names
    for block in blocks:
        page.run(block)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ allstreets range AKx\n```", "AKx"),
        ("```console\n$ allstreets report nowhere/\n```", "nowhere"),
        ("```console\n$ allstreets explore --prot 80\n```", "--prot"),
        ("```console\n$ make nothing\n```", "make nothing"),
        ("```console\n$ rm -r game\n```", "not run by this test"),
        ("```console\n$ allstreets range AKs\n4 combos, perhaps\n```", "does not print"),
        ("    allstreets range AKs --bord 2c", "--bord"),
        ("```python\nfrom allstreets import nothing\n```", "nothing"),
        ("```yaml\nsolver: {type: unified_cfr, stack: 20}\n```", "stack"),
        ("```yaml\npot: many\n```", "many"),
        ("```\nwhat is this\n```", "name its language"),
        ("    what is this?", "name its language"),
        ("```console\n$ allstreets equity AA KK\nAA  12.3 %\n```", "does not print"),
        (
            "```console\n$ allstreets train sample_configurations/smoke.yaml --output game\n"
            '$ allstreets report game --line "c r2.5 r6.25 r15.63 c | x" --flop AsTh9h\n```',
            "not played",
        ),
    ],
)
def test_a_block_that_is_wrong_is_noticed(
    text: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.md"
    path.write_text(f"A page\n\n{text}\n")
    (block,) = blocks_of(path)
    page = Page(tmp_path, capsys)
    with pytest.raises((Exception, pytest.fail.Exception), match=message):
        page.run(block)


@pytest.mark.parametrize("path", LINKED, ids=named)
def test_every_link_leads_to_something(path: Path) -> None:
    assert list(broken_links(path)) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Two `words`, or three\n\n# Again\n\n# Again\n")
    good = "[a](other.md) [b](other.md#two-words-or-three) [c](#here) [d](other.md#again-1)"
    bad = "[e](gone.md) [f](other.md#two) [g](#there) ![h](gone.png)"
    (tmp_path / "page.md").write_text(f"## Here\n\n{good} [i](https://example.org) {bad}\n")
    assert list(broken_links(tmp_path / "page.md")) == [
        *("gone.md", "other.md#two", "#there", "gone.png")
    ]

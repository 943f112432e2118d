"""The command as a person meets it: help, exit codes, errors without tracebacks."""

import json
import os
import signal
import subprocess
import sys

import pytest
import typer

from allstreets import __version__
from allstreets.base import InputError, control
from allstreets.cli import main as cli

VERBS = list(typer.main.get_group(cli.app).commands)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    code = cli.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"allstreets {__version__}\n", "")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    code, out, err = run(capsys, verb, "--help")
    assert (code, err) == (0, "")
    assert "Examples:" in out
    assert f"allstreets {verb}" in out


def test_the_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith("  ")]
    listed = [line for line in lines if line.split()[0] in VERBS]
    assert sorted(line.split()[0] for line in listed) == sorted(VERBS)
    assert len(VERBS) == 26
    assert not [line for line in listed if line.endswith("...")]  # whole, in 80 columns


@pytest.mark.parametrize("group", [(), ("config",)])
def test_a_group_without_a_command_shows_its_help(
    capsys: pytest.CaptureFixture[str], group: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, *group)
    assert (code, err) == (0, "")
    assert out == run(capsys, *group, "--help")[1]


def test_help_starts_without_the_heavy_libraries() -> None:
    script = (
        "import sys; from allstreets.cli.main import main; main(['--help']);"
        "heavy = ('numpy', 'numba', 'matplotlib', 'scipy', 'pydantic');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["equity", "AA"], "Missing argument"),
        (["equity", "AA", "KK", "--bord", "x"], "No such option"),
        (["equity", "AA", "KK", "QQ"], "equity is heads-up: name two hands or ranges, not 3"),
        (["equity", "AA", "KX"], "'KX' is not a hand or a combo"),
        (["equity", "AA", "KK", "--board", "QsQs2h"], "'QsQs2h' contains the card Qs twice"),
        (["equity", "QsQh", "KK", "--board", "QsJh2h"], "the range 'QsQh' is blocked"),
        (["equity", "AA", "KK", "--board", "QsJh"], "has 2 cards: a flop has 3"),
        (["equity", "AA:1.5", "KK"], "the weight 1.5 is not between 0 and 1"),
        (["equity", "", "KK"], "the range is empty"),
        (["range", "AA,ZZ"], "range, character 4: 'ZZ' is not a hand"),
        (["flops", "AhKd"], "has 2 cards"),
        (["flops", "--format", "xml"], "'xml'"),
    ],
)
def test_bad_input_is_answered_with_two_lines_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("Error: ")
    assert len(err.splitlines()) <= 2
    assert "Traceback" not in err


def test_a_fault_of_ours_is_told_as_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the evaluator is on fire")

    monkeypatch.setattr("allstreets.cards.parse_flop", broken)
    code, _, err = run(capsys, "flops", "AhKd7s")
    assert code == 1
    assert err.splitlines()[0] == "Internal error: RuntimeError: the evaluator is on fire"
    monkeypatch.setenv("ALLSTREETS_DEBUG", "1")
    with pytest.raises(RuntimeError, match="on fire"):
        cli.main(["flops", "AhKd7s"])


def test_ctrl_c_ends_with_130() -> None:
    script = (
        "import os, signal, sys, allstreets.cards as cards\n"
        "from allstreets.cli import main as cli\n"
        # Shells start background jobs with Ctrl-C ignored, which children inherit.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "cards.parse_flop = lambda text: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(cli.main(['flops', 'AhKd7s']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert signal.SIGINT.value == 2


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["solve", "x.yaml"], "allstreets.jobs.read_spots"),
        (["train", "x.yaml"], "allstreets.jobs.read_train_config"),
        (["toy", "kuhn"], "allstreets.cfr.load_game"),
    ],
)
def test_runs_hear_signals_before_anything_is_read(
    arguments: list[str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[object] = []

    def look(*_: object) -> None:
        heard.append(control._program)
        raise InputError("enough")

    monkeypatch.setattr(place, look)
    assert cli.main(arguments) == 2
    assert len(heard) == 1
    assert heard[0] is not None
    assert control._program is None


def test_a_reader_that_stops_early_is_no_fault() -> None:
    command = f"{sys.executable} -m allstreets flops --format csv | head -n 2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ)
    assert done.stdout.splitlines()[1].startswith("AsAhAd,4,rainbow,trips,A,")
    assert done.stderr == ""


def test_json_is_one_object_and_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["equity", "AA", "KK", "--board", "QsJh2h"],
        ["range", "TT+"],
        ["flops"],
        ["flops", "AhKd7s"],
    ):
        code, out, _ = run(capsys, *arguments, "--json")
        assert code == 0
        assert len(out.splitlines()) == 1
        assert isinstance(json.loads(out), dict)


def test_the_schema_of_a_spot_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "config", "schema")
    assert code == 0
    schema = json.loads(out)
    assert {"board", "oop_range", "ip_range", "pot", "stack", "lock"} <= set(schema["properties"])
    assert schema["additionalProperties"] is False
    code, _, err = run(capsys, "config", "schema", "sport")
    assert code == 2
    assert "sport" in err

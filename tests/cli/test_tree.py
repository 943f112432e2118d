"""allstreets tree: the picture, the sums below it, and the same as JSON."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from builders.small_games import SMALL, small_config, write_small

from allstreets.cli.main import main
from allstreets.jobs.whole_game import plan_unified

PICTURE = """\
SB: 6 bb, blinds 0.5/1 bb
├─ fold → BB wins 0.5 bb
├─ limp → BB
│  ├─ check → flop, limped pot: 2 bb, 5 bb behind, SPR 2.5{limped}
│  ├─ raise to 2.5 bb → SB
│  │  ├─ fold → BB wins 1 bb
│  │  ├─ call → flop, raised pot: 5 bb, 3.5 bb behind, SPR 0.7{raised}
│  │  └─ all-in 6 bb → BB
│  │     ├─ fold → SB wins 2.5 bb
│  │     └─ call → all-in, pot 12 bb
│  └─ all-in 6 bb → SB
│     ├─ fold → BB wins 1 bb
│     └─ call → all-in, pot 12 bb
├─ raise to 2.5 bb → BB
│  ├─ fold → SB wins 1 bb
│  ├─ call → flop, raised pot: 5 bb, 3.5 bb behind, SPR 0.7{raised}
│  └─ all-in 6 bb → SB
│     ├─ fold → BB wins 2.5 bb
│     └─ call → all-in, pot 12 bb
└─ all-in 6 bb → BB
   ├─ fold → SB wins 1 bb
   └─ call → all-in, pot 12 bb
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["tree", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(capsys, str(write_small(tmp_path / "game.yaml")))
    assert (code, err) == (0, "")
    picture, _, sums = out.partition("\n\n")
    # Padded to 176 hands, 8 bytes an action: 90 · 176 · 8 and 24 · 176 · 8.
    limped, raised = (
        ", 42 decisions, 90 actions, 127 kB per flop",
        ", 12 decisions, 24 actions, 33.8 kB per flop",
    )
    assert picture + "\n" == PICTURE.format(limped=limped, raised=raised)
    assert sums.splitlines()[0] == (
        "Preflop 8 decisions; 3 pots see a flop: 66 decisions and 138 actions on each of 2 flops, "
        "cards classes."
    )
    assert re.fullmatch(
        r"Regrets and strategies 389 kB, in all \d+ MB of memory \(memory: resident\), about \S+ s "
        r"per iteration\.",
        sums.splitlines()[1],
    )


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(capsys, str(write_small(tmp_path / "game.yaml")), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    job = plan_unified(small_config())
    assert found["memory_bytes"] == job.solver().memory_bytes == 138 * 176 * 8 * 2
    assert (found["preflop_decisions"], found["pots"], found["flops"]) == (8, 3, 2)
    assert (found["postflop_decisions"], found["slots"]) == (66, 138)
    pots = found["flop_pots"]
    assert [(pot["name"], pot["pot_bb"], pot["stack_bb"], pot["raises"]) for pot in pots] == [
        ("limped", 2.0, 5.0, 0),
        ("raised", 5.0, 3.5, 1),
        ("raised", 5.0, 3.5, 1),
    ]
    assert [pot["nodes"] for pot in pots] == [pot.tree.node_count for pot in job.game.pots]


def test_a_preflop_job_has_the_tree_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    solver = {"type": "preflop_cfr", "stack_depth": 6, "raise_cap": 1, "models": "m"}
    (tmp_path / "game.yaml").write_text(json.dumps({"solver": solver}))
    code, out, err = run(capsys, str(tmp_path / "game.yaml"))
    assert (code, err) == (0, "")
    assert out == PICTURE.format(limped="", raised="")
    code, out, _ = run(capsys, str(tmp_path / "game.yaml"), "--json")
    assert code == 0
    assert json.loads(out)["tree"] == PICTURE.format(limped="", raised="").splitlines()


def test_without_a_file_it_is_the_first_example(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 0
    assert out.startswith("SB: 20 bb, blinds 0.5/1 bb\n")
    assert "on each of 15 flops" in out


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"postflop_model": {}}, "has no section solver"),
        (
            {"solver": {**SMALL, "raise_sizes": [0.5]}},
            "line 1: solver.raise_sizes[0]: '0.5'",
        ),
        ({"solver": {**SMALL, "raise_sise": [0.5]}}, "did you mean 'raise_sizes'?"),
    ],
)
def test_errors_are_short(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: dict[str, Any], message: str
) -> None:
    (tmp_path / "game.yaml").write_text(json.dumps(data))
    code, out, err = run(capsys, str(tmp_path / "game.yaml"))
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2

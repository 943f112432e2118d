"""Spot files and flags: the same keys, errors with line and hint."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, TURN

from allstreets.base import InputError
from allstreets.betting import line_text
from allstreets.games import Spot, spot_mapping
from allstreets.jobs import read_spot

YAML = """\
name: small
description: a river
board: Ks7d4c9h2s
oop_range: 22+,ATs+
ip_range: [55+, A9s+]
pot: 100
stack: 300
bet_sizes:
  river_oop: {bet: [50%, a], raise: [60%, a]}
  river_ip: {bet: [50%, a], raise: 60%}
exploitability_threshold: 0.5%
lock:
  - {line: x b50, hands: {AA: {fold: 0, call: 1}}}
"""
PYTHON: dict[str, Any] = {"board": "Ks7d4c9h2s", "oop": "AA", "ip": "KK", "pot": 9, "stack": 9}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spot.yaml"
    path.write_text(text)
    return path


def test_a_file(tmp_path: Path) -> None:
    config, spot = read_spot(written(tmp_path, YAML), {})
    assert (config.name, config.exploitability_threshold, config.algorithm) == (
        "small",
        0.005,
        "ahead",
    )
    assert (spot.pot, spot.stack, spot.lock[0].line) == (100, 300, "x b50")
    assert spot.ip == "55+,A9s+"
    assert [str(size) for size in spot.rules.sizes[0][1].raises] == ["60%"]


def test_big_blinds_raises_decimals_and_rake(tmp_path: Path) -> None:
    keys = {"pot": 5.5, "stack": 19.0, "chips_per_bb": 1, "max_raises_per_street": 1, "rake": "5%"}
    given = {**RIVER, **keys, "bets": ["10%", "3bb"], "raises": ["3x"]}
    _, spot = read_spot(written(tmp_path, json.dumps(given)), {})
    assert (str(spot.pot), str(spot.stack), spot.rules.rake) == ("5.5", "19", 0.05)
    lines = [line_text(spot.tree, node) for node in range(spot.tree.node_count)]
    assert {"b1", "b3", "b3 r9"} < set(lines)  # a tenth of the pot is less than a big blind
    assert not any(line.count("r") > 1 for line in lines)
    assert Spot.from_mapping(spot_mapping(spot)).rules == spot.rules
    assert Spot(**{**PYTHON, "rake": "5%"}).rules.rake == 0.05
    del given["chips_per_bb"]
    with pytest.raises(InputError, match="'3bb': the big blind is not defined: give chips_per"):
        read_spot(written(tmp_path, json.dumps(given)), {})


def test_flags_and_file_give_the_same_spot(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(RIVER))
    texts = {"bets": "50%,a", "raises": "60%,a"}
    by_flags = read_spot(None, {**RIVER, **texts})[1]
    assert spot_mapping(by_flags) == spot_mapping(read_spot(path, {})[1])


def test_a_flag_goes_before_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, YAML)
    flags = {"stack": None, "pot": 50, "bets": "33%", "exploitability_threshold": "1%"}
    config, spot = read_spot(path, flags)
    assert (spot.pot, spot.stack, config.exploitability_threshold) == (50, 300, 0.01)
    assert spot.bet_sizes is None
    assert [str(size) for size in spot.rules.sizes[0][0].bet] == ["33%"]


def test_the_file_may_leave_out_what_a_flag_gives(tmp_path: Path) -> None:
    path = written(tmp_path, YAML.replace("board: Ks7d4c9h2s\n", ""))
    assert read_spot(path, {"board": "Ks7d4c9h2s"})[1].pot == 100
    with pytest.raises(InputError, match=r"spot.yaml: board is missing: .*or give --board"):
        read_spot(path, {})


def test_donk_sizes_without_sizes_by_street() -> None:
    _, spot = read_spot(None, {**TURN, "donk": "20%"})
    turn, river = spot.rules.sizes
    assert turn[0].donk is None
    assert [str(size) for size in river[0].donk or ()] == ["20%"]
    assert [str(size) for size in river[1].bet] == ["75%"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("pot: 100", "pots: 100"), r"line 6: pots: unknown key; did you mean 'pot'\?"),
        (("pot: 100", "pot: lots"), r"line 6: pot: must be a number, not 'lots'"),
        (
            ("threshold: 0.5%", "threshold: 0.5"),
            r"line 11: exploitability_threshold: 0.5 would be 50 % of the pot",
        ),
        (
            ("exploitability_threshold: 0.5%", "precision: double"),
            r"line 11: precision: 'double' is not known",
        ),
        (
            ("exploitability_threshold: 0.5%", "bets: 50%"),
            r"line 11: bets: give bets or bet_sizes, not both",
        ),
        (("exploitability_threshold: 0.5%", "rake: 5"), r"line 11: rake: must be below 1"),
        (
            ("river_ip: {bet", "river_ip: {bets"),
            r"line 10: .*bets: unknown key; did you mean 'bet'",
        ),
        (("river_ip", "river_bb"), r"unknown key 'river_bb'"),
        (("line: x b50", "lines: x b50"), r"line 13: lock\[0\].lines: unknown key"),
        (("22+,ATs+", "22+,ZZ"), r"spot.yaml: oop: range, character 5: 'ZZ' is not a hand"),
        (("22+,ATs+", "KsKd"), r"oop: the range 'KsKd' is blocked"),
        (("Ks7d4c9h2s", "Ks7d"), r"has 2 cards|needs a board of 3"),
        (("[50%, a]", "[50, a]"), r"river_oop bet sizes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    path = written(tmp_path, YAML.replace(*change, 1))
    with pytest.raises(InputError, match=message):
        read_spot(path, {})


def test_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="board, oop_range, ip_range, pot, stack are missing"):
        read_spot(None, {"board": None})
    with pytest.raises(InputError, match="does not exist"):
        read_spot(tmp_path / "no.yaml", {})


def test_old_names(tmp_path: Path) -> None:
    text = YAML.replace("exploitability_threshold", "target") + "max_raises: 1\n"
    config, spot = read_spot(written(tmp_path, text), {"exploitability_threshold": "1%"})
    assert (config.exploitability_threshold, config.max_raises_per_street) == (0.01, 1)
    assert spot.max_raises == 1
    assert read_spot(written(tmp_path, text), {})[0].exploitability_threshold == 0.005
    with pytest.raises(InputError, match="max_raises: an old name of 'max_raises_per_street', but"):
        read_spot(written(tmp_path, text + "max_raises_per_street: 1\n"), {})

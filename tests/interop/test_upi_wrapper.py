"""Answers as a wrapper of some ninety commands takes them apart, line by line."""

from pathlib import Path

import numpy as np
import pytest
from builders.upi_client import Client

from allstreets.cards import COMBO_COUNT
from allstreets.interop import Session

TURN = """
set_board QsJh2h8c
set_range OOP AA,QQ,98s,KQs:0.5
set_range IP KK,JJ,AQs
set_pot 0 0 60
set_eff_stack 100
add_line 30 100 100
add_line 0 30 100 100
add_line 0 0 50 100 100
build_tree
"""


@pytest.fixture(scope="module")
def turn() -> Client:
    client = Client()
    client.tell(TURN)
    client.tell("set_accuracy 0 chips\ngo 50\nwait_for_solver")
    return client


def settings(client: Client, command: str) -> dict[str, str]:
    pairs = [line.split(":") for line in client.ask(command)]
    return {key.strip(): value.strip() for key, value in pairs}


def test_settings(turn: Client) -> None:
    shown = settings(turn, "show_settings")
    assert (int(shown["thread_no"]), int(shown["info_freq"])) == (0, 60)
    assert (float(shown["accuracy"]), shown["accuracy mode"]) == (0, "chips")
    assert [flag == "1" for flag in shown["isomorphism"].split()] == [True, True]
    params = settings(turn, "show_tree_params")
    assert params["board"].split() == ["Qs", "Jh", "2h", "8c"]
    assert [int(part) for part in params["pot"].split()] == [0, 0, 60]
    assert settings(Client(), "show_tree_params")["board"] == "not set"


def test_parameters_are_those_of_a_tree_that_is_loaded(turn: Client, tmp_path: Path) -> None:
    turn.tell(f'dump_tree "{tmp_path / "turn"}"')
    other = Client()
    other.tell(f'load_tree "{tmp_path / "turn"}"')
    assert other.ask("show_tree_params") == turn.ask("show_tree_params")
    assert float(other.ask("show_tree_params")[1].split()[-1]) == 60  # as scripts read the pot
    assert other.ask("show_iters") == turn.ask("show_iters") == ["50"]
    assert other.ask("show_save_version " + str(tmp_path / "turn")) == other.ask("show_version")


def test_counts_of_nodes(turn: Client) -> None:
    counts: dict[str, int] = {}
    kind = ""
    for line in turn.ask("node_count"):
        key, value = line.split()
        if key.endswith(":"):
            kind, counts[kind := key[:-1]] = key, int(value)
        else:
            counts[f"{kind} {key}"] = int(value)
    kinds = ("H_DEC", "V_DEC", "SPLIT", "END")
    for name in kinds:
        assert counts[name] == counts[f"{name} TURN"] + counts[f"{name} RIVER"]
    assert counts["TOTAL"] == 1 + sum(counts[name] for name in kinds)
    assert counts["SPLIT"] == counts["SPLIT TURN"] == 3
    assert counts["H_DEC"] == 3 + 48 * (1 + 1 + 2)  # b30 c, x b30 c, and x x with its bet


def test_a_line_for_each_hand(turn: Client) -> None:
    hands = turn.ask("show_hand_order")[0].split()
    strategy = turn.numbers("show_strategy r:0")
    rows = [line.split(" ") for line in turn.ask("show_strategy_pp r:0")]
    assert len(rows) == int((strategy.sum(axis=0) > 0).sum())
    for first, *numbers in rows:
        expected = strategy[:, hands.index(first[:4])]
        assert [float(number) for number in numbers] == pytest.approx(expected, abs=1e-5)
    assert rows[0][0][0] == rows[0][0][2] == "A"  # the best hands first
    evs, met = turn.numbers("calc_ev OOP r:0")
    for first, ev, weight in (line.split(" ") for line in turn.ask("calc_ev_pp OOP r:0")):
        hand = hands.index(first[:4])
        assert (float(ev), float(weight)) == pytest.approx((evs[hand], met[hand]), rel=1e-5)


def frequencies(client: Client, which: str) -> dict[str, float]:
    parts = (line.split(" - ") for line in client.ask(f"show_all_freqs {which}"))
    return {line: float(share) for line, share in parts}


def test_frequencies_of_lines(turn: Client) -> None:
    often, local = frequencies(turn, "global"), frequencies(turn, "local")
    assert list(often) == list(local) == turn.ask("show_all_lines")

    def share_of(node: str) -> float:
        return float(turn.ask(f"calc_global_freq {node}")[0])

    for line in ("r:0", "r:0:b30", "r:0:c:c"):
        assert often[line] == pytest.approx(share_of(line), abs=1e-6)
    rivers = turn.children("r:0:c:c")
    assert often["r:0:c:c:b50"] == pytest.approx(
        sum(share_of(f"{n}:b50") for n in rivers), abs=1e-6
    )
    for line in ("r:0", "r:0:b30", "r:0:c:c", "r:0:c:c:b50"):
        below = [key for key in often if key.rpartition(":")[0] == line]
        assert sum(often[key] for key in below) == pytest.approx(often[line], abs=1e-6)
        assert sum(local[key] for key in below) == pytest.approx(1, abs=1e-6)
        for key in below:
            assert local[key] == pytest.approx(often[key] / often[line], abs=1e-6)


def test_categories(turn: Client) -> None:
    names = [line.split(" ") for line in turn.ask("show_category_names")]
    assert [len(row) for row in names] == [19, 7]
    rows = [[int(word) for word in line.split(" ")] for line in turn.ask("show_categories QsJh2h")]
    assert [len(row) for row in rows] == [COMBO_COUNT] * 2
    hands = turn.ask("show_hand_order")[0].split()
    names_of = {
        hand: (names[0][made], names[1][draw])
        for hand, made, draw in zip(hands, *rows, strict=True)
    }
    assert names_of["KdKc"] == ("overpair", "no_draw")
    assert names_of["AhTh"] == ("ace_high", "combo_draw")
    assert turn.ask("show_categories Qs Jh 2h") == turn.ask("show_categories QsJh2h")


def test_a_forced_action_is_always_taken() -> None:
    client = Client()
    client.tell(TURN.replace("build_tree", "force_line 0 30\nbuild_tree"))
    assert client.children("r:0:c") == ["r:0:c:b30", "r:0:c:c"]
    assert client.children("r:0:c:c:9d") == ["r:0:c:c:9d:c"]  # cut: it is never reached
    client.tell("set_accuracy 0.05 chips\ngo\nwait_for_solver")
    bet, check = client.numbers("show_strategy r:0:c")
    assert (check == 0).all()
    assert bet.sum() > 0
    evs = client.numbers("calc_ev IP r:0:c")[0]
    assert evs == pytest.approx(client.numbers("calc_ev IP r:0:c:b30")[0], abs=1e-4, nan_ok=True)
    assert float(client.ask("calc_results")[-1].split()[-1]) <= 0.05
    client.tell("force_line 30\nbuild_tree")
    often = frequencies(client, "global")
    assert (often["r:0:b30"], often["r:0:c"]) == pytest.approx((1, 0), abs=1e-6)
    assert client.children("r:0:c") == ["r:0:c:c"]
    client.tell("remove_line 30\nbuild_tree")
    assert client.children("r:0") == ["r:0:c"]
    assert client.children("r:0:c") == ["r:0:c:b30", "r:0:c:c"]


def test_a_forced_line_on_the_river_holds_on_every_card() -> None:
    client = Client()
    client.tell(TURN.replace("build_tree", "force_line 0 0 50\nbuild_tree"))
    for card in ("9d", "Ac"):
        assert client.children(f"r:0:c:c:{card}") == [
            f"r:0:c:c:{card}:{word}" for word in ("b50", "c")
        ]
        bet, check = client.numbers(f"show_strategy r:0:c:c:{card}")
        assert set(np.unique(bet)) == {0.0, 1.0}
        assert (check == 0).all()


def test_answers_in_a_file(tmp_path: Path) -> None:
    written: list[str] = []
    session = Session(written.append)
    for name in ("stdoutredi", "stdoutredi_append"):
        for command in (f'{name} "{tmp_path / "an answer.txt"}"', "echo one", "stdoutback"):
            session.execute(command)
    assert written == ["stdoutback ok!\n"] * 2
    expected = ["stdoutredi ok!", "one", "stdoutredi_append ok!", "one"]
    assert (tmp_path / "an answer.txt").read_text().splitlines() == expected
    session.execute(f"stdoutredi {tmp_path}")  # a folder
    assert written.pop().startswith("ERROR: stdoutredi: ")


def test_what_is_always_so(turn: Client) -> None:
    turn.tell("load_all_nodes\nrebuild_forgotten_streets\nset_algorithm auto\ntake_a_break 0")
    assert turn.ask("estimate_rebuild_forgotten_streets")[0].startswith("estimated memory: ")
    code, _, _ = turn.ask("list_algorithms")[0].split(",")
    assert code == "auto"
    assert float(turn.ask("solver_time")[0]) > 0

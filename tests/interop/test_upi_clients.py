"""Programs that talk to a session as two other clients of PioSOLVER do.

`Session` of one reads a line at a time up to the end string, and takes a line that begins with
ERROR for one. That of the other counts three lines of banner, waits for "ok!" where a command has
no data and for the end string elsewhere, and takes blocks of nodes apart at empty lines.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import numpy as np
import pytest

from allstreets.base import Floats
from allstreets.interop import Session
from allstreets.interop.upi.session import BANNER

END = "END"
TREE = """
set_board QsJh2h8c
set_range OOP AA,QQ,98s,KQs:0.5
set_range IP KK,JJ,AQs
set_pot 0 0 60
set_eff_stack 100
add_line 30 100 100
add_line 0 30 100 100
add_line 0 0 50 100 100
"""


@contextmanager
def session() -> Iterator[tuple[IO[str], IO[str]]]:
    """A session: where a client writes to it, and where its answers are read."""
    reads_in, writes_in = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw", strict=True))
    reads_out, writes_out = (
        os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw", strict=True)
    )

    def write(text: str) -> None:
        writes_out.write(text)
        writes_out.flush()

    thread = Thread(target=Session(write).run, args=(reads_in,))
    thread.start()
    with reads_in, reads_out, writes_out:
        try:
            yield writes_in, reads_out
        finally:
            writes_in.close()
            thread.join()


class ByLine:
    """Reads a line at a time up to the end string."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.send(f"set_end_string {END}")
        while self.read() != "set_end_string ok!":
            pass
        assert self.read() == END

    def send(self, command: str) -> None:
        self.stdin.write(f"{command}\n")
        self.stdin.flush()

    def read(self) -> str:
        line = self.stdout.readline()
        assert line, "the solver has gone"
        return line.rstrip("\n")

    def command(self, text: str) -> list[str]:
        self.send(text)
        lines: list[str] = []
        while (line := self.read()) != END:
            lines.append(line)
        if lines and lines[0].find("ERROR") == 0:
            raise RuntimeError(lines[0])
        return lines

    def vectors(self, text: str) -> list[Floats]:
        return [np.array([float(word) for word in line.split()]) for line in self.command(text)]


def test_a_report_of_every_node(tmp_path: Path) -> None:
    """It solves, saves, and reads: metadata, the order of hands, ranges, EVs, strategies."""
    path = tmp_path / "a turn.cfr"
    with session() as streams:
        client = ByLine(*streams)
        for command in (*TREE.split("\n"), "build_tree", "set_accuracy 0.2 chips"):
            if command:
                assert client.command(command) == [f"{command.split()[0]} ok!"]
        assert client.command("go") == ["go ok!"]
        assert client.command("wait_for_solver")[-1] == "wait_for_solver ok!"
        client.command(f'dump_tree "{path}"')
        client.command("free_tree")
        with pytest.raises(RuntimeError, match="ERROR"):
            client.command("show_node r:0")
        metadata = client.command(f'show_metadata "{path}"')
        assert metadata[:3] == ["r", "ROOT", "Qs Jh 2h 8c "]
        client.command(f'load_tree "{path}"')
        hands = client.command("show_hand_order")[0].split()
        assert len(hands) == 1326
        (weights,) = client.vectors("show_range OOP r:0")
        assert weights[hands.index("KsQs")] == 0
        assert weights[hands.index("KhQh")] == pytest.approx(0.5)
        seen = {"OOP_DEC": 0, "IP_DEC": 0}
        for line in client.command("show_all_lines"):
            words = line.split(":")
            for card in ("9d", "Ah"):  # cards are left out of lines: one is dealt after both act
                node = dealt(client, words, card)
                if node is not None:
                    kind = client.command(f"show_node {node}")[1]
                    if kind in seen:
                        seen[kind] += 1
                        mean_of_its_actions(client, node, kind.removesuffix("_DEC"))
        assert min(seen.values()) > 5


def dealt(client: ByLine, words: list[str], card: str) -> str | None:
    """The id of a line with a card where one is dealt; None: it is not of this card's."""
    node = ":".join(words[:2])
    for word in words[2:]:
        if client.command(f"show_node {node}")[1] == "SPLIT_NODE":
            node += f":{card}"
        node += f":{word}"
    return node


def mean_of_its_actions(client: ByLine, node: str, player: str) -> None:
    """EV(node) = Σ frequency · EV(action)."""
    evs, met = client.vectors(f"calc_ev {player} {node}")
    rows = client.vectors(f"show_strategy {node}")
    blocks = [line for line in client.command(f"show_children {node}") if line.startswith("r:0")]
    assert len(blocks) == len(rows)
    actions = [client.vectors(f"calc_ev {player} {child}")[0] for child in blocks]
    mixed = np.sum(
        [np.where(row > 0, row * ev, 0) for row, ev in zip(rows, actions, strict=True)], axis=0
    )
    live = met > 0
    assert mixed[live] == pytest.approx(evs[live], abs=2e-4), node


SILENT = {
    *("set_end_string", "set_board", "set_range", "set_pot", "set_eff_stack", "add_line"),
    *("remove_line", "clear_lines", "build_tree", "set_accuracy", "is_ready"),
}


class ByWord:
    """Three lines of banner; then it waits for "ok!" or for the end string."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.banner = [stdout.readline().strip() for _ in range(3)]
        self.command(f"set_end_string {END}")

    def command(self, text: str) -> str:
        name = text.split()[0]
        self.stdin.write(f"{text}\n")
        self.stdin.flush()
        answer, sought = "", f"{name} ok!\n" if name in SILENT else f"{END}\n"
        while sought not in answer:
            answer += self.stdout.readline()
            assert not answer.endswith(f"ERROR: {name}"), answer
        return answer.replace(f"{END}\n", "").strip()

    def solve(self) -> None:
        self.command("is_ready")
        answer = self.command("go")
        while "SOLVER: stopped (required accuracy reached)" not in answer:
            answer += self.stdout.readline()

    def children(self, node: str) -> list[list[str]]:
        """Blocks of six lines, behind a line "child 0:" each."""
        blocks = self.command(f"show_children {node}").split("\n\n")
        return [block.strip("\n").split("\n")[1:] for block in blocks if block.strip()]

    def results(self) -> dict[str, float]:
        rows = (line.split(": ") for line in self.command("calc_results").split("\n"))
        return {name: float(value) for name, value in rows}


def test_what_a_bet_is_worth() -> None:
    """It removes a line, rebuilds, solves and compares, as programs that probe trees do."""
    with session() as streams:
        client = ByWord(*streams)
        assert client.banner == list(BANNER)
        assert client.banner[2].startswith("registered to ")
        for command in filter(None, TREE.split("\n")):
            client.command(command)
        client.command("build_tree")
        client.command("set_accuracy 0.05 chips")
        client.solve()
        whole = client.results()
        assert whole["Exploitable for"] <= 0.05
        blocks = client.children("r:0")
        assert [block[0] for block in blocks] == ["r:0:b30", "r:0:c"]
        assert [block[1] for block in blocks] == ["IP_DEC", "IP_DEC"]
        assert blocks[0][3].split() == ["30", "0", "60"]
        client.command("remove_line 30")
        client.command("build_tree")
        client.solve()
        assert [block[0] for block in client.children("r:0")] == ["r:0:c"]
        without = client.results()
        # What a player may not do is worth nothing to him, and what he may never costs.
        assert without["EV OOP"] < whole["EV OOP"] + 0.1
        for results in (whole, without):
            assert results["EV OOP"] + results["EV IP"] == pytest.approx(60, abs=1e-3)

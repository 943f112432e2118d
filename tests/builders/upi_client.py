"""A client of PioSOLVER's protocol, and the laws that its answers obey."""

from collections.abc import Iterator

import numpy as np

from allstreets.base import Floats
from allstreets.cards import COMBO_COUNT
from allstreets.engines import CardModel
from allstreets.interop import Session
from allstreets.interop.upi.games import BOARDS

END = "END"


class Client:
    """Sends a command and reads its answer, as clients do: up to the end string."""

    def __init__(self, model: CardModel = BOARDS) -> None:
        self.written: list[str] = []
        self.session = Session(self.written.append, model)
        assert self.ask(f"set_end_string {END}") == ["set_end_string ok!"]

    def ask(self, command: str) -> list[str]:
        """The lines of an answer without those of the solver."""
        self.written.clear()
        self.session.execute(command)
        (answer,) = (text for text in list(self.written) if not text.startswith("SOLVER:"))
        lines = answer.splitlines()
        assert lines.pop() == END
        assert END not in lines
        return lines

    def tell(self, script: str) -> None:
        """Commands that answer nothing but ok."""
        for command in filter(None, script.splitlines()):
            assert self.ask(command) == [f"{command.split()[0]} ok!"], command

    def solve(self) -> str:
        """Solve to the accuracy; returns the solver's last line."""
        self.tell("go")
        assert self.session.solve is not None
        self.session.solve.wait()
        return self.written[-1].strip()

    def numbers(self, command: str) -> Floats:
        """Lines of numbers."""
        return np.array([np.fromstring(line, sep=" ") for line in self.ask(command)])

    def children(self, node: str) -> list[str]:
        lines = self.ask(f"show_children {node}")
        blocks = [lines[start : start + 8] for start in range(0, len(lines), 8)]
        assert [block[0] for block in blocks] == [f"child {n}:" for n in range(len(blocks))]
        assert all(block[7] == "" for block in blocks)
        return [block[1] for block in blocks]

    def player(self, node: str) -> str:
        return self.ask(f"show_node {node}")[1].removesuffix("_DEC")


def walk(client: Client, node: str) -> Iterator[str]:
    """Decisions from a node on, on a few cards."""
    kind = client.ask(f"show_node {node}")[1]
    below = client.children(node)
    if kind.endswith("_DEC"):
        yield node
    for child in below[::11] if kind == "SPLIT_NODE" else below:
        yield from walk(client, child)


def close(shown: Floats, expected: Floats, within: float, where: str = "") -> None:
    """Two vectors agree; pytest's own comparison takes milliseconds for one of 1,326 numbers."""
    np.testing.assert_allclose(shown, expected, rtol=1e-6, atol=within, err_msg=where)


def consistent(client: Client, node: str, chips: float = 100) -> None:
    """EV(node) = Σ frequency · EV(action), and ranges are multiplied by the strategy.

    Numbers are written in single precision of stacks of this size.
    """
    player = client.player(node)
    evs, met = client.numbers(f"calc_ev {player} {node}")
    reach = client.numbers(f"show_range {player} {node}")[0]
    strategy = client.numbers(f"show_strategy {node}")
    mixed = np.zeros(COMBO_COUNT)
    for child, chances in zip(client.children(node), strategy, strict=True):
        own = client.numbers(f"calc_ev {player} {child}")[0]
        mixed += np.where(chances > 0, chances * own, 0.0)
        below = client.numbers(f"show_range {player} {child}")[0]
        close(below, reach * chances, 1e-6, child)
    close(mixed[met > 0], evs[met > 0], 2e-6 * chips, node)

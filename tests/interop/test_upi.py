"""PioSOLVER's protocol: a client reads the numbers of the solver's own walk."""

import subprocess
import sys
from fractions import Fraction
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from builders.upi_client import END, Client, consistent, walk
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets import load, solve
from allstreets.base import Floats, Longs
from allstreets.betting import Player
from allstreets.cards import COMBO_CARDS, COMBO_COUNT, Range, combo_text
from allstreets.cli.main import main
from allstreets.engines import CardModel
from allstreets.games import Spot
from allstreets.interop import Session
from allstreets.interop.pio_script import bets_of, read_pio_script, spot_of_lines
from allstreets.interop.upi.session import BANNER, COMMANDS, LATER
from allstreets.interop.upi.text import tree_info
from allstreets.solutions import SpotSolution

TURN = """
set_board QsJh2h8c
set_range OOP AA,QQ,98s,KQs:0.5
set_range IP KK:0.8,JJ:0.8,AQs:0.4
set_pot 0 0 60
set_eff_stack 100
clear_lines
add_line 30 100 100
add_line 0 30 100 100
add_line 30 30 100 100
add_line 0 0 50 100 100
add_line 0 0 20
add_line 0 0 0 25
build_tree
set_accuracy 0.2 chips
"""
RIVER = """
set_board QsJh2h8c3d
set_range OOP AA,QQ,98s
set_range IP KK,JJ,AQs
set_pot 0 0 60
set_eff_stack 100
add_line 30 100 100
add_line 0 30 100 100
build_tree
"""


@pytest.fixture(scope="module")
def turn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Client, SpotSolution]:
    """A client with a solved turn, and the same solution through the folder that it saved."""
    client = Client()
    client.tell(TURN)
    assert client.solve() == "SOLVER: stopped (required accuracy reached)"
    folder = tmp_path_factory.mktemp("upi") / "a turn"
    client.tell(f'dump_tree "{folder}"')
    return client, load(folder, SpotSolution)


NODES = {
    "r:0": "",
    "r:0:c": "x",
    "r:0:b30": "b30",
    "r:0:b30:b100": "b30 a",
    "r:0:c:b30": "x b30",
    "r:0:c:c:9d": "x x | 9d |",
    "r:0:c:c:9d:c": "x x | 9d | x",
    "r:0:c:c:9d:b50": "x x | 9d | b50",
    "r:0:c:c:Ac:b20": "x x | Ac | b20",
    "r:0:b30:c:2c": "b30 c | 2c |",
    "r:0:b30:c:2c:b100": "b30 c | 2c | a",
}


def combos(decision_values: Floats, held: Longs | None, other: float) -> Floats:
    assert held is not None
    values = np.full((*decision_values.shape[:-1], COMBO_COUNT), other)
    values[..., held] = decision_values
    return values


@pytest.mark.parametrize("node", NODES)
def test_numbers_are_those_of_the_walk(turn: tuple[Client, SpotSolution], node: str) -> None:
    client, solution = turn
    play = solution.at(NODES[node]).decision
    strategy = client.numbers(f"show_strategy {node}")
    expected = combos(play.strategy, play.own.combos, 0.0)[::-1]
    assert strategy == pytest.approx(expected, abs=1e-6)
    scales = {"OOP": 1.0, "IP": 0.8}  # the walk's ranges have 1 as their largest weight
    for player in Player:
        hands, scale = play.hands[player], scales[player.name]
        shown = client.numbers(f"show_range {player.name} {node}")[0]
        assert shown == pytest.approx(combos(hands.reach, hands.combos, 0.0) * scale, abs=1e-6)
        evs, met = client.numbers(f"calc_ev {player.name} {node}")
        results = play.whole_hand().evaluate().hands[player]
        assert evs == pytest.approx(combos(results, hands.combos, np.nan), abs=1e-4, nan_ok=True)
        assert met == pytest.approx(combos(hands.weights, hands.combos, 0.0) * 0.8, abs=1e-5)
        *vectors, (mean,) = (
            [float(word) for word in line.split()]
            for line in client.ask(f"calc_eq_node {player.name} {node}")
        )
        equity = np.array(vectors[0])
        assert equity == pytest.approx(
            combos(play.equity(player), hands.combos, np.nan), abs=1e-6, nan_ok=True
        )
        live = np.array(vectors[1]) > 0
        assert mean == pytest.approx(np.average(equity[live], weights=np.array(vectors[1])[live]))


@pytest.mark.parametrize(
    "rake", [pytest.param("set_rake 0 0", marks=pytest.mark.long), "set_rake 0.05 3"]
)
def test_the_ev_of_a_node_is_that_of_its_actions(rake: str) -> None:
    client = Client()
    client.tell(rake)
    client.tell(TURN)
    client.solve()
    nodes = list(walk(client, "r:0"))
    assert len(nodes) > 60
    for node in nodes:
        consistent(client, node)


def test_results(turn: tuple[Client, SpotSolution]) -> None:
    client, solution = turn
    lines = dict(line.split(": ") for line in client.ask("calc_results"))
    assert list(lines)[1:] == ["EV OOP", "EV IP", "OOP's MES", "IP's MES", "Exploitable for"]
    oop, ip, best_oop, best_ip, exploitable = (float(each) for each in list(lines.values())[1:])
    assert (oop, ip) == pytest.approx(solution.evs, abs=1e-3)
    assert oop + ip == pytest.approx(60, abs=1e-3)
    assert exploitable == pytest.approx((best_oop + best_ip - 60) / 2, abs=1e-3)
    assert exploitable == pytest.approx(60 * solution.exploitability, abs=1e-3)
    assert exploitable <= 0.2


def test_both_players_share_the_pot_where_a_card_is_dealt(
    turn: tuple[Client, SpotSolution],
) -> None:
    client, _ = turn
    for node in ("r:0:c:c", "r:0:b30:c"):
        assert client.ask(f"show_node {node}")[1] == "SPLIT_NODE"
        total = 0.0
        for player in ("OOP", "IP"):
            evs, met = client.numbers(f"calc_ev {player} {node}")
            total += float(np.average(evs[met > 0], weights=met[met > 0]))
        assert total == pytest.approx(60, abs=1e-3)  # less what both have put in


def test_how_often_play_gets_to_nodes(turn: tuple[Client, SpotSolution]) -> None:
    client, solution = turn

    def often(node: str) -> float:
        return float(client.ask(f"calc_global_freq {node}")[0])

    for node in ("r:0", "r:0:c", "r:0:c:c:9d"):
        share = sum(often(child) for child in client.children(node))
        assert share == pytest.approx(often(node), abs=1e-6)
    assert often("r:0") == pytest.approx(1)
    dealt = sum(often(child) for child in client.children("r:0:c:c"))
    assert dealt == pytest.approx(often("r:0:c:c"), abs=1e-6)
    share = solution.at("x x | 9d |").ranges.share
    assert float(client.ask("calc_line_freq r:0:c:c:9d")[0]) == pytest.approx(share, abs=1e-6)


def test_blocks(turn: tuple[Client, SpotSolution]) -> None:
    client, _ = turn
    assert client.ask("show_node r:0:b30:c:2c:b100") == [
        "r:0:b30:c:2c:b100",
        "IP_DEC",
        "Qs Jh 2h 8c 2c ",
        "100 30 60 ",
        "2 children",
        "flags: PIO_CFR ",
        "",
    ]
    assert client.ask("show_node r")[:2] == ["r", "ROOT"]
    assert client.children("r") == ["r:0"]
    assert client.children("r:0:c:c:9d") == [f"r:0:c:c:9d:{word}" for word in ("b50", "b20", "c")]
    assert client.children("r:0:b30") == [f"r:0:b30:{word}" for word in ("b100", "c", "f")]
    assert len(client.children("r:0:c:c")) == 48
    assert client.children("r:0:b30:f") == []
    lines = client.ask("show_all_lines")
    assert lines[:4] == ["r:0", "r:0:b30", "r:0:b30:b100", "r:0:b30:b100:c"]
    assert len(lines) == len(set(lines))
    assert client.ask("show_effective_stack") == ["100"]
    assert client.ask("show_board_no_iso") == ["Qs Jh 2h 8c"]
    info = dict(line[1:].split("#") for line in client.ask("show_tree_info"))
    assert (info["Pot"], info["Board"]) == ("60", "Qs Jh 2h 8c")
    assert info["Range0"] == str(Range.parse("AA,QQ,98s,KQs:0.5"))


def test_a_tree_that_is_loaded_shows_and_goes_on(
    turn: tuple[Client, SpotSolution], tmp_path: Path
) -> None:
    client, solution = turn
    folder = tmp_path / "again"
    client.tell(f'dump_tree "{folder}"')
    other = Client()
    other.tell(f'load_tree "{folder}"')
    assert other.ask("show_strategy r:0:c") == client.ask("show_strategy r:0:c")
    assert other.ask("calc_results")[1:] == client.ask("calc_results")[1:]
    assert other.ask("show_metadata " + str(folder))[1] == "ROOT"
    other.tell("set_accuracy 0.05 chips")
    assert other.solve() == "SOLVER: stopped (required accuracy reached)"
    assert float(other.ask("calc_results")[-1].split()[-1]) <= 0.05
    other.tell(f'dump_tree "{folder}"')  # brings the folder up to date
    assert load(folder, SpotSolution).iterations > solution.iterations


def test_files_of_piosolver_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "a tree.cfr").write_bytes(b"\x01CFR\0")
    for command in ("load_tree", "show_metadata", "show_save_version"):
        (line,) = Client().ask(f'{command} "{tmp_path / "a tree.cfr"}"')
        assert line.startswith(f"ERROR: {command}: ")
        assert ".cfr files of PioSOLVER are not read" in line


def test_a_session_as_text() -> None:
    script = f"set_end_string {END}\n# a comment\n\n{RIVER}set_accuracy 0.002 fraction\ngo\n"
    script += "wait_for_solver\ncalc_results\nshow_strategy r:0\nexit\nis_ready\n"
    written: list[str] = []
    Session(written.append).run(iter(script.splitlines(keepends=True)))
    lines = "".join(written).splitlines()
    assert lines[:3] == list(BANNER)
    assert lines[3:5] == ["set_end_string ok!", END]
    assert lines[-2:] == ["exit ok!", END]  # what follows is not answered
    go = lines.index("go ok!")
    assert lines[go : go + 6] == [
        "go ok!",
        END,
        "SOLVER: started",
        "SOLVER: stopped (required accuracy reached)",
        "wait_for_solver ok!",
        END,
    ]
    sizes = {"river_oop": {"bet": ["50%"], "raise": ["a"]}} | {
        "river_ip": {"bet": ["50%"], "raise": ["a"]}
    }
    spot = Spot(
        "QsJh2h8c3d", "AA,QQ,98s", "KK,JJ,AQs", 60, 100, bet_sizes=sizes, force_allin_threshold=0
    )
    solution = solve(spot, target=0.002)
    results = lines[go + 7 : go + 12]
    assert results[0] == f"EV OOP: {solution.evs[0]:.6g}"
    play = solution.at().decision
    strategy = combos(play.strategy, play.own.combos, 0.0)[::-1]
    shown = np.array([[float(word) for word in line.split()] for line in lines[go + 13 : go + 15]])
    assert shown == pytest.approx(strategy, abs=1e-6)


def test_the_examples_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "upi.md").read_text()
    scripts = [part.split("```")[0] for part in page.split("```text\n")[1:]]
    assert len(scripts) == 2
    for script in scripts:
        written: list[str] = []
        model = CardModel("boards", groups=16, rows=16)  # solved in a second
        Session(written.append, model).run(iter(script.splitlines(keepends=True)))
        lines = "".join(written).splitlines()
        assert lines.count(END) == len(script.splitlines())
        assert not any(line.startswith("ERROR") for line in lines)
    words = set(page.replace("`", " ").replace("…", " ").replace(",", " ").split())
    assert set(COMMANDS) <= words


def test_the_solver_runs_in_the_background() -> None:
    client = Client()
    client.tell(RIVER)
    client.tell("set_accuracy 0 chips\ngo\nis_ready")  # an accuracy that is never reached
    assert client.ask("calc_results")[1].startswith("EV OOP: ")
    assert len(client.ask("show_strategy r:0")) == 2
    assert client.ask("build_tree")[0].startswith("ERROR: build_tree: the solver is running")
    assert client.ask("go")[0].startswith("ERROR")
    solving = client.session.solve
    assert solving is not None
    iterations = []
    for _ in range(20):  # however often it is asked, it trains in between, and only there
        with solving.resting():
            iterations += [solving.solver.iterations, solving.solver.iterations]
    assert iterations[::2] == iterations[1::2] == sorted(set(iterations))
    client.tell("stop")
    assert client.written[0] == "SOLVER: stopped (requested)\n"
    assert client.ask("calc_results") == client.ask("calc_results")
    client.tell("go 20")
    client.session.run(iter(["wait_for_solver\n"]))
    assert "SOLVER: stopped (step limit reached)\n" in client.written
    client.tell("stop\nwait_for_solver\nfree_tree")
    assert client.ask("is_tree_present") == ["false"]


def test_commands_are_taken_as_soon_as_the_solver_says_that_it_stopped() -> None:
    """Clients wait for that line alone."""
    answers: list[str] = []
    client = Client()
    client.tell(RIVER)

    def write(text: str) -> None:
        if text.startswith("SOLVER: stopped"):  # its thread still runs
            solve = client.session.solve
            assert solve is not None
            answers.append(str(solve.runs))
        client.written.append(text)

    client.session._write = write
    for _ in range(3):
        client.tell("go 1\nwait_for_solver\nlock_node r:0\nunlock_node r:0")
    assert answers == ["False"] * 3


def test_reports_of_a_running_solver() -> None:
    """Blocks of their own: a line SOLVER:, the six of calc_results, and the end string."""
    client = Client()
    client.tell(f"{RIVER}set_info_freq 0\nset_accuracy 0.05 chips\ngo\nwait_for_solver")
    assert client.session.solve is not None
    reports: list[str] = []
    client.session._write = reports.append
    client.session.execute("set_accuracy 0.001 chips")
    client.session.execute("go")
    client.session.solve.wait()
    blocks = [text.splitlines() for text in reports if text.startswith("SOLVER:\n")]
    assert blocks
    names = [line.split(":")[0] for line in client_results(client)]
    for first, *rows, end in blocks:
        assert (first, end) == ("SOLVER:", END)
        assert [row.split(":")[0] for row in rows] == names


def client_results(client: Client) -> list[str]:
    client.session._write = client.written.append
    return client.ask("calc_results")


def test_a_solver_that_is_left_running_ends_with_the_session() -> None:
    written: list[str] = []
    session = Session(written.append)
    session.run(iter([*RIVER.splitlines(), "set_accuracy 0", "go"]))
    assert written[-1] == "SOLVER: stopped (requested)\n"


@pytest.mark.parametrize(
    ("fold", "call", "oop", "ip"),
    [
        (0.25, 0.75, {"QsQh": 0.0, "AsAh": 27.5}, 6.25),
        (0.5, 0.5, {"QsQh": 5.0, "AsAh": 25.0}, 5.0),
    ],
)
def test_locks(fold: float, call: float, oop: dict[str, float], ip: float) -> None:
    client = Client()
    client.tell(
        "set_board 2s3h4d6c7c\nset_range OOP AsAh,QsQh\nset_range IP KsKh\nset_pot 0 0 20\n"
        "set_eff_stack 10\nadd_line 10 10\nadd_line 0 10 10\nbuild_tree\nset_accuracy 0.001"
    )
    assert client.children("r:0:b10") == ["r:0:b10:c", "r:0:b10:f"]
    rows = " ".join([str(call)] * COMBO_COUNT + [str(fold)] * COMBO_COUNT)
    client.tell(f"set_strategy r:0:b10 {rows}\nlock_node r:0:b10")
    client.solve()
    hands = client.ask("show_hand_order")[0].split()
    evs, _ = client.numbers("calc_ev OOP r:0")
    for hand, ev in oop.items():
        assert evs[hands.index(hand)] == pytest.approx(ev, abs=0.05)
    evs, _ = client.numbers("calc_ev IP r:0")
    assert evs[hands.index("KsKh")] == pytest.approx(ip, abs=0.05)
    locked = client.numbers("show_locked_combos r:0:b10")[0]
    assert [combo_text(int(combo)) for combo in np.flatnonzero(locked)] == ["KsKh"]
    client.tell("unlock_node r:0:b10")
    client.solve()
    assert client.numbers("show_strategy r:0:b10")[0][hands.index("KsKh")] != pytest.approx(call)


def test_strategies_that_are_set_count_at_once() -> None:
    client = Client()
    client.tell(TURN.replace("8c", "8h"))  # clubs and diamonds are alike there
    client.solve()
    nodes = ["r:0", "r:0:c", "r:0:b30", "r:0:c:c:9d", "r:0:c:c:9c", "r:0:b30:c:Kd:c"]
    before = {node: client.numbers(f"show_strategy {node}") for node in nodes}
    evs = client.numbers("calc_ev IP r:0:c")
    # What is played already, set once more, changes nothing.
    rows = " ".join(client.ask("show_strategy r:0:c"))
    client.tell(f"set_strategy r:0:c {rows}")
    assert client.numbers("calc_ev IP r:0:c") == pytest.approx(evs, abs=1e-4, nan_ok=True)
    # Hands of one suit bet and all others check: suits are no longer alike.
    clubs = (COMBO_CARDS % 4 == 0).any(axis=1).astype(float)
    values = " ".join(f"{value:g}" for value in (*clubs, *(1 - clubs)))
    client.tell(f"set_strategy r:0 {values}")
    for node in nodes:
        if node != "r:0":
            assert client.numbers(f"show_strategy {node}") == pytest.approx(before[node], abs=1e-6)
        consistent(client, node)
    means = [float(line.split()[-1]) for line in client.ask("calc_results")[1:3]]
    assert sum(means) == pytest.approx(60, abs=1e-3)
    for player, mean in zip(("OOP", "IP"), means, strict=True):
        own, met = client.numbers(f"calc_ev {player} r:0")
        assert np.average(own[met > 0], weights=met[met > 0]) == pytest.approx(mean, abs=1e-3)
    # Without a lock the next go solves it again.
    client.tell("set_accuracy 0.1 chips")
    client.solve()
    consistent(client, "r:0")
    assert float(client.ask("calc_results")[-1].split()[-1]) <= 0.1


def test_hands_stand_in_the_order_of_the_protocol() -> None:
    hands = Client().ask("show_hand_order")[0].split()
    assert hands[:5] == ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d"]
    assert (len(hands), hands[-1]) == (1326, "AsAh")
    high, low = COMBO_CARDS.T.astype(int)
    assert (high * (high - 1) // 2 + low == np.arange(COMBO_COUNT)).all()


# Facts of Pious, a client with tests of its own against PioSOLVER.
EQUITIES = [
    ("Kh9d8d", "AKo, 32o", "T9s, T8s", "calc_eq_node OOP r:0", 0.347, 0.652),
    ("3h3d3c", "AKo, 32o", "T9s, T8s", "calc_eq_node OOP r:0", 0.795, 0.205),
    ("3h3d3c", "JJ, TT", "AA, KK, QQ", "calc_eq_node OOP r:0", 0.088, 0.912),
    ("3h3d3c", "JJ, TT", "AA, KK, QQ", "calc_eq_preflop OOP", 0.186, 0.813),
]


@pytest.mark.parametrize(("board", "oop", "ip", "command", "first", "second"), EQUITIES)
def test_equities(board: str, oop: str, ip: str, command: str, first: float, second: float) -> None:
    client = Client()
    client.tell(f"set_eff_stack 100\nset_pot 0 0 100\nset_board {board}\nadd_line 0 0 0 0 0 0")
    assert client.ask("build_tree")[0].startswith("ERROR: build_tree: a tree needs set_range")
    client.tell(f"set_range OOP {oop}\nset_range IP {ip}\nbuild_tree")
    assert float(client.ask(command)[2]) == pytest.approx(first, abs=1e-3)
    assert float(client.ask(command.replace("OOP", "IP"))[2]) == pytest.approx(second, abs=1e-3)
    shares, met = client.numbers("calc_eq OOP")
    node = client.ask("calc_eq_node OOP r:0")
    assert shares == pytest.approx(np.array([float(word) for word in node[0].split()]), nan_ok=True)
    assert met == pytest.approx(np.array([float(word) for word in node[1].split()]))


def tree_lines(*texts: str) -> list[tuple[Fraction, ...]]:
    return [tuple(Fraction(word) for word in text.split()) for text in texts]


@pytest.mark.parametrize(
    "lines",
    [
        ["0 0 0 12 38 84 230"],
        ["13 13 60 230 230", "0 0 20", "0 17 51 230"],
        ["230", "40 230", "0 40 230 230", "0 40 40 160", "40 40 40 230"],
        [],
    ],
)
def test_the_tree_has_the_bets_of_the_lines(lines: list[str]) -> None:
    given_lines = tree_lines(*lines)
    spot = spot_of_lines(given_lines, board="QhQc2c", oop="AA,KK", ip="JJ,TT", pot=40, stack=230)
    bets = bets_of(spot.tree)
    reached = {line[:count] for line in given_lines for count in range(1, len(line) + 1)}
    assert bets <= reached
    for prefix in reached:  # an amount above those before it is a bet
        if prefix[-1] > max(prefix[:-1], default=Fraction(0)):
            assert prefix in bets


@pytest.mark.parametrize(
    "lines",
    [
        ["300 1000 1000", "0 300 1000 1000", "300 300 1000 1000", "0 0 500 1000 1000"],
        ["0 0 200", "0 0 0 200", "0 0 0 450"],
        ["0 0 0 0"],
    ],
)
def test_a_script_of_the_viewer_has_the_sizes_of_the_tree(lines: list[str]) -> None:
    client = Client()
    client.tell("set_board QsJh2h8c\nset_range OOP AA,QQ\nset_range IP KK\nset_pot 0 0 600")
    client.tell("\n".join(["set_eff_stack 1000", *(f"add_line {line}" for line in lines)]))
    client.tell("build_tree")
    read = read_pio_script("\n".join(client.ask("show_tree_info")))
    assert not read.left_out
    spot, again = client.session.state.spot().spot, Spot.from_mapping(read.keys)
    assert bets_of(again.tree) == bets_of(spot.tree)
    assert (again.ranges, again.pot, again.stack) == (spot.ranges, spot.pot, spot.stack)


def test_sizes_of_single_nodes_are_no_sizes_of_a_street() -> None:
    client = Client()
    client.tell(RIVER.replace("build_tree", "add_line 0 45\nbuild_tree"))
    assert not any("Config" in line for line in client.ask("show_tree_info"))


def test_thresholds_in_a_script_of_the_viewer() -> None:
    spot = Spot(
        "QsJh2h8c", "AA,QQ", "KK", 60, 300, bets="50%,e", raises="3x",
        add_allin_threshold=2.5, merging_threshold=0.12, force_allin_threshold=0,
    )  # fmt: skip
    read = read_pio_script("\n".join(tree_info(spot)))
    assert not read.left_out
    again = Spot.from_mapping(read.keys)
    assert (again.add_allin_threshold, again.merging_threshold) == (2.5, 0.12)
    assert bets_of(again.tree) == bets_of(spot.tree)


def test_a_size_of_one_line_stands_nowhere_else() -> None:
    client = Client()
    client.tell(RIVER.replace("build_tree", "add_line 0 45\nbuild_tree"))
    assert client.children("r:0:c") == ["r:0:c:b45", "r:0:c:b30", "r:0:c:c"]
    assert client.children("r:0") == ["r:0:b30", "r:0:c"]
    client.tell("remove_line 0 30\nbuild_tree")
    assert client.children("r:0:c") == ["r:0:c:b45", "r:0:c:c"]
    client.tell("clear_lines\nbuild_tree")
    assert client.children("r:0") == ["r:0:c"]


def test_the_end_string_can_be_dropped() -> None:
    written: list[str] = []
    session = Session(written.append)
    for command in (f"set_end_string {END}", "is_ready", "reset_end_string", "is_ready"):
        session.execute(command)
    ready = "is_ready ok!\n"
    assert written[1:] == [f"{ready}{END}\n", "reset_end_string ok!\n", ready]


def test_scripts(tmp_path: Path) -> None:
    path = tmp_path / "a tree.txt"
    path.write_text(f"{RIVER}set_accuracy 0.1\ngo\nwait_for_solver\n")
    client = Client()
    assert client.ask(f'load_script_silent "{path}"') == ["load_script_silent ok!"]
    assert client.ask(f'load_script "{path}"')[-1] == "wait_for_solver ok!"
    assert float(client.ask("calc_results")[-1].split()[-1]) <= 0.1
    path.write_text(f'load_script "{path}"\n')
    assert "load itself" in client.ask(f'load_script "{path}"')[0]


def test_the_command_speaks_the_protocol() -> None:
    """A client in another process, which pipelines its commands."""
    program = "from allstreets.cli.main import run; run()"
    script = f"set_end_string {END}\n{RIVER}\xffbad bytes\ngo\nwait_for_solver\nis_ready\n"
    done = subprocess.run(
        [sys.executable, "-c", program, "upi"],
        input=script.encode("latin-1"),
        capture_output=True,
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert lines[:3] == list(BANNER)
    assert lines[-2:] == ["is_ready ok!", END]
    assert "SOLVER: stopped (required accuracy reached)" in lines
    assert done.stderr == b""


def test_a_script_comes_before_what_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a script.txt"
    path.write_text("set_end_string END\necho first")
    monkeypatch.setattr(sys, "stdin", StringIO("echo second\n"))
    assert main(["upi", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:] == ["set_end_string ok!", END, "first", END, "second", END]
    assert main(["upi", str(tmp_path / "nowhere.txt")]) == 2
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("command", sorted(LATER))
def test_commands_that_wait(command: str) -> None:
    assert Client().ask(f"{command} r:0") == [
        f"ERROR: {command} is not supported by allstreets yet"
    ]


WRONG = [
    "show_node r:0:b31",
    "show_node r:0:c:c:c",
    "show_node r:0:Xx",
    "show_node x",
    "show_node",
    "show_strategy r:0:b30:f",
    "calc_ev r:0",
    "calc_ev OOP",
    "calc_ev MP r:0",
    "set_range OOP 1 2 3",
    "set_range OOP XX",
    "set_pot a b c",
    "set_pot 0 0 -5",
    "set_pot 0 0 nan",
    "set_board QsQs",
    "set_board QsJh2h8c3d4d",
    "add_line",
    "add_line x",
    "set_accuracy 1 pots",
    "set_accuracy",
    "go soon",
    "go 1 2 3",
    "load_tree",
    "load_tree /nowhere/at/all",
    "load_tree x sideways",
    'load_tree "half',
    "load_script /nowhere",
    "dump_tree x sideways",
    "set_strategy r:0 1 2",
    "combo_lock_node r:0 1",
    "set_rake 1",
    "show_all_freqs some",
    "show_categories",
    "show_categories Qs",
    "show_save_version /nowhere",
    "take_a_break",
    "stdoutredi",
    "stdoutredi /nowhere/at/all",
    "Show_node r:0",
]


@pytest.fixture(scope="module")
def river() -> Client:
    client = Client()
    client.tell(RIVER)
    return client


@pytest.mark.parametrize("command", WRONG)
def test_errors_are_one_line(river: Client, command: str) -> None:
    """All in one session: it continues as if nothing had been said."""
    before = river.ask("show_tree_params")
    (line,) = river.ask(command)
    assert line.startswith("ERROR: ")
    assert river.ask("show_tree_params") == before


# They wait, or write files of any name.
WITH_EFFECTS = {"go", "exit", "dump_tree", "stdoutredi", "stdoutredi_append", "take_a_break"}


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.tuples(
                st.sampled_from(sorted(set(COMMANDS) - WITH_EFFECTS)),
                st.lists(
                    st.sampled_from(["OOP", "IP", "r:0", "r:0:c", "r", "0", "30", "1e9", "nan"])
                    | st.text(max_size=8),
                    max_size=4,
                ),
            ).map(lambda command: " ".join([command[0], *command[1]])),
        ),
        max_size=6,
    )
)
def test_no_input_ends_the_session(commands: list[str]) -> None:
    client = Client()
    client.tell(RIVER)
    for command in commands:
        (line, *_) = command.splitlines() or [""]
        word = line.split()[:1]
        if (
            not word
            or word[0].startswith("#")
            or word[0] in {"set_end_string", "reset_end_string", *WITH_EFFECTS}
        ):
            continue
        assert not any("internal error" in answer for answer in client.ask(line)), line
    client.tell("is_ready")

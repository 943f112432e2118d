"""Trees of HRC, read and written; pious, an independent client, reads what we write."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from builders.whole_solution import result
from hypothesis import given
from hypothesis import strategies as st
from pious.hrc.game_state import Game
from pious.hrc.hand import HRCSim

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    NodeKind,
    Player,
    PreflopRules,
    action_word,
    build_preflop_tree,
    line_text,
    tree_lines,
)
from allstreets.cards import HAND_NAMES, RangeKind, preflop_equity
from allstreets.cli.main import main
from allstreets.explorer.views.view import open_view
from allstreets.games import PreflopGame, listed_rules, rules_mapping
from allstreets.interop import ExportKind, export_ranges, read_hrc
from allstreets.jobs.config.train import read_train_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.solutions import PreflopRoots, PreflopStrategies, SolutionFacts, WholeSolution
from allstreets.storage import compare, load, save_preflop

SAMPLE = Path(str(files("pious.hrc.resources.sims"))) / "2.5_rfi"
"""Six players, 100 bb deep, solved by HRC; it ships with pious."""

BLINDS = {"": 4, "r3": 5, "r3 r10": 6, "r3 r10 r20": 7, "r3 r10 r20 a": 8}
"""The nodes of the sample where all others have folded to the small blind."""


@cache
def sample() -> WholeSolution:
    return read_hrc(SAMPLE)


def stored(number: int) -> dict[str, Any]:
    node: dict[str, Any] = json.loads((SAMPLE / "nodes" / f"{number}.json").read_text())
    return node


def column(node: dict[str, Any], key: str) -> np.ndarray[Any, Any]:
    return np.array([node["hands"][name][key] for name in HAND_NAMES])


def test_every_kind_of_range_can_be_exported() -> None:
    assert {kind.value for kind in ExportKind} == {kind.value for kind in RangeKind} | {"hrc"}


def test_the_blinds_game_of_a_bigger_table_is_read() -> None:
    solution = sample()
    assert solution.rules.stack == 10_000
    assert solution.rules.rake == 0.05
    assert solution.rules.rake_cap == 8
    decisions = solution.before.tree.decisions()
    lines = [line_text(solution.before.tree, node, notation=BIG_BLINDS) for node in decisions]
    assert lines == list(BLINDS)


@pytest.mark.parametrize("line", BLINDS)
def test_frequencies_evs_and_ranges_are_those_of_the_file(line: str) -> None:
    decision, node = sample().at(line).decision, stored(BLINDS[line])
    np.testing.assert_allclose(decision.strategy.T, column(node, "played"), atol=1e-4)
    reached = decision.own.weights > 0
    expected = column(node, "evs").T
    np.testing.assert_allclose(decision.action_evs[:, reached], expected[:, reached], atol=1e-9)
    # The weights stand in the file by themselves; ours are products of frequencies.
    np.testing.assert_allclose(decision.own.reach, column(node, "weight"), atol=1e-4)


def test_the_other_players_evs_add_up_to_his_own_ev_above() -> None:
    """At a decision the other player has what his last action was worth.

    Called all-ins are left out: they are computed with our equities, HRC has dealt cards.
    """
    before = sample().before
    tree, values = before.tree, before.values
    assert values is not None
    for line in list(BLINDS)[:3]:
        node = sample().at(line).index
        other, children = tree.player_at(node).opponent, tree.children_of(node)
        held = before.reach[node, other] > 0.01
        above, below = values[other, node], values[other, children].sum(axis=0)
        np.testing.assert_allclose(above[held], below[held])


def test_all_in_evs_agree_with_our_equities() -> None:
    """HRC deals at random; the small blind's call of 80 bb into 200 bb has no randomness here."""
    decision = sample().at("r3 r10 r20 a").decision
    ours = decision.equity() * 200 - 80
    reached = decision.own.reach > 0.5
    gap = np.abs(decision.action_evs[1] - ours)[reached]
    assert gap.mean() < 2
    assert abs(decision.hand("AA").evs["c"] - (decision.hand("AA").equity * 200 - 80)) < 0.1


def test_pious_reads_what_we_write(tmp_path: Path) -> None:
    solution = result()
    export_ranges(solution, tmp_path / "out", "hrc")
    sim, tree = HRCSim(str(tmp_path / "out")), solution.before.tree
    assert sim.settings.hand_data.stacks == [200_000, 200_000]
    assert sim.settings.hand_data.blinds == [10_000, 5_000, 0]
    decisions = tree.decisions()
    assert len(sim.nodes) == len(decisions)
    for number, node in enumerate(decisions):
        theirs = sim.get_node(number)
        # pious plays the actions of the sequence by rules of its own.
        state = Game(sim, number, ["sb", "bb"]).game_state_at_node
        assert state.pot == 100 * tree.pot_at(node)
        assert state.stacks == [100 * tree.stack_at(node, p) for p in (Player.IP, Player.OOP)]
        assert state.current_player == (0 if tree.player_at(node) == Player.IP else 1)
        decision = solution.before.node(node)
        for hand, name in enumerate(HAND_NAMES):
            there = theirs.get_hands()[name]
            assert there.weight == pytest.approx(decision.own.reach[hand], abs=5e-5)
            assert there.played == pytest.approx(decision.strategy[:, hand], abs=5e-5)
            evs = np.nan_to_num(decision.action_evs[:, hand])
            assert there.evs == pytest.approx(evs, abs=5e-6)
        for place, child in enumerate(tree.children_of(node).tolist()):
            follows = theirs.take_action(place)
            if tree.kind[child] != NodeKind.DECISION:
                assert follows is None
                continue
            kinds = [action.type for action in follows.sequence]
            words = [action_word(tree, step, BIG_BLINDS) for step in tree.path_to(child)[1:]]
            assert [kind in "FC" for kind in kinds] == [word in ("f", "c", "x") for word in words]


def any_solution(rules: PreflopRules, seed: int) -> WholeSolution:
    """A game of the whole deck: any strategies, and any values of the pots that see a flop."""
    chance, tree = np.random.default_rng(seed), build_preflop_tree(rules)
    game = PreflopGame.dealt(tree, rules, preflop_equity().pairs.astype(np.float64))
    strategies = {}
    for node in tree.decisions():
        weights = chance.uniform(0.1, 1, (int(tree.child_count[node]), len(HAND_NAMES)))
        strategies[node] = weights / weights.sum(axis=0)
    met = game.pot_reach(strategies)[::-1] @ game.pairs  # [2, P, 169]
    half = np.array([pot.pot / 2 for pot in game.pots])
    leaves = met * chance.uniform(-1, 1, met.shape) * half[:, None]
    values = np.stack(
        [game.values(p, leaves[p], best=False, strategies=strategies) for p in Player]
    )
    before = PreflopStrategies.known(tree, game.pairs, strategies, values)
    return WholeSolution(PreflopRoots(rules, before), None, SolutionFacts(1, "any", None))


RULES = [
    PreflopRules.parse(20, [2.5, 3]),
    PreflopRules.parse(12.5, [[2, 3], "50%"], 2, ante=0.1, rake="5%", rake_cap=0.3),
    PreflopRules.parse(40, {"sb": [2.25], "bb": [3.3]}, 3, limp=False, allin=4),
]


@pytest.mark.parametrize("rules", RULES, ids=["plain", "raked", "no limp"])
def test_what_is_written_is_read_again(tmp_path: Path, rules: PreflopRules) -> None:
    """Also the EVs of players who do not act, which no file holds."""
    solution = any_solution(rules, 7)
    export_ranges(solution, tmp_path / "out", ExportKind.hrc, digits=7)
    again = read_hrc(tmp_path / "out")
    ours, theirs = solution.before, again.before
    assert tree_lines(ours.tree) == tree_lines(theirs.tree)
    np.testing.assert_array_equal(ours.tree.invested, theirs.tree.invested)
    np.testing.assert_allclose(ours.reach, theirs.reach, atol=1e-6)
    for node in range(ours.tree.node_count):
        for player in Player:
            before, after = ours.node(node).evs(player), theirs.node(node).evs(player)
            np.testing.assert_allclose(after, before, atol=0.01)
    assert again.facts.values is not None


def test_a_tree_of_lines_compares_with_one_of_sizes(tmp_path: Path) -> None:
    solution = result()
    export_ranges(solution, tmp_path / "out", ExportKind.hrc, digits=7)
    again = read_hrc(tmp_path / "out")
    save_preflop(again, tmp_path / "saved", identity={"source": "HRC"})
    assert load(tmp_path / "saved", WholeSolution).rules == again.rules
    compared = compare(solution, tmp_path / "saved", "c")
    assert compared.distance < 1e-3
    with pytest.raises(InputError, match="different games"):
        compare(sample(), tmp_path / "saved", "c")


def test_the_command_imports_a_zip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "blinds.zip"
    with ZipFile(packed, "w") as made:
        made.write(SAMPLE / "settings.json", "some/settings.json")
        for number in range(9):
            made.write(SAMPLE / "nodes" / f"{number}.json", f"some/nodes/{number}.json")
    assert main(["import", str(packed), str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "solved by HRC" in said
    assert main(["report", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "a tree of 9 lines" in said
    assert "solved by HRC" in said
    facts = {fact.label: fact.value for fact in open_view(tmp_path / "out").describe().facts}
    assert facts["Tree before the flop"] == "9 lines"
    asked = [
        "--from",
        str(tmp_path / "out"),
        "--line",
        "r3 c",
        "-p",
        "bb",
        "--json",
        "--digits",
        "4",
    ]
    assert main(["range", *asked]) == 0
    weights = json.loads(capsys.readouterr().out)["hands"]
    assert weights["KTs"] == 0.7188 == stored(5)["hands"]["KTs"]["played"][1]


def test_a_training_file_has_the_same_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "from-hrc", str(SAMPLE)]) == 0
    file = tmp_path / "game.yaml"
    file.write_text(capsys.readouterr().out)
    solver = read_train_config(file).solver
    assert isinstance(solver, UnifiedConfig)
    assert listed_rules(rules_mapping(solver.preflop_rules())) == listed_rules(
        rules_mapping(sample().rules)
    )
    file.write_text(file.read_text().replace("  preflop_lines:", "  limp: false\n  preflop_lines:"))
    with pytest.raises(InputError, match="drop this key"):
        read_train_config(file)
    assert solver.game().tree.node_count == sample().before.tree.node_count


def _spoilt(tmp_path: Path, name: str, change: Any) -> Path:
    folder = tmp_path / "spoilt"
    (folder / "nodes").mkdir(parents=True)
    for kept in ("settings.json", *(f"nodes/{number}.json" for number in range(9))):
        shutil.copy(SAMPLE / kept, folder / kept)
    data = json.loads((folder / name).read_text())
    change(data)
    (folder / name).write_text(json.dumps(data))
    return folder


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("settings.json", lambda d: d["handdata"].pop("stacks"), "stacks is not as written"),
        ("settings.json", lambda d: d["handdata"].update(blinds=[0, 0, 0]), "are not a game"),
        ("settings.json", lambda d: d["handdata"].update(blinds=[1000, 500, 100]), "antes"),
        ("nodes/5.json", lambda d: d.update(player=4), "is not a decision of player 5"),
        ("nodes/4.json", lambda d: d["actions"][1].update(type="Z"), "'Z' is not known"),
        ("nodes/4.json", lambda d: d["actions"][1].update(node=4), "two actions lead to node 4"),
        ("nodes/5.json", lambda d: d["actions"][2].update(amount=2000), "not above the bet"),
        ("nodes/5.json", lambda d: d["actions"][2].update(node=77_777), "has no nodes/77777.json"),
        ("nodes/5.json", lambda d: d["hands"]["AA"].update(played="x"), "played is not as written"),
        ("nodes/3.json", lambda d: d["actions"][0].pop("node"), "folded to the blinds"),
        ("nodes/7.json", lambda d: d["actions"][2].update(node=6), "two actions lead to node 6"),
        ("nodes/5.json", lambda d: d["hands"]["AA"]["played"].pop(), "a number for each action"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_hrc(_spoilt(tmp_path, name, change))


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside of JSON data."""
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from _paths(part, (*path, key))


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.builds(list)
)


@given(data=st.data())
def test_damaged_exports_are_read_or_refused(data: st.DataObject) -> None:
    """No other error comes of any value anywhere."""
    name = data.draw(st.sampled_from(["settings.json", *(f"nodes/{n}.json" for n in range(9))]))

    def change(content: Any) -> None:
        *above, last = data.draw(st.sampled_from(list(_paths(content))))
        for key in above:
            content = content[key]
        content[last] = data.draw(ANYTHING)

    with TemporaryDirectory() as folder, suppress(InputError):
        read_hrc(_spoilt(Path(folder), name, change))


def test_other_equity_models_have_no_evs(tmp_path: Path) -> None:
    solution = read_hrc(_spoilt(tmp_path, "settings.json", lambda d: d["eqmodel"].update(id="icm")))
    assert np.isnan(solution.at("r3").decision.action_evs).all()
    assert solution.at("r3").decision.hand("KTs").frequencies["c"] == 0.7188


def test_files_that_are_no_export_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_text("no zip")
    with pytest.raises(InputError, match=r"not a \.zip"):
        read_hrc(tmp_path / "no.zip")
    with pytest.raises(InputError, match=r"has no settings\.json"):
        read_hrc(tmp_path)

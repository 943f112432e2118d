"""Whole games that were made simple and saved: every figure is that of the stored play."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import whole_solution

import allstreets
from allstreets.analysis import RealGame, Simplified, evaluated_flops, everything
from allstreets.base import Floats, InputError
from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.cards import flop_matchups, hand_pairs, preflop_equity
from allstreets.engines import CardModel, evaluate_flop, lift_flop
from allstreets.solutions import SolverSource, WholeSolution
from allstreets.solvers import MBB_PER_CHIP, WholeGameSolver
from allstreets.storage import (
    MANIFEST,
    load_unified,
    require_unified_folder,
    save_unified,
)
from allstreets.storage.game_bundle import GameWriter

At = Callable[[int], Floats]  # decision → [A, 169]


@cache
def sampled() -> WholeGameSolver:
    """A flop of few runouts, sampled."""
    game = whole_solution.whole_game(["7s7h7d"], 4, "50%", (), allin="never")
    return whole_solution.solver_of(game, 30, CardModel("sampled"))


@cache
def boards() -> WholeSolution:
    """The same with real boards, in few groups."""
    game = whole_solution.whole_game(["7s7h7d"], 4, "50%", (), allin="never")
    model = CardModel("boards", groups=16, rows=16)
    return WholeSolution.of(whole_solution.solver_of(game, 6, model))


SOLVERS = {
    "classes": whole_solution.classes,
    "raked": whole_solution.raked,
    "buckets": whole_solution.buckets,
    "sampled": sampled,
}


@cache
def original(name: str) -> WholeSolution:
    return WholeSolution.of(SOLVERS[name](), name=name)


def simple(result: WholeSolution, folder: Path, **rule: Any) -> tuple[Simplified, WholeSolution]:
    """The cost, and the saved solution."""
    price = allstreets.simplify(result, **rule, output=folder, threads=1)
    assert isinstance(price.solution, WholeSolution)
    return price, price.solution


def decisions(result: WholeSolution) -> Iterator[tuple[Player, Floats, Floats]]:
    """Who decides, the sizes of bets and raises [A], 0 for others, and what hands do [A, H]."""
    places = [(result.before.tree, result.before.strategies.__getitem__)]
    for pot in result.game.pots:
        for flop in result.game.flops.flops:
            places.append((pot.tree, result.stored.strategies(pot.pot.node, flop).at))
    for tree, at in places:
        for node in tree.decisions():
            sizes = [one.amount if one.is_aggressive else 0.0 for one in tree.actions_at(node)]
            yield tree.player_at(node), np.array(sizes), at(node)


@pytest.mark.parametrize("name", SOLVERS)
def test_figures_are_those_of_the_strategies_that_are_stored(name: str, tmp_path: Path) -> None:
    """Looked up, played again by a solver of all flops, and evaluated there."""
    price, found = simple(original(name), tmp_path / "simple", grid=0.25)
    twin = SolverSource(whole_solution.played(found))
    expected = twin.solver.figures()
    assert found.exploitability == price.after
    assert price.after == pytest.approx(expected.exploitability, rel=1e-5)
    assert abs(price.after - price.before) > 0.01
    assert found.preflop_exploitability == pytest.approx(expected.preflop_exploitability, rel=1e-4)
    assert found.values == pytest.approx(expected.values, abs=1e-3)
    for row, other in zip(found.stored.source.rows, twin.rows, strict=True):
        assert row.pop("flop") == other.pop("flop")
        assert row == pytest.approx(other, rel=1e-4)
    values, slow = found.before.values, twin.before.values
    assert values is not None
    assert slow is not None
    np.testing.assert_allclose(values.astype(float), slow.astype(float), rtol=1e-4, atol=200)
    for place, flop in enumerate(found.game.flops.flops):
        again = twin.arrays(place)["values"]
        np.testing.assert_allclose(found.values_at(flop.text), again, rtol=1e-4, atol=1)
    assert found.values is not None
    if name != "raked":
        assert sum(found.values) == pytest.approx(0.0, abs=1e-3)
    for _, _, chances in decisions(found):
        assert (chances * 4 == np.rint(chances * 4)).all()  # to the last bit
        assert (chances.sum(axis=0) == 1).all()


def results(tree: BettingTree, payoffs: Floats, at: At, below: At, node: int = 0) -> Floats:
    """[2, 169, 169]: what OOP and IP win on average with the row's and the column's hand.

    `below` gives the share of the pot that the row wins where hands are shown, and the results
    where a flop is dealt.
    """
    kind, ones = tree.kind[node], np.ones((1, 169, 169))
    if kind == NodeKind.FOLD:
        return payoffs[node, :, 0, None, None] * ones
    if kind == NodeKind.SHOWDOWN:
        won = np.stack([below(node), 1 - below(node)])
        return payoffs[node, :, 0, None, None] * won + payoffs[node, :, 2, None, None] * (1 - won)
    children = tree.children_of(node).tolist()
    if kind == NodeKind.CHANCE:
        dealt = below(node)
        return dealt if dealt.ndim == 3 else results(tree, payoffs, at, below, children[0])
    found = np.zeros((2, 169, 169))
    for child, chance in zip(children, at(node), strict=True):
        own = chance[:, None] if tree.player[node] == Player.OOP else chance[None, :]
        found += own * results(tree, payoffs, at, below, child)
    return found


def _always(share: Floats, _: int) -> Floats:
    return share


def test_values_are_what_pairs_of_hands_add_up_to(tmp_path: Path) -> None:
    _, found = simple(whole_solution.trips_result(), tmp_path / "simple", sizes=1, grid=0.5)
    game, before, preflop = found.game, found.before, preflop_equity().equity
    total, weight = np.zeros(2), 0.0
    for place, flop in enumerate(game.flops.flops):
        equity = np.nan_to_num(flop_matchups(flop.cards).equity)
        pots = {
            pot.pot.node: results(
                pot.tree,
                pot.payoffs,
                found.stored.strategies(pot.pot.node, flop).at,
                partial(_always, equity),
            )
            for pot in game.pots
        }
        whole = results(
            before.tree,
            game.before_the_flop(before.pairs).results,
            before.strategies.__getitem__,
            defaultdict(lambda: preflop, pots).__getitem__,
        )
        dealt = game.flops.weights[place] * hand_pairs(flop.cards)
        total += (whole * dealt).sum(axis=(1, 2))
        weight += dealt.sum()
    assert found.values == pytest.approx(MBB_PER_CHIP * total / weight, abs=1e-3)
    first = found.at("").decision.whole_hand()
    assert first.ev(Player.OOP) == pytest.approx(total[0] / weight / 100, abs=1e-5)


def test_sizes_and_rare_actions(tmp_path: Path) -> None:
    _, found = simple(original("classes"), tmp_path / "simple", sizes=1, drop=0.2)
    several = 0
    for _, sizes, chances in decisions(found):
        taken = chances[sizes > 0].sum(axis=1)
        several += len(taken) > 1
        assert (taken > 0).sum() <= 1
        assert ((chances == 0) | (chances > 0.19)).all()  # bytes hold 20 % as 20.1 %, or 19.9
    assert several


def test_one_player(tmp_path: Path) -> None:
    before = original("classes")
    price, found = simple(before, tmp_path / "simple", grid=0.5, player="sb")
    assert found.exploitability == price.after
    for (player, _, chances), (_, _, old) in zip(decisions(found), decisions(before), strict=True):
        if player == Player.OOP:
            np.testing.assert_array_equal(chances, old)
        else:
            assert (chances * 2 % 1 == 0).all()
    made = found.facts.simplified
    assert made is not None
    assert (made.players, made.head) == (("SB",), "simple SB: steps of 50 %")


@pytest.mark.parametrize("rule", [{"sizes": 9}, {"grid": 1e-6}], ids=str)
def test_what_changes_nothing(rule: dict[str, Any], tmp_path: Path) -> None:
    before = whole_solution.result()
    price, found = simple(before, tmp_path / "simple", **rule)
    assert price.after == pytest.approx(price.before, rel=1e-4)
    assert found.values == pytest.approx(before.values, abs=1e-2)
    for (_, _, chances), (_, _, old) in zip(decisions(found), decisions(before), strict=True):
        np.testing.assert_allclose(chances, old, atol=1e-6)
    for place in range(3):
        stored, known = found.stored.source.arrays(place), before.stored.source.arrays(place)
        assert list(stored) == list(known) or set(stored) == set(known)
        for key in known.keys() - {"values"}:
            np.testing.assert_array_equal(stored[key], known[key])
        np.testing.assert_allclose(stored["values"], known["values"], rtol=1e-3, atol=1)
    line, flop = "r2.5 c | x", whole_solution.FLOP
    np.testing.assert_allclose(
        found.at(line, flop).decision.evs(), before.at(line, flop).decision.evs(), 1e-3
    )


@pytest.mark.long
def test_real_boards(tmp_path: Path) -> None:
    """Combos play what is stored of their rows, and everything is judged with real cards.

    Long: a game with real boards.
    """
    before, game = boards(), boards().game
    flop, trees = game.flops.flops[0], [pot.tree for pot in game.pots]
    price, found = simple(before, tmp_path / "simple", grid=0.25, player="sb")
    for result, told in ((before, price.before), (found, price.after)):
        reach = game.before_the_flop(result.before.pairs).pot_reach(result.before.strategies)
        plays = lift_flop(result.cards, flop, trees, result.stored.source.arrays(0))
        values = evaluate_flop([(pot.tree, pot.payoffs) for pot in game.pots], flop, plays, reach)
        judged = evaluated_flops(everything(game.flops), [values], reach, result.before.pairs)
        preflop = game.before_the_flop(result.before.pairs)
        certified = RealGame(preflop, result.before.strategies, judged).figures()
        assert told == pytest.approx(certified.exploitability, rel=1e-4)
    assert price.judged == found.facts.judged == "with real cards, on its own flops"
    assert found.exploitability == price.after != pytest.approx(price.before, rel=1e-2)
    assert values.own is not None
    np.testing.assert_allclose(found.values_at("7s7h7d"), values.own, rtol=1e-4, atol=1)
    assert found.values is not None
    assert sum(found.values) == pytest.approx(0.0, abs=0.02)
    # EVs of the first decision by combo, as stored, are those of the pot.
    root = game.pots[0].pot.node
    first, reach = found.stored.view(root, flop).node(0, ""), found.before.reach[root]
    first = first.whole_hand()
    for player in Player:
        ours = np.nan_to_num(first.evs(player)) * 100 @ first.hands[player].weights
        assert ours == pytest.approx(reach[player] @ found.values_at("7s7h7d")[player, 0], rel=1e-4)
    at = [result.stored.view(root, flop).strategies.at(1) for result in (before, found)]
    assert found.stored.pot(root).tree.player_at(1) == Player.IP
    for line in ("x x | 5c | x", "x x | 5c | x x | 9d | x"):
        at += [result.at(f"c x | 7s7h7d | {line}").decision.strategy for result in (before, found)]
    for old, chances in zip(at[::2], at[1::2], strict=True):
        assert (old * 4 % 1 > 0.01).any()
        assert (chances * 4 % 1 == 0).all()
        assert (chances.sum(axis=0) == 1).all()
    untouched, stored = before.stored.source.arrays(0), found.stored.source.arrays(0)
    for key in untouched:
        if key.startswith(("groups", "rows", "sets")) or key.endswith("oop"):
            np.testing.assert_array_equal(stored[key], untouched[key])
            assert stored[key].dtype == untouched[key].dtype
    old, new = (result.stored.view(root, flop).strategies.at(0) for result in (before, found))
    np.testing.assert_array_equal(new, old)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files; name a new folder"):
        simple(original("classes"), folder, grid=0.5)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    simple(original("raked"), tmp_path / "simple", grid=0.5)
    with pytest.raises(InputError, match="already contains a solution; name another folder"):
        simple(original("raked"), tmp_path / "simple", grid=0.5)


def test_what_is_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GameWriter, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            simple(original("raked"), tmp_path / "simple", grid=0.5)
    assert not (tmp_path / "simple").exists()
    simple(original("raked"), tmp_path / "simple", grid=0.5)
    assert (tmp_path / "simple" / MANIFEST).is_file()


def test_it_says_what_it_was_made_from_and_cannot_go_on(tmp_path: Path) -> None:
    game = whole_solution.save_classes(tmp_path / "game", name="Twenty")
    price = allstreets.simplify(game, grid=0.25, drop=0.05, output=tmp_path / "simple", threads=1)
    found = load_unified(tmp_path / "simple")
    made = found.facts.simplified
    assert made is not None
    assert (made.folder, made.name) == (str(game), "Twenty")
    assert (made.grid, made.sizes, made.drop, made.players) == (0.25, None, 0.05, ("BB", "SB"))
    assert (made.before, made.after) == (price.before, price.after)
    assert (found.facts.name, found.metrics) == ("Twenty, no actions below 5 %, steps of 25 %", [])
    for resume in (False, True):
        with pytest.raises(
            InputError, match=r"contains simple strategies .* cannot be solved further"
        ):
            require_unified_folder(tmp_path / "simple", resume=resume)
    with pytest.raises(InputError, match=f"their original: 'Twenty' in {game}"):
        save_unified(whole_solution.classes(), tmp_path / "simple", config={})
    again, _ = simple(found, tmp_path / "again", drop=0.3)
    assert again.before == pytest.approx(price.after, rel=1e-6)

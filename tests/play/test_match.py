"""Matches: hands on real solutions, against values that are known otherwise, and the job."""

import threading
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from builders.solutions import folder, solution
from builders.whole_solution import solver_of, whole_game
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import Control, Floats, InputError
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    combo_equity,
    fitting,
    hand_pairs,
    live_combos,
    preflop_equity,
)
from allstreets.cli.main import main
from allstreets.engines import CLASSES, CardModel
from allstreets.interop import DealtPlayer, TableResult, TableRules, play_acpc
from allstreets.jobs import Callbacks, Here, Processes, plan_certify
from allstreets.play import (
    Decider,
    Estimate,
    OutsidePlayer,
    SolutionPlayer,
    Table,
    load_game,
    plan_match,
)
from allstreets.play.table import range_equity
from allstreets.solutions import PreflopRoots, WholeSolution
from allstreets.solvers import VisitPlan
from allstreets.storage import save_unified
from allstreets.study import Effort

PUSH_FOLD = "push or fold"
EFFORT = Effort(target=0.05, seconds=1e6, threads=1)


def game(name: str) -> WholeSolution:
    known = solution(name).as_game
    assert known is not None
    return known


@cache
def push_fold(iterations: int) -> WholeSolution:
    """Ten big blinds, all-in or fold, not solved for long."""
    known = whole_game(["Ks7h2d"], 10, "50%", ())
    known = replace(known, preflop=replace(known.preflop, limp=False))
    return WholeSolution.of(solver_of(known, iterations), name=f"{iterations} iterations")


def responder(to: WholeSolution) -> WholeSolution:
    """The best response to a solution of push or fold, in both seats."""
    before = to.before
    assert before.values is not None
    best = {}
    for node, strategy in before.strategies.items():
        player, children = int(before.tree.player[node]), before.tree.children_of(node)
        chosen = before.values[player, children].argmax(axis=0)
        best[node] = np.eye(len(strategy))[:, chosen]
    roots = PreflopRoots(to.rules, replace(before, strategies=best))
    return WholeSolution(roots, to.below, replace(to.facts, name="best responder"))


def results(first: WholeSolution, second: WholeSolution, deals: int) -> Floats:
    """[N, 4] of deals, as a job has them."""
    players = SolutionPlayer(first, EFFORT), SolutionPlayer(second, EFFORT)
    table, rows = Table.of(first, second), []
    for number in range(deals):
        deal = table.deal(3, number)
        big = table.play(deal, players, 3, (0, 1))
        small = table.play(deal, players[::-1], 3, (1, 0))
        rows.append([big.result, -small.result, big.corrected, -small.corrected])
    return np.array(rows)


def test_push_or_fold_without_luck_is_its_value() -> None:
    """All values are known there, so that nothing is left to luck: every hand is worth the same."""
    known = game(PUSH_FOLD)
    rows = results(known, known, 40)
    assert known.values is not None
    assert rows[:, 2] == pytest.approx(known.values[Player.OOP] / 1000, abs=1e-6)
    assert rows[:, 3] == pytest.approx(known.values[Player.IP] / 1000, abs=1e-6)
    assert rows[:, 0].std() > 2


def exact_value(oop: WholeSolution, ip: WholeSolution) -> float:
    """The big blind's win between two push-or-fold solutions, in bb, by hand classes."""
    pushes, calls = ip.before.strategies[0][1], oop.before.strategies[2][1]
    pairs = hand_pairs().astype(np.float64)  # [big blind's class, small blind's class]
    equity = np.nan_to_num(preflop_equity().equity)
    shown = 10 * (2 * equity - 1)
    answered = pushes * (calls[:, None] * shown + (1 - calls[:, None]) * -1.0)
    return float((pairs * ((1 - pushes) * 0.5 + answered)).sum() / pairs.sum())


def test_the_mean_of_different_players_is_exact() -> None:
    weak, strong = push_fold(1), game(PUSH_FOLD)
    tree = strong.before.tree
    assert [tree.actions[int(node)] is not None for node in tree.children_of(0)] == [True, True]
    rows = results(weak, strong, 120)
    for column, value in ((2, exact_value(weak, strong)), (3, -exact_value(strong, weak))):
        assert rows[:, column].mean() == pytest.approx(
            value, abs=4 * rows[:, column].std() / np.sqrt(120) + 1e-9
        )
        assert rows[:, column].std() < rows[:, column - 2].std() / 5


def test_against_a_best_responder_the_worse_solution_loses_more() -> None:
    """The best responder wins what exploitability says, and the order is right."""
    losses = []
    for iterations in (1, 4):
        weak = push_fold(iterations)
        rows = results(responder(weak), weak, 80)
        won = Estimate.of(rows[:, 2:].mean(axis=1))
        assert weak.exploitability is not None
        # mbb per hand is a tenth of bb/100.
        assert abs(won.mean - weak.exploitability / 10) < 2 * won.half + 1e-6
        losses.append(won)
    assert losses[0].mean - losses[0].half > losses[1].mean + losses[1].half > 0


def test_real_boards_are_worth_what_they_are_solved_to() -> None:
    """The big blind's value, through every street, turn and river dealt."""
    known = game("boards")
    rows = results(known, known, 20)
    assert known.values is not None
    assert not rows[:, :2].sum(axis=1).any()  # the same luck for both: nothing is won
    error = 4 * rows[:, 2].std() / np.sqrt(20)
    assert abs(rows[:, 2].mean() - known.values[Player.OOP] / 1000) < error < 0.02
    assert rows[:, 2].std() < rows[:, 0].std() / 50


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_equities_of_the_river(seed: int) -> None:
    """Running sums, against every pair by itself."""
    chance = np.random.default_rng(seed)
    board = tuple(int(card) for card in chance.choice(52, 5, replace=False))
    reach = chance.random(COMBO_COUNT) * (chance.random(COMBO_COUNT) < 0.3)
    reach = reach * live_combos(board)
    live = np.flatnonzero(live_combos(board))
    slow = combo_equity(board, (live, live), (np.ones(len(live)), reach[live]))[0]
    assert range_equity(board, reach)[live] == pytest.approx(np.nan_to_num(slow), abs=1e-9)


def test_deals_are_those_of_the_flops() -> None:
    """Cards fit, flops come as often as they weigh, and any suits do."""
    table = Table.of(game("classes"), game("classes"))
    deals = [table.deal(5, number) for number in range(300)]
    for deal in deals:
        cards = [*deal.board, *np.ravel(table_cards(deal.combos)).tolist()]
        assert len(set(cards)) == 9
    places = table.dealt_flops[1][[deal.flop for deal in deals]]
    shares = np.bincount(places, minlength=len(table.flops)) / 300
    assert shares == pytest.approx(table.weights / table.weights.sum(), abs=0.1)
    assert len({deal.board[:3] for deal in deals}) > 20
    live = np.array([live_combos(flop) for flop in table.dealt_flops[0]])
    chosen = [7, 700, 1300]
    for combo in chosen:  # the weight of a pair: the chance of the flops beside both
        beside = live[:, [combo]] & live[:, chosen]
        expected = table.dealt_flops[2] @ beside
        assert table.pairs[combo, chosen] == pytest.approx(expected * table_fits(combo, chosen))


def without_flops() -> WholeSolution:
    """Three big blinds, whose strategies after the flop are gone."""
    shallow = whole_game(["Ks7h2d", "2s2h2d"], 3, "100%", ())
    solver = solver_of(shallow, 8, memory="per_batch", batches=VisitPlan(1, 2))
    return WholeSolution.of(solver, name="without flops")


def test_a_solution_without_flops_plays_every_flop() -> None:
    known = without_flops()
    assert not known.has_flops
    table = Table.of(known, known)
    assert len(table.flops) == 1755
    assert table.pairs is Table.of(known, known).pairs  # hands are dealt as in the real game
    stored = game("exact")
    for pair in ((known, stored), (stored, known)):
        assert Table.of(*pair).flops == stored.game.flops.flops


@pytest.mark.long
def test_flops_that_are_solved_when_they_are_dealt() -> None:
    """Long: what one seating has solved the other plays as well, so nothing is won."""
    known = without_flops()
    effort = Effort(target=0.5, seconds=1e6, threads=1, draft=None)
    players = SolutionPlayer(known, effort), SolutionPlayer(known, effort)
    table = Table.of(known, known)
    for number in range(100):
        deal = table.deal(3, number)
        big = table.play(deal, players, 3, (0, 1))
        small = table.play(deal, players[::-1], 3, (1, 0))
        assert big.result == small.result
        if players[0].tally.solved > 1:
            break
    for player in players:
        assert player.tally.solved > 1
        assert player.tally.guessed == 0


def table_cards(combos: tuple[int, int]) -> Floats:
    return np.asarray(COMBO_CARDS[list(combos)])


def table_fits(combo: int, others: list[int]) -> Floats:
    return np.asarray(fitting(np.array([combo]), np.array(others))[0], np.float64)


def stop_after(blocks: int) -> Callbacks:
    """Stops a job after some blocks."""

    class Stops(Control):
        done = 0

        def wants_to_stop(self) -> bool:
            return self.done >= blocks

    control = Stops()

    def count(progress: object) -> None:
        control.done = int(getattr(progress, "done", 0)) // 50

    return Callbacks(control=control, progress=(count,))


def test_a_match_resumes(tmp_path: Path) -> None:
    """A stopped match resumes where it was, and ends like an uninterrupted one."""
    first, second = folder(PUSH_FOLD), folder(PUSH_FOLD)
    whole = plan_match(first, second, 300, output=tmp_path / "whole", processes=1).run()
    part = plan_match(first, second, 300, output=tmp_path / "part", processes=1)
    stopped = part.run(stop_after(1))
    assert stopped.interrupted
    assert len(stopped.deals) == 50
    again = plan_match(first, second, 300, output=tmp_path / "part", processes=1)
    assert "50 deals kept from before" in again.plan().lines[0]
    resumed = again.run()
    assert not resumed.interrupted
    assert (resumed.deals == whole.deals).all()
    assert resumed.to_json() == whole.to_json()
    (tmp_path / "part" / "deals-0-50.json").write_text('{"deals": [[1, 2]]}')  # damaged: once more
    assert (
        plan_match(first, second, 300, output=tmp_path / "part").run().deals == whole.deals
    ).all()
    with pytest.raises(InputError, match="another match"):
        plan_match(first, second, 300, seed=2, output=tmp_path / "part").run()


@pytest.mark.long
def test_any_number_of_processes(tmp_path: Path) -> None:
    """Long: other processes are started."""
    first, second = folder("boards"), folder("boards")
    alone = plan_match(first, second, 200, output=tmp_path / "alone", effort=EFFORT)
    several = plan_match(first, second, 200, output=tmp_path / "several", effort=EFFORT)
    here = replace(alone, executor=Here()).run()
    assert (replace(several, executor=Processes(2)).run().deals == here.deals).all()


def test_other_games_are_refused() -> None:
    with pytest.raises(InputError, match="different games: stack is 20 and 10 bb"):
        Table.of(game("classes"), game(PUSH_FOLD))
    with pytest.raises(InputError, match="whole game"):
        load_game(folder("river"))
    with pytest.raises(InputError, match="at least 2 hands"):
        plan_match(folder(PUSH_FOLD), folder(PUSH_FOLD), 1)


def test_a_program_at_the_table(tmp_path: Path) -> None:
    """A solution that plays by the dealer protocol against one that is dealt here."""
    ports: list[int] = []
    ready, winnings = threading.Event(), list[float]()

    def waiting(text: str) -> None:
        ports.append(int(text.rpartition(":")[2]))
        ready.set()

    def sit() -> None:
        ready.wait()
        player = SolutionPlayer(game(PUSH_FOLD), EFFORT)
        rules = TableRules(1000, 50, 100)
        assert not player.require_table(rules)
        play_acpc("127.0.0.1", ports[0], rules, Decider(player), note, 60)

    def note(result: TableResult) -> None:
        assert result.won is not None
        winnings.append(float(result.won) / 100)

    client = threading.Thread(target=sit)
    client.start()
    with closing(DealtPlayer(0, waiting)) as dealt:
        outside = OutsidePlayer("program", dealt)
        outcome = plan_match(folder(PUSH_FOLD), outside, 60, output=tmp_path / "match").run()
        client.join()
    assert len(winnings) == 60
    assert sum(winnings) == pytest.approx(-outcome.deals[:, :2].sum())
    assert (outcome.deals[:, 2:].std(axis=0) < outcome.deals[:, :2].std(axis=0)).all()
    assert "program" in outcome.lines()[0]


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    game_folder = str(folder(PUSH_FOLD))
    arguments = ["match", game_folder, game_folder, "--hands", "20", "--processes", "1"]
    assert main([*arguments, "--output", str(tmp_path / "match")]) == 0
    assert "20 hands: +0.00 ± 0.00 bb/100" in capsys.readouterr().out
    assert main(["match", game_folder, "tcp:none"]) == 2
    assert "has no port" in capsys.readouterr().err


@pytest.mark.long
def test_classes_lose_more_to_a_best_responder_than_boards(tmp_path: Path) -> None:
    """Long: by the certificate, which is exact on the flops that were trained.

    Both are solved to less than 3 mbb/hand in their own games.
    """
    losses = {}
    for model in (CLASSES, CardModel("boards", groups=32, rows=64)):
        solver = solver_of(whole_game(["7s7h7d"], 5, "100%", ()), 80, model)
        save_unified(solver, tmp_path / model.kind, config={}, name=model.kind)
        outcome = plan_certify(tmp_path / model.kind, flops="own").run()
        assert outcome.certificate is not None
        assert (outcome.certificate.own_exploitability_mbb or np.inf) < 3
        losses[model.kind] = outcome.certificate.real_exploitability_mbb
    assert losses["classes"] > 1.5 * losses["boards"]
    known = [load_game(tmp_path / name) for name in losses]
    won = Estimate.of(results(known[0], known[1], 100)[:, 2:].mean(axis=1))
    # Who wins at all wins no more than the other can lose.
    assert -losses["classes"] / 5 - won.half < won.mean < losses["boards"] / 5 + won.half

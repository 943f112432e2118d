"""The leaks of a certificate: the gain of each deviation, and of each pot after the flop."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from builders.whole_solution import classes, raked

from allstreets.analysis import certificate_figures
from allstreets.analysis.certificate_figures import RealGame, evaluated_flops, everything
from allstreets.base import Floats
from allstreets.betting import BIG_BLINDS, Player, line_text, parse_line
from allstreets.engines import LiftedValues
from allstreets.games import Strategies
from allstreets.solutions import Certificate, Leak, PotGain
from allstreets.solvers import WholeGameSolver


def real_game(solver: WholeGameSolver) -> RealGame:
    """A solution in its own game, all of whose flops are known."""
    values, preflop = solver.evaluate(), solver.preflop
    strategies = preflop.average()
    lifted = [
        LiftedValues(values.best[:, :, flop], values.own[:, :, flop])
        for flop in range(solver.engine.flops)
    ]
    draws = everything(solver.game.flops)
    judged = evaluated_flops(draws, lifted, preflop.pot_reach(strategies), preflop.game.pairs)
    return RealGame(preflop.game, strategies, judged)


@pytest.mark.parametrize("solver", [classes, raked])
def test_pots_add_up_and_the_costliest_come_first(solver: Callable[[], WholeGameSolver]) -> None:
    game = real_game(solver())
    figures = game.figures()
    assert sum(pot.gain_mbb for pot in figures.pots) == pytest.approx(figures.after_flop)
    gains = [leak.gain_mbb for leak in figures.leaks]
    assert gains == sorted(gains, reverse=True)
    assert sum(gains) >= figures.before_flop - 0.5  # what is left out is small, or a cost
    assert len(figures.pots) == len(game.preflop.pots)


@pytest.mark.parametrize("solver", [classes, raked])
def test_parts_of_the_gain_are_those_of_brute_force(solver: Callable[[], WholeGameSolver]) -> None:
    """Actions that cost something, or next to nothing, are no leaks."""
    game = real_game(solver())
    known, gain = parts_told(game), 0.0
    for place, part in parts_by_force(game):
        assert known.get(place, 0.0) >= part - 0.05
        if part > 0.1:
            assert known[place] > 0
        gain += part
    assert gain == pytest.approx(game.figures().before_flop, abs=1e-6)


@pytest.mark.parametrize("solver", [classes, raked])
def test_costs_and_crumbs_make_the_parts_exact(
    solver: Callable[[], WholeGameSolver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate_figures, "LEAST_LEAK", -np.inf)
    game = real_game(solver())
    known = parts_told(game)
    for place, part in parts_by_force(game):
        assert known.pop(place) == pytest.approx(part, abs=1e-6)
    assert not known


def parts_told(game: RealGame) -> dict[tuple[str, int], float]:
    """The gains of all leaks, by the player and the decision that they are at."""
    tree, parts = game.preflop.tree, dict[tuple[str, int], float]()
    for leak in game.leaks():
        above = int(tree.parent[parse_line(tree, leak.line, notation=BIG_BLINDS).node])
        parts[leak.seat, above] = parts.get((leak.seat, above), 0.0) + leak.gain_mbb
    return parts


def parts_by_force(game: RealGame) -> Iterator[tuple[tuple[str, int], float]]:
    """Best play is put in from the first decision to the last: each adds its part."""
    tree, leaves = game.preflop.tree, game.judged.sums(game.judged.weights)
    for player in Player:
        best = game._response(player, leaves[player])
        value, played = _mean(game, player, leaves, game.strategies), dict(game.strategies)
        for node in tree.decisions():
            if tree.player[node] == player:
                played[node] = best[node]
                after = _mean(game, player, leaves, played)
                yield (player.seat, node), after - value
                value = after


def _mean(game: RealGame, player: Player, leaves: Floats, strategies: Strategies) -> float:
    values = game.preflop.values(player, leaves[player], best=False, strategies=strategies)
    return float(values[0].sum()) * game._unit


def test_a_line_that_nobody_takes_and_nobody_answers_is_named() -> None:
    solver = classes()
    game = real_game(solver)
    pots = game.preflop.pots
    met = [pot for pot in range(len(pots)) if game.reach[Player.OOP, pot].mean() > 0.05]
    rare = min(met, key=lambda pot: float(game.reach[Player.IP, pot].sum()))
    judged = game.judged
    # A small blind who goes there wins ten big blinds from every hand that he meets.
    best = judged.best.copy()
    best[:, Player.IP, rare] += 1000 * judged.known[:, 0, Player.IP, rare]
    richer = RealGame(game.preflop, game.strategies, replace(judged, best=best))
    leak = richer.leaks()[0]
    line = line_text(game.preflop.tree, pots[rare].node, notation=BIG_BLINDS)
    assert leak.seat == "SB"
    assert line.startswith(leak.line)
    assert leak.gain_mbb > 10 * game.figures().before_flop


def test_a_certificate_stores_its_leaks() -> None:
    certificate = Certificate(
        real_exploitability_mbb=72.4,
        interval_mbb=(63.6, 78.4),
        after_flop_mbb=2.9,
        unseen_gap_mbb=69.5,
        own_exploitability_mbb=1.7,
        chosen="48",
        flops=96,
        trained_flops=48,
        completion=None,
        seed=1,
        seconds=1.0,
        code_version="1",
        judged="abc",
        leaks=(Leak("SB", "c r3 r9", 69.0),),
        pots=(PotGain("c x", 2.0, (0.5, 0.25), False),),
    )
    facts = json.loads(json.dumps(certificate.to_json()))
    assert Certificate.of(facts) == certificate
    old = {key: value for key, value in facts.items() if key not in ("leaks", "pots")}
    assert Certificate.of(old) == replace(certificate, leaks=(), pots=())

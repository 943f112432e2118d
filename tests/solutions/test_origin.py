"""The origin of a spot, and the distance of exact play from the solution's own."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from builders.whole_solution import buckets, combo_result, solver_of, trips_result, whole_game

from allstreets.betting import CHIPS_PER_BB, Player, action_word, line_text
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO
from allstreets.games import Lock
from allstreets.solutions import (
    FlopSpot,
    Origin,
    SpotSolution,
    WholeSolution,
    flop_spot,
    origin_head,
    origin_lines,
    real_figures,
)
from allstreets.solvers import SpotSolver


def solved(
    whole: WholeSolution, flop: str, iterations: int = 12
) -> tuple[FlopSpot, SpotSolution, Origin]:
    """The limped pot on a flop."""
    found = flop_spot(whole, "c x", flop)
    solver = SpotSolver(found.spot, threads=1)
    solver.train_batch(iterations)
    exact = SpotSolution.of(solver)
    return found, exact, Origin.of(whole, found, exact, real_figures(whole, found))


@cache
def sevens() -> tuple[FlopSpot, SpotSolution, Origin]:
    """In other suits than the solution has."""
    return solved(trips_result(), "7c7d7h")


def test_distance_is_that_of_classes_one_by_one() -> None:
    whole = trips_result()
    _, exact, origin = sevens()
    assert origin.differences is not None
    assert [one.line for one in origin.differences.decisions] == ["", "x", "a"]
    for one in origin.differences.decisions:
        line = f"c x | 7s7h7d | {one.line}"
        here, there = exact.at(one.line).decision, whole.at(line).decision
        total = apart = 0.0
        for hand, name in enumerate(HAND_NAMES):
            own = np.flatnonzero(HAND_OF_COMBO[here.combos] == hand)
            weight = float(here.own.weights[own].sum())
            if weight == 0:
                continue
            mix, play = here.hand(name).frequencies, whole.strategy(line, hand=name)
            total += weight
            apart += weight * sum(abs(mix[a] - play[b]) for a, b in zip(mix, play, strict=True)) / 2
        assert one.distance == pytest.approx(apart / total, abs=1e-9)
        assert one.seat == there.seat
        assert one.exact == pytest.approx(here.taken)
        assert one.solution == pytest.approx(there.taken)


def test_evs_count_alike() -> None:
    whole = trips_result()
    _, exact, origin = sevens()
    found = origin.differences
    assert found is not None
    assert found.exact == pytest.approx([ev / CHIPS_PER_BB - 1 for ev in exact.evs])
    root = whole.at("c x | 7s7h7d").decision.whole_hand()
    assert found.solution == pytest.approx([root.ev(player) for player in Player])
    for evs in (found.solution, found.exact):
        assert sum(ev for ev in evs if ev is not None) == pytest.approx(0, abs=1e-4)


def test_rake_is_lost_by_both() -> None:
    game = whole_game(["7s7h7d", "Ks8h3d"], 3, "100%", (), ante=0.1, rake=0.05)
    _, _, origin = solved(WholeSolution.of(solver_of(game, 20)), "7s7h7d", 2)
    assert origin.differences is not None
    assert origin.real_evs is not None
    for evs in (origin.differences.solution, origin.differences.exact, origin.real_evs):
        assert -0.3 < sum(ev for ev in evs if ev is not None) < -0.1


def test_a_solution_by_combo_is_compared_by_class() -> None:
    whole = combo_result()
    _, _, origin = solved(whole, "7s7h7d", 2)
    assert origin.differences is not None
    root = whole.at("c x | 7s7h7d").decision.whole_hand()
    assert origin.differences.solution == pytest.approx([root.ev(player) for player in Player])
    assert origin.differences.decisions[0].solution == pytest.approx(root.taken)


def test_the_loss_is_what_best_responses_gain() -> None:
    # The slow way: the solution's strategies locked on every board of a spot, of both players for
    # what it is worth, of one for what the other gains.
    whole = trips_result()
    found = flop_spot(whole, "c x", "7s7h7d")
    tree, view = found.spot.tree, whole.stored.view(found.pot.node, found.flop.flop)
    locks: dict[Player, list[Lock]] = {player: [] for player in Player}
    for node in tree.decisions():
        player = tree.player_at(node)
        words = [action_word(tree, int(child)) for child in tree.children_of(node)]
        hands = {
            name: dict(zip(words, view.strategies.at(node)[:, hand].tolist(), strict=True))
            for hand, name in enumerate(HAND_NAMES)
            if _held(found, player, hand)
        }
        locks[player].append(Lock(line_text(tree, node), hands=hands))
    both = SpotSolver(replace(found.spot, lock=(*locks[Player.OOP], *locks[Player.IP])), threads=1)
    slow, evs = 0.0, list[float]()
    for player in Player:
        other = tuple(locks[player.opponent])
        free = SpotSolver(replace(found.spot, lock=other), threads=1)
        slow += free.mean(player, best=True) - both.mean(player, best=False)
        evs.append(both.mean(player, best=False) / CHIPS_PER_BB)
    slow /= 2 * found.spot.pot
    assert slow > 0.01
    judged = real_figures(whole, found)
    assert judged is not None
    assert judged.loss == pytest.approx(slow, rel=1e-4)
    assert judged.evs == pytest.approx(evs, abs=1e-5)


def test_evs_by_buckets_are_not_those_of_real_cards() -> None:
    """A bucket wins what its hands win on average, which its play does not on every board."""
    whole = WholeSolution.of(buckets())
    _, _, origin = solved(whole, "AsAhAd", 1)
    assert origin.real_evs is not None
    assert origin.differences is not None
    real, own = origin.real_evs[Player.OOP], origin.differences.solution[Player.OOP]
    root = whole.at("c x | AsAhAd").decision
    assert own == pytest.approx(root.whole_hand().ev(Player.OOP))
    assert real is not None
    assert own is not None
    assert abs(real - own) > 2e-3
    lines = origin_lines(origin, 0.01)
    # A big blind each is in the middle; EVs count from the flop on.
    assert f"own play with real cards → exact: EV BB {1 + real:.3f} → " in lines[2]
    by_buckets = f"In its own game, by buckets, it has BB {1 + own:.3f} bb, SB {1 - own:.3f} bb."
    assert lines[3] == by_buckets


def _held(found: FlopSpot, player: Player, hand: int) -> bool:
    """Whether a player's range has a class on the flop."""
    return bool(found.spot.ranges[player].hand_weights[hand] > 0)


def test_no_play_no_loss() -> None:
    assert real_figures(trips_result(), flop_spot(trips_result(), "c x", "7s7h7d"), free=1) is None
    assert real_figures(trips_result(), flop_spot(trips_result(), "c x", "9s8s2h")) is None
    assert real_figures(combo_result(), flop_spot(combo_result(), "c x", "7s7h7d")) is None


def test_plain_data_reads_back() -> None:
    _, _, origin = sevens()
    assert Origin.read(json.loads(json.dumps(origin.mapping()))) == origin
    later = {**origin.mapping(), "more": 1}
    assert Origin.read(later) == origin


def test_words_say_what_comes_from_where() -> None:
    _, _, origin = sevens()
    lines = origin_lines(origin, 0.0021)
    assert lines[0].startswith("Ranges and pot: line 'c x' of 'trips' (3 bb, cards classes")
    assert "mbb/hand in its own game" in lines[0]
    assert lines[1] == "Strategies and EVs: 7h7d7c solved exactly, to 0.21 % of the pot."
    assert origin.real_evs is not None
    assert origin.differences is not None
    real, own = origin.real_evs[Player.OOP], origin.differences.solution[Player.OOP]
    assert real is not None
    assert own is not None
    real, own = 1 + real, 1 + own  # from the flop on: a big blind is in the middle
    assert lines[2].startswith(
        f"The solution's own play with real cards → exact: EV BB {real:.3f} → "
    )
    assert lines[3].startswith("With real cards its own play of this flop is exploitable for ")
    assert all("of the range act differently." in line for line in lines[4:])
    assert len(lines) == 7
    # Without a judgement by real cards the figure is named for what it is.
    blind = replace(origin, real_evs=None, loss=None)
    words = f"The solution's own play in its own game, by classes → exact: EV BB {own:.3f} → "
    assert origin_lines(blind, 0.0021)[2].startswith(words)
    assert f"EV of BB {real:.3f} bb there with real cards, " in origin_head(origin, 0.0021)
    assert f"EV of BB {own:.3f} bb there in its own game, by classes, " in origin_head(blind, 0.1)


def test_without_the_flop_there_is_nothing_to_compare() -> None:
    whole = trips_result()
    origin = Origin.of(whole, flop_spot(whole, "c x", "9s8s2h"))
    assert origin.differences is None
    assert Origin.read(origin.mapping()) == origin
    assert "it was trained on 3 of the 1,755" in origin_lines(origin, 0.01)[-1]

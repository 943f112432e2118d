"""The promises of every solution, of any kind: the walk, and the numbers at its nodes."""

import itertools
from collections.abc import Iterator
from functools import cache
from random import Random

import numpy as np
import pytest
from builders.solutions import KINDS, solution

from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import HAND_NAMES, combo_text
from allstreets.solutions import Decision, Node, NoNodeError, Solution
from allstreets.solutions.reached import LEAST_SHARE

WALKS = 5
BUCKETED = ("buckets", "bucket models")
"""Kinds whose hands meet without regard to their cards: EVs of ranges are sums over other pairs."""
RAKED = ("raked", "raked game")
BOARD_LENGTH = {Street.PREFLOP: 0, Street.FLOP: 3, Street.TURN: 4, Street.RIVER: 5}


@cache
def walks(kind: str) -> tuple[tuple[Node, ...], ...]:
    """Some ways from the first node to the end of a hand, or of the solution, drawn by a seed."""
    chance = Random(KINDS.index(kind))
    return tuple(tuple(_walk(solution(kind), chance)) for _ in range(WALKS))


def _walk(walked: Solution, chance: Random) -> Iterator[Node]:
    node = walked.at()
    while True:
        yield node
        children = node.children
        # Trimmed solutions would solve the next street again: that is another test's matter.
        if not children or (node.deal is not None and node.deal.solved_again):
            return
        node = chance.choice(children)


def nodes(kind: str) -> dict[str, Node]:
    """The nodes on the walks, by their lines."""
    return {node.line: node for walk in walks(kind) for node in walk}


def decisions(kind: str) -> Iterator[tuple[Node, Decision]]:
    """The nodes at which a player acts."""
    for node in nodes(kind).values():
        if node.kind == "decision":
            yield node, node.decision


every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_a_line_leads_to_the_node_that_it_was_read_from(kind: str) -> None:
    walked = solution(kind)
    for line, node in nodes(kind).items():
        if node.deal is None or node.deal.count:  # a card that is averaged over has no line
            assert walked.at(line) == node
            assert walked.read(line) == node.position
        assert walked.node(node.position) == node
        assert hash(walked.node(node.position)) == hash(node)


@every_kind
def test_a_walk_can_be_gone_back(kind: str) -> None:
    for walk in walks(kind):
        assert walk[0].parent is None
        for above, node in itertools.pairwise(walk):
            assert node.parent == above
            assert node in above.children
        assert walk[-1].path == list(walk)
        for above, node in itertools.pairwise(walk):
            if above.kind == "decision":
                assert above.child(node.action) == node
                assert node.action in above.decision.actions


@every_kind
def test_chips_are_neither_made_nor_lost(kind: str) -> None:
    for walk in walks(kind):
        totals = [node.pot + sum(node.stacks) for node in walk]
        assert totals == pytest.approx([totals[0]] * len(totals))
        for above, node in itertools.pairwise(walk):
            assert node.pot >= above.pot
            if above.kind != "decision":
                assert node.pot == above.pot
                assert node.stacks == above.stacks


@every_kind
def test_boards_grow_by_the_cards_that_are_dealt(kind: str) -> None:
    for walk in walks(kind):
        for above, node in itertools.pairwise(walk):
            assert node.board[: len(above.board)] == above.board
            dealt = 0 if above.deal is None else above.deal.count
            assert len(node.board) == len(above.board) + dealt
        for node in walk:
            assert len(set(node.board)) == len(node.board)
            if node.ranges_known and node.ranges.by_combo and node.kind == "decision":
                assert len(node.board) == BOARD_LENGTH[node.street]


@every_kind
def test_a_decision_agrees_with_its_node(kind: str) -> None:
    for node, decision in decisions(kind):
        assert decision.line == node.line
        assert decision.board == node.board
        assert decision.street == node.street
        assert decision.pot == pytest.approx(node.pot)
        assert decision.stacks == pytest.approx(node.stacks)
        assert decision.actor == node.actor
        assert decision.seat == node.seat
        assert decision.to_call == pytest.approx(node.to_call)
        assert [child.action for child in node.children] == list(decision.actions)


@every_kind
def test_strategies_are_probabilities(kind: str) -> None:
    for _, decision in decisions(kind):
        held = ~np.isnan(decision.strategy).any(axis=0)
        assert held.any()
        assert (decision.strategy[:, held] >= 0).all()
        np.testing.assert_allclose(decision.strategy[:, held].sum(axis=0), 1.0, atol=1e-5)
        if decision.own.weights.sum() > 0:
            assert sum(decision.frequencies().values()) == pytest.approx(1.0, abs=1e-5)
            assert list(decision.frequencies().values()) == decision.taken.tolist()


@every_kind
def test_evs_from_here_on_share_out_the_pot(kind: str) -> None:
    if kind in BUCKETED:
        pytest.skip("buckets meet in other pairs than hands do")
    checked = 0
    for node, decision in decisions(kind):
        if not decision.known:
            continue
        total = decision.ev(Player.OOP) + decision.ev(Player.IP)
        if kind in RAKED:
            assert total <= node.pot + 1e-6
        else:
            assert total == pytest.approx(node.pot, abs=2e-3 * node.pot)
        checked += 1
    assert checked or kind in ("forgotten", "preflop", "exact")


@every_kind
def test_folding_is_worth_nothing(kind: str) -> None:
    for node, decision in decisions(kind):
        if "f" in decision.actions and decision.known:
            worth = decision.action_evs[decision.actions.index("f")]
            np.testing.assert_allclose(worth[np.isfinite(worth)], 0.0, atol=1e-4 * node.pot)


@every_kind
def test_a_hand_is_worth_the_mean_of_its_actions(kind: str) -> None:
    if kind in BUCKETED:
        pytest.skip("a hand lies in several buckets that play differently")
    for node, decision in decisions(kind):
        if not decision.known or not decision.known_actions.all():
            continue
        if not decision.by_combo and not solution_plays_classes(kind, node):
            continue
        mean = (np.nan_to_num(decision.strategy) * np.nan_to_num(decision.action_evs)).sum(axis=0)
        known = np.isfinite(decision.evs()) & np.isfinite(decision.action_evs).all(axis=0)
        tolerance = 2e-3 * node.pot
        np.testing.assert_allclose(decision.evs()[known], mean[known], atol=tolerance)


def solution_plays_classes(kind: str, node: Node) -> bool:
    """Whether all combos of a class play alike at a node."""
    return node.street == Street.PREFLOP or kind not in ("boards", "exact", "exact flop")


@every_kind
def test_an_action_leaves_the_part_of_the_range_that_takes_it(kind: str) -> None:
    for node, decision in decisions(kind):
        for place, child in enumerate(node.children):
            if child.kind != "decision" or (child.street != node.street and kind in BUCKETED):
                continue
            after, player = child.decision, decision.player
            if after.by_combo != decision.by_combo:
                continue
            expected = decision.reach * np.nan_to_num(decision.strategy[place])
            np.testing.assert_allclose(after.hands[player].reach, expected, atol=1e-6)
            opponent = player.opponent
            np.testing.assert_allclose(
                after.hands[opponent].reach, decision.hands[opponent].reach, atol=1e-9
            )


@every_kind
def test_results_of_the_whole_hand_count_what_was_put_in_as_lost(kind: str) -> None:
    for _, decision in decisions(kind):
        whole = decision.whole_hand()
        assert whole.whole_hand() is whole
        assert (whole.counted, decision.counted) == ("over the whole hand", "from here on")
        for player in Player:
            assert decision.paid[player] >= 0
            np.testing.assert_allclose(
                whole.evs(player), decision.evs(player) - decision.paid[player], equal_nan=True
            )
            # What a hand makes of its equity is the same however it is counted.
            np.testing.assert_allclose(
                whole.eqr(player, whole.evs(player), whole.equity(player)),
                decision.eqr(player, decision.evs(player), decision.equity(player)),
                atol=1e-9,
            )


@every_kind
def test_what_was_not_learned_has_no_evs(kind: str) -> None:
    for _, decision in decisions(kind):
        shares = [hands.size / hands.start for hands in decision.hands]
        assert decision.reached == (min(shares) >= LEAST_SHARE)
        if not decision.reached:
            assert np.isnan(decision.action_evs).all()
            assert all(np.isnan(decision.evs(player)).all() for player in Player)
            assert decision.why_not()


@every_kind
def test_who_folds_loses_and_the_other_wins_the_pot(kind: str) -> None:
    for node in nodes(kind).values():
        if node.folded is None or not node.ranges_known or not node.ranges.reached:
            continue
        evs = [node.ranges.evs(player) for player in Player]
        assert not np.nan_to_num(evs[node.folded]).any()
        won = evs[node.folded.opponent]
        np.testing.assert_allclose(won[np.isfinite(won)], node.pot - node.rake)
        assert (node.rake > 0) <= (kind in RAKED)


@every_kind
def test_one_hand_is_a_column_of_the_decision(kind: str) -> None:
    for _, decision in decisions(kind):
        held = np.flatnonzero(decision.own.weights > 0)
        if not len(held):
            continue
        place = int(held[len(held) // 2])
        if decision.own.combos is not None:
            name = combo_text(int(decision.own.combos[place]))
        else:
            name = str(HAND_NAMES[place])
        play = decision.hand(name)
        assert list(play.frequencies) == list(play.evs) == list(decision.actions)
        np.testing.assert_allclose(list(play.frequencies.values()), decision.strategy[:, place])
        np.testing.assert_allclose(list(play.evs.values()), decision.action_evs[:, place])
        np.testing.assert_allclose([play.ev], decision.evs()[place])
        np.testing.assert_allclose([play.reach], decision.reach[place])


@every_kind
def test_cards_that_are_the_same_play_the_same(kind: str) -> None:
    for node in nodes(kind).values():
        if node.deal is None or node.deal.count != 1 or not node.deal.stored:
            continue
        if node.deal.solved_again:
            continue
        cards = solution(kind).runouts(node.position).representative
        left = np.flatnonzero(cards >= 0)
        assert len(left) == 52 - len(node.board)
        twins = [card for card in left.tolist() if cards[card] != card]
        for card in twins[:1]:
            one, other = (
                solution(kind).node(solution(kind).dealt(node.position, (each,))).decision
                for each in (card, int(cards[card]))
            )
            np.testing.assert_allclose(one.taken, other.taken, atol=1e-6)
            np.testing.assert_allclose(one.ev(), other.ev(), atol=1e-4)


@every_kind
def test_a_line_that_leads_nowhere_leads_back(kind: str) -> None:
    walked = solution(kind)
    for node in list(nodes(kind).values())[:4]:
        with pytest.raises(NoNodeError) as error:
            walked.at(f"{node.line} r987654321")
        for _, line in error.value.hints:
            walked.at(line)
    with pytest.raises(InputError):
        walked.at("nonsense")


@every_kind
def test_where_nobody_acts_the_message_says_how_to_go_on(kind: str) -> None:
    for node in nodes(kind).values():
        if node.kind != "decision":
            with pytest.raises(InputError, match="line '"):
                _ = node.decision


@every_kind
def test_figures_say_how_good_it_is(kind: str) -> None:
    figures = solution(kind).figures
    assert figures.unit in ("% of pot", "mbb/hand")
    if figures.exploitability is not None:
        assert figures.exploitability >= 0
        assert figures.accuracy is not None
        assert figures.accuracy >= 0


@every_kind
def test_nodes_print_themselves(kind: str) -> None:
    assert "\n" not in repr(solution(kind))
    assert str(solution(kind))
    for node, _ in zip(nodes(kind).values(), range(8), strict=False):
        assert "\n" not in repr(node)
        assert str(node)
        assert node._repr_html_()


@pytest.mark.parametrize("kind", ["locked", "locked game"])
def test_locked_hands_play_what_they_were_told(kind: str) -> None:
    walked = solution(kind)
    assert len(walked.locks) == 1
    decision = walked.at().decision
    assert decision.locked.any()
    if kind == "locked game":
        assert decision.hand("AA").frequencies["c"] == pytest.approx(1.0)
    else:
        assert decision.frequencies()["x"] == pytest.approx(1.0)

"""The record of a place: single hands, cells, and places where no player acts."""

import numpy as np
import pytest
from builders.small_spots import TURN, spot

from allstreets.base import InputError
from allstreets.betting import Player, parse_line
from allstreets.cards import HAND_OF_COMBO, parse_combo, parse_hand
from allstreets.solutions import Decision, Position, SpotSolution, realised, solve

NAMES = {"AhKh": "AKs", "QsJs": "QJs"}


@pytest.fixture(scope="module")
def result() -> SpotSolution:
    return solve(spot(TURN), max_iterations=20, threads=1)


def at(result: SpotSolution, line: str) -> Decision:
    path = parse_line(result.spot.tree, line, board=result.spot.cards)
    return result.decision(Position(path.node, cards=path.cards))


def test_a_hand_by_its_cards_and_as_a_class(result: SpotSolution) -> None:
    node = result.at("").decision
    for combo, name in NAMES.items():
        (place,) = np.flatnonzero(node.combos == parse_combo(combo))
        assert list(node.hand(combo).frequencies.values()) == node.strategy[:, place].tolist()
        held = np.flatnonzero(HAND_OF_COMBO[node.combos] == parse_hand(name))
        mean = sum(node.reach[i] * node.strategy[:, i] for i in held) / node.reach[held].sum()
        assert list(node.hand(name).frequencies.values()) == pytest.approx(mean.tolist())
        assert node.cells(node.strategy[0])[parse_hand(name)] == pytest.approx(mean[0])
    for name in ("72o", "7h2s", "KsQs"):
        with pytest.raises(InputError, match=f"{name} is not in the range that gets here"):
            node.hand(name)


def test_means_over_a_range_pair_by_pair(result: SpotSolution) -> None:
    node = result.at("x b75%").decision
    assert result.at("x").decision.ev(Player.IP) == result.at("x").decision.ev()
    for player in Player:
        own, other = node.hands[player], node.hands[player.opponent]
        assert own.combos is not None
        assert other.combos is not None
        won = met = 0.0
        for place, mine in enumerate(own.combos.tolist()):
            for theirs, reach in zip(other.combos.tolist(), other.reach.tolist(), strict=True):
                if not set(cards(mine)) & set(cards(theirs)):
                    pair = float(own.reach[place]) * reach
                    won, met = won + pair * float(node.evs(player)[place]), met + pair
        assert node.ev(player) == pytest.approx(won / met)
        assert own.weights.sum() == pytest.approx(met)


def cards(combo: int) -> list[int]:
    from allstreets.cards import COMBO_CARDS

    found: list[int] = COMBO_CARDS[combo].tolist()
    return found


@pytest.mark.parametrize("line", ["x x", "x b75% f", "x b75% a c"])
def test_where_no_player_acts(result: SpotSolution, line: str) -> None:
    place = at(result, line)
    assert place.actor is None
    assert repr(place) == f"<Decision '{place.line}' on Ks7d4c9h: no player acts>"
    assert "no player to act, pot " in str(place)
    above = result.at(line.rpartition(" ")[0]).decision
    chances = above.strategy[list(above.actions).index(line.rpartition(" ")[2])]
    reach = place.hands[above.player].reach
    np.testing.assert_allclose(reach, above.reach * chances)
    np.testing.assert_array_equal(
        place.hands[above.player.opponent].reach, above.hands[above.player.opponent].reach
    )
    with pytest.raises(InputError, match="no player acts there: say OOP or IP"):
        place.evs()
    assert len(place.evs(Player.OOP)) == len(place.hands[0].reach)


def test_a_decision_is_the_same_by_line_and_by_place(result: SpotSolution) -> None:
    one, other = at(result, "x b75%"), result.at("x b75%").decision
    np.testing.assert_array_equal(one.strategy, other.strategy)
    np.testing.assert_array_equal(one.action_evs, other.action_evs)
    assert (one.player, one.stacks, one.share) == (other.player, other.stacks, other.share)


def test_equity_that_is_nearly_none_is_not_realised() -> None:
    """EV over next to nothing says nothing: hands that are drawing dead have no EQR."""
    equity = np.array([0.5, 0.0051, 0.005, 1e-9, 0.0, np.nan])
    eqr = realised(np.full(6, 20.0), equity, 100.0)
    np.testing.assert_allclose(eqr[:2], [0.4, 20 / 0.51])
    assert np.isnan(eqr[2:]).all()

"""Reading range text: the dialect, and what other programs say."""

import json
from pathlib import Path

import eval7
import numpy as np
import pokerkit
import pytest

from allstreets.base import InputError
from allstreets.cards import (
    COMBO_CARDS,
    HAND_NAMES,
    HAND_SIZES,
    Range,
    card_text,
    combo_text,
    preflop_equity,
)
from allstreets.cards.range_reading import BY_EQUITY

DATA = Path(__file__).parents[1] / "data"


def hands(text: str) -> str:
    """The hands of a range, in order, when each has all its combos or none."""
    weights = Range.parse(text).hand_weights
    assert set(weights.tolist()) <= {0.0, 1.0}
    return ",".join(name for name, weight in zip(HAND_NAMES, weights, strict=True) if weight)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8s8h+", "AsAh,KsKh,QsQh,JsJh,TsTh,9s9h,8s8h"),
        ("AhAs-QhQs,JJ", "AsAh,KsKh,QsQh,JJ"),
        # As GTO Wizard copies a range: combo, colon, blank, weight.
        ("3c2c: 0.236, AhAs: 1, KdKc: 0.5", "AsAh,KdKc:0.5,3c2c:0.236"),
        ("3c2c: 0.236\nAhAs: 1\nKdKc: 0.5\n", "AsAh,KdKc:0.5,3c2c:0.236"),
    ],
)
def test_combos_as_other_programs_write_them(text: str, expected: str) -> None:
    assert str(Range.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AA", "AA"),
        ("AKs", "AKs"),
        ("KAs", "AKs"),
        ("aks", "AKs"),
        ("AK", "AKs,AKo"),
        ("QQ-88", "QQ,JJ,TT,99,88"),
        ("88-QQ", "QQ,JJ,TT,99,88"),
        ("A9s-A6s", "A9s,A8s,A7s,A6s"),
        ("A6s-A9s", "A9s,A8s,A7s,A6s"),
        ("98s-65s", "98s,87s,76s,65s"),
        ("J9o-75o", "J9o,T8o,97o,86o,75o"),
        ("AK-AJ", "AKs,AQs,AJs,AKo,AQo,AJo"),
        ("TT+", "AA,KK,QQ,JJ,TT"),
        ("AA+", "AA"),
        ("ATs+", "AKs,AQs,AJs,ATs"),
        ("ATo+", "AKo,AQo,AJo,ATo"),
        ("97s+", "98s,97s"),
        ("Q8s+", "QJs,QTs,Q9s,Q8s"),
        ("98s+", "AKs,KQs,QJs,JTs,T9s,98s"),
        ("QJ+", "AKs,KQs,QJs,AKo,KQo,QJo"),
        (" AA ,\tKK\nQQ ", "AA,KK,QQ"),
        ("QQ - 88", "QQ,JJ,TT,99,88"),
        ("AA,AA", "AA"),
        ("AA,KK,AA:1.0", "AA,KK"),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert hands(text) == expected


def test_weights() -> None:
    weights = Range.parse("AA:0.5, 76s : .25,AsKh,KK:0").weights
    by_text = {combo_text(int(c)): float(weights[c]) for c in np.flatnonzero(weights)}
    assert by_text.pop("AsKh") == 1
    assert sorted(by_text.values()) == [0.25] * 4 + [0.5] * 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the range is empty: write hands such as 'AA,AKs,TT-88,76s:0.5'"),
        (" , ", "the range is empty"),
        ("AA,AXs", "range, character 4: 'AXs' is not a hand or a combo: write AA, AKs,"),
        ("AA, KK, 1", "range, character 9: '1' is not a hand or a combo"),
        ("AKs-QJo", "'AKs-QJo': both ends must be suited (s), or offsuit (o), or neither"),
        ("AAs", "'AAs': a pair is neither suited nor offsuit: write AA"),
        ("AK:2", "'AK:2': the weight 2 is not between 0 and 1"),
        ("AK:-0.1", "'AK:-0.1': the weight -0.1 is not between 0 and 1"),
        ("AK:nan", "'AK:nan': the weight nan is not between 0 and 1"),
        ("AK:x", "'AK:x': 'x' is not a weight: write a number such as 0.5"),
        ("AK:", "'AK:': '' is not a weight"),
        ("AsAs", "'AsAs' contains the card As twice"),
        ("A9s-K5s", "'A9s-K5s': the ends must share the higher card (A9s-A6s) or the gap"),
        ("AA-AK", "'AA-AK': the ends must share"),
        ("AKs++", "'AKs++' is not a hand or a combo"),
        ("QQ-", "'QQ-' is not a hand or a combo"),
    ],
)
def test_bad_text_points_at_the_token(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Range.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("AKs,AhKh:0.2", "AsKs,AdKd,AcKc,AhKh:0.2"),
        ("AhKh:0.5,AKs", "AKs"),
        ("AKs,AK:0.5", "AK:0.5"),
        ("TT+:0.5,QQ:0", "KK+:0.5,JJ-TT:0.5"),
    ],
)
def test_a_later_weight_overrides_an_earlier_one(text: str, same: str) -> None:
    assert Range.parse(text) == Range.parse(same)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("[50]AA,KK[/50],QQ", "AA:0.5,KK:0.5,QQ"),
        ("[73.0]77[/73.0]AKs", "77:0.73,AKs"),
        ("[ 50 ] AA [/50.0]", "AA:0.5"),
        ("[12.5]AhKh,A5s-A2s[/12.5]", "AhKh:0.125,A5s-A2s:0.125"),
        ("50%(AA,KK)", "AA:0.5,KK:0.5"),
        ("0.8(QQ+, KJs), 0.25 (AsKs)", "QQ+:0.8,KJs:0.8,AsKs:0.25"),
        ("[50]AA,[20]KK[/20],QQ[/50],JJ", "AA:0.5,KK:0.1,QQ:0.5,JJ"),
        ("50%(AA,50%(KK:0.5),QQ)", "AA:0.5,KK:0.125,QQ:0.5"),
        ("[50]50%(AA)[/50]", "AA:0.25"),
        ("AKs,[20]AhKh[/20]", "AKs,AhKh:0.2"),
        ("AA:50%;KK:12.5%", "AA:0.5,KK:0.125"),
    ],
)
def test_groups_of_other_programs(text: str, same: str) -> None:
    assert Range.parse(text) == Range.parse(same)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("QQ,[50]AA", "range, character 4: '[50]' is never closed: write [/50] after its last"),
        ("0.5(AA,KK", "range, character 1: '0.5(' is never closed: write ) after its last hand"),
        ("AA[/50]", "range, character 3: '[/50]' closes a group that is not open: remove it"),
        ("[50]AA[/60]", "character 7: '[/60]' closes a group that is not open: write [/50], which"),
        ("[50]50%(AA[/50])", "character 11: '[/50]' closes a group that is not open: write )"),
        ("AA,KK)", "range, character 6: ')' closes a group that is not open: remove it"),
        ("50(AA)", "'50(': the weight 50 is not between 0 and 1: write 50%( if that is"),
        ("[120]AA[/120]", "'[120]': the weight 120% is not between 0 and 1"),
        ("(AA)", "character 1: '(' has no meaning here: write [50]AA[/50], 50%(AA) or AA:0.5"),
        ("AA,\nKK,AXs", "range, line 2, character 4: 'AXs' is not a hand or a combo"),
        ("0.5(" * 60 + "AA", "more than 50 groups within each other; is this a range?"),
    ],
)
def test_a_group_that_is_wrong_is_pointed_at(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Range.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["50%(AA,KK),AQs", "0.25(TT+,76s)", "AKs, 0.5(AKo)"])
def test_eval7_reads_the_same_weights(text: str) -> None:
    theirs = {frozenset(map(str, combo)): weight for combo, weight in eval7.HandRange(text).hands}
    weights = Range.parse(text).weights
    ours = {
        frozenset(card_text(card) for card in COMBO_CARDS[combo].tolist()): weights[combo]
        for combo in np.flatnonzero(weights)
    }
    assert ours == pytest.approx(theirs)


COMMON = ["AA", "AKs", "AKo", "AK", "22+", "TT+", "ATs+", "ATo+", "97s+", "96s+", "K9s+", "J9o+"]


def as_sets(text: str) -> set[frozenset[str]]:
    return {
        frozenset(card_text(card) for card in COMBO_CARDS[combo].tolist())
        for combo in np.flatnonzero(Range.parse(text).weights)
    }


@pytest.mark.parametrize("text", [*COMMON, "QQ-88", "A9s-A6s"])
def test_eval7_reads_the_same_hands(text: str) -> None:
    theirs = {frozenset(map(str, combo)) for combo, _ in eval7.HandRange(text).hands}
    assert as_sets(text) == theirs


@pytest.mark.parametrize("text", [*COMMON, "QQ-88", "98s-65s"])
def test_pokerkit_reads_the_same_hands(text: str) -> None:
    theirs = {frozenset(repr(card) for card in combo) for combo in pokerkit.parse_range(text)}
    assert as_sets(text) == theirs


def test_the_reference_spots_have_the_hands_that_another_solver_counts() -> None:
    """In these ranges 97s+ must mean 97s and 98s, or the counts come out wrong."""
    spots = json.loads((DATA / "range_counts.json").read_text())["spots"]
    assert len(spots) == 4
    from allstreets.cards import parse_board

    for spot in spots:
        board = parse_board(spot["board"])
        counted = [
            int((Range.parse(spot[key]).on(board).weights > 0).sum())
            for key in ("oop_range", "ip_range")
        ]
        assert counted == spot["hands"], spot["name"]


def test_the_best_hands_are_those_of_most_equity_against_a_random_hand() -> None:
    table = preflop_equity()
    against_all = (table.pairs * np.nan_to_num(table.equity)).sum(axis=1) / table.pairs.sum(axis=1)
    order = np.argsort(-against_all)
    assert BY_EQUITY.split() == [HAND_NAMES[hand] for hand in order]
    for percent in (0.5, 5, 20, 33.3, 99.9, 100):
        weights = Range.parse(f"{percent}%").hand_weights[order]
        count = int(weights.sum())
        assert weights.tolist() == [1.0] * count + [0.0] * (169 - count)
        held = np.cumsum(HAND_SIZES[order])  # whole hands, as many as fit
        assert held[count - 1] <= percent / 100 * 1326 + 1e-6
        assert count == 169 or held[count] > percent / 100 * 1326


def test_shares_and_random_are_tokens_like_others() -> None:
    assert Range.parse("random") == Range.parse("100%") == Range.parse("RANDOM") == Range.full()
    assert Range.parse("20%,72o:0.5").hand_weights[HAND_NAMES.index("72o")] == 0.5
    assert Range.parse("random:0.25,AA").combos == pytest.approx(0.25 * 1320 + 6)
    assert Range.parse("72o,20%") == Range.parse("20%,72o")
    for text in ("top 20%", "Top 20 %", "top20%", "50%(top 20 %),TOP\t20%"):
        assert Range.parse(text) == Range.parse("20%"), text
    with pytest.raises(InputError, match=r"character 4: 'top' is not a hand"):
        Range.parse("AA,top KK")
    assert Range.parse("50%(20%)") == Range.parse("20%:0.5")
    with pytest.raises(InputError, match=r"character 4: '0.4%' contains no hand: AA alone is 0.45"):
        Range.parse("AA,0.4%")
    with pytest.raises(InputError, match="'101%' is more than all hands"):
        Range.parse("101%")

"""Writing a range as other programs write it, so that they are sure to read it.

| kind       | what is written                                                                  |
|------------|----------------------------------------------------------------------------------|
| `text`     | the shortest text: see below                                                     |
| `pio`      | hand by hand, `AA,AKs:0.25,AhQd`: for PioSOLVER's viewer; most programs read it   |
| `pio-1326` | a number for each combo in PioSOLVER's order: for `set_range` in scripts          |
| `gto+`     | by weight, `AA-QQ,AKs,[25]KJs,K9s-K7s[/25]`                                       |
| `monker`   | an .rng file: a hand, and below it `weight;EV`, where the EV is 0: a range has none |
| `json`     | `{"AA": 1, "AKs": 0.25, "AhQd": 1}`                                               |
| `csv`      | the same with the head `hand,weight`                                             |

Hands whose combos differ in weight are written combo by combo, those of weight 0 not at all. Each
kind reads back as the same weights to the last bit.

**The shortest text.** Hands of one weight are covered by tokens: pairs (`QQ-88`), kickers below one
higher card (`A9s-A6s`, `ATs+`), and hands of one gap (`98s-65s`), suited, offsuit or both (`AT+`).

1. For each higher card the shortest cover by kicker tokens is found exactly (`_cover_row`).
2. A token of one gap crosses many such rows; what it covers the rows need not cover, but may.
   Starting once with none of these tokens and once with all, each step adds or removes the one
   that shortens the text most, until none does; the shorter of the two texts is used.

The result is the shortest text, or nearly: an exact search is not worth its time. `98s+` is never
written, only read: programs differ about it, and what is written here means the same to all that
know the token.
"""

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache
from itertools import groupby

import numpy as np

from allstreets.base import Floats
from allstreets.cards.card import RANKS
from allstreets.cards.hands import (
    COMBOS_OF_HAND,
    HAND_COUNT,
    HAND_NAMES,
    PAIRS,
    combo_text,
    hand_index,
)
from allstreets.cards.range_kind import RangeKind

KINDS = ("s", "o", "")  # suited, offsuit, both

Hands = frozenset[int]
# What a token costs (its letters, its weight, a comma), its text without the weight, its hands.
Token = tuple[int, str, Hands]
Tokens = frozenset[Token]
Line = tuple[tuple[int, int], ...]  # rank pairs from the top down
Weights = Floats


def format_weights(weights: Floats) -> str:
    """The text of a range's weights [1326]; "" when all are 0."""
    placed: list[tuple[int, int, str]] = []
    by_weight: dict[float, set[int]] = {}
    for hand in range(HAND_COUNT):
        combos = COMBOS_OF_HAND[hand]
        own = weights[combos]
        if (own == own[0]).all():
            if own[0] > 0:
                by_weight.setdefault(float(own[0]), set()).add(hand)
        else:
            placed += [
                (hand, -int(combo), combo_text(int(combo)) + _weight_suffix(float(weights[combo])))
                for combo in combos
                if weights[combo] > 0
            ]
    for weight, hands in by_weight.items():
        suffix = _weight_suffix(weight)
        for _, text, members in _cover(frozenset(hands), len(suffix) + 1):
            placed.append((min(members), 0, text + suffix))
    return ",".join(text for _, _, text in sorted(placed))


def _weight_suffix(weight: float) -> str:
    """The suffix for a weight: none for 1, else the fewest digits that read back the same."""
    return "" if weight == 1 else f":{weight!r}"


def _cover(hands: Hands, extra: int) -> list[Token]:
    """Tokens that cover `hands` and nothing else; `extra` is what each costs beyond its text."""
    rows = [_line(high, None) for high in range(12, 0, -1)]

    def rows_cost(covered: Hands) -> int:
        return sum(
            _cover_row(row, hands & _all_hands(row), covered & _all_hands(row), extra)[0]
            for row in rows
        )

    candidates = [
        token
        for gap in range(1, 13)
        for kind in KINDS
        for token in _runs(_line(12, gap), kind, hands, extra)
        if len(token[2]) > 2  # two hands are written as short without one
    ]

    def total_cost(chosen: Tokens) -> int:
        return sum(token[0] for token in chosen) + rows_cost(_members(chosen))

    def improved(chosen: Tokens) -> Tokens:
        cost = total_cost(chosen)
        while True:
            neighbours = [chosen ^ {token} for token in candidates]
            best = min(neighbours, key=total_cost, default=chosen)
            if total_cost(best) >= cost:
                return chosen
            chosen, cost = best, total_cost(best)

    gap_tokens = min((improved(frozenset(start)) for start in ((), candidates)), key=total_cost)
    covered = _members(gap_tokens)
    chosen = list(gap_tokens)
    for row in rows:
        members = _all_hands(row)
        chosen += _cover_row(row, hands & members, covered & members, extra)[1]
    pairs = tuple((rank, rank) for rank in range(12, -1, -1))
    return chosen + _runs(pairs, "", hands, extra)


def _members(tokens: Tokens) -> Hands:
    return frozenset(hand for token in tokens for hand in token[2])


@cache
def _line(high: int, gap: int | None) -> Line:
    """The hands below one higher card, or those of one gap from that card down."""
    if gap is None:
        return tuple((high, low) for low in range(high - 1, -1, -1))
    return tuple((rank, rank - gap) for rank in range(high, gap - 1, -1))


@cache
def _hands_of(pair: tuple[int, int], kind: str) -> Hands:
    kinds: Iterable[bool] = (True, False) if kind == "" else (kind == "s",)
    return frozenset(hand_index(*pair, suited) for suited in kinds)


@cache
def _all_hands(line: Line) -> Hands:
    return frozenset(hand for pair in line for hand in _hands_of(pair, ""))


def _runs(line: Line, kind: str, hands: Hands, extra: int) -> list[Token]:
    """The longest runs of `hands` along a line."""
    runs: list[Token] = []
    first = 0
    while first < len(line):
        after = first
        while after < len(line) and _hands_of(line[after], kind) <= hands:
            after += 1
        if after > first:
            runs.append(_token(line, first, after - 1, kind, extra))
        first = after + 1
    return runs


@cache
def _token(line: Line, first: int, last: int, kind: str, extra: int) -> Token:
    """The token from one position of a line to another."""
    names = [RANKS[high] + RANKS[low] + kind for high, low in (line[first], line[last])]
    members = frozenset(hand for pair in line[first : last + 1] for hand in _hands_of(pair, kind))
    (high, low), (last_high, _) = line[first], line[last]
    if first == last:
        text = names[0]
    elif first == 0 and high in (low, last_high):  # pairs and kickers climb
        text = names[1] + "+"
    else:
        text = "-".join(names)
    return len(text) + extra, text, members


@cache
def _cover_row(
    line: Line, hands: Hands, covered: Hands, extra: int
) -> tuple[int, tuple[Token, ...]]:
    """The cheapest tokens within `hands` that cover all of `hands` but `covered`: (cost, tokens).

    The first hand of the line that needs covering is covered by some token; every one that could
    is tried, longest first, and the rest is covered in the same way.
    """
    needed = hands - covered
    if not needed:
        return 0, ()
    column = min(i for i, pair in enumerate(line) if _hands_of(pair, "") & needed)
    open_kind = "s" if _hands_of(line[column], "s") & needed else "o"
    best: tuple[int, tuple[Token, ...]] | None = None
    for kind in ("", open_kind):
        if not _hands_of(line[column], kind) <= hands:
            continue
        first = last = column
        while first > 0 and _hands_of(line[first - 1], kind) <= hands:
            first -= 1
        while last + 1 < len(line) and _hands_of(line[last + 1], kind) <= hands:
            last += 1
        # Starting above the first needed hand pays only where it reaches the top: "A9s+".
        starts = {column, 0} if first == 0 else {column}
        for start in sorted(starts):
            for end in {column, last}:
                token = _token(line, start, end, kind, extra)
                cost, rest = _cover_row(line, hands, covered | token[2], extra)
                if best is None or token[0] + cost < best[0]:
                    best = token[0] + cost, (token, *rest)
    assert best is not None
    return best


def write_weights(weights: Weights, kind: RangeKind | str = RangeKind.text) -> str:
    """The text of a range's weights [1326], without the end of its last line."""
    return WRITERS[RangeKind(kind)](weights)


def weight_text(number: float) -> str:
    """The fewest digits that read back as the same number, without an exponent.

    >>> weight_text(1.0), weight_text(0.25), weight_text(0.00001)
    ('1', '0.25', '0.00001')
    """
    return f"{Decimal(repr(float(number))):f}".removesuffix(".0")


def _entries(weights: Weights) -> Iterable[tuple[str, float]]:
    """Names and weights above 0, by hand where all combos are alike."""
    for hand, combos in enumerate(COMBOS_OF_HAND):
        held = weights[combos]
        if held.min() == held.max():
            named = [(HAND_NAMES[hand], float(held[0]))]
        else:
            named = [(combo_text(int(combo)), float(weights[combo])) for combo in combos]
        yield from ((name, weight) for name, weight in named if weight > 0)


def _pio(weights: Weights) -> str:
    return ",".join(
        name if weight == 1 else f"{name}:{weight_text(weight)}"
        for name, weight in _entries(weights)
    )


def _pio_numbers(weights: Weights) -> str:
    return " ".join(map(weight_text, weights.tolist()))


def _gto(weights: Weights) -> str:
    """Hands by falling weight; hands of weight 1 are outside the brackets."""
    named: dict[float, list[str]] = {}
    for names, weight in _equal_weights(weights):
        named.setdefault(weight, []).append(names)
    parts = []
    for weight in sorted(named, reverse=True):
        hands, percent = ",".join(named[weight]), f"{Decimal(repr(weight)).scaleb(2):f}"
        tag = percent.rstrip("0").removesuffix(".") if "." in percent else percent
        parts.append(hands if weight == 1 else f"[{tag}]{hands}[/{tag}]")
    return ",".join(parts)


def _equal_weights(weights: Weights) -> Iterable[tuple[str, float]]:
    """Hands side by side that weigh the same: pairs, or kickers below one card, "AKs-ATs"."""

    def run(hand: int) -> tuple[str, float | None]:
        held, name = weights[COMBOS_OF_HAND[hand]], HAND_NAMES[hand]
        row = "pairs" if hand < PAIRS.stop else name[0] + name[2]
        return row, float(held[0]) if held.min() == held.max() else None

    for (_, weight), members in groupby(range(HAND_COUNT), key=run):
        hands = list(members)
        if weight is None:
            combos = np.concatenate([COMBOS_OF_HAND[hand] for hand in hands])
            held = [(combo_text(int(combo)), float(weights[combo])) for combo in combos]
            yield from ((name, one) for name, one in held if one > 0)
        elif weight > 0:
            first, last = HAND_NAMES[hands[0]], HAND_NAMES[hands[-1]]
            yield first if first == last else f"{first}-{last}", weight


def _monker(weights: Weights) -> str:
    return "\n".join(f"{name}\n{weight_text(weight)};0" for name, weight in _entries(weights))


def _json(weights: Weights) -> str:
    return json.dumps({name: 1 if weight == 1 else weight for name, weight in _entries(weights)})


def _csv(weights: Weights) -> str:
    rows = (f"{name},{weight_text(weight)}" for name, weight in _entries(weights))
    return "\n".join(["hand,weight", *rows])


WRITERS: dict[RangeKind, Callable[[Weights], str]] = {
    RangeKind.text: format_weights,
    RangeKind.pio: _pio,
    RangeKind.pio_1326: _pio_numbers,
    RangeKind.gto: _gto,
    RangeKind.monker: _monker,
    RangeKind.json: _json,
    RangeKind.csv: _csv,
}

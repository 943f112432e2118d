"""Writing a range as other programs write it themselves, so that they surely read it.

| kind       | what is written                                                                  |
|------------|----------------------------------------------------------------------------------|
| `text`     | the shortest text: see `range_format`                                            |
| `pio`      | hand by hand, `AA,AKs:0.25,AhQd`: for PioSOLVER's viewer; most programs read it   |
| `pio-1326` | a number for each combo in PioSOLVER's order: for `set_range` in scripts          |
| `gto+`     | by weight, `AA-QQ,AKs,[25]KJs,K9s-K7s[/25]`                                       |
| `monker`   | an .rng file: a hand, and below it `weight;EV`, where the EV is 0: a range has none |
| `json`     | `{"AA": 1, "AKs": 0.25, "AhQd": 1}`                                               |
| `csv`      | the same with the head `hand,weight`                                             |

Hands whose combos differ in weight are written combo by combo, those of weight 0 not at all. Each
kind reads back as the same weights to the last bit.
"""

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import groupby

import numpy as np

from allstreets.base import Floats
from allstreets.cards.combos import combo_text
from allstreets.cards.hands import COMBOS_OF_HAND, HAND_COUNT, HAND_NAMES, PAIRS
from allstreets.cards.range_format import format_weights
from allstreets.cards.range_kind import RangeKind

Weights = Floats


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
    """Hands by falling weight; whoever has 1 stands outside the brackets."""
    named: dict[float, list[str]] = {}
    for names, weight in _runs(weights):
        named.setdefault(weight, []).append(names)
    parts = []
    for weight in sorted(named, reverse=True):
        hands, percent = ",".join(named[weight]), f"{Decimal(repr(weight)).scaleb(2):f}"
        tag = percent.rstrip("0").removesuffix(".") if "." in percent else percent
        parts.append(hands if weight == 1 else f"[{tag}]{hands}[/{tag}]")
    return ",".join(parts)


def _runs(weights: Weights) -> Iterable[tuple[str, float]]:
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

"""Reading range text: tokens separated by commas or blanks, each a set of hands with a weight.

| token      | meaning                                                                     |
|------------|-----------------------------------------------------------------------------|
| `AsKh`     | one combo                                                                   |
| `AKs` `AKo` `77` | one hand                                                              |
| `AK`       | suited and offsuit                                                          |
| `QQ-88`    | pairs from one to the other                                                 |
| `A9s-A6s`  | the same higher card, kickers from one to the other                         |
| `98s-65s`  | the same gap, both ranks falling together                                   |
| `TT+`      | this pair and every higher one                                              |
| `ATs+`     | the kicker climbs until just below the higher card: ATs, AJs, AQs, AKs      |
| `98s+`     | connectors: the kicker has no room, so both ranks climb: 98s, T9s, …, AKs  |
| `…:0.5`    | weight between 0 and 1; without one the weight is 1                         |

A combo may be named twice with the same weight, not with two different ones.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cards.card import RANKS
from allstreets.cards.combos import COMBO_COUNT, combo_text, parse_combo
from allstreets.cards.hands import HAND_OF_COMBO, hand_index

SPACED_SIGN = re.compile(r"\s*([-:])\s*")
TOKEN = re.compile(r"[^\s,]+")
HAND = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
COMBO = re.compile(rf"[{RANKS}][cdhs][{RANKS}][cdhs]", re.IGNORECASE)

# Ranks of a hand, the higher first, and its kind: "s", "o" or "" for both (and for pairs).
Pattern = tuple[int, int, str]


def parse_weights(text: str) -> NDArray[np.float64]:
    """[1326]: the weights that a range text gives to the combos."""
    weights = np.zeros(COMBO_COUNT)
    given_by: dict[int, str] = {}
    for token, position in _tokens(text):
        try:
            combos, weight = _read_token(token)
        except InputError as error:
            raise InputError(f"range, character {position + 1}: {error}") from None
        for combo in combos:
            earlier = given_by.setdefault(combo, token)
            if earlier != token and weights[combo] != weight:
                raise InputError(
                    f"range, character {position + 1}: '{earlier}' gives {combo_text(combo)} the "
                    f"weight {weights[combo]:g} and '{token}' gives it {weight:g}: keep one"
                )
            weights[combo] = weight
    if not given_by:
        raise InputError("the range is empty: write hands such as 'AA,AKs,TT-88,76s:0.5'")
    return weights


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a text and where each begins; blanks around - and : do not separate."""
    joined = SPACED_SIGN.sub(lambda match: match[1].center(len(match[0]), "\0"), text)
    for match in TOKEN.finditer(joined):
        yield match[0].replace("\0", ""), match.start()


def _read_token(token: str) -> tuple[list[int], float]:
    """The combos of one token and their weight."""
    body, colon, weight_text = token.partition(":")
    weight = _read_weight(token, weight_text) if colon else 1.0
    if COMBO.fullmatch(body):
        return [parse_combo(body)], weight
    hands = {
        hand_index(high, low, suited)
        for high, low, kind in _expand(token, body)
        for suited in (True, False)
        if kind == "" or suited == (kind == "s")
    }
    return np.flatnonzero(np.isin(HAND_OF_COMBO, list(hands))).tolist(), weight


def _read_weight(token: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        raise InputError(f"'{token}': '{text}' is not a weight: write 0.5 or so") from None
    if not 0 <= weight <= 1:
        raise InputError(f"'{token}': the weight {text} does not lie between 0 and 1")
    return weight


def _expand(token: str, body: str) -> Iterator[Pattern]:
    """The hands that the part of a token before its weight stands for."""
    first_text, dash, last_text = body.partition("-")
    if dash:
        yield from _between(token, _read_hand(token, first_text), _read_hand(token, last_text))
        return
    high, low, kind = _read_hand(token, body.removesuffix("+"))
    if not body.endswith("+"):
        yield high, low, kind
    elif high - low <= 1:  # pairs and connectors climb with both ranks
        yield from ((rank, rank - (high - low), kind) for rank in range(high, 13))
    else:
        yield from ((high, kicker, kind) for kicker in range(low, high))


def _between(token: str, first: Pattern, last: Pattern) -> Iterator[Pattern]:
    if first[2] != last[2]:
        raise InputError(f"'{token}': both ends must be suited (s), or offsuit (o), or neither")
    (high, low, kind), (other_high, other_low, _) = max(first, last), min(first, last)
    if high - low == other_high - other_low:
        yield from ((rank, rank - (high - low), kind) for rank in range(other_high, high + 1))
    elif high == other_high and low != high and other_low != high:
        yield from ((high, kicker, kind) for kicker in range(other_low, low + 1))
    else:
        raise InputError(
            f"'{token}': the ends must share the higher card (A9s-A6s) or the gap (98s-65s, QQ-88)"
        )


def _read_hand(token: str, text: str) -> Pattern:
    match = HAND.fullmatch(text)
    if not match:
        raise InputError(
            f"'{token}' is not a hand or a combo: write AA, AKs, AKo, AK, ATs+, QQ-88 or AsKh"
        )
    high, low = sorted(
        (RANKS.index(letter.upper()) for letter in match[1] + match[2]), reverse=True
    )
    kind = match[3].lower()
    if high == low and kind:
        raise InputError(f"'{token}': a pair is neither suited nor offsuit: write {text[:2]}")
    return high, low, kind

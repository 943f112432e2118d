"""Reading range text: tokens, each a set of hands with a weight, and groups of them.

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
| `20%`      | the best fifth of all hands, by equity against a random hand                |
| `random`   | any two cards                                                               |
| `…:0.5` `…:50%` | weight between 0 and 1; without one the weight is 1                   |
| `[50]…[/50]` | all between the two with that weight in per cent, as GTO+ writes it       |
| `50%(…)` `0.5(…)` | the same, as eval7 and PokerStove write it                           |

Tokens are separated by commas, semicolons or blanks. A combo that is named again gets the later
weight: `AKs,AhKh:0.2`. Weights of groups within groups multiply: a part of a part.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from allstreets.base import Floats, InputError, shorten
from allstreets.cards.card import RANKS
from allstreets.cards.combos import COMBO_COUNT, parse_combo
from allstreets.cards.hands import HAND_OF_COMBO, HAND_SIZES, hand_index

SPACED_SIGN = re.compile(r"(?:(?<!\s)\s+)?([-:])\s*")
TOKEN = re.compile(r"[^\s,;]+")
HAND = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
COMBO = re.compile(rf"[{RANKS}][cdhs][{RANKS}][cdhs]", re.IGNORECASE)
NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
TOP = re.compile(rf"({NUMBER})%")
RANDOM = "random"
PART = re.compile(
    rf"\[\s*+(?P<tag>/?)\s*+(?P<percent>{NUMBER})\s*+%?\s*+\]"
    rf"|(?P<share>{NUMBER})\s*+(?P<sign>%?)\s*+\("
    r"|(?P<end>\))"
    r"|(?P<token>[^\s,;()\[\]]+)"
    r"|(?P<other>[(\[\]])"
)
MOST_GROUPS = 50  # within each other

BY_EQUITY = """
AA KK QQ JJ TT 99 88 AKs 77 AQs AJs AKo ATs AQo AJo KQs 66 A9s ATo KJs A8s KTs KQo A7s A9o
KJo 55 QJs K9s A5s A6s A8o KTo QTs A4s A7o K8s A3s QJo K9o A5o A6o Q9s K7s JTs A2s QTo 44
A4o K6s K8o Q8s A3o K5s J9s Q9o JTo K7o A2o K4s Q7s K6o K3s T9s J8s 33 Q6s Q8o K5o J9o K2s
Q5s T8s K4o J7s Q4s Q7o T9o J8o K3o Q6o Q3s 98s T7s J6s K2o 22 Q2s Q5o J5s T8o J7o Q4o 97s
J4s T6s J3s Q3o 98o 87s T7o J6o 96s J2s Q2o T5s J5o T4s 97o 86s J4o T6o 95s T3s 76s J3o 87o
T2s 85s 96o J2o T5o 94s 75s T4o 93s 86o 65s 84s 95o T3o 92s 76o 74s T2o 54s 85o 64s 83s 94o
75o 82s 73s 93o 65o 53s 63s 84o 92o 43s 74o 72s 54o 64o 52s 62s 83o 42s 82o 73o 53o 63o 32s
43o 72o 52o 62o 42o 32o
"""
"""All hands by their equity against a random hand before the flop, the best first."""

# Ranks of a hand, the higher first, and its kind: "s", "o" or "" for both (and for pairs).
Pattern = tuple[int, int, str]


@dataclass(frozen=True)
class _Group:
    """A group that is open: what it began with, how it ends, and its weight with those around."""

    begin: str
    end: str
    position: int
    weight: float


def parse_weights(text: str) -> Floats:
    """[1326]: the weights that a range text gives to the combos."""
    weights = np.zeros(COMBO_COUNT)
    empty, groups = True, [_Group("", "", 0, 1.0)]
    # Blanks around - and : do not separate; what they are replaced by keeps every place.
    joined = SPACED_SIGN.sub(lambda match: match[1].center(len(match[0]), "\0"), text)
    for part in PART.finditer(joined):
        try:
            if part["token"]:
                combos, weight = _read_token(part["token"].replace("\0", ""))
                weights[combos] = groups[-1].weight * weight
                empty = False
            else:
                _open_or_close(groups, part)
        except InputError as error:
            raise InputError(f"{place_in(text, part.start())}: {error}") from None
    if len(groups) > 1:
        group = groups[-1]
        raise InputError(
            f"{place_in(text, group.position)}: '{shorten(group.begin)}' is never closed: write "
            f"{shorten(group.end)} behind its last hand"
        )
    if empty:
        raise InputError("the range is empty: write hands such as 'AA,AKs,TT-88,76s:0.5'")
    return weights


def place_in(text: str, position: int) -> str:
    """Where a character of a range stands, in words."""
    before = text[:position]
    character = position - (before.rfind("\n") + 1) + 1
    line = f"line {before.count(chr(10)) + 1}, " if "\n" in text.strip() else ""
    return f"range, {line}character {character}"


def named_combos(text: str) -> list[int]:
    """The combos of one token without a weight: "AsKh", "AKs", "TT+"."""
    if COMBO.fullmatch(text):
        return [parse_combo(text)]
    if text.lower() == RANDOM:
        return list(range(COMBO_COUNT))
    if share := TOP.fullmatch(text):
        return _top(text, float(share[1]) / 100)
    hands = {
        hand_index(high, low, suited)
        for high, low, kind in _expand(text)
        for suited in (True, False)
        if kind == "" or suited == (kind == "s")
    }
    return np.flatnonzero(np.isin(HAND_OF_COMBO, list(hands))).tolist()


def _top(text: str, share: float) -> list[int]:
    """The best hands, as many as fit whole into a share of all combos."""
    order = [
        hand_index(RANKS.index(name[0]), RANKS.index(name[1]), name.endswith("s"))
        for name in BY_EQUITY.split()
    ]
    if share > 1:
        raise InputError(f"'{shorten(text)}' is more than all hands: write random or 100%")
    held = np.cumsum(HAND_SIZES[order]) <= share * COMBO_COUNT + 1e-9
    if not held.any():
        least = 100 * int(HAND_SIZES[order[0]]) / COMBO_COUNT
        raise InputError(f"'{shorten(text)}' holds no hand: AA alone is {least:.2f} %")
    return np.flatnonzero(np.isin(HAND_OF_COMBO, np.array(order)[held])).tolist()


def read_weight(text: str) -> float:
    """A weight: "0.5" or "50%"; per cents are shifted as decimals, so that none is rounded."""
    number = text.strip()
    try:
        shift = -2 if number.endswith("%") else 0
        weight = float(Decimal(number.removesuffix("%")).scaleb(shift))
    except (ArithmeticError, ValueError):
        raise InputError(f"'{shorten(text)}' is not a weight: write 0.5 or so") from None
    if not 0 <= weight <= 1:
        raise InputError(f"the weight {shorten(text)} does not lie between 0 and 1")
    return weight


def _open_or_close(groups: list[_Group], part: re.Match[str]) -> None:
    """A sign that begins or ends a group; `groups` are those that are open, the outermost first."""
    sign, percent = shorten(part[0].replace("\0", "")), part["percent"]
    if part["other"]:
        raise InputError(f"'{sign}' has no meaning here: write [50]AA[/50], 50%(AA) or AA:0.5")
    if part["tag"] or part["end"]:
        group = groups[-1]
        if group.end != (")" if part["end"] else f"[/{_plain(percent)}]"):
            wanted = (
                f"write {shorten(group.end)}, which closes '{group.begin}'"
                if group.end
                else "remove it"
            )
            raise InputError(f"'{sign}' closes no group that is open: {wanted}")
        groups.pop()
        return
    if len(groups) > MOST_GROUPS:
        raise InputError(
            f"'{sign}': more than {MOST_GROUPS} groups within each other; is this a range?"
        )
    try:
        weight = read_weight(f"{percent}%" if percent else part["share"] + part["sign"])
    except InputError as error:
        advice = "" if percent else f": write {shorten(part['share'])}%( if that is meant"
        raise InputError(f"'{sign}': {error}{advice}") from None
    end = f"[/{_plain(percent)}]" if percent else ")"
    groups.append(_Group(sign, end, part.start(), groups[-1].weight * weight))


def _plain(number: str) -> str:
    """A number without zeros that say nothing, so that [50] may be closed by [/50.0]."""
    return f"{float(number):.12g}"


def _read_token(token: str) -> tuple[list[int], float]:
    """The combos of one token and their weight."""
    body, colon, weight_text = token.partition(":")
    try:
        weight = read_weight(weight_text) if colon else 1.0
    except InputError as error:
        raise InputError(f"'{shorten(token)}': {error}") from None
    return named_combos(body), weight


def _expand(token: str) -> Iterator[Pattern]:
    """The hands that a token without its weight stands for."""
    first_text, dash, last_text = token.partition("-")
    if dash:
        yield from _between(token, _read_hand(token, first_text), _read_hand(token, last_text))
        return
    high, low, kind = _read_hand(token, token.removesuffix("+"))
    if not token.endswith("+"):
        yield high, low, kind
    elif high - low <= 1:  # pairs and connectors climb with both ranks
        yield from ((rank, rank - (high - low), kind) for rank in range(high, 13))
    else:
        yield from ((high, kicker, kind) for kicker in range(low, high))


def _between(token: str, first: Pattern, last: Pattern) -> Iterator[Pattern]:
    if first[2] != last[2]:
        raise InputError(
            f"'{shorten(token)}': both ends must be suited (s), or offsuit (o), or neither"
        )
    (high, low, kind), (other_high, other_low, _) = max(first, last), min(first, last)
    if high - low == other_high - other_low:
        yield from ((rank, rank - (high - low), kind) for rank in range(other_high, high + 1))
    elif high == other_high and low != high and other_low != high:
        yield from ((high, kicker, kind) for kicker in range(other_low, low + 1))
    else:
        raise InputError(
            f"'{shorten(token)}': the ends must share the higher card (A9s-A6s) or the gap "
            "(98s-65s, QQ-88)"
        )


def _read_hand(token: str, text: str) -> Pattern:
    match = HAND.fullmatch(text)
    if not match:
        raise InputError(
            f"'{shorten(token)}' is not a hand or a combo: write AA, AKs, AKo, AK, ATs+, QQ-88, "
            "AsKh, 20% or random"
        )
    high, low = sorted(
        (RANKS.index(letter.upper()) for letter in match[1] + match[2]), reverse=True
    )
    kind = match[3].lower()
    if high == low and kind:
        raise InputError(
            f"'{shorten(token)}': a pair is neither suited nor offsuit: write {text[:2]}"
        )
    return high, low, kind

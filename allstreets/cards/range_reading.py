"""Reading a range of any kind that poker programs write; its beginning shows which kind it is.

| kind                  | what it looks like                                                   |
|-----------------------|----------------------------------------------------------------------|
| text, PioSOLVER, GTO+ | `QQ+,AKs:0.5`, `[50]AA,KK[/50]`, `50%(AA,KK)`: see below             |
| PioSOLVER's numbers   | 1,326 numbers in its order of combos: 2d2c, 2h2c, 2h2d, 2s2c, …      |
| MonkerSolver's .rng   | line by line a hand and below it `weight;EV` or a weight alone       |
| JSON                  | `{"AA": 1, "AhKh": 0.2}`, or the 1,326 numbers as a list             |
| CSV                   | lines of hand and weight, with a head (`hand,weight`) or without one |

PioSOLVER numbers combos as this package does: cards 2c, 2d, 2h, 2s, 3c, …, As, and to each card in
that order those below it, the lowest first. `show_hand_order` prints it.

A later entry overrides an earlier one in each of them. Text is made of tokens, each a set of hands
with a weight, and of groups of them:

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
| `8s8h+` `AhAs-QhQs` | the same with combos, whose suits stay                             |
| `20%` `top 20%` | the best fifth of all hands, by equity against a random hand           |
| `random`   | any two cards                                                               |
| `…:0.5` `…:50%` | weight between 0 and 1; without one the weight is 1                   |
| `[50]…[/50]` | all between the two with that weight in per cent, as GTO+ writes it       |
| `50%(…)` `0.5(…)` | the same, as eval7 and PokerStove write it                           |

Tokens are separated by commas, semicolons or blanks. A combo that is named again gets the later
weight: `AKs,AhKh:0.2`. Weights of groups within groups multiply: a part of a part.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

import numpy as np

from allstreets.base import Floats, InputError, csv_rows, shorten, shortened
from allstreets.cards.card import RANKS
from allstreets.cards.hands import (
    COMBO_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    HAND_SIZES,
    hand_index,
    parse_combo,
)

SPACED_SIGN = re.compile(r"(?:(?<!\s)\s+)?([-:])\s*")
TOKEN = re.compile(r"[^\s,;]+")
HAND = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
COMBO = re.compile(rf"[{RANKS}][cdhs][{RANKS}][cdhs]", re.IGNORECASE)
NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
TOP = re.compile(rf"(?:top)?({NUMBER})%", re.IGNORECASE)
TOP_WORD = re.compile(rf"\btop\s+{NUMBER}\s*%", re.IGNORECASE)
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

# Ranks of a hand, the higher first, and its kind: "s", "o" or "" for both (and for pairs); of a
# combo the suits of both cards.
Pattern = tuple[int, int, str]
SIGNED = re.compile(rf"[+-]?{NUMBER}(?:e[+-]?\d+)?", re.IGNORECASE)
NUMBER_LIST = re.compile(r"\s*\[[-+.,;\deE\s]*\]\s*")
WORD = re.compile(r"[^\s,;\[\]]+")
PAIR_OF_DIGITS = re.compile(r"[2-9]{2}")  # a hand: "22", "98"
HAND_HEADS = ("hand", "combo")
WEIGHT_HEADS = ("weight", "frequency", "reach")
Weights = Floats


@dataclass(frozen=True)
class _Group:
    """An open group: how it began, how it ends, and its weight with the groups around it."""

    begin: str
    end: str
    position: int
    weight: float


def parse_weights(text: str) -> Floats:
    """[1326]: the weights that a range text gives to the combos."""
    weights = np.zeros(COMBO_COUNT)
    empty, groups = True, [_Group("", "", 0, 1.0)]
    # Blanks around - and :, and in "top 20 %", do not separate; positions stay as they are.
    joined = SPACED_SIGN.sub(lambda match: match[1].center(len(match[0]), "\0"), text)
    joined = TOP_WORD.sub(lambda match: re.sub(r"\s", "\0", match[0]), joined)
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
            f"{shorten(group.end)} after its last hand"
        )
    if empty:
        raise InputError("the range is empty: write hands such as 'AA,AKs,TT-88,76s:0.5'")
    return weights


def place_in(text: str, position: int) -> str:
    """The position of a character of a range, in words."""
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
    patterns = list(_expand(text))
    if len(patterns[0][2]) == 2:
        return [
            parse_combo(f"{RANKS[high]}{suits[0]}{RANKS[low]}{suits[1]}")
            for high, low, suits in patterns
        ]
    hands = {
        hand_index(high, low, suited)
        for high, low, kind in patterns
        for suited in (True, False)
        if kind == "" or suited == (kind == "s")
    }
    return np.flatnonzero(np.isin(HAND_OF_COMBO, list(hands))).tolist()


def _top(text: str, share: float) -> list[int]:
    """The best hands that fit whole into a share of all combos."""
    order = [HAND_NAMES.index(name) for name in BY_EQUITY.split()]
    if share > 1:
        raise InputError(f"'{shorten(text)}' is more than all hands: write random or 100%")
    held = np.cumsum(HAND_SIZES[order]) <= share * COMBO_COUNT + 1e-9
    if not held.any():
        least = 100 * int(HAND_SIZES[order[0]]) / COMBO_COUNT
        raise InputError(f"'{shorten(text)}' contains no hand: AA alone is {least:.2f} %")
    return np.flatnonzero(np.isin(HAND_OF_COMBO, np.array(order)[held])).tolist()


def read_weight(text: str) -> float:
    """A weight: "0.5" or "50%"; per cents are shifted as decimals, so that none is rounded."""
    number = text.strip()
    try:
        shift = -2 if number.endswith("%") else 0
        weight = float(Decimal(number.removesuffix("%")).scaleb(shift))
    except (ArithmeticError, ValueError):
        raise InputError(f"'{shorten(text)}' is not a weight: write a number such as 0.5") from None
    if not 0 <= weight <= 1:
        raise InputError(f"the weight {shorten(text)} is not between 0 and 1")
    return weight


def _open_or_close(groups: list[_Group], part: re.Match[str]) -> None:
    """Read a sign that begins or ends a group; `groups` are open, the outermost first."""
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
            raise InputError(f"'{sign}' closes a group that is not open: {wanted}")
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
    """A number without trailing zeros, so that [50] may be closed by [/50.0]."""
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
    """The hands of a token, without its weight."""
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
        alike = "be suited (s), or offsuit (o), or neither"
        if len(first[2]) == len(last[2]) == 2:
            alike = "have the same suits in the same order"
        raise InputError(f"'{shorten(token)}': both ends must {alike}")
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
    if COMBO.fullmatch(text):
        cards = sorted((text[:2], text[2:]), key=lambda card: -RANKS.index(card[0].upper()))
        suits = "".join(card[1].lower() for card in cards)
        return RANKS.index(cards[0][0].upper()), RANKS.index(cards[1][0].upper()), suits
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


def read_weights(text: str) -> Weights:
    """[1326]: the weights of a range of any kind."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line]
    if text.lstrip().startswith("{"):
        return _read_json(text)
    if NUMBER_LIST.fullmatch(text) or _are_numbers(text):
        return _read_numbers(text)
    if len(lines) > 1 and _is_figure(lines[1][1].partition(";")[0]):
        return _read_monker(lines)
    # One line such as "72o,20%" is two tokens; a table in per cent has more lines.
    if lines and _is_table(lines[0][1]) and not (len(lines) == 1 and "%" in text):
        return _read_table(text, _separator(lines[0][1]))
    return parse_weights(text)


def _are_numbers(text: str) -> bool:
    """Whether the words are all numbers, at least one of which cannot be a hand."""
    words = WORD.findall(text)
    return all(SIGNED.fullmatch(word) for word in words) and any(map(_is_figure, words))


def _is_figure(word: str) -> bool:
    """Whether a word is a number, and no hand."""
    number = word.strip().removesuffix("%")
    return bool(SIGNED.fullmatch(number)) and not PAIR_OF_DIGITS.fullmatch(word.strip())


def _read_numbers(text: str) -> Weights:
    """Numbers in PioSOLVER's order, which is also the order of combos here."""
    words = list(WORD.finditer(text))
    if len(words) != COMBO_COUNT:
        raise InputError(
            f"range: {len(words):,} number{'s' * (len(words) != 1)}: in PioSOLVER's order of "
            f"combos there are {COMBO_COUNT:,}"
        )
    weights = np.zeros(COMBO_COUNT)
    for combo, word in enumerate(words):
        try:
            weights[combo] = read_weight(word[0])
        except InputError as error:
            where = place_in(text, word.start())
            raise InputError(f"{where}, number {combo + 1:,}: {error}") from None
    return weights


def _read_monker(lines: list[tuple[int, str]]) -> Weights:
    """Lines of hand and weight in turn; the number after a semicolon is the EV."""
    if len(lines) % 2:
        number, hand = lines[-1]
        raise InputError(f"range, line {number}: the weight of {shortened(hand)} is missing")
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return _gathered((line, hand, weight.partition(";")[0]) for (line, hand), (_, weight) in pairs)


def _is_table(line: str) -> bool:
    """Whether a line is the head of a CSV table, or its first row."""
    fields = [field.strip().strip('"') for field in line.split(_separator(line))]
    if len(fields) < 2:
        return False
    if set(HAND_HEADS) & {field.lower() for field in fields}:
        return True
    named = bool(HAND.fullmatch(fields[0]) or COMBO.fullmatch(fields[0]))
    return named and _is_figure(fields[1].replace(",", "."))


def _read_table(text: str, separator: str) -> Weights:
    lines = [line.strip() for line in text.split("\n")]
    numbered = [(number, row) for number, row in csv_rows(lines, "range", separator) if row]
    heads = [field.strip().lower() for field in numbered[0][1]]
    hand, weight, least = 0, 1, 2
    if set(HAND_HEADS) & set(heads):
        named = next((head for head in WEIGHT_HEADS if head in heads), None)
        if named is None:
            raise InputError(
                f"range, line {numbered[0][0]}: the table has no column of weights: name one of "
                f"{', '.join(WEIGHT_HEADS)}"
            )
        hand = next(heads.index(head) for head in HAND_HEADS if head in heads)
        weight, least = heads.index(named), len(heads)
        del numbered[0]
    for number, row in numbered:
        if len(row) != least:
            raise InputError(
                f"range, line {number}: {len(row)} field{'s' * (len(row) != 1)}, not {least}: "
                "write a hand and its weight, such as AKs,0.5"
            )
    comma = "," if separator == ";" else "."  # as spreadsheets of many countries write decimals
    return _gathered(
        (number, row[hand].strip(), row[weight].replace(comma, ".")) for number, row in numbered
    )


def _separator(line: str) -> str:
    return next((sign for sign in "\t;" if sign in line), ",")


def _gathered(entries: Iterable[tuple[int, str, str]]) -> Weights:
    """Entries of line, hand and weight."""
    weights, empty = np.zeros(COMBO_COUNT), True
    for line, hand, weight in entries:
        empty = False
        try:
            weights[named_combos(hand)] = read_weight(weight)
        except InputError as error:
            raise InputError(f"range, line {line}: {error}") from None
    if empty:
        raise InputError("the range is empty: there is no hand below the head of the table")
    return weights


def _read_json(text: str) -> Weights:
    try:
        entries = json.loads(text, object_pairs_hook=list, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place_in(text, error.pos)}: not valid JSON ({error.msg}): write "
            '{"AA": 1, "AKs": 0.5}'
        ) from None
    except (RecursionError, ValueError) as error:
        raise InputError(
            f'range: not valid JSON ({shorten(str(error))}): write {{"AA": 1}}'
        ) from None
    weights = np.zeros(COMBO_COUNT)
    for hand, weight in entries:
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise InputError(
                f'range, entry {shortened(hand)}: write a number, as in {{"AKs": 0.5}}'
            )
        try:
            weights[named_combos(hand)] = read_weight(repr(weight))
        except InputError as error:
            raise InputError(f"range, entry {shortened(hand)}: {error}") from None
    if not entries:
        raise InputError('the range is empty: write hands such as {"AA": 1, "AKs": 0.5}')
    return weights


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a weight")

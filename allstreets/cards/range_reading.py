"""Reading a range of any kind that poker programs write; what it is shows in how it begins.

| kind                  | what it looks like                                                   |
|-----------------------|----------------------------------------------------------------------|
| text, PioSOLVER, GTO+ | `QQ+,AKs:0.5`, `[50]AA,KK[/50]`, `50%(AA,KK)`: see `range_text`      |
| PioSOLVER's numbers   | 1,326 numbers in its order of combos: 2d2c, 2h2c, 2h2d, 2s2c, …      |
| MonkerSolver's .rng   | line by line a hand and below it `weight;EV` or a weight alone       |
| JSON                  | `{"AA": 1, "AhKh": 0.2}`, or the 1,326 numbers as a list             |
| CSV                   | lines of hand and weight, with a head (`hand,weight`) or without one |

PioSOLVER numbers combos as this package does: cards 2c, 2d, 2h, 2s, 3c, …, As, and to each card in
that order those below it, the lowest first. `show_hand_order` prints it.

A later entry overrides an earlier one in each of them.
"""

import json
import re
from collections.abc import Iterable
from typing import NoReturn

import numpy as np

from allstreets.base import Floats, InputError, csv_rows, shorten, shortened
from allstreets.cards.combos import COMBO_COUNT
from allstreets.cards.range_text import (
    COMBO,
    HAND,
    named_combos,
    parse_weights,
    place_in,
    read_weight,
)

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
NUMBER_LIST = re.compile(r"\s*\[[-+.,;\deE\s]*\]\s*")
WORD = re.compile(r"[^\s,;\[\]]+")
PAIR_OF_DIGITS = re.compile(r"[2-9]{2}")  # a hand: "22", "98"
HAND_HEADS = ("hand", "combo")
WEIGHT_HEADS = ("weight", "frequency", "reach")

Weights = Floats


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
    """Whether there is nothing but numbers, of which one at least cannot be a hand."""
    words = WORD.findall(text)
    return all(NUMBER.fullmatch(word) for word in words) and any(map(_is_figure, words))


def _is_figure(word: str) -> bool:
    """Whether a word is a number, and no hand."""
    number = word.strip().removesuffix("%")
    return bool(NUMBER.fullmatch(number)) and not PAIR_OF_DIGITS.fullmatch(word.strip())


def _read_numbers(text: str) -> Weights:
    """Numbers in PioSOLVER's order, which is that of combos here."""
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
    """Lines of hand and weight in turn; what stands behind a semicolon is the EV."""
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
                f'range, entry {shortened(hand)}: a number is wanted, as in {{"AKs": 0.5}}'
            )
        try:
            weights[named_combos(hand)] = read_weight(repr(weight))
        except InputError as error:
            raise InputError(f"range, entry {shortened(hand)}: {error}") from None
    if not entries:
        raise InputError('the range is empty: write hands such as {"AA": 1, "AKs": 0.5}')
    return weights


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no weight")

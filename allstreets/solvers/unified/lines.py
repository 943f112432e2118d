"""Lines of play through the whole game as text: "r2.5 c | AhKd7s | x b50%".

Before the first bar the words are those of `betting.preflop_lines`, in big blinds. Then comes the
flop, unless it is told apart, and after it:

| word               | action                                                                     |
|--------------------|----------------------------------------------------------------------------|
| `x`, `c`, `f`, `a` | check, call, fold, all-in                                                  |
| `b50%`, `r100%`    | the bet or raise of that share of the pot, to within 1 % of the pot        |
| `b1.25`, `r3.75`   | bet 1.25 bb, raise to 3.75 bb: the total on this street; `b1.25bb` will do |

Turn and river are averaged over, so no card is named: between streets stands `|`, `| * |`, or
nothing at all.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from allstreets.base import InputError
from allstreets.betting import (
    CHIPS_PER_BB,
    BettingTree,
    NodeKind,
    Street,
    action_text,
    bb_text,
    line_text,
    neat,
    parse_line,
    pot_share,
    preflop_line_text,
)
from allstreets.betting.lines import ANY_CARD_WORD, SEPARATOR, VERBS, choices
from allstreets.cards import CanonicalFlop, cards_text, parse_board, parse_flop

CARD = re.compile(r"[2-9tjqka][cdhs]", re.IGNORECASE)
FLOP = re.compile(r"(?:[2-9tjqka][cdhs][\s,]*){3}", re.IGNORECASE)
BIG_BLINDS = re.compile(r"([br])(\d{1,9}(?:\.\d{1,9})?)(?:bb)?")


@dataclass(frozen=True)
class WholeLine:
    """A line taken apart: the words before the flop, the flop if it is told, the words after it."""

    before: str
    flop: CanonicalFlop | None
    cards: str  # the flop as it was written
    after: str | None  # None: the line ends before the flop


def split_line(line: str, flop: str | None = None) -> WholeLine:
    """Take a line apart; `flop` may be told in the line, apart from it, or not at all."""
    before, *rest = line.split(SEPARATOR)
    inside = None
    if rest and FLOP.fullmatch(rest[0].strip()):
        inside = rest.pop(0)
    after = SEPARATOR.join(rest) if rest or inside is not None else None
    told = flop if flop is not None else inside
    if told is None:
        return WholeLine(before, None, "", after)
    found = parse_flop(told)
    if inside is not None and parse_flop(inside).flop != found.flop:
        raise InputError(
            f"line '{line}': the flop in it is another one than {told}; leave one of them out"
        )
    return WholeLine(before, found, cards_text(parse_board(told)), after)


def find_postflop(tree: BettingTree, line: str) -> int:
    """The decision that the words after the flop lead to; "" is the first one."""
    node = dealt(tree, follow_postflop(tree, line))
    if tree.kind[node] != NodeKind.DECISION:
        raise InputError(f"line '{line.strip()}' after the flop: nobody acts there any more")
    return node


def follow_postflop(tree: BettingTree, line: str) -> int:
    """The node that the words after the flop lead to: it may also deal a card, or be an end."""
    node = 0
    try:
        for word in line.replace(SEPARATOR, " ").split():
            if word != ANY_CARD_WORD:
                node = _child(tree, dealt(tree, node), word)
    except InputError as error:
        raise InputError(f"line '{line.strip()}' after the flop: {error}") from None
    return node


def postflop_line(tree: BettingTree, node: int) -> str:
    """The line to a node after the flop, sizes in per cent of the pot: "x b50% c | x"."""
    return " ".join(
        SEPARATOR if tree.actions[step] is None else postflop_word(tree, step)
        for step in tree.path_to(node)[1:]
    )


def whole_line(before: BettingTree, node: int, cards: str = "", after: str = "") -> str:
    """The canonical text of a line through the whole game."""
    words = [preflop_line_text(before, node)]
    if cards:
        words += [SEPARATOR, cards, *([SEPARATOR, after] if after else [])]
    return " ".join(words).strip()


def postflop_word(tree: BettingTree, node: int) -> str:
    """The word for the action that led to a node: "b50%", "x", "a"."""
    action = tree.actions[node]
    assert action is not None
    word, share = action_text(action), pot_share(tree, node)
    return word if share is None or word == "a" else f"{word[0]}{float(100 * share):.4g}%"


def postflop_label(tree: BettingTree, node: int) -> str:
    """What a person reads for that action: "bet 1.25 bb (50 %)"."""
    action = tree.actions[node]
    assert action is not None
    share = pot_share(tree, node)
    if share is None:
        return VERBS[action.kind]
    return f"{VERBS[action.kind]} {bb_text(action.amount)} bb ({round(100 * share)} %)"


def dealt(tree: BettingTree, node: int) -> int:
    """The node itself, or where it goes on when a card has been dealt there."""
    return int(tree.children_of(node)[0]) if tree.kind[node] == NodeKind.CHANCE else node


def _child(tree: BettingTree, node: int, word: str) -> int:
    if tree.kind[node] != NodeKind.DECISION:
        raise InputError(f"'{word}': the hand is over after '{postflop_line(tree, node)}'")
    if CARD.fullmatch(word):
        raise InputError(
            f"'{word}': turn and river are averaged over: write {ANY_CARD_WORD} for the card, or "
            "leave it out"
        )
    lowered = word.lower()
    if amount := BIG_BLINDS.fullmatch(lowered):
        chips = Fraction(amount[2]) * CHIPS_PER_BB
        lowered = f"{amount[1]}{neat(float(chips))}"
        if (chips / tree.grain).denominator != 1:
            raise InputError(f"'{word}' is not offered: {_offer(tree, node)}")
    way = line_text(tree, node)
    if node and tree.actions[node] is None:
        way += f" {SEPARATOR}"
    try:
        return parse_line(tree, f"{way} {lowered}", any_card=True).node
    except InputError as error:
        # Amounts are chips there, and people count in big blinds here.
        reason = "lies between two actions" if "lies between" in str(error) else "is not offered"
        raise InputError(f"'{word}' {reason}: {_offer(tree, node)}") from None


def _offer(tree: BettingTree, node: int) -> str:
    """What is offered at a decision: "BB may x, b50% (1.25 bb), a (17.5 bb)"."""
    words = []
    for child, action in choices(tree, node):
        amount = f" ({bb_text(action.amount)} bb)" if action.is_aggressive else ""
        words.append(f"{postflop_word(tree, child)}{amount}")
    street = Street(int(tree.street[node])).text
    return f"on the {street} {tree.player_at(node).seat} may {', '.join(words)}"

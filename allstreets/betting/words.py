"""One action as one word of a line, and as people read it, in the notation of a game.

| word             | action                                                                       |
|------------------|------------------------------------------------------------------------------|
| `x`, `c`, `f`    | check, call, fold; the small blind's first `c` is a limp                     |
| `b50`, `r120`    | bet 50, raise to 120: the total on this street, antes not counted            |
| `b33%`, `r60%`   | the offered bet or raise of that share of the pot, to within 1 % of the pot  |
| `a`              | all-in                                                                       |

Amounts are in chips or in big blinds (`r2.5`, `r2.5bb`), as the notation says. The blinds are a
bet, so that before the flop there are raises only; shares of the pot are for later streets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from allstreets.base import InputError
from allstreets.betting.table import (
    CHIPS_PER_BB,
    CHIPS_PER_POT,
    Player,
    Street,
    amount_text,
    exact_chips,
)
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind

LETTERS = {
    ActionKind.FOLD: "f",
    ActionKind.CHECK: "x",
    ActionKind.CALL: "c",
    ActionKind.BET: "b",
    ActionKind.RAISE: "r",
    ActionKind.ALL_IN: "a",
}
VERBS = {
    ActionKind.FOLD: "fold",
    ActionKind.CHECK: "check",
    ActionKind.CALL: "call",
    ActionKind.BET: "bet",
    ActionKind.RAISE: "raise to",
    ActionKind.ALL_IN: "all-in",
}
IMPERATIVES = {LETTERS[kind]: verb for kind, verb in VERBS.items()}
PLAIN_WORDS = {letter: kind for kind, letter in LETTERS.items() if letter not in "br"}
SIZED_WORD = re.compile(r"([br])(\d{1,12}(?:\.\d{1,15})?)(%|bb)?")
TOLERANCE = Fraction(1, 100)  # of the pot, for sizes in per cent
SHORTEST, LONGEST = 4, 17  # digits of a share of the pot; more than a few only where bets are close


@dataclass(frozen=True)
class Notation:
    """The notation of a game's lines: its unit, its seats, and the sign for a card."""

    unit: str  # of amounts
    scale: int  # chips in one of the unit
    seats: tuple[str, str]  # of OOP and IP
    shown: str  # an amount beside an action, in words; empty: only shares of the pot are shown
    word_scale: int  # chips in one of what the amounts of words count
    shares: bool  # whether words after the flop give sizes in per cent of the pot
    deal: str  # what is written where a card is dealt, {} for the card unless it is averaged over

    @property
    def names_cards(self) -> bool:
        """Whether lines name every card that is dealt."""
        return "{}" in self.deal


POSITIONS = (Player.OOP.name, Player.IP.name)
BLINDS = (Player.OOP.seat, Player.IP.seat)

CHIPS = Notation("chips", 1, POSITIONS, "{}", word_scale=1, shares=False, deal="| {} |")
BIG_BLINDS = Notation("bb", CHIPS_PER_BB, BLINDS, "{} bb", CHIPS_PER_BB, shares=True, deal="|")
BLINDS_AND_CARDS = replace(BIG_BLINDS, deal=CHIPS.deal)  # turn and river are named
POT_SHARES = Notation("pot", CHIPS_PER_POT, POSITIONS, "", word_scale=1, shares=True, deal="| * |")


def choices(tree: BettingTree, node: int) -> Iterator[tuple[int, Action]]:
    """The children of a decision with the actions that lead there."""
    for child in tree.children_of(node).tolist():
        action = tree.actions[child]
        if action is not None:
            yield child, action


def pot_share(tree: BettingTree, node: int) -> Fraction | None:
    """The size of the bet or raise that led to a node, in pots; None for any other action.

    A raise counts on top of the call and in pots after calling, as sizes are written.
    """
    action = tree.actions[node]
    if action is None or not action.is_aggressive:
        return None
    before = int(tree.parent[node])
    put_in = exact_chips(tree.invested[node, tree.player_at(before)].item())
    return (put_in - _called(tree, before)) / _called_pot(tree, before)


def action_text(action: Action, notation: Notation = CHIPS) -> str:
    """The word for an action with its amount: "x", "b50", "r120", "a".

    >>> action_text(Action(ActionKind.RAISE, 120))
    'r120'
    >>> action_text(Action(ActionKind.RAISE, 625), BIG_BLINDS)
    'r6.25'
    """
    letter = LETTERS[action.kind]
    return letter + (amount_text(action.amount, notation.word_scale) if letter in "br" else "")


def action_word(tree: BettingTree, node: int, notation: Notation = CHIPS) -> str:
    """The word for the action that led to a node: "x", "r2.5", "b50%"."""
    action = tree.actions[node]
    assert action is not None
    sized = action.kind in (ActionKind.BET, ActionKind.RAISE)
    if sized and notation.shares and tree.street[node] > Street.PREFLOP:
        return f"{LETTERS[action.kind]}{_percent(tree, node)}%"
    return action_text(action, notation)


def action_label(tree: BettingTree, node: int, notation: Notation = CHIPS) -> str:
    """The readable label of the action: "bet 33 (33 %)", "raise to 2.5 bb", "bet 50 %"."""
    action = tree.actions[node]
    if action is None:
        return "deal" if node else "root"
    amount, share = _sizes(tree, node, notation)
    if not action.is_aggressive:
        # The only call that leaves the other player something to do is the small blind's first.
        limp = action.kind == ActionKind.CALL and tree.kind[node] == NodeKind.DECISION
        return "limp" if limp else VERBS[action.kind]
    if not amount:
        return f"{VERBS[action.kind].removesuffix(' to')} {share}"
    return f"{VERBS[action.kind]} {amount}" + (f" ({share})" if share else "")


def find_action(tree: BettingTree, node: int, word: str, notation: Notation = CHIPS) -> int:
    """The child of a decision that a word leads to."""
    kind = PLAIN_WORDS.get(word.lower())
    sized = SIZED_WORD.fullmatch(word.lower())
    if kind is not None:
        matches = [child for child, action in choices(tree, node) if action.kind == kind]
    elif sized and _is_unit(tree, node, sized[3], notation):
        _check_letter(tree, node, word, notation)
        matches = _bets_of(tree, node, Fraction(sized[2]), sized[3] == "%", notation)
    else:
        raise InputError(f"'{word}' is not an action: {offer(tree, node, notation)}")
    if len(matches) != 1:
        reason = "lies between two actions" if matches else "is not offered"
        raise InputError(f"'{word}' {reason}: {offer(tree, node, notation)}")
    return matches[0]


def offer(tree: BettingTree, node: int, notation: Notation = CHIPS) -> str:
    """List the actions of a decision: "OOP may x, b33 (33 %), a (500 %)"."""
    words = (_offered(tree, child, notation) for child, _ in choices(tree, node))
    # Where no card says it, the street is named.
    street = Street(int(tree.street[node]))
    where = "" if notation.names_cards or not street else f"on the {street.text} "
    return f"{where}{notation.seats[tree.player_at(node)]} may {', '.join(words)}"


def _offered(tree: BettingTree, node: int, notation: Notation) -> str:
    """A word, followed by the size if the word does not give it."""
    word = action_word(tree, node, notation)
    amount, share = _sizes(tree, node, notation)
    more = (amount or share) if notation.shares else share
    given = len(word) > 1 and word.endswith("%") == (more == share)
    return word if given or not more else f"{word} ({more})"


def _sizes(tree: BettingTree, node: int, notation: Notation) -> tuple[str, str]:
    """(amount, share of the pot) of a bet or raise in words, empty where they are not shown."""
    action, share = tree.actions[node], pot_share(tree, node)
    if action is None or share is None:
        return "", ""
    preflop = tree.street[node] == Street.PREFLOP
    amount = notation.shown.format(amount_text(action.amount, notation.scale))
    return amount, "" if preflop else f"{round(100 * share)} %"


def _is_unit(tree: BettingTree, node: int, unit: str | None, notation: Notation) -> bool:
    """Whether sizes can be written so there."""
    if unit == "%":
        return bool(tree.street[node] > Street.PREFLOP)
    return unit in (None, notation.unit)


def _check_letter(tree: BettingTree, node: int, word: str, notation: Notation) -> None:
    """Refuse a bet where there is one to raise, and a raise where there is none."""
    if tree.street[node] == Street.PREFLOP:
        right, reason = "r", "the blinds are a bet to raise"
    elif any(action.kind == ActionKind.FOLD for _, action in choices(tree, node)):
        right, reason = "r", "there is a bet to raise"
    else:
        right, reason = "b", "there is no bet yet"
    if word[0].lower() != right:
        advice = f"write {right}{word[1:]}: {offer(tree, node, notation)}"
        raise InputError(f"'{word}': {reason}, {advice}")


def _bets_of(
    tree: BettingTree, node: int, size: Fraction, percent: bool, notation: Notation
) -> list[int]:
    """The bets or raises, all-in as well, that a size stands for."""
    if percent:
        return _closest(tree, node, size / 100)
    chips = size * notation.word_scale
    bets = ((child, action) for child, action in choices(tree, node) if action.is_aggressive)
    return [child for child, action in bets if exact_chips(action.amount) == chips]


def _called(tree: BettingTree, node: int) -> Fraction:
    """The chips that the player at a decision has put in once he has called."""
    return exact_chips(tree.invested[node, tree.player_at(node).opponent].item())


def _called_pot(tree: BettingTree, node: int) -> Fraction:
    """The pot at a decision once he has."""
    return exact_chips(tree.pot) + 2 * _called(tree, node)


def _closest(tree: BettingTree, node: int, wanted: Fraction) -> list[int]:
    """The bets of a share of the pot; two if it lies in the middle between them."""
    shares = ((child, pot_share(tree, child)) for child, _ in choices(tree, node))
    gaps = {child: abs(share - wanted) for child, share in shares if share is not None}
    # The smallest chip is what rounding can cost where the pot is small.
    chip = tree.grain / _called_pot(tree, node)
    closest = min(gaps.values(), default=Fraction(1))
    if closest > max(TOLERANCE, chip):
        return []
    return [child for child, gap in gaps.items() if gap == closest]


def _percent(tree: BettingTree, node: int) -> str:
    """A bet's share of the pot, with just enough digits to identify it."""
    share, above = pot_share(tree, node), int(tree.parent[node])
    assert share is not None
    percent, chip = float(100 * share), float(tree.grain / _called_pot(tree, above))
    for digits in range(SHORTEST, LONGEST):
        text = f"{percent:.{digits}g}"
        # Bets are at least a chip apart: within a third of a chip no search is needed.
        near = abs(float(text) - percent) < 33 * chip
        if "e" not in text and (near or _closest(tree, above, Fraction(text) / 100) == [node]):
            break
    return text

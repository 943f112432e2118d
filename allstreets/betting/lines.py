"""Lines of play from the flop on as text: "x b33% c | 7h | x".

| word             | action                                                                       |
|------------------|------------------------------------------------------------------------------|
| `x`, `c`, `f`    | check, call, fold                                                            |
| `b50`, `r120`    | bet 50 chips, raise to 120 chips (the total on this street)                  |
| `b33%`, `r60%`   | the offered bet or raise of that share of the pot, to within 1 % of the pot  |
| `a`              | all-in                                                                       |

Between two streets stands the card that is dealt, `| 7h |`. Where any card will do, it may be left
open: `| * |`. The empty line is the root.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from allstreets.base.errors import InputError
from allstreets.betting.chips import exact_chips
from allstreets.betting.table import Street
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind
from allstreets.cards.card import card_text, parse_card

ANY_CARD = -1
ANY_CARD_WORD = "*"
SEPARATOR = "|"

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
PLAIN_WORDS = {letter: kind for kind, letter in LETTERS.items() if letter not in "br"}
SIZED_WORD = re.compile(r"([br])(\d{1,9}(?:\.\d{1,9})?)(%?)")


@dataclass(frozen=True)
class Line:
    """A way through the tree: the nodes from the root on, and the cards dealt on the way.

    `cards` has one entry for each CHANCE node that was passed; ANY_CARD where it was left open.
    """

    nodes: tuple[int, ...]
    cards: tuple[int, ...] = ()

    @property
    def node(self) -> int:
        """Where the line leads."""
        return self.nodes[-1]


def parse_line(
    tree: BettingTree, text: str, board: Sequence[int] = (), *, any_card: bool = False
) -> Line:
    """Follow a line from the root; `board` holds the cards that can not be dealt any more.

    The line may end anywhere, also where the next card is to be dealt. `any_card` allows `*`.
    """
    try:
        return _follow(tree, text, board, any_card)
    except InputError as error:
        raise InputError(f"line '{text}': {error}") from None


def line_text(tree: BettingTree, node: int, cards: Sequence[int] = ()) -> str:
    """The canonical text of the line to a node, amounts in chips; `*` for cards not given."""
    dealt = iter(cards)
    words: list[str] = []
    for step in tree.path_to(node)[1:]:
        action = tree.actions[step]
        if action is not None:
            words.append(action_text(action))
        else:
            card = next(dealt, ANY_CARD)
            words += [SEPARATOR, ANY_CARD_WORD if card == ANY_CARD else card_text(card), SEPARATOR]
    if words and words[-1] == SEPARATOR:
        del words[-1]
    return " ".join(words)


def action_text(action: Action) -> str:
    """The word for an action: "x", "b50", "r120", "a".

    >>> action_text(Action(ActionKind.RAISE, 120))
    'r120'
    """
    letter = LETTERS[action.kind]
    return f"{letter}{action.amount}" if letter in "br" else letter


def pot_share(tree: BettingTree, node: int) -> Fraction | None:
    """The size of the bet or raise that led to a node, in pots; None for any other action.

    A raise counts on top of the call and in pots after calling, as sizes are written.
    """
    action = tree.actions[node]
    if action is None or not action.is_aggressive:
        return None
    before = int(tree.parent[node])
    player = tree.player_at(before)
    called = exact_chips(tree.invested[before, player.opponent].item())
    bet = exact_chips(tree.invested[node, player].item()) - called
    return bet / (exact_chips(tree.pot) + 2 * called)


def action_label(tree: BettingTree, node: int) -> str:
    """What a person reads for the action that led to a node: "bet 33 (33 %)", "check"."""
    action = tree.actions[node]
    if action is None:
        return "deal" if node else "root"
    share = pot_share(tree, node)
    if share is None:
        return VERBS[action.kind]
    return f"{VERBS[action.kind]} {action.amount} ({round(100 * share)} %)"


def choices(tree: BettingTree, node: int) -> Iterator[tuple[int, Action]]:
    """The children of a decision with the actions that lead there."""
    for child in tree.children_of(node).tolist():
        action = tree.actions[child]
        if action is not None:
            yield child, action


def _follow(tree: BettingTree, text: str, board: Sequence[int], any_card: bool) -> Line:
    nodes = [0]
    cards: list[int] = []
    for position, segment in enumerate(text.split(SEPARATOR)):
        if position % 2:
            _expect_chance(tree, nodes[-1], segment)
            cards.append(_read_card(tree, nodes[-1], segment, [*board, *cards], any_card))
            nodes.append(int(tree.children_of(nodes[-1])[0]))
            continue
        for word in segment.split():
            _expect_decision(tree, nodes[-1], word)
            nodes.append(_child(tree, nodes[-1], word))
    return Line(tuple(nodes), tuple(cards))


def _expect_chance(tree: BettingTree, node: int, segment: str) -> None:
    match tree.kind[node]:
        case NodeKind.DECISION:
            raise InputError(
                f"'{SEPARATOR}{segment.rstrip()}': no card is dealt yet, {_offer(tree, node)}"
            )
        case NodeKind.FOLD | NodeKind.SHOWDOWN:
            raise InputError(f"'{SEPARATOR}{segment.rstrip()}': {_hand_is_over(tree, node)}")


def _expect_decision(tree: BettingTree, node: int, word: str) -> None:
    match tree.kind[node]:
        case NodeKind.CHANCE:
            street = Street(int(tree.street[node]) + 1).text
            raise InputError(
                f"'{word}': the {street} card is missing: write "
                f"'{line_text(tree, node)} | 7h | {word}'"
            )
        case NodeKind.FOLD | NodeKind.SHOWDOWN:
            raise InputError(f"'{word}': {_hand_is_over(tree, node)}")


def _read_card(
    tree: BettingTree, node: int, segment: str, taken: Sequence[int], any_card: bool
) -> int:
    word = segment.strip()
    street = Street(int(tree.street[node]) + 1).text
    if word == ANY_CARD_WORD and any_card:
        return ANY_CARD
    try:
        card = parse_card(word)
    except InputError:
        found = f"'{word}' is not a card" if word else "the line ends"
        raise InputError(
            f"the {street} card is missing, {found}: write '{line_text(tree, node)} | 7h | …'"
        ) from None
    if card in taken:
        raise InputError(f"the {street} card {card_text(card)} is on the board already")
    return card


def _child(tree: BettingTree, node: int, word: str) -> int:
    """The child that a word leads to."""
    kind = PLAIN_WORDS.get(word.lower())
    sized = SIZED_WORD.fullmatch(word.lower())
    if kind is not None:
        found = [child for child, action in choices(tree, node) if action.kind == kind]
    elif sized:
        found = _matching_bets(tree, node, word, sized[1], sized[2], sized[3] == "%")
    else:
        raise InputError(f"'{word}' is not an action: {_offer(tree, node)}")
    if not found:
        raise InputError(f"'{word}' is not offered: {_offer(tree, node)}")
    if len(found) > 1:
        raise InputError(f"'{word}' lies between two actions: {_offer(tree, node)}")
    return found[0]


def _matching_bets(
    tree: BettingTree, node: int, word: str, letter: str, number: str, percent: bool
) -> list[int]:
    """The bets or raises that a size stands for; two if it lies in the middle between them."""
    facing_bet = any(action.kind == ActionKind.FOLD for _, action in choices(tree, node))
    if facing_bet != (letter == "r"):
        right, reason = ("r", "there is a bet to raise") if facing_bet else ("b", "nobody has bet")
        raise InputError(f"'{word}': {reason}, write {right}{word[1:]}: {_offer(tree, node)}")
    bets = [(child, action) for child, action in choices(tree, node) if action.is_aggressive]
    if not percent:
        return [child for child, action in bets if exact_chips(action.amount) == Fraction(number)]
    wanted = Fraction(number) / 100
    gaps = {child: abs((pot_share(tree, child) or 0) - wanted) for child, _ in bets}
    # The smallest chip is what rounding can cost where the pot is small.
    chip = tree.grain / (exact_chips(tree.pot) + 2 * exact_chips(tree.invested[node].max().item()))
    closest = min(gaps.values(), default=Fraction(1))
    if closest > max(Fraction(1, 100), chip):
        return []
    return [child for child, gap in gaps.items() if gap == closest]


def _offer(tree: BettingTree, node: int) -> str:
    """What is offered at a decision: "OOP may x, b33 (33 %), a (500 %)"."""
    words = []
    for child, action in choices(tree, node):
        share = pot_share(tree, child)
        size = "" if share is None else f" ({round(100 * share)} %)"
        words.append(action_text(action) + size)
    return f"{tree.player_at(node).name} may {', '.join(words)}"


def _hand_is_over(tree: BettingTree, node: int) -> str:
    return f"the hand is over after '{line_text(tree, node)}'"

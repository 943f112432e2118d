"""Lines of play before the flop as text, amounts in big blinds: "r2.5 r6.25 c".

| word          | action                                                        |
|---------------|---------------------------------------------------------------|
| `f`, `x`, `c` | fold, check, call; the small blind's first `c` is a limp      |
| `r2.5`        | raise to 2.5 bb, antes not counted (`r2.5bb` will do)         |
| `a`           | all-in                                                        |

The empty line is the root.
"""

import re
from fractions import Fraction

from allstreets.base.errors import InputError
from allstreets.betting.chips import exact_chips
from allstreets.betting.lines import LETTERS, PLAIN_WORDS, VERBS, choices
from allstreets.betting.table import CHIPS_PER_BB, bb_text
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind

RAISE_WORD = re.compile(r"r(\d{1,9}(?:\.\d{1,9})?)(?:bb)?")
BET_WORD = re.compile(r"b(\d.*)")


def parse_preflop_line(tree: BettingTree, text: str) -> int:
    """The node that a line leads to from the root; it may end anywhere."""
    node = 0
    try:
        for word in text.split():
            node = _child(tree, node, word)
    except InputError as error:
        raise InputError(f"line '{text}': {error}") from None
    return node


def preflop_line_text(tree: BettingTree, node: int) -> str:
    """The canonical text of the line to a node."""
    actions = (tree.actions[step] for step in tree.path_to(node))
    return " ".join(preflop_action_text(action) for action in actions if action is not None)


def preflop_action_text(action: Action) -> str:
    """The word for an action: "f", "r2.5", "a".

    >>> preflop_action_text(Action(ActionKind.RAISE, 625))
    'r6.25'
    """
    letter = LETTERS[action.kind]
    return f"{letter}{bb_text(action.amount)}" if action.kind == ActionKind.RAISE else letter


def preflop_action_label(tree: BettingTree, node: int) -> str:
    """What a person reads for the action that led to a node: "raise to 2.5 bb", "limp"."""
    action = tree.actions[node]
    if action is None:
        return "root"
    if action.is_aggressive:
        return f"{VERBS[action.kind]} {bb_text(action.amount)} bb"
    if action.kind == ActionKind.CALL and tree.kind[node] == NodeKind.DECISION:
        return "limp"  # the only call that leaves the other player something to do
    return VERBS[action.kind]


def _child(tree: BettingTree, node: int, word: str) -> int:
    """The child that a word leads to."""
    match tree.kind[node]:
        case NodeKind.CHANCE:
            raise InputError(f"'{word}': the flop is dealt {_after(tree, node)}")
        case NodeKind.FOLD | NodeKind.SHOWDOWN:
            raise InputError(f"'{word}': the hand is over {_after(tree, node)}")
    lowered = word.lower()
    if lowered in PLAIN_WORDS:
        kind = PLAIN_WORDS[lowered]
        found = [child for child, action in choices(tree, node) if action.kind == kind]
    elif sized := RAISE_WORD.fullmatch(lowered):
        # An all-in is found by its amount as well.
        chips = Fraction(sized[1]) * CHIPS_PER_BB
        raises = ((child, action) for child, action in choices(tree, node) if action.is_aggressive)
        found = [child for child, action in raises if exact_chips(action.amount) == chips]
    elif bet := BET_WORD.fullmatch(lowered):
        raise InputError(
            f"'{word}': the blinds are a bet to raise, write r{bet[1]}: {_offer(tree, node)}"
        )
    else:
        raise InputError(f"'{word}' is not an action: {_offer(tree, node)}")
    if not found:
        raise InputError(f"'{word}' is not offered: {_offer(tree, node)}")
    return found[0]


def _offer(tree: BettingTree, node: int) -> str:
    """What is offered at a decision: "SB may f, c, r2.5, a (20 bb)"."""
    words = [
        preflop_action_text(action)
        + (f" ({bb_text(action.amount)} bb)" if action.kind == ActionKind.ALL_IN else "")
        for _, action in choices(tree, node)
    ]
    return f"{tree.player_at(node).seat} may {', '.join(words)}"


def _after(tree: BettingTree, node: int) -> str:
    return f"after '{preflop_line_text(tree, node)}'" if node else "with the blinds: all-in"

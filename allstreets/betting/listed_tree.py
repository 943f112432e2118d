"""A tree before the flop that is listed line by line, as other programs write theirs.

    f
    r3 f        r3 c
    r3 r10 f    r3 r10 c
    r3 r10 a f  r3 r10 a c

Every line leads from the first action to the end of the betting: a fold, a flop, or an all-in that
is called. Words are those of lines (`words`): raises to a total in big blinds, `a` for the all-in.
"""

import re
from collections.abc import Iterable
from fractions import Fraction

from allstreets.base import InputError
from allstreets.betting.lines import line_text
from allstreets.betting.table import CHIPS_PER_BB
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind
from allstreets.betting.words import BIG_BLINDS, IMPERATIVES, PLAIN_WORDS, action_text

Path = tuple[Action, ...]
RAISE = re.compile(r"r(\d{1,9}(?:\.\d{1,9})?)(?:bb)?")


class ListedActions:
    """The actions that lines offer after each beginning they share; amounts in grains."""

    def __init__(self, lines: Iterable[str], all_in: int, per_chip: int) -> None:
        """`all_in` is the most a player can put in on the street; `per_chip` grains are a chip."""
        self._offered: dict[Path, set[Action]] = {}
        self._texts: dict[Path, str] = {(): ""}
        for line in lines:
            path: Path = ()
            words = line.split()
            for count, word in enumerate(words, 1):
                action = _action(word, line, all_in, per_chip)
                self._offered.setdefault(path, set()).add(action)
                path = (*path, action)
                self._texts.setdefault(path, " ".join(words[:count]))

    def after(self, path: Path, last_bet: int, passive: Action) -> list[Action]:
        """The actions of the player to act after a path: fold, check or call, raises rising.

        `last_bet` is what a raise must exceed, `passive` the check or call of the state.
        """
        offered = self._offered.get(path, set())
        if not offered:
            raise InputError(
                f"the lines end after '{self._texts[path]}', where a player is to act: let every "
                "line lead to a fold, a flop or an all-in that is called"
            )
        for action in offered:
            wrong = action.kind in (ActionKind.CHECK, ActionKind.CALL) and action != passive
            if wrong:
                raise InputError(
                    f"line '{self._texts[(*path, action)]}': that player can only "
                    f"{IMPERATIVES[action_text(passive)]} or raise"
                )
            if action.is_aggressive and action.amount <= last_bet:
                raise InputError(
                    f"line '{self._texts[(*path, action)]}': the last raise is not above the bet "
                    "before it"
                )
        return sorted(offered, key=lambda action: (action.kind, action.amount))

    def require_played(self, paths: set[Path]) -> None:
        """Refuse lines that continue where the betting is over; `paths` are those that continue."""
        for path in self._offered:
            if path not in paths:
                raise InputError(
                    f"a line continues after '{self._texts[path]}', where the betting is over: end "
                    "it there"
                )


def _action(word: str, line: str, all_in: int, per_chip: int) -> Action:
    """The action of a word."""
    kind = PLAIN_WORDS.get(word.lower())
    if kind is not None:
        return Action(kind, all_in if kind == ActionKind.ALL_IN else 0)
    sized = RAISE.fullmatch(word.lower())
    if sized is None:
        raise InputError(f"line '{line}': '{word}' is not an action: write f, x, c, r2.5 or a")
    amount = round(Fraction(sized[1]) * CHIPS_PER_BB * per_chip)
    if amount >= all_in:
        return Action(ActionKind.ALL_IN, all_in)
    return Action(ActionKind.RAISE, amount)


def tree_lines(tree: BettingTree) -> tuple[str, ...]:
    """The lines that list a tree of the betting before the flop."""
    ends = (node for node in range(tree.node_count) if tree.kind[node] != NodeKind.DECISION)
    return tuple(line_text(tree, node, notation=BIG_BLINDS) for node in ends)

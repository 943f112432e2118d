"""A betting tree as a page reads it: choices, the steps that lie behind, pot and stacks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from allstreets.base import Floats
from allstreets.betting import (
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    Notation,
    Player,
    Street,
    action_label,
    action_word,
    choices,
    dealt,
    pot_share,
)
from allstreets.explorer.models.base import PlayerName, StreetName, Tone
from allstreets.explorer.models.place import CardsStep, Choice, ChoiceStep, Step

PLAYER_NAMES: tuple[PlayerName, PlayerName] = get_args(PlayerName)
STREET_NAMES: tuple[StreetName, ...] = get_args(StreetName)
TONES: dict[ActionKind, Tone] = {
    ActionKind.FOLD: "fold",
    ActionKind.CHECK: "call",
    ActionKind.CALL: "call",
}


def street_name(street: Street | int) -> StreetName:
    """The name of a street in messages."""
    return STREET_NAMES[int(street)]


def street_of(text: str) -> StreetName:
    """The street of that name, as messages have it."""
    return STREET_NAMES[STREET_NAMES.index(text)]


def player_of(name: PlayerName) -> Player:
    """The player of a name."""
    return Player(PLAYER_NAMES.index(name))


@dataclass(frozen=True, eq=False)
class Betting:
    """A tree in the notation of a solution."""

    tree: BettingTree
    payoffs: Floats  # [N, 2, 3]: results where a hand ends
    notation: Notation
    line: Callable[[int], str]  # to a node
    averages: bool = False  # turn and river are averaged over: play goes on without a card

    def word(self, node: int) -> str:
        """For the action that led to a node, as in a line."""
        return action_word(self.tree, node, self.notation)

    def label(self, node: int) -> str:
        """The same for people."""
        return action_label(self.tree, node, self.notation)

    def amount(self, chips: float) -> float:
        """Chips in the unit."""
        return chips / self.notation.scale

    def amount_text(self, chips: float) -> str:
        """Chips in the unit, as text without zeros that say nothing."""
        return f"{round(self.amount(chips), 3):.12g}"

    def amount_words(self, chips: float) -> str:
        """Chips in the unit, with its name: "2.5 bb", "1.75 pots"."""
        text, unit = self.amount_text(chips), self.notation.unit
        return f"{text} {unit}" + ("s" if unit == "pot" and text != "1" else "")

    def pot(self, node: int) -> float:
        """What is in the middle."""
        return self.amount(self.tree.pot_at(node))

    def stacks(self, node: int) -> dict[PlayerName, float]:
        """What both players have left."""
        return {
            PLAYER_NAMES[player]: self.amount(self.tree.stack_at(node, player)) for player in Player
        }

    def goes_on(self, node: int) -> int:
        """The node itself, or what follows where a card is averaged over."""
        return dealt(self.tree, node) if self.averages else node

    def to_call(self, node: int) -> float:
        """What the player at a decision has to pay to go on."""
        return self.amount(self.tree.to_call_at(node))

    def choices(self, node: int) -> list[Choice]:
        """What is offered at a decision."""
        found = list(choices(self.tree, node))
        shades = _shades([action for _, action in found])
        return [
            Choice(
                word=self.word(child),
                label=self.label(child),
                short=self._short(child, action),
                tone=TONES.get(action.kind, "aggressive"),
                shade=shade,
                line=self.line(self.goes_on(child)),
            )
            for (child, action), shade in zip(found, shades, strict=True)
        ]

    def steps(self, node: int, deals: Iterator[CardsStep]) -> list[Step]:
        """The way to a node; `deals` gives the cards where they are not averaged over."""
        tree = self.tree
        steps: list[Step] = []
        for here, below in pairwise(tree.path_to(node)):
            if tree.kind[here] == NodeKind.CHANCE:
                steps.append(self._any_card(below) if self.averages else next(deals))
                continue
            player = tree.player_at(here)
            steps.append(
                ChoiceStep(
                    line=self.line(here),
                    street=street_name(tree.street[here]),
                    player=PLAYER_NAMES[player],
                    seat=self.notation.seats[player],
                    pot=self.pot(here),
                    stack=self.stacks(here)[PLAYER_NAMES[player]],
                    choices=self.choices(here),
                    chosen=tree.children_of(here).tolist().index(below),
                )
            )
        return steps

    def _any_card(self, node: int) -> CardsStep:
        street = street_name(self.tree.street[node])
        return CardsStep(line=self.line(node), street=street, cards=[], label=f"{street}: any card")

    def _short(self, node: int, action: Action) -> str:
        share = pot_share(self.tree, node)
        match action.kind:
            case ActionKind.ALL_IN:
                return f"All-in {self.amount_text(action.amount)}"
            case ActionKind.BET | ActionKind.RAISE if share is not None:
                verb = "Bet" if action.kind == ActionKind.BET else "Raise"
                if self.tree.first_street == Street.PREFLOP:
                    return f"{verb} {self.amount_text(action.amount)}"
                return f"{verb} {round(100 * share)}%"
        return self.label(node).capitalize()


def _shades(actions: list[Action]) -> list[float]:
    """How strong each bet or raise is among its like: 0 the smallest, 1 all-in."""
    bets = [action for action in actions if action.is_aggressive]
    all_in = bool(bets) and bets[-1].kind == ActionKind.ALL_IN
    steps = max(len(bets) - all_in, 1)
    return [
        1.0
        if action.kind == ActionKind.ALL_IN
        else bets.index(action) / steps
        if action.is_aggressive
        else 0.0
        for action in actions
    ]

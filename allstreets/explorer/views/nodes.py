"""A node of a solution as messages: the steps that lead to it, and what can happen there."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, get_args

from allstreets.betting import (
    Action,
    ActionKind,
    BettingTree,
    Notation,
    Player,
    Street,
    action_label,
    action_word,
    pot_share,
    whole_line,
)
from allstreets.betting import choices as offered
from allstreets.cards import FLOP_COUNT, canonical_flop, card_text, cards_text
from allstreets.explorer.models.base import PlayerName, StreetName, Tone
from allstreets.explorer.models.place import (
    CardOption,
    CardsStep,
    Choice,
    ChoiceStep,
    Deal,
    End,
    Grids,
    Setting,
    Step,
)
from allstreets.solutions import Node

PLAYER_NAMES: tuple[PlayerName, PlayerName] = get_args(PlayerName)
STREET_NAMES: tuple[StreetName, ...] = get_args(StreetName)
TONES: dict[str, Tone] = {"f": "fold", "x": "call", "c": "call"}  # by the letter of a word
DECK = range(52)


def street_name(street: Street | int) -> StreetName:
    """The name of a street in messages."""
    return STREET_NAMES[int(street)]


def street_of(text: str) -> StreetName:
    """The street of that name, as messages have it."""
    return STREET_NAMES[STREET_NAMES.index(text)]


def player_of(name: PlayerName) -> Player:
    """The player of a name."""
    return Player(PLAYER_NAMES.index(name))


def goes_on(node: Node) -> Node:
    """The node itself, or the one after it where a card is dealt that the solution averages."""
    return node.children[0] if node.deal is not None and node.deal.count == 0 else node


def choices(node: Node) -> list[Choice]:
    """The actions of a decision, with the lines that they lead to."""
    lines = {child.index: goes_on(child).line for child in node.children}
    return choices_of(node.tree, node.index, node.unit.notation, lambda child: lines[child])


def choices_of(
    tree: BettingTree, node: int, notation: Notation, line: Callable[[int], str]
) -> list[Choice]:
    """The actions of a decision of a tree; `line` leads to the node after each."""
    actions = list(offered(tree, node))
    words = [action_word(tree, child, notation) for child, _ in actions]
    return [
        Choice(
            word=word,
            label=action_label(tree, child, notation),
            short=_short(tree, child, action, notation),
            tone=TONES.get(word[0], "aggressive"),
            shade=shade,
            line=line(child),
        )
        for (child, action), word, shade in zip(actions, words, shades(words), strict=True)
    ]


def _short(tree: BettingTree, node: int, action: Action, notation: Notation) -> str:
    share, amount = pot_share(tree, node), amount_text(action.amount / notation.scale)
    match action.kind:
        case ActionKind.ALL_IN:
            return f"All-in {amount}"
        case ActionKind.BET | ActionKind.RAISE if share is not None:
            verb = "Bet" if action.kind == ActionKind.BET else "Raise"
            before = tree.first_street == Street.PREFLOP
            return f"{verb} {amount}" if before else f"{verb} {round(100 * share)}%"
    return action_label(tree, node, notation).capitalize()


def shades(words: Sequence[str]) -> list[float]:
    """How strong each bet or raise is among its like: 0 the smallest, 1 all-in."""
    bets = [word for word in words if word[0] not in TONES and word != "a"]
    steps = {word: step / max(len(bets), 1) for step, word in enumerate(bets)}
    return [1.0 if word == "a" else steps.get(word, 0.0) for word in words]


def amount_text(amount: float) -> str:
    """An amount without zeros that say nothing."""
    return f"{round(amount, 3):.12g}"


def amount_words(amount: float, unit: str) -> str:
    """An amount with its unit: "2.5 bb", "1.75 pots"."""
    text = amount_text(amount)
    return f"{text} {unit}" + ("s" if unit == "pot" and text != "1" else "")


def settings(node: Node) -> list[Setting]:
    """The settings that can be picked before play begins: with the same flop if solved."""
    solution, first, flop = node.solution, node.path[0].position, node.board[:3]
    choices = []
    for label, position in solution.settings:
        line = solution.line(position)
        flops = (solved.flop for solved in solution.flops_at(position))
        if flop and canonical_flop(flop).flop in flops:
            line = solution.line(solution.dealt(position, flop))
        choices.append(Setting(label=label, line=line, chosen=position == first))
    return choices


def steps(node: Node) -> list[Step]:
    """The way to a node."""
    path = node.path
    picked = [label for label, first in node.solution.settings if first == path[0].position]
    steps: list[Step] = [
        CardsStep(line=path[0].line, street="flop", cards=[], label=label) for label in picked
    ]
    for here, below in pairwise(path):
        steps.append(_cards_step(here, below) if here.actor is None else _choice_step(here, below))
    return steps


def _choice_step(here: Node, below: Node) -> ChoiceStep:
    player = PLAYER_NAMES[here.tree.player_at(here.index)]
    return ChoiceStep(
        line=here.line,
        street=street_name(here.street),
        player=player,
        seat=here.seat,
        pot=here.pot,
        stack=stacks(here)[player],
        choices=choices(here),
        chosen=here.tree.children_of(here.index).tolist().index(below.index),
    )


def _cards_step(here: Node, below: Node) -> CardsStep:
    street, cards = street_name(below.street), below.board[len(here.board) :]
    if not cards:
        return CardsStep(line=below.line, street=street, cards=[], label=f"{street}: any card")
    solved: tuple[int, ...] = canonical_flop(cards).solved_cards(cards) if len(cards) == 3 else ()
    if len(cards) == 1:
        solved = (int(here.solution.runouts(here.position).representative[cards[0]]),)
    return CardsStep(
        line=here.line,
        street=street,
        cards=_texts(cards),
        label=f"{street} {cards_text(cards)}",
        same_as=[] if solved == cards else _texts(solved),
    )


def _texts(cards: tuple[int, ...]) -> list[str]:
    return [card_text(card) for card in cards]


def stacks(node: Node) -> dict[PlayerName, float]:
    """Both players' stacks."""
    return {PLAYER_NAMES[player]: node.stacks[player] for player in Player}


def deal(node: Node, grids: Grids | None) -> Deal:
    """The cards that may come at a chance node."""
    rules = node.deal
    assert rules is not None
    flops = rules.count == 3 and rules.stored
    solved = node.solution.flops_at(node.position) if flops else ()
    picks = rules.count == 3 and (rules.stored or rules.solvable)
    named = [] if len(solved) == FLOP_COUNT else [flop.flop.text for flop in solved]
    return Deal(
        street=street_name(node.street + 1),
        count=rules.count,
        cards=_options(node) if rules.count == 1 and rules.stored else [],
        pattern=whole_line(node.line, "{cards}") if picks else None,
        flops=len(solved),
        named=named,
        any_flop=rules.solvable,
        solves_again=rules.solved_again,
        note=None if picks or rules.stored else f"{rules.note[:1].upper()}{rules.note[1:]}.",
        grids=grids,
    )


def _options(node: Node) -> list[CardOption]:
    """The deck where one card is dealt."""
    solution, position = node.solution, node.position
    options = []
    for card, other in zip(DECK, solution.runouts(position).representative.tolist(), strict=True):
        line = None if other < 0 else solution.line(solution.dealt(position, (card,)))
        same_as = card_text(other) if other not in (card, -1) else None
        options.append(CardOption(card=card_text(card), line=line, same_as=same_as))
    return options


def end(node: Node, grids: Grids) -> End:
    """Where a hand is over: who wins what."""
    seats, unit = node.unit.seats, node.unit.name
    less = f" (after {amount_words(node.rake, unit)} of rake)" if node.rake > 0 else ""
    amount = f"{amount_words(node.pot - node.rake, unit)}{less}"
    if node.folded is not None:
        text = f"{seats[node.folded]} folds, {seats[node.folded.opponent]} wins {amount}"
        return End(how="fold", text=text, grids=grids)
    how: Literal["allin", "showdown"] = "allin" if node.street < Street.RIVER else "showdown"
    text = f"Showdown for {amount}"
    if how == "allin":
        text = f"All-in for {amount}: the rest of the board is dealt, and the better hand wins"
    return End(how=how, text=text, grids=grids)

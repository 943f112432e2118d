"""A node of a solution as messages: the path to it, its actions or cards, and a decision in figures
of whole ranges: grids, actions, equity curves.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np

from allstreets.base import Floats
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
from allstreets.explorer.models import place as messages
from allstreets.explorer.models.base import PLAYER_NAMES, PlayerName, Tone
from allstreets.solutions import CHIPS, Decision, Node

TONES: dict[str, Tone] = {"f": "fold", "x": "call", "c": "call"}  # by the letter of a word
DECK = range(52)
RARE = "play hardly ever gets here: the numbers are rough"
FLOP_EQUITY = "turn and river are averaged over: equity is that of the flop"
NO_EQUITY = "hands of a bucket play alike: their equity is not known here"
BUCKET_EVS = (
    "EVs of actions do not quite add up to the EV of the range: buckets meet without card "
    "removal, while frequencies are counted over real pairs of hands; and a hand is in several "
    "buckets: the EV of its action is that of taking it in all of them"
)
BEHIND = (
    "allstreets report FOLDER --line … --behind solves the play that would follow, as if the "
    "whole range came here"
)
PLAYERS = tuple(enumerate(PLAYER_NAMES))
CURVE_STEPS = 199
"""Of a curve at most: with two points each and none lost, some 400 points."""
Points = list[tuple[float, float]]
Row = TypeVar("Row", messages.CardRow, messages.FlopRow, messages.BoardHand)
Report = TypeVar("Report", messages.CardReport, messages.FlopReport)


def player_of(name: PlayerName) -> Player:
    """The player of a name."""
    return Player(PLAYER_NAMES.index(name))


def goes_on(node: Node) -> Node:
    """The node itself, or its child where the solution averages over the dealt card."""
    return node.children[0] if node.deal is not None and node.deal.count == 0 else node


def choices(node: Node) -> list[messages.Choice]:
    """The actions of a decision, with the lines that they lead to."""
    lines = {child.index: goes_on(child).line for child in node.children}
    return choices_of(node.tree, node.index, node.unit.notation, lambda child: lines[child])


def choices_of(
    tree: BettingTree, node: int, notation: Notation, line: Callable[[int], str]
) -> list[messages.Choice]:
    """The actions of a decision of a tree; `line` leads to the node after each."""
    actions = list(offered(tree, node))
    words = [action_word(tree, child, notation) for child, _ in actions]
    return [
        messages.Choice(
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
    """The relative size of each bet or raise among its like: 0 the smallest, 1 all-in."""
    bets = [word for word in words if word[0] not in TONES and word != "a"]
    steps = {word: step / max(len(bets), 1) for step, word in enumerate(bets)}
    return [1.0 if word == "a" else steps.get(word, 0.0) for word in words]


def amount_text(amount: float) -> str:
    """An amount without trailing zeros."""
    return f"{round(amount, 3):.12g}"


def amount_words(amount: float, unit: str) -> str:
    """An amount with its unit: "2.5 bb", "1.75 pots"."""
    text = amount_text(amount)
    return f"{text} {unit}" + ("s" if unit == "pot" and text != "1" else "")


def settings(node: Node) -> list[messages.Setting]:
    """The settings that can be picked before play begins: with the same flop if solved."""
    solution, first, flop = node.solution, node.path[0].position, node.board[:3]
    choices = []
    for label, position in solution.settings:
        line = solution.line(position)
        flops = (solved.flop for solved in solution.flops_at(position))
        if flop and canonical_flop(flop).flop in flops:
            line = solution.line(solution.dealt(position, flop))
        choices.append(messages.Setting(label=label, line=line, chosen=position == first))
    return choices


def steps(node: Node) -> list[messages.Step]:
    """The path to a node."""
    path = node.path
    picked = [label for label, first in node.solution.settings if first == path[0].position]
    steps: list[messages.Step] = [
        messages.CardsStep(line=path[0].line, street="flop", cards=[], label=label)
        for label in picked
    ]
    for above, below in pairwise(path):
        steps.append(
            _cards_step(above, below) if above.actor is None else _choice_step(above, below)
        )
    return steps


def _choice_step(node: Node, below: Node) -> messages.ChoiceStep:
    player = node.tree.player_at(node.index)
    chosen = node.tree.children_of(node.index).tolist().index(below.index)
    facts = {"player": player, "stack": node.stacks[player], "choices": choices(node)}
    return messages.ChoiceStep.of(node, kind="choice", chosen=chosen, **facts)


def _cards_step(node: Node, below: Node) -> messages.CardsStep:
    street, cards = below.street, below.board[len(node.board) :]
    if not cards:
        label = f"{street.text}: any card"
        return messages.CardsStep.of(line=below.line, street=street, cards=[], label=label)
    solved: tuple[int, ...] = canonical_flop(cards).solved_cards(cards) if len(cards) == 3 else ()
    if len(cards) == 1:
        solved = (int(node.solution.runouts(node.position).representative[cards[0]]),)
    same_as = () if solved == cards else solved
    label = f"{street.text} {cards_text(cards)}"
    return messages.CardsStep.of(
        line=node.line, street=street, cards=cards, label=label, same_as=same_as
    )


def deal(node: Node, grids: messages.Grids | None) -> messages.Deal:
    """The cards that may come at a chance node."""
    rules = node.deal
    assert rules is not None
    flops = rules.count == 3 and rules.stored
    solved = node.solution.flops_at(node.position) if flops else ()
    picks = rules.count == 3 and (rules.stored or rules.solvable)
    named = [] if len(solved) == FLOP_COUNT else [flop.flop.text for flop in solved]
    return messages.Deal.of(
        street=Street(node.street + 1),
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


def _options(node: Node) -> list[messages.CardOption]:
    """The deck where one card is dealt."""
    solution, position = node.solution, node.position
    options = []
    for card, other in zip(DECK, solution.runouts(position).representative.tolist(), strict=True):
        line = None if other < 0 else solution.line(solution.dealt(position, (card,)))
        same_as = card_text(other) if other not in (card, -1) else None
        options.append(messages.CardOption(card=card_text(card), line=line, same_as=same_as))
    return options


def end(node: Node, grids: messages.Grids) -> messages.End:
    """The end of a hand, with the result."""
    seats, unit = node.unit.seats, node.unit.name
    less = f" (after {amount_words(node.rake, unit)} of rake)" if node.rake > 0 else ""
    amount = f"{amount_words(node.pot - node.rake, unit)}{less}"
    if node.folded is not None:
        text = f"{seats[node.folded]} folds, {seats[node.folded.opponent]} wins {amount}"
        return messages.End(how="fold", text=text, grids=grids)
    how: Literal["allin", "showdown"] = "allin" if node.street < Street.RIVER else "showdown"
    text = f"Showdown for {amount}"
    if how == "allin":
        text = f"All-in for {amount}: the rest of the board is dealt, and the better hand wins"
    return messages.End(how=how, text=text, grids=grids)


def notes(node: Node, shown: Decision) -> list[str]:
    """Notes that a reader needs to read the numbers of a decision correctly."""
    if node.unit == CHIPS:  # a spot
        return [] if shown.reached else [BEHIND]
    notes = [RARE] if shown.is_rare and not node.source else []
    if not node.board or shown.by_combo or not shown.reached:
        return notes
    if not any(np.isfinite(shares).any() for shares in shown.equities):
        return [*notes, NO_EQUITY, BUCKET_EVS]
    return [*notes, FLOP_EQUITY] if node.street > Street.FLOP else notes


def grids(shown: Decision) -> messages.Grids:
    """The grids of both players' hands."""
    oop, ip = _grid(shown, Player.OOP), _grid(shown, Player.IP)
    return messages.Grids(oop=oop, ip=ip, not_reached=shown.why_not() or None)


def _grid(shown: Decision, player: Player) -> messages.PlayerGrid:
    evs = shown.cells(shown.evs(player), player, evs=True)
    equity = shown.cells(shown.equity(player), player)
    return messages.PlayerGrid.of(
        combos=shown.class_counts().tolist(),
        reach=shown.reach_cells(player).tolist(),
        ev=evs,
        equity=equity,
        eqr=shown.eqr(player, evs, equity),
        summary=_summary(shown, player),
    )


def _summary(shown: Decision, player: Player) -> messages.RangeSummary:
    """A player's whole range."""
    equity, ev = shown.mean(shown.equity(player), player), shown.ev(player)
    eqr = shown.eqr(player, np.array([ev]), np.array([equity]))
    return messages.RangeSummary(combos=shown.hands[player].size, ev=ev, equity=equity, eqr=eqr[0])


def decision(
    shown: Decision, choices: Sequence[messages.Choice], notes: Sequence[str] = ()
) -> messages.Decision:
    """Everything about a decision."""
    return messages.Decision.of(
        shown,
        kind="decision",
        pot_odds=shown.to_call / (shown.pot + shown.to_call) if shown.to_call > 0 else None,
        actions=_actions(shown, choices),
        locked=shown.locked_cells().tolist(),
        grids=grids(shown),
        notes=notes,
    )


def _actions(shown: Decision, choices: Sequence[messages.Choice]) -> list[messages.ActionFigures]:
    taken, evs, whole = shown.taken, shown.taken_evs(), shown.range_evs()
    return [
        messages.ActionFigures.of(
            choice,
            frequency=taken[index],
            ev=evs[index],
            ev_range=whole[index],
            known=bool(shown.known_actions[index]),
            combos=float((shown.reach * np.nan_to_num(shown.strategy[index])) @ shown.own.counts),
            chances=shown.cells(shown.strategy[index]),
            evs=shown.cells(shown.action_evs[index], evs=True),
        )
        for index, choice in enumerate(choices)
    ]


def of_both(evs: Sequence[float] | Floats, equities: Sequence[float] | Floats) -> dict[str, Any]:
    """Figures of both ranges as keys of a row."""
    pairs = {"ev": evs, "equity": equities}
    return {f"{key}_{name}": pair[n] for key, pair in pairs.items() for n, name in PLAYERS}


def over_hand_rows(rows: Sequence[Row], paid: tuple[float, float]) -> list[Row]:
    """Rows with results of the whole hand instead of EVs from there on."""
    return [
        row.model_copy(
            update={
                f"ev_{name}": None if (ev := getattr(row, f"ev_{name}")) is None else ev - paid[n]
                for n, name in PLAYERS
            }
        )
        for row in rows
    ]


def counted(report: Report, *, over_hand: bool) -> Report:
    """A report whose EVs count from there on, or `over_hand`; `paid` is the difference."""
    if not over_hand:
        return report.model_copy(update={"paid": {"oop": 0.0, "ip": 0.0}})
    paid = report.paid["oop"], report.paid["ip"]
    return report.model_copy(update={"rows": over_hand_rows(list(report.rows), paid)})


def equity_curve(shown: Decision, player: Player) -> Points:
    """A range sorted by equity, a step curve from x = 0 to x = 1; its area is the range's equity.

    Hands that lie within the same 199th of the range become one step at their mean.
    """
    weights, equity = shown.hands[player].weights, shown.equity(player)
    live = (weights > 0) & np.isfinite(equity)
    if not live.any():
        return []
    order = np.argsort(equity[live], kind="stable")
    heights, widths = equity[live][order], weights[live][order]
    widths = widths / widths.sum()
    if len(heights) > CURVE_STEPS:
        heights, widths = _gathered(heights, widths)
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    ends[-1] = 1.0
    steps = zip(heights.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return [point for height, start, stop in steps for point in ((start, height), (stop, height))]


def _gathered(heights: Floats, widths: Floats) -> tuple[Floats, Floats]:
    middles = np.cumsum(widths) - widths / 2
    steps = np.minimum((middles * CURVE_STEPS).astype(np.int64), CURVE_STEPS - 1)
    totals = np.bincount(steps, widths, minlength=CURVE_STEPS).astype(np.float64)
    sums = np.bincount(steps, widths * heights, minlength=CURVE_STEPS)
    full = totals > 0
    return sums[full] / totals[full], totals[full]

"""The tree of the betting before the flop, the pots of it that see a flop, and its drawing.

At the root antes and blinds are posted: `invested` has them from the start, so a player who folds
loses his blind and his ante. The starting pot is 0, or the ante that the big blind posts for both:
dead money, which can no longer be bet. IP, the small blind, acts first. The tree ends
with its street:

* FOLD, as everywhere;
* SHOWDOWN: a player is all-in and called, and the board is dealt to the end;
* CHANCE without children: a flop is seen with chips behind (`flop_pots` lists these).

Both players have put in the same when a flop is seen, antes included: half the pot each. Results
after the flop are relative to half the pot of the subgame's start, results of the whole game to
what was put in since the deal. So they are the same number:

    whole = chips received − (pot / 2 + chips invested since the flop) = result of the subgame

A big-blind ante, which only OOP has put in, is passed to the subgame (`bb_ante`).

Drawn as text (`draw_tree`):

    SB: 20 bb, blinds 0.5/1 bb
    ├─ fold → BB wins 0.5 bb
    ├─ limp → BB
    │  ├─ check → flop, limped pot: 2 bb, 19 bb behind, SPR 9.5
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from allstreets.base import InputError
from allstreets.betting.listed_tree import ListedActions, Path
from allstreets.betting.menu import Situation, Thresholds, amounts_offered
from allstreets.betting.payoffs import Outcome, payoffs
from allstreets.betting.postflop import CALL, CHECK, FOLD, NO_PLAYER
from allstreets.betting.preflop_rules import PreflopRules, posted_text
from allstreets.betting.rules import PostflopRules, StreetSizes
from allstreets.betting.sizes import AllIn, Sizes
from allstreets.betting.table import (
    CHIPS_PER_BB,
    IP,
    OOP,
    Player,
    Street,
    bb_text,
    exact,
    in_grains,
)
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind, make_tree
from allstreets.betting.words import BIG_BLINDS, action_label

NODE_LIMIT = 200_000
NAMES = ("limped", "raised")  # then 3-bet, 4-bet, …
POT_KINDS = ("limped", "raised", "3bet", "4bet")
"""The kinds of pots by which sizes after the flop may differ; the last has all later raises."""


@dataclass(frozen=True, slots=True)
class PreflopGrains:
    """The amounts of the rules in grains."""

    pot: int
    stack: int
    ante: int
    big_blind: int
    posted: tuple[int, int]  # by OOP, IP: ante and blind
    per_chip: int

    @classmethod
    def of(cls, rules: PreflopRules) -> "PreflopGrains":
        """The amounts of these rules."""
        per_chip = rules.grains
        pot, stack, ante, blind, *posted = (
            in_grains(chips, per_chip)
            for chips in (
                rules.bb_ante,
                rules.playing_stack,
                rules.ante,
                rules.big_blind,
                rules.posted(OOP),
                rules.posted(IP),
            )
        )
        return cls(pot, stack, ante, blind, (posted[OOP], posted[IP]), per_chip)


@dataclass(frozen=True, slots=True)
class PreflopState:
    """The state of the betting before the flop; amounts in grains."""

    kind: NodeKind
    player: int  # who acts; who folded; NO_PLAYER
    invested: tuple[int, int]  # antes and blinds included
    raises: int = 0  # the blinds not counted


@dataclass(frozen=True, slots=True)
class PreflopSituation(Situation):
    """A player who may raise: the blind counts as a bet of a whole big blind.

    So the first raise adds at least a big blind, over a limp too, although the small blind is half
    a bet behind and the big blind has nothing to call.
    """

    big_blind: int = 0

    @property
    def smallest(self) -> int:
        """The legal minimum: raise by at least the last raise, the first one by a big blind."""
        return self.last_bet + max(self.last_bet - self.own_bet, self.big_blind)


def build_preflop_tree(rules: PreflopRules, node_limit: int = NODE_LIMIT) -> BettingTree:
    """The tree of the betting before the flop.

    Raises InputError when it would have more than `node_limit` nodes.
    """
    force_allin = exact("force_allin_threshold", rules.force_allin_threshold)
    thresholds, grains = Thresholds(force_allin=force_allin), PreflopGrains.of(rules)
    listed = ListedActions(rules.lines, grains.stack - grains.ante, grains.per_chip)
    paths: dict[int, Path] = {-1: ()}  # of the decisions, where lines list the tree
    nodes: list[tuple[PreflopState, Action | None, int]] = []
    # The last entry of this list is the next node in pre-order. No recursion:
    # smallest raises into deep stacks make lines longer than Python's call stack.
    waiting: list[tuple[PreflopState, Action | None, int]] = [(_root(grains), None, -1)]
    while waiting:
        here = waiting.pop()
        node, state = len(nodes), here[0]
        if node >= node_limit:
            raise InputError(
                f"the preflop tree has more than {node_limit:,} nodes: use fewer or larger raise "
                "sizes, a smaller stack, a lower raise_cap or a higher force_allin_threshold"
            )
        nodes.append(here)
        if state.kind == NodeKind.DECISION:
            if rules.lines:
                paths[node] = (*paths[here[2]], *([here[1]] if here[1] else []))
                offered = listed.after(paths[node], *_bets(state, grains))
            else:
                offered = _actions(state, rules, thresholds, grains)
            waiting.extend(
                (_after(state, choice, grains), choice, node) for choice in reversed(offered)
            )
    listed.require_played(set(paths.values()))
    return make_tree(
        pot=grains.pot,
        stack=grains.stack,
        kind=[state.kind for state, _, _ in nodes],
        street=[Street.PREFLOP] * len(nodes),
        player=[state.player for state, _, _ in nodes],
        parent=[parent for _, _, parent in nodes],
        invested=[state.invested for state, _, _ in nodes],
        actions=[action for _, action, _ in nodes],
        grains=grains.per_chip,
    )


def _root(grains: PreflopGrains) -> PreflopState:
    if grains.posted == (grains.stack, grains.stack):
        return PreflopState(NodeKind.SHOWDOWN, NO_PLAYER, grains.posted)
    return PreflopState(NodeKind.DECISION, IP, grains.posted)


def _bets(state: PreflopState, grains: PreflopGrains) -> tuple[int, Action]:
    """The bet that the player to act faces, and his check or call."""
    player = Player(state.player)
    own, last = (state.invested[p] - grains.ante for p in (player, player.opponent))
    return last, CALL if last > own else CHECK


def _actions(
    state: PreflopState, rules: PreflopRules, thresholds: Thresholds, grains: PreflopGrains
) -> list[Action]:
    """The actions of the player to act: fold, check or call, raises rising, all-in last."""
    player = Player(state.player)
    own = state.invested[player] - grains.ante
    last, answer = _bets(state, grains)
    all_in = grains.stack - grains.ante
    passive = [FOLD, CALL] if answer == CALL else [CHECK]
    if last == all_in:
        return passive
    situation = PreflopSituation(
        pot=grains.pot + 2 * state.invested[player.opponent],
        last_bet=last,
        own_bet=own,
        all_in=all_in,
        streets_left=Street.PREFLOP.left,
        raises=state.raises,
        big_blind=grains.big_blind,
    )
    amounts = amounts_offered(
        _sizes(state, rules, situation), situation, thresholds, CHIPS_PER_BB, grains.per_chip
    )
    raises = [
        Action(ActionKind.ALL_IN if amount == all_in else ActionKind.RAISE, amount)
        for amount in amounts
    ]
    if player == IP and state.raises == 0 and not rules.limp:
        if not raises:
            raise InputError(
                "without the limp the small blind could only fold: give him raise_sizes, or let "
                "preflop_allin be always"
            )
        passive = [FOLD]
    return passive + raises


def _sizes(state: PreflopState, rules: PreflopRules, situation: Situation) -> Sizes:
    """The sizes of the player to act, and the all-in where it is offered besides them."""
    capped = rules.raise_cap is not None and state.raises >= rules.raise_cap
    sizes = () if capped else rules.sizes_of(Player(state.player), state.raises)
    behind = situation.all_in - situation.last_bet
    deepest = rules.allin_spr
    if deepest is None or behind <= exact("allin_spr", deepest) * situation.pot:
        return (*sizes, AllIn())
    return sizes


def _after(state: PreflopState, action: Action, grains: PreflopGrains) -> PreflopState:
    """The state after an action."""
    player = Player(state.player)
    theirs = state.invested[player.opponent]
    match action.kind:
        case ActionKind.FOLD:
            return replace(state, kind=NodeKind.FOLD)
        case ActionKind.CHECK | ActionKind.CALL:
            if theirs == grains.stack:
                return PreflopState(NodeKind.SHOWDOWN, NO_PLAYER, (theirs, theirs), state.raises)
            # A limp leaves the big blind his option; his check, and a call of a raise, end it.
            limped = player == IP and state.raises == 0
            kind, turn = (NodeKind.DECISION, OOP) if limped else (NodeKind.CHANCE, NO_PLAYER)
            return PreflopState(kind, turn, (theirs, theirs), state.raises)
        case _:
            total = grains.ante + int(action.amount)
            invested = (total, theirs) if player == OOP else (theirs, total)
            return PreflopState(NodeKind.DECISION, player.opponent, invested, state.raises + 1)


@dataclass(frozen=True)
class FlopPot:
    """A leaf of the preflop tree where a flop is seen; amounts in chips."""

    node: int
    pot: float
    stack: float  # what each player has left
    raises: int
    name: str  # "limped", "raised", "3-bet", "4-bet", …; several pots may share one
    bb_ante: float = 0  # of the pot, what OOP has put in for both

    @property
    def kind(self) -> str:
        """The kind of pot, one of `POT_KINDS`."""
        return POT_KINDS[min(self.raises, len(POT_KINDS) - 1)]

    @property
    def spr(self) -> float:
        """Stack to pot ratio."""
        return self.stack / self.pot


def flop_pots(tree: BettingTree) -> tuple[FlopPot, ...]:
    """The pots of a preflop tree that see a flop, in pre-order."""
    seen = (tree.kind == NodeKind.CHANCE) & (tree.street == Street.PREFLOP)
    return tuple(_flop_pot(tree, node) for node in np.flatnonzero(seen).tolist())


def postflop_rules(
    pot: FlopPot,
    sizes: tuple[StreetSizes, ...],
    rules: PreflopRules,
    *,
    add_allin_threshold: float = 0.0,
    force_allin_threshold: float = 0.0,
    merging_threshold: float = 0.0,
    max_raises: int | None = None,
    min_bet: float | None = None,
) -> PostflopRules:
    """The rules of the game from the flop on; its rake is that of the whole game.

    A bet is at least a big blind; `min_bet` in chips overrides it.
    """
    return PostflopRules(
        street=Street.FLOP,
        pot=pot.pot,
        stack=pot.stack,
        sizes=sizes,
        add_allin_threshold=add_allin_threshold,
        force_allin_threshold=force_allin_threshold,
        merging_threshold=merging_threshold,
        rake=rules.rake,
        rake_cap=rules.rake_cap,
        max_raises=max_raises,
        chips_per_bb=CHIPS_PER_BB,
        min_bet=rules.big_blind if min_bet is None else min_bet,
        bb_ante=pot.bb_ante,
        grains=rules.grains,
    )


def _flop_pot(tree: BettingTree, node: int) -> FlopPot:
    actions = (tree.actions[step] for step in tree.path_to(node))
    raises = sum(action is not None and action.is_aggressive for action in actions)
    return FlopPot(
        node=node,
        pot=tree.pot_at(node),
        stack=tree.stack_at(node, OOP),
        raises=raises,
        name=NAMES[raises] if raises < len(NAMES) else f"{raises + 1}-bet",
        bb_ante=tree.pot,  # before the flop nothing else is in the middle from the start
    )


def draw_tree(
    tree: BettingTree, rules: PreflopRules, notes: Mapping[FlopPot, str] | None = None
) -> list[str]:
    """The lines of a drawing of a preflop tree; a note follows its flop pot."""
    ends = _ends(tree, rules, notes or {})
    head = f"{bb_text(rules.stack)} bb, {posted_text(rules)}"
    lines = [f"{ends.get(0, IP.seat)}: {head}"]
    # The rules between a node's children and the left margin, for the children below it.
    margins = [""]
    for node in range(1, tree.node_count):
        above = int(tree.parent[node])
        last = node == tree.children_of(above)[-1]
        end = ends[node] if node in ends else tree.player_at(node).seat
        branch = "└─" if last else "├─"
        label = action_label(tree, node, BIG_BLINDS)
        lines.append(f"{margins[above]}{branch} {label} → {end}")
        margins.append(margins[above] + ("   " if last else "│  "))
    return lines


def _ends(tree: BettingTree, rules: PreflopRules, notes: Mapping[FlopPot, str]) -> dict[int, str]:
    """The text at each node where the tree ends."""
    ends = {
        pot.node: f"flop, {pot.name} pot: {bb_text(pot.pot)} bb, {bb_text(pot.stack)} bb behind, "
        f"SPR {pot.spr:.3g}" + (f", {notes[pot]}" if pot in notes else "")
        for pot in flop_pots(tree)
    }
    results = payoffs(tree, rules)
    for node in range(tree.node_count):
        if tree.kind[node] == NodeKind.SHOWDOWN:
            ends[node] = f"all-in, pot {bb_text(tree.pot_at(node))} bb"
        elif tree.kind[node] == NodeKind.FOLD:
            winner = Player(int(tree.player[node])).opponent
            won = round(float(results[node, winner, Outcome.WIN]), 2)
            ends[node] = f"{winner.seat} wins {bb_text(won)} bb"
    return ends

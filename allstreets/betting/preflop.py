"""Building the tree of the betting before the flop.

The root stands after antes and blinds: `invested` has them from the start, so a player who folds
loses his blind and his ante. The starting pot is 0, or the ante that the big blind posts for both:
dead money, which can no longer be bet. IP, the small blind, acts first. The tree ends
with its street:

* FOLD, as everywhere;
* SHOWDOWN: a player is all-in and called, and the board is dealt to the end;
* CHANCE without children: a flop is seen with chips behind (`flop_pots` lists these).
"""

from dataclasses import dataclass, replace

from allstreets.base import InputError
from allstreets.betting.chips import exact, in_grains
from allstreets.betting.menu import Situation, Thresholds, amounts_offered
from allstreets.betting.postflop import CALL, CHECK, FOLD, NO_PLAYER
from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.sizes import AllIn, Sizes
from allstreets.betting.table import CHIPS_PER_BB, IP, OOP, Player, Street
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind, make_tree

NODE_LIMIT = 200_000


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
    """Where a hand stands before the flop, as far as the betting goes; amounts in grains."""

    kind: NodeKind
    player: int  # who acts; who folded; NO_PLAYER
    invested: tuple[int, int]  # antes and blinds included
    raises: int = 0  # the blinds not counted


@dataclass(frozen=True, slots=True)
class PreflopSituation(Situation):
    """A player who may raise: the blind counts as a bet of a whole big blind.

    So the first raise is by a big blind at least, also over a limp, although a small blind is half
    a bet behind and a big blind has nothing to call.
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
            offered = _actions(state, rules, thresholds, grains)
            waiting.extend(
                (_after(state, choice, grains), choice, node) for choice in reversed(offered)
            )
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


def _actions(
    state: PreflopState, rules: PreflopRules, thresholds: Thresholds, grains: PreflopGrains
) -> list[Action]:
    """The actions of the player to act: fold, check or call, raises rising, all-in last."""
    player = Player(state.player)
    own, last = (state.invested[p] - grains.ante for p in (player, player.opponent))
    all_in = grains.stack - grains.ante
    passive = [FOLD, CALL] if last > own else [CHECK]
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
    """Where the hand stands after an action."""
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

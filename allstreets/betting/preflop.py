"""Building the tree of the betting before the flop.

The root stands after antes and blinds: `invested` has them from the start, and the starting pot is
0, so that whoever folds loses his blind and his ante. IP, the small blind, acts first. The tree
ends with its street:

* FOLD, as everywhere;
* SHOWDOWN: somebody is all-in and called, and the board is dealt to the end;
* CHANCE without children: a flop is seen with chips behind (`flop_pots` lists these).
"""

from dataclasses import dataclass, replace

from allstreets.base.errors import InputError
from allstreets.betting.menu import Situation, Thresholds, amounts_offered
from allstreets.betting.postflop import CALL, CHECK, FOLD, NOBODY
from allstreets.betting.preflop_rules import PreflopRules, exact
from allstreets.betting.sizes import AllIn
from allstreets.betting.table import CHIPS_PER_BB, IP, OOP, Player, Street
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind, make_tree

NODE_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class PreflopState:
    """Where a hand stands before the flop, as far as the betting goes."""

    kind: NodeKind
    player: int  # who acts; who folded; NOBODY
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
    thresholds = Thresholds(force_allin=exact("force_allin_threshold", rules.force_allin_threshold))
    nodes: list[tuple[PreflopState, Action | None, int]] = []
    # Whoever is taken from the end of this list is the next node in pre-order. No recursion:
    # smallest raises into deep stacks make lines longer than Python's call stack.
    waiting: list[tuple[PreflopState, Action | None, int]] = [(_root(rules), None, -1)]
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
            offered = _actions(state, rules, thresholds)
            waiting.extend(
                (_after(state, choice, rules), choice, node) for choice in reversed(offered)
            )
    return make_tree(
        pot=0,
        stack=rules.stack,
        kind=[state.kind for state, _, _ in nodes],
        street=[Street.PREFLOP] * len(nodes),
        player=[state.player for state, _, _ in nodes],
        parent=[parent for _, _, parent in nodes],
        invested=[state.invested for state, _, _ in nodes],
        actions=[action for _, action, _ in nodes],
    )


def _root(rules: PreflopRules) -> PreflopState:
    posted = rules.posted(OOP), rules.posted(IP)
    if posted == (rules.stack, rules.stack):
        return PreflopState(NodeKind.SHOWDOWN, NOBODY, posted)
    return PreflopState(NodeKind.DECISION, IP, posted)


def _actions(state: PreflopState, rules: PreflopRules, thresholds: Thresholds) -> list[Action]:
    """What the player to act may do: fold, check or call, raises rising, all-in last."""
    player = Player(state.player)
    own, last = (state.invested[p] - rules.ante for p in (player, player.opponent))
    all_in = rules.stack - rules.ante
    passive = [FOLD, CALL] if last > own else [CHECK]
    if last == all_in:
        return passive
    capped = rules.raise_cap is not None and state.raises >= rules.raise_cap
    wishes = () if capped else rules.sizes_of(player, state.raises)
    situation = PreflopSituation(
        pot=2 * state.invested[player.opponent],
        last_bet=last,
        own_bet=own,
        all_in=all_in,
        streets_left=Street.PREFLOP.left,
        raises=state.raises,
        big_blind=rules.big_blind,
    )
    return passive + [
        Action(ActionKind.ALL_IN if amount == all_in else ActionKind.RAISE, amount)
        for amount in amounts_offered((*wishes, AllIn()), situation, thresholds, CHIPS_PER_BB)
    ]


def _after(state: PreflopState, action: Action, rules: PreflopRules) -> PreflopState:
    """Where the hand stands after an action."""
    player = Player(state.player)
    theirs = state.invested[player.opponent]
    match action.kind:
        case ActionKind.FOLD:
            return replace(state, kind=NodeKind.FOLD)
        case ActionKind.CHECK | ActionKind.CALL:
            if theirs == rules.stack:
                return PreflopState(NodeKind.SHOWDOWN, NOBODY, (theirs, theirs), state.raises)
            # A limp leaves the big blind his option; his check, and a call of a raise, end it.
            limped = player == IP and state.raises == 0
            kind, turn = (NodeKind.DECISION, OOP) if limped else (NodeKind.CHANCE, NOBODY)
            return PreflopState(kind, turn, (theirs, theirs), state.raises)
        case _:
            total = rules.ante + action.amount
            invested = (total, theirs) if player == OOP else (theirs, total)
            return PreflopState(NodeKind.DECISION, player.opponent, invested, state.raises + 1)

"""Where no card has been dealt yet: the ways that lead to one."""

from allstreets.betting import NodeKind, choices
from allstreets.explorer.models.base import Hint
from allstreets.explorer.views.betting import TONES, Betting


def ways_to_a_deal(betting: Betting, node: int) -> list[Hint]:
    """One for each action of a decision after which a card can come, without further bets."""
    tree = betting.tree
    ways = [_quiet_way(betting, child) for child in tree.children_of(node).tolist()]
    return [
        Hint(label=", ".join(map(betting.label, way)), line=betting.line(way[-1]))
        for way in ways
        if tree.kind[way[-1]] == NodeKind.CHANCE
    ]


def _quiet_way(betting: Betting, node: int) -> list[int]:
    """The nodes from here to where the street ends by checks and calls."""
    tree, way = betting.tree, [node]
    while tree.kind[way[-1]] == NodeKind.DECISION:
        way += [
            child for child, action in choices(tree, way[-1]) if TONES.get(action.kind) == "call"
        ]
    return way

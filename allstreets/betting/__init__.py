"""What a player may do: bet sizes, rules, the flat public tree, and lines of play."""

from allstreets.betting.lines import (
    ANY_CARD,
    Line,
    action_label,
    action_text,
    line_text,
    parse_line,
    pot_share,
)
from allstreets.betting.payoffs import Outcome, payoffs, rakes
from allstreets.betting.postflop import build_postflop_tree
from allstreets.betting.rules import PlayerSizes, PostflopRules, StreetSizes, same_sizes
from allstreets.betting.sizes import BetSize, Sizes, SizesInput, parse_sizes, sizes_text
from allstreets.betting.spot_rules import rules_from_spot, sizes_from_spot
from allstreets.betting.table import IP, OOP, Player, Street, street_of_board
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind

__all__ = [
    "ANY_CARD",
    "IP",
    "OOP",
    "Action",
    "ActionKind",
    "BetSize",
    "BettingTree",
    "Line",
    "NodeKind",
    "Outcome",
    "Player",
    "PlayerSizes",
    "PostflopRules",
    "Sizes",
    "SizesInput",
    "Street",
    "StreetSizes",
    "action_label",
    "action_text",
    "build_postflop_tree",
    "line_text",
    "parse_line",
    "parse_sizes",
    "payoffs",
    "pot_share",
    "rakes",
    "rules_from_spot",
    "same_sizes",
    "sizes_from_spot",
    "sizes_text",
    "street_of_board",
]

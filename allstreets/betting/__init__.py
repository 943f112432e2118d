"""What a player may do: bet sizes, rules, the flat public tree, and lines of play."""

from allstreets.betting.chips import neat
from allstreets.betting.flop_pots import POT_KINDS, FlopPot, flop_pots, postflop_rules
from allstreets.betting.lines import (
    ANY_CARD,
    Line,
    action_label,
    action_text,
    line_text,
    parse_line,
    pot_share,
)
from allstreets.betting.payoffs import Outcome, paid_at, payoffs, rakes
from allstreets.betting.postflop import build_postflop_tree, measure_postflop_tree
from allstreets.betting.preflop import build_preflop_tree
from allstreets.betting.preflop_lines import (
    parse_preflop_line,
    preflop_action_label,
    preflop_action_text,
    preflop_line_text,
)
from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.preflop_sizes import RaiseLevels, RaiseSizesInput, parse_raise_sizes
from allstreets.betting.rules import PlayerSizes, PostflopRules, StreetSizes, same_sizes
from allstreets.betting.rules_text import ante_text, posted_text, raises_text
from allstreets.betting.sizes import BetSize, Sizes, SizesInput, parse_sizes, read_share, sizes_text
from allstreets.betting.spot_rules import rules_from_spot, sizes_from_spot
from allstreets.betting.table import CHIPS_PER_BB, IP, OOP, Player, Street, bb_text, street_of_board
from allstreets.betting.tree import Action, ActionKind, BettingTree, NodeKind
from allstreets.betting.tree_size import TreeSize
from allstreets.betting.tree_text import draw_tree

__all__ = [
    "ANY_CARD",
    "CHIPS_PER_BB",
    "IP",
    "OOP",
    "POT_KINDS",
    "Action",
    "ActionKind",
    "BetSize",
    "BettingTree",
    "FlopPot",
    "Line",
    "NodeKind",
    "Outcome",
    "Player",
    "PlayerSizes",
    "PostflopRules",
    "PreflopRules",
    "RaiseLevels",
    "RaiseSizesInput",
    "Sizes",
    "SizesInput",
    "Street",
    "StreetSizes",
    "TreeSize",
    "action_label",
    "action_text",
    "ante_text",
    "bb_text",
    "build_postflop_tree",
    "build_preflop_tree",
    "draw_tree",
    "flop_pots",
    "line_text",
    "measure_postflop_tree",
    "neat",
    "paid_at",
    "parse_line",
    "parse_preflop_line",
    "parse_raise_sizes",
    "parse_sizes",
    "payoffs",
    "posted_text",
    "postflop_rules",
    "pot_share",
    "preflop_action_label",
    "preflop_action_text",
    "preflop_line_text",
    "raises_text",
    "rakes",
    "read_share",
    "rules_from_spot",
    "same_sizes",
    "sizes_from_spot",
    "sizes_text",
    "street_of_board",
]

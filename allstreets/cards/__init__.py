"""What the cards are: cards, combos, hands, flops, ranges, and who wins."""

from allstreets.cards.card import (
    RANKS,
    SUITS,
    card_text,
    cards_text,
    make_card,
    parse_board,
    parse_card,
    parse_cards,
)
from allstreets.cards.combos import (
    COMBO_CARDS,
    COMBO_COUNT,
    combo_index,
    combo_text,
    live_combos,
    parse_combo,
)
from allstreets.cards.equity import Equity, HandMatchups, equity, preflop_equity
from allstreets.cards.evaluator import category, combo_strengths, evaluate
from allstreets.cards.flop_margins import FlopMatchups
from allstreets.cards.flop_tables import FlopTable, build_flop_table, flop_matchups, flop_table
from allstreets.cards.flops import (
    FLOP_COUNT,
    CanonicalFlop,
    Flop,
    Texture,
    all_flops,
    canonical_flop,
    parse_flop,
    texture,
)
from allstreets.cards.hand_pairs import hand_cards, hand_combos, hand_pairs
from allstreets.cards.hands import (
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    HAND_SIZES,
    grid_cell,
    hand_index,
    parse_hand,
)
from allstreets.cards.isomorphism import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    SUIT_PERMUTATIONS,
    canonical_cards,
    combo_orbits,
)
from allstreets.cards.matchups import Matchups, matchups, preflop_matchups
from allstreets.cards.ranges import Range
from allstreets.cards.runouts import Runouts, runouts

__all__ = [
    "CARD_PERMUTATIONS",
    "COMBO_CARDS",
    "COMBO_COUNT",
    "COMBO_PERMUTATIONS",
    "FLOP_COUNT",
    "HAND_COUNT",
    "HAND_NAMES",
    "HAND_OF_COMBO",
    "HAND_SIZES",
    "RANKS",
    "SUITS",
    "SUIT_PERMUTATIONS",
    "CanonicalFlop",
    "Equity",
    "Flop",
    "FlopMatchups",
    "FlopTable",
    "HandMatchups",
    "Matchups",
    "Range",
    "Runouts",
    "Texture",
    "all_flops",
    "build_flop_table",
    "canonical_cards",
    "canonical_flop",
    "card_text",
    "cards_text",
    "category",
    "combo_index",
    "combo_orbits",
    "combo_strengths",
    "combo_text",
    "equity",
    "evaluate",
    "flop_matchups",
    "flop_table",
    "grid_cell",
    "hand_cards",
    "hand_combos",
    "hand_index",
    "hand_pairs",
    "live_combos",
    "make_card",
    "matchups",
    "parse_board",
    "parse_card",
    "parse_cards",
    "parse_combo",
    "parse_flop",
    "parse_hand",
    "preflop_equity",
    "preflop_matchups",
    "runouts",
    "texture",
]

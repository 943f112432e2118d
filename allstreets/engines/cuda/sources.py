"""CUDA sources with the structures that Python fills: declared once, here.

A structure is a list of 64-bit words, numbers and addresses, so that NumPy packs it and a kernel
takes one pointer to it.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from allstreets.base import Longs

HERE = Path(__file__).parent / "kernels"

STREET = {
    # What is done, and for whom.
    "mode": "Long",
    "player": "Long",
    "is_river": "Long",
    "discounts": "const float *",  # [iteration][player][6]
    "clock": "int *",  # [1]: the iteration
    # Betting, the same on every board; rows from 0.
    "nodes": "const Node *",  # parents first
    "lines": "Long",
    "line_nodes": "const int *",  # [lines + 1]
    "line_zeros": "const int *",  # [lines + 1]
    "line_sums": "const int *",  # [lines + 1]
    "line_reach": "const int *",  # [lines]: rows
    "line_value": "const int *",
    "tiles": "Long",  # of LANES ends
    "ends": "const End *",
    "zeros": "const int *",
    "leaves": "Long",  # lines of the street below
    "leaf_value": "const int *",  # [leaves]: rows
    "leaf_sums": "const int *",  # pairs of rows: what is added to what
    "reach_rows": "Long",
    "value_rows": "Long",
    "own_actions": "Long",
    "other_actions": "Long",
    "own_nodes": "Long",
    # Boards and hands.
    "first_board": "Long",
    "pieces": "Long",  # of a board's hands, each a block's
    "piece": "Long",  # hands of a piece
    "own_start": "const int *",  # [B + 1]
    "other_start": "const int *",
    "own_cards": "const Byte *",
    "own_twin": "const Short *",
    "tables": "const HandTables *",
    "combo_start": "const int *",
    "combo_hand": "const Short *",
    "card_start": "const Short *",  # [B][54]
    "card_hand": "const Short *",  # two for each combo
    "equity_start": "const Long *",
    "equity": "const float *",
    # The street above, and that below.
    "parent": "const int *",  # [B]
    "other_parent": "const Short *",
    "above_start": "const int *",  # the other's hands there
    "above_rows": "Long",
    "above_row": "const int *",  # [lines]
    "above_reach": "const float *",
    "below_start": "const int *",  # by own hand: its places below
    "below": "const Below *",
    "below_values": "const float *",
    # Stored numbers, and rows.
    "own_regrets": "Regret *",
    "own_average": "Fraction *",
    "other_regrets": "const Regret *",
    "other_average": "const Fraction *",
    "own_locked": "const float *",  # 0: nothing is
    "reach": "float *",
    "values": "float *",
    "line_values": "float *",  # [own hands][lines], board by board
    "net": "float *",
    "regret_sums": "double *",  # [B][2]: of positive ones, and the largest
}
"""The fields of a street of an exact subgame, as exact.cu reads them."""

ASKED = {
    "pots": "Long",
    "part": "Long",  # of the flops of a pass: those whose rows are in the rooms together
    "firsts": "const int *",  # [parts + 1]: places of their first flops
    # By place among the K flops of a pass, part by part.
    "call": "int *",  # row of discounts, how many further that of the next flop is, and K
    "discounts": "const float *",  # [..., 7]
    "flop_of": "const int *",  # [K]
    "visits": "const Byte *",  # [K][P]
}
"""What a pass of matrix games is about, as fours.cuh reads it."""

MATRIX = {
    **ASKED,
    "mode": "Long",
    "root": "const float *",  # [P][H]: the other's reach
    "least": "const float *",  # [P]: reach with which every hand counts in the average
    "hands": "Long",  # without padding
    "out": "float *",  # [P][K][hands]: own values
    # Betting, the same on every flop.
    "tops": "const Piece *",  # [P]
    "piece_count": "Long",
    "pieces": "const Piece *",
    "line_reach": "const int *",  # rows of `reach` and `values` at which lines begin
    "line_value": "const int *",
    "nodes": "const Node *",
    "levels": "const int *",  # bounds of nodes
    "adds": "const int *",  # bounds of adders
    "adders": "const int *",  # rows
    "folds": "const Term *",
    "shows": "const Term *",
    # Cards.
    "margin": "const float *",  # [F][H][H]: by the other's hand, then by own
    "combos": "const float *",  # [F][H]
    "twins": "const float *",
    "card_most": "Long",
    "card_hand": "const Byte *",  # [F][card_most][52]
    "card_count": "const float *",
    "held_most": "Long",
    "held_card": "const Byte *",  # [F][held_most][H]
    "held_count": "const float *",
    # Stored numbers, and rows of tops and lines.
    "stores": "const Store *",  # [P]
    "reach": "float *",  # [places][reach_rows]
    "reach_rows": "Long",
    "values": "float *",
    "value_rows": "Long",
}
"""The fields of matrix games of classes for one own player, as matrix.cu reads them."""

STAGE = {
    **ASKED,
    "mode": "Long",
    "hands": "Long",  # H, padded
    # Betting, the same on every flop; rows of all pots.
    "lines": "Long",
    "line": "const Line *",
    "down": "const Node *",  # the other's decisions, parents first
    "up": "const Node *",  # own ones, children first
    "source_first": "const int *",  # by value row: what it is the sum of
    "sources": "const Source *",
    "fold_count": "Long",
    "fold_row": "const int *",  # rows of reach
    # Cards and stored numbers.
    "combos": "const float *",  # [F][H]
    "stores": "const Store *",  # [P]
    # Rows, by place.
    "least": "float *",  # [places][P]: reach with which every hand counts in the average
    "reach": "float *",  # [places][reach_rows][H]
    "reach_rows": "Long",
    "folds": "float *",  # [places][fold_count]: combos · reach
    "shows": "const float *",  # [places][show_rows][H]: reach · margins
    "show_rows": "Long",
    "exits": "const float *",  # [places][exit_rows][H]: values of the next stage's lines
    "exit_rows": "Long",
    "decisions": "float *",  # [places][decision_rows][H]: own values
    "decision_rows": "Long",
    "line_values": "float *",  # [places][lines][H]
}
"""The fields of a stage of a matrix game for one own player, as stages.cu reads them."""

PRODUCT = {
    **ASKED,
    "count": "Long",
    "terms": "const Factor *",  # by pot
    "inputs": "const float *",  # [places][input_rows][input_hands]
    "input_rows": "Long",  # 0: the same rows at every place
    "input_hands": "Long",
    "outputs": "float *",  # [places][output_rows][output_hands]
    "output_rows": "Long",
    "output_hands": "Long",
    "matrix": "const float *",  # [F][input_hands][output_hands]
}
"""Rows times a matrix of their flop, as stages.cu reads them."""

LEAVING = {
    **ASKED,
    "hands": "Long",  # without padding
    "length": "Long",
    "rows": "const float *",  # [places][P][length]
    "out": "float *",  # [P][K][hands]: own values
}
"""Values of classes that leave a pass, as stages.cu reads them."""

REGRETS = {
    **ASKED,
    "stores": "const Store *",  # [P]
    "sums": "double *",  # [K][P][2]: of own regrets
}
"""Stored regrets of some flops, as flops.cu reads them."""

VALUES = {
    "pots": "Long",
    "places": "Long",  # K
    "hands": "Long",
    "values": "const float *",  # [P][K][hands]
    "weights": "const double *",  # [K]
    "parts": "double *",  # [P][K / 64][hands]
    "totals": "double *",  # [P][hands]
}
"""Values of flops that are added up, as flops.cu reads them."""

BOARDS = {
    # What is done, and for whom.
    "mode": "Long",
    "player": "Long",
    "discounts": "const float *",  # [iteration][player][F][P][6]
    "clock": "int *",  # [1]: the iteration
    "visits": "const Byte *",  # [F][P]
    "pots": "Long",
    "flops": "Long",
    # Betting of a street, the same on every board; rows from 0.
    "nodes": "const Node *",  # parents first
    "lines": "Long",
    "line_nodes": "const int *",  # [lines + 1]
    "line_zeros": "const int *",  # [lines + 1]
    "line_sums": "const int *",  # [lines + 1]
    "line_reach": "const int *",  # [lines]: rows
    "line_value": "const int *",
    "line_pot": "const int *",
    "tiles": "Long",  # of LANES folds
    "folds": "const Fold *",
    "zeros": "const int *",
    "leaves": "Long",  # lines of the street below
    "leaf_reach": "const int *",  # [leaves]: rows
    "leaf_value": "const int *",
    "leaf_pot": "const int *",
    "leaf_sums": "const int *",  # pairs of rows: what is added to what
    "reach_rows": "Long",
    "value_rows": "Long",
    "own_actions": "const int *",  # [P + 1]
    "other_actions": "const int *",
    # Boards of all flops, and the hands there: the same for both players.
    "first_board": "Long",
    "pieces": "Long",  # of a board's hands, each a block's
    "piece": "Long",  # hands of a piece
    "flop_of": "const int *",  # [B]
    "flop_first": "const int *",  # [F + 1]: boards
    "start": "const int *",  # [B + 1]: hands
    "own_rows": "const int *",  # [B + 1]: stored rows
    "other_rows": "const int *",
    "own_row": "const Short *",  # by hand; 0: every hand its own
    "other_row": "const Short *",
    "member_first": "const int *",  # by own row: its hands
    "members": "const Short *",
    "member_share": "const float *",
    "size": "const Byte *",  # by hand: its combos; 0 for padding
    "cards": "const Byte *",  # by hand, 2
    "combo_start": "const int *",
    "card_start": "const Short *",  # [B][54]
    "card_hand": "const Short *",  # two for each combo
    # The street above, and that below.
    "root": "const float *",  # [P][169]: the other's reach before the flop
    "parent": "const int *",  # [B]
    "parent_hand": "const Short *",  # by hand: on the board above, its class on the flop
    "above_start": "const int *",  # 0: nothing is above
    "above_rows": "Long",
    "above_row": "const int *",  # [lines]
    "above_reach": "const float *",
    "below_start": "const int *",  # by hand of a flop: its places below
    "below": "const Below *",
    "below_row": "const int *",  # [leaves]
    "below_rows": "Long",
    "below_values": "const float *",
    "class_start": "const Short *",  # [F][170]: hands of each class on the flop
    "class_hand": "const Short *",
    "out": "double *",  # [P][F][169]
    # Between turn and river.
    "lane_groups": "Long",
    "children": "const int *",  # [B + 1]: river boards
    "other_first": "const Short *",  # [rivers][groups + 1]: fours of places
    "other_parent": "const Short *",  # hands on the turn of the other's combos, by group
    "other_combos": "const int *",  # [rivers + 1]: fours before each board's
    "parts": "Long",  # in which the rivers of a turn are collected
    "part": "Long",  # rivers of a part
    "entry_start": "const int *",  # by own hand of the turn and part: fours of places
    "entries": "const Short *",  # groups · river of the part + group
    "chance": "const float *",  # [rivers]
    "share": "const float *",  # by own hand of the turn
    "line_rows": "float *",  # [rivers][river lines][groups]: reach, and then values · chance
    # River.
    "piece_count": "Long",
    "river_pieces": "const Piece *",
    "runs": "const Run *",
    "products": "const Term *",
    "margin": "const signed char *",  # [rivers][groups][groups]
    "pairs": "const signed char *",
    # Stored numbers, and rows.
    "own_regrets": "Regret *",
    "own_average": "Fraction *",
    "other_regrets": "const Regret *",
    "other_average": "const Fraction *",
    "reach": "float *",
    "values": "float *",
    "own_live": "const int *",  # [B]: own rows without padding
    "regret_sums": "double *",  # [F][P][2]: of positive ones, and the largest
}
"""The fields of a street of games with real boards, as boards.cu reads them."""

GROUPS = {
    "first_block": "Long",  # of a launch
    "groups": "Long",
    "rows": "Long",  # on a turn board
    "rounds": "Long",
    "most": "Long",  # hands of a board, padded
    "most_combos": "Long",
    "stride": "Long",  # of the points of a block
    "tile": "Long",  # rows of matrices that are worked on at once
    "points": "float *",  # [blocks][16][stride], where shared memory has no room for them
    "group_draws": "const float *",  # [groups][2]
    "row_draws": "const float *",
    "hand_class": "const Byte *",  # [64][64]: by cards
    "class_weights": "const int *",  # [S][2][169]
    # River boards: B boards, H hands, C combos.
    "boards": "Long",
    "hands": "Long",
    "combos": "Long",
    "start": "const int *",  # [B + 1]: hands
    "count": "const int *",  # [B]
    "hand_parent": "const Short *",  # [H]: on the turn
    "mass": "const Short *",  # [H]: pairs of river card and combo; 0 for padding
    "combo_start": "const int *",  # [B + 1]
    "combo_hand": "const Short *",  # [C]
    "combo_strengths": "const Short *",  # [C]: rising
    "combo_cards": "const Byte *",  # [C][2]
    # Turn boards.
    "turns": "Long",
    "turn_hands": "Long",
    "turn_start": "const int *",
    "turn_count": "const int *",
    "turn_combo_start": "const int *",
    "turn_combo_hand": "const Short *",
    "turn_combo_cards": "const Byte *",
    "children": "const int *",  # [T + 1]: river boards
    # What is found, by pair of ranges and player.
    "marks": "Byte *",  # [S][2][H]
    "equity": "float *",  # [S][2][H]
    "turn_marks": "Byte *",  # [S][2][turn hands]
    "places": "Place *",  # [blocks][48][most]
    "first": "Short *",  # [S][2][B][groups + 1]
    "parent": "Short *",  # [S][2][C]
    "margin": "signed char *",  # [S][B][groups][groups]
    "pairs": "signed char *",
}
"""The fields of river boards whose hands are grouped, as groups.cu reads them."""

TYPES = """
struct Node; struct End; struct Below; struct HandTables;
struct Piece; struct Term; struct Store; struct Fold; struct Run; struct Place;
struct Line; struct Source; struct Factor;
"""


def struct(name: str, fields: Mapping[str, str]) -> str:
    """Its declaration."""
    lines = "".join(f"    {kind} {field};\n" for field, kind in fields.items())
    return f"{TYPES}struct {name} {{\n{lines}}};\n"


def exact_source() -> str:
    """The kernels of exact subgames."""
    return _joined("common.cuh", struct("Street", STREET), "exact.cu")


def matrix_source() -> str:
    """The kernels of matrix games of classes; HANDS and PLAYERS are defined when they compile."""
    return _joined("common.cuh", "fours.cuh", struct("Matrix", MATRIX), "matrix.cu")


def stages_source() -> str:
    """The kernels of matrix games whose hands change between streets."""
    structs = {"Stage": STAGE, "Product": PRODUCT, "Leaving": LEAVING}
    declared = "".join(struct(name, fields) for name, fields in structs.items())
    return _joined("common.cuh", "fours.cuh", declared, "matrix_chain.cu")


def flops_source() -> str:
    """The kernels that add up over flops."""
    declared = struct("Regrets", REGRETS) + struct("Values", VALUES)
    return _joined("common.cuh", "fours.cuh", declared, "flops.cu")


def _joined(*parts: str) -> str:
    """Files by their names, and texts."""
    return "\n".join(
        (HERE / part).read_text("utf-8") if part.endswith((".cuh", ".cu")) else part
        for part in parts
    )


def boards_source() -> str:
    """The kernels of games with real boards; what they need is defined where they compile."""
    kernels = ("boards.cu", "dealing.cuh", "products.cuh", "rivers.cuh")
    return _joined("common.cuh", struct("Boards", BOARDS), *kernels)


def groups_source() -> str:
    """The kernels that group hands; what it needs is defined where they compile."""
    return _joined("common.cuh", struct("Groups", GROUPS), "bucketing.cu")


def packed(fields: Mapping[str, str], **given: int) -> Longs:
    """A structure as words; all of its fields must be given."""
    if given.keys() != fields.keys():
        wrong = sorted(given.keys() ^ fields.keys())
        raise ValueError(f"fields do not fit: {', '.join(wrong)}")
    return np.array([given[field] % 2**64 for field in fields], np.uint64).view(np.int64)

"""Commands that show nodes: where they are, what is played there, and what it is worth."""

from collections.abc import Mapping

import numpy as np

from allstreets.base import Floats, InputError, shorten
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_COUNT,
    HAND_NAMES,
    combo_text,
    equity,
    fitting,
    live_combos,
    parse_board,
)
from allstreets.interop.upi.categories import categories, category_names
from allstreets.interop.upi.nodes import ROOT, Nodes
from allstreets.interop.upi.state import Answer, Command, State
from allstreets.interop.upi.text import hand_lines, read_player, vector_line
from allstreets.interop.upi.trees import SpotTree
from allstreets.solutions import Node


def show_node(state: State, rest: str) -> Answer:
    """show_node NODE."""
    nodes, node = state.node(rest)
    return [*nodes.block(node, root=rest == ROOT), ""]


def show_children(state: State, rest: str) -> Answer:
    """show_children NODE."""
    nodes, node = state.node(rest)
    below = [node] if rest == ROOT else nodes.children(node)
    return [
        line
        for number, child in enumerate(below)
        for line in (f"child {number}:", *nodes.block(child), "")
    ]


def show_all_lines(state: State, _: str) -> Answer:
    """show_all_lines: cards left out."""
    return list(state.known().nodes.lines())


def show_all_freqs(state: State, rest: str) -> Answer:
    """show_all_freqs [global|local]: how often lines are played, or their last actions."""
    if rest not in ("", "global", "local"):
        raise InputError(f"'{shorten(rest)}': write global or local")
    often = state.known().played.line_frequencies()
    if rest == "local":
        before = {line: often.get(line.rpartition(":")[0], 1.0) for line in often}
        often = {line: share / (before[line] or np.inf) for line, share in often.items()}
    return [f"{line} - {share:.9g}" for line, share in often.items()]


def node_count(state: State, _: str) -> Answer:
    """node_count: by kind and street, every card counted."""
    return state.known().nodes.counts()


# Hands.


def show_hand_order(state: State, _: str) -> Answer:
    """show_hand_order: the 1,326 hands of every vector."""
    del state
    return [" ".join(combo_text(combo) for combo in range(COMBO_COUNT))]


def show_preflop_order(state: State, _: str) -> Answer:
    """show_preflop_order: the 169 hand classes."""
    del state
    return [" ".join(HAND_NAMES)]


def show_category_names(state: State, _: str) -> Answer:
    """show_category_names: of made hands, and of draws."""
    del state
    return category_names()


def show_categories(state: State, rest: str) -> Answer:
    """show_categories BOARD: the number of the made hand of each combo, and that of its draw."""
    del state
    board = parse_board(rest)
    if not board:
        raise InputError("name a board: show_categories QsJh2h")
    return [" ".join(map(str, row.tolist())) for row in categories(board)]


# Ranges and strategies.


def show_range(state: State, rest: str) -> Answer:
    """show_range OOP|IP [NODE]; without a node the range of set_range."""
    player, text = read_player(rest)
    if text:
        nodes, node = state.played(text)
        return [vector_line(nodes.reach(node, player) * state.known().scale[player])]
    if player not in state.settings.ranges:
        raise InputError(f"no range is set: set_range {player.name} first")
    return [vector_line(state.settings.ranges[player].weights)]


def show_strategy(state: State, rest: str) -> Answer:
    """show_strategy NODE: a line for each child; 0 for hands that are not there."""
    return [vector_line(row) for row in _strategy(state, rest)]


def show_strategy_pp(state: State, rest: str) -> Answer:
    """show_strategy_pp NODE: a line for each hand, with a number for each child."""
    strategy = _strategy(state, rest)
    return hand_lines(strategy.sum(axis=0) > 0, strategy)


def _strategy(state: State, text: str) -> Floats:
    """[A, 1326] in the order of the children: as it was set, else as it was solved."""
    tree = state.known()
    nodes, node = state.node(text)
    strategy = tree.strategy(node) if isinstance(tree, SpotTree) else nodes.strategy(node)
    return strategy[::-1]


# EVs and equities.


def calc_ev(state: State, rest: str) -> Answer:
    """calc_ev OOP|IP NODE: EVs, and the weights of the pairs of hands."""
    return [vector_line(row) for row in _evs(state, rest)]


def calc_ev_pp(state: State, rest: str) -> Answer:
    """calc_ev_pp OOP|IP NODE: a line for each hand, with the same two numbers."""
    evs, met = _evs(state, rest)
    return hand_lines(met > 0, (evs, met))


def _evs(state: State, rest: str) -> tuple[Floats, Floats]:
    player, text = read_player(rest)
    nodes, node = state.played(text)
    return nodes.evs(node, player), _met(state, nodes, node, player)


def _met(state: State, nodes: Nodes, node: Node, player: Player) -> Floats:
    oop, ip = state.known().scale
    return nodes.matchups(node, player) * oop * ip


def calc_eq_node(state: State, rest: str) -> Answer:
    """calc_eq_node OOP|IP NODE: equities, the weights of the pairs of hands, and the mean."""
    player, text = read_player(rest)
    nodes, node = state.played(text)
    shares = node.ranges.equity(player)
    equities = nodes.by_combo(node, player, shares, np.nan)
    mean = node.ranges.mean(shares, player)
    met = _met(state, nodes, node, player)
    return [vector_line(equities), vector_line(met), f"{mean:.9g}"]


def calc_eq(state: State, rest: str) -> Answer:
    """calc_eq OOP|IP: equities of the ranges on the board that are set, without a tree."""
    shares, met, _ = _equity(state, rest, state.settings.board)
    return [vector_line(shares), vector_line(met)]


def calc_eq_pp(state: State, rest: str) -> Answer:
    """calc_eq_pp OOP|IP: a line for each hand, with the same two numbers."""
    shares, met, _ = _equity(state, rest, state.settings.board)
    return hand_lines(met > 0, (shares, met))


def calc_eq_preflop(state: State, rest: str) -> Answer:
    """calc_eq_preflop OOP|IP: before the flop, and the mean."""
    shares, met, mean = _equity(state, rest, "")
    return [vector_line(shares), vector_line(met), f"{mean:.9g}"]


def _equity(state: State, rest: str, board: str) -> tuple[Floats, Floats, float]:
    player, _ = read_player(rest)
    held = state.settings.ranges
    if len(held) < len(Player):
        raise InputError("no ranges are set: set_range OOP and set_range IP first")
    cards = parse_board(board) if board else ()
    result = equity(held[Player.OOP], held[Player.IP], cards)
    live, combos = live_combos(cards), np.arange(COMBO_COUNT)
    own, other = (held[each].weights * live for each in (player, player.opponent))
    return (
        result.by_combo[player],
        own * (fitting(combos, combos) @ other),
        result.first if player == Player.OOP else result.second,
    )


# How often.


def calc_matchups_line(state: State, rest: str) -> Answer:
    """calc_matchups_line NODE: the weight of all pairs of hands that get there."""
    return [f"{_met(state, *state.played(rest), Player.OOP).sum():.9g}"]


def calc_global_freq(state: State, rest: str) -> Answer:
    """calc_global_freq NODE: how often play gets there, the chance of its cards included."""
    nodes, node = state.played(rest)
    return [f"{nodes.frequency(node):.9g}"]


def calc_line_freq(state: State, rest: str) -> Answer:
    """calc_line_freq NODE: how often play gets there if its cards are dealt."""
    return [f"{state.played(rest)[1].ranges.share:.9g}"]


READING: Mapping[str, Command] = {
    "show_node": show_node,
    "show_children": show_children,
    "show_all_lines": show_all_lines,
    "show_all_freqs": show_all_freqs,
    "node_count": node_count,
    "show_hand_order": show_hand_order,
    "show_preflop_order": show_preflop_order,
    "show_category_names": show_category_names,
    "show_categories": show_categories,
    "show_range": show_range,
    "show_strategy": show_strategy,
    "show_strategy_pp": show_strategy_pp,
    "calc_ev": calc_ev,
    "calc_ev_pp": calc_ev_pp,
    "calc_eq_node": calc_eq_node,
    "calc_eq": calc_eq,
    "calc_eq_pp": calc_eq_pp,
    "calc_eq_preflop": calc_eq_preflop,
    "calc_matchups_line": calc_matchups_line,
    "calc_global_freq": calc_global_freq,
    "calc_line_freq": calc_line_freq,
}

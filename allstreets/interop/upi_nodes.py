"""Nodes of a spot as PioSOLVER's protocol names and prints them.

An id begins with `r` (the tree) and `r:0` (the first decision). Then come `c` (check or call), `f`
(fold), `b45` (bet or raise) and cards: `r:0:b45:c:2c:b495`. The number of a bet is everything its
player has put in since the root. A card leads straight to the first decision of its street.

Children are in the order of the protocol: bets from the largest to the smallest, `c`, `f`: the
reverse of the order in solutions.
"""

from collections.abc import Iterator

import numpy as np

from allstreets.base import Floats, InputError, quotient, shorten
from allstreets.betting import (
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    Player,
    Street,
    neat,
)
from allstreets.cards import COMBO_COUNT, DECK_SIZE, card_text, live_combos, parse_cards
from allstreets.solutions import Node, SpotSolution

ROOT, FIRST = "r", "r:0"
LETTERS = {ActionKind.FOLD: "f", ActionKind.CHECK: "c", ActionKind.CALL: "c"}
DECISIONS = {Player.OOP: "OOP_DEC", Player.IP: "IP_DEC"}
SPLIT, END = "SPLIT_NODE", "END_NODE"
COUNTED = ("ROOT", "OOP_DEC", "IP_DEC", "SPLIT", "END")


def find_node(solution: SpotSolution, text: str) -> Node:
    """The node of an id; an `InputError` says which part of it leads nowhere."""
    root, _, rest = text.partition(":")
    first, _, rest = rest.partition(":")
    if root != ROOT or first not in ("", "0"):
        raise InputError(f"'{shorten(text)}' is not a node: ids begin with r:0")
    node = solution.at()
    for word in rest.split(":") if rest else ():
        node = _child(node, word, text)
    return node


def _child(node: Node, word: str, text: str) -> Node:
    if node.kind == "chance":
        cards = parse_cards(word)
        if len(cards) == 1 and cards[0] not in node.board:
            return Node(node.solution, node.solution.dealt(node.position, cards))
    for child in children(node) if node.kind == "decision" else ():
        if step(child) == word:
            return child
    offered = "no player acts" if node.kind == "end" else "a card is dealt"
    if node.kind == "decision":
        offered = f"there are {', '.join(step(child) for child in children(node))}"
    raise InputError(f"node '{shorten(text)}': '{shorten(word)}' leads nowhere: {offered}")


def step(node: Node) -> str:
    """The last part of a node's id: the action or card that leads there."""
    above = node.parent
    if above is None:
        return FIRST
    if above.kind == "chance":
        return card_text(node.board[-1])
    action = node.tree.actions[node.index]
    assert action is not None
    return _word(node.tree, node.index, action)


def _word(tree: BettingTree, node: int, action: Action) -> str:
    player = tree.player_at(int(tree.parent[node]))
    return LETTERS.get(action.kind) or f"b{neat(tree.invested[node, player].item())}"


def node_id(node: Node) -> str:
    """The id of a node."""
    return ":".join(step(each) for each in node.path)


def children(node: Node) -> list[Node]:
    """The children of a node in the order of the protocol."""
    return node.children[::-1] if node.kind == "decision" else node.children


def kind(node: Node) -> str:
    """The protocol's name of the kind of a node."""
    if node.actor is not None:
        return DECISIONS[node.actor]
    return SPLIT if node.kind == "chance" else END


def block(node: Node, *, root: bool = False) -> list[str]:
    """The six lines of a node; also of the tree itself, whose only child is the first decision."""
    count = 1 if root else len(children(node))
    return [
        ROOT if root else node_id(node),
        "ROOT" if root else kind(node),
        "".join(f"{card_text(card)} " for card in node.board),
        f"{pot_text(node.tree, node.index)} ",
        f"{count} children",
        "flags: PIO_CFR ",
    ]


def pot_text(tree: BettingTree, node: int) -> str:
    """Chips that OOP and IP have put in since the root, and the starting pot."""
    oop, ip = (neat(tree.invested[node, player].item()) for player in Player)
    return f"{oop} {ip} {neat(tree.pot)}"


def lines(tree: BettingTree) -> Iterator[str]:
    """Every line of the tree, cards left out; each before those that continue it."""
    waiting = [(0, FIRST)]
    while waiting:
        node, text = waiting.pop()
        if tree.kind[node] == NodeKind.CHANCE:  # with a card it would be the same line
            node = int(tree.children_of(node)[0])
        yield text
        for child in tree.children_of(node).tolist():
            action = tree.actions[child]
            assert action is not None
            waiting.append((child, f"{text}:{_word(tree, child, action)}"))


def node_counts(tree: BettingTree) -> list[str]:
    """The number of nodes of each kind on each street, every card counted."""
    kinds = tree.kind
    masks = {
        "ROOT": np.zeros(len(kinds), np.bool_),
        "OOP_DEC": (kinds == NodeKind.DECISION) & (tree.player == Player.OOP),
        "IP_DEC": (kinds == NodeKind.DECISION) & (tree.player == Player.IP),
        "SPLIT": kinds == NodeKind.CHANCE,
        "END": tree.is_terminal,
    }
    boards, total, rows = 1, 1, ["ROOT 1"]
    for street in (later for later in Street if later >= tree.first_street):
        if street > tree.first_street:
            boards *= DECK_SIZE - (street + 1)  # three cards lie on the flop, which is street 1
        here = tree.street == street
        for name in COUNTED[1:]:
            count = boards * int((masks[name] & here).sum())
            total += count
            rows.append(f"{street.text.upper()} {name} {count}")
    return [*rows, f"TOTAL {total}"]


def evs(node: Node, player: Player) -> Floats:
    """[1326]: EV of each hand in chips; chips put in since the root count as lost.

    NaN for hands that are not there. Where a card is dealt it is the mean over the cards that may
    come, each as often as it meets the hand and the opponent's range.
    """
    if node.kind == "chance":
        sums, met = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
        for child in node.children:
            weights = matchups(child, player)
            live = weights > 0
            sums[live] += weights[live] * evs(child, player)[live]
            met += weights
        return quotient(sums, met)
    shown = node.ranges.whole_hand()
    return by_combo(node, player, shown.evaluate().hands[player], np.nan)


def matchups(node: Node, player: Player) -> Floats:
    """[1326]: weights of the pairs of hands that get here, by hand of the player."""
    return by_combo(node, player, node.ranges.hands[player].weights, 0.0)


def by_combo(node: Node, player: Player, values: Floats, other: float) -> Floats:
    """[1326]: values [..., H] of a player's hands; `other` for hands that he does not have."""
    combos = node.ranges.hands[player].combos
    assert combos is not None
    result = np.full((*values.shape[:-1], COMBO_COUNT), other)
    result[..., combos] = values
    result[..., ~live_combos(node.board)] = other
    return result


def cards_to_come(node: Node) -> float:
    """The number of ways to deal the cards on the path to a node beside a pair of hands."""
    first = len(node.board) - len(node.position.cards)
    return float(np.prod([DECK_SIZE - 4 - n for n in range(first, len(node.board))]))

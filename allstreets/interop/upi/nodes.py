"""Nodes of a solution as PioSOLVER's protocol names and prints them.

An id begins with `r` (the tree) and `r:0` (the first decision). Then come `c` (check or call), `f`
(fold), `b45` (bet or raise) and cards: `r:0:b45:c:2c:b495`. The number of a bet is all that its
player has put in since the root. Cards lead straight to the first decision of their street; a flop
is one word: `r:0:b250:c:AsKh7d`. Where hand classes average over turn and river, no word stands for
them.

Children stand in the order of the protocol: bets from the largest to the smallest, `c`, `f`. That
is the order of the solution turned round.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from allstreets.base import Flags, Floats, InputError, quotient, shorten
from allstreets.betting import ActionKind, BettingTree, NodeKind, Player, Street, neat
from allstreets.cards import (
    COMBO_COUNT,
    DECK_SIZE,
    HAND_OF_COMBO,
    canonical_flop,
    card_text,
    cards_text,
    live_combos,
    parse_cards,
)
from allstreets.solutions import Node, Position, Solution, WholeSolution

ROOT, FIRST = "r", "r:0"
LETTERS = {ActionKind.FOLD: "f", ActionKind.CHECK: "c", ActionKind.CALL: "c"}
DECISIONS = {Player.OOP: "OOP_DEC", Player.IP: "IP_DEC"}
SPLIT, END = "SPLIT_NODE", "END_NODE"
COUNTED = ("H_DEC", "V_DEC", "SPLIT", "END")  # decisions of OOP and of IP, cards, ends
FLOP_CARDS = 3
ALL_FLOPS = 22_100
FLOP_PAIRS = 49 * 48 * 47 * 46 / 4  # pairs of combos beside a flop


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a solution; amounts and EVs are in the chips of the client."""

    solution: Solution
    pot: float  # the starting pot
    pairs: float  # of combos that both starting ranges make, where the solution starts
    chip: float = 1.0  # the client's chips in a chip of the solution
    ev_chip: float = 1.0  # … and in its unit of EVs
    antes: tuple[float, float] = (0.0, 0.0)  # of OOP and IP: they lie in the starting pot

    @property
    def game(self) -> WholeSolution | None:
        """The whole game that the solution is; None: it is a spot."""
        return self.solution.as_game if isinstance(self.solution, WholeSolution) else None

    # Ids.

    def find(self, text: str) -> Node:
        """The node of an id; an `InputError` says which part of it leads nowhere."""
        root, _, rest = text.partition(":")
        first, _, rest = rest.partition(":")
        if root != ROOT or first not in ("", "0"):
            raise InputError(f"'{shorten(text)}' is not a node: ids begin with r:0")
        node = self.solution.at()
        for word in rest.split(":") if rest else ():
            node = self._child(node, word, text)
        return node

    def _child(self, node: Node, word: str, text: str) -> Node:
        deal = node.deal
        if deal is not None and not deal.stored:
            raise InputError(f"node '{shorten(text)}': {deal.note}")
        if deal is not None:
            cards = tuple(parse_cards(word))
            if deal.count == FLOP_CARDS:
                return node.solution.at(node.line, word)
            if len(cards) == 1 and cards[0] not in node.board:
                return Node(node.solution, node.solution.dealt(node.position, cards))
        for child in self.children(node) if node.kind == "decision" else ():
            if self.step(child) == word:
                return child
        offered = "no player acts" if node.kind == "end" else "a card is dealt"
        if node.kind == "decision":
            offered = f"there are {', '.join(self.step(child) for child in self.children(node))}"
        raise InputError(f"node '{shorten(text)}': '{shorten(word)}' leads nowhere: {offered}")

    def children(self, node: Node) -> list[Node]:
        """The children of a node in the order of the protocol."""
        if node.kind != "decision":
            return node.children
        return [_shown(child) for child in node.children[::-1]]

    def step(self, node: Node) -> str:
        """The last part of a node's id: the action or the cards that lead there."""
        above = node.parent
        if above is None:
            return FIRST
        if above.kind == "chance":
            if above.board != node.board:
                return cards_text(node.board[len(above.board) :])
            node = above
        return self._word(node.tree, node.index, node.position.root)

    def id(self, node: Node) -> str:
        """The id of a node."""
        words = list[str]()
        below: Node | None = node
        while below is not None:
            words.append(self.step(below))
            above = below.parent
            averaged = above is not None and above.kind == "chance" and above.board == below.board
            below = above.parent if averaged and above is not None else above
        return ":".join(reversed(words))

    def kind(self, node: Node) -> str:
        """The protocol's name of the kind of a node."""
        if node.actor is not None:
            return DECISIONS[node.actor]
        return SPLIT if node.kind == "chance" else END

    def block(self, node: Node, *, root: bool = False) -> list[str]:
        """The six lines of a node; of the tree itself, whose only child is the first one."""
        count = 1 if root else len(self.children(node))
        oop, ip = self._put_in(node.tree, node.index, node.position.root)
        return [
            ROOT if root else self.id(node),
            "ROOT" if root else self.kind(node),
            "".join(f"{card_text(card)} " for card in node.board),
            f"{neat(oop)} {neat(ip)} {neat(self.pot)} ",
            f"{count} children",
            "flags: PIO_CFR ",
        ]

    def _put_in(self, tree: BettingTree, node: int, root: int | None) -> tuple[float, float]:
        """The chips of OOP and IP in the middle, without the starting pot."""
        before = np.zeros(2)
        if root is not None:
            before = self.solution.tree(Position(root)).invested[root]
        # A big-blind ante is no part of what is counted here.
        oop, ip = ((before + tree.invested[node]) * self.chip - self.antes[Player.IP]).tolist()
        return oop, ip

    def _word(self, tree: BettingTree, node: int, root: int | None) -> str:
        action = tree.actions[node]
        assert action is not None
        player = tree.player_at(int(tree.parent[node]))
        letter = LETTERS.get(action.kind)
        return letter or f"b{neat(self._put_in(tree, node, root)[player])}"

    # The tree.

    def lines(self) -> Iterator[str]:
        """Every line, cards left out; each before those that continue it."""
        yield from self._lines(self.solution.tree(Position()), None, FIRST)

    def _lines(self, tree: BettingTree, root: int | None, first: str) -> Iterator[str]:
        waiting = [(0, first)]
        while waiting:
            node, text = waiting.pop()
            if tree.kind[node] == NodeKind.CHANCE and tree.child_count[node]:
                node = int(tree.children_of(node)[0])  # with a card it would be the same line
            if tree.kind[node] == NodeKind.CHANCE:  # a flop is dealt to the pot of this line
                if (game := self.game) is not None:
                    pot = game.stored.pot(node)
                    yield from self._lines(pot.tree, node, text)
                else:
                    yield text
                continue
            yield text
            for child in tree.children_of(node).tolist():
                waiting.append((child, f"{text}:{self._word(tree, child, root)}"))

    def counts(self) -> list[str]:
        """The number of nodes of each kind, in all and on each street, every card counted."""
        tree, game = self.solution.tree(Position()), self.game
        trees = [(tree, 1)]
        if game is not None:
            flops = len(game.game.flops.flops)
            trees += [(pot.tree, flops) for pot in game.game.pots]
        sees = game is None or game.cards.stores_cards
        streets = [later for later in Street if later >= tree.first_street]
        rows, total = list[str](), 1
        for name in COUNTED:
            counts = {
                street: sum(
                    boards
                    * _boards(each, street, sees_cards=sees)
                    * int((_masks(each)[name] & (each.street == street)).sum())
                    for each, boards in trees
                )
                for street in streets
            }
            rows.append(f"{name}: {sum(counts.values())}")
            rows += [f"  {street.text.upper()} {count}" for street, count in counts.items()]
            total += sum(counts.values())
        return [*rows, "ROOT: 1", f"TOTAL: {total}"]

    # Numbers.

    def reach(self, node: Node, player: Player) -> Floats:
        """[1326]: the range of a player, the largest weight at the start 1."""
        return self.by_combo(node, player, node.ranges.hands[player].reach, 0.0)

    def evs(self, node: Node, player: Player) -> Floats:
        """[1326]: EV of each hand; what the player has put in since the root counts as lost.

        NaN for hands that are not there. Where a card is dealt it is the mean over the cards that
        may come, each as often as it meets the hand and the opponent's range.
        """
        deal = node.deal
        if deal is not None and deal.stored and deal.count == 1:
            sums, met = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
            for child in node.children:
                weights = self.matchups(child, player)
                live = weights > 0
                sums[live] += weights[live] * self.evs(child, player)[live]
                met += weights
            return quotient(sums, met)
        results = node.ranges.whole_hand().evaluate().hands[player]
        return self.by_combo(node, player, results * self.ev_chip + self.antes[player], np.nan)

    def matchups(self, node: Node, player: Player) -> Floats:
        """[1326]: weights of the pairs of hands that get here, by hand of the player."""
        hands = node.ranges.hands[player]
        weights = hands.weights
        if hands.combos is None:
            weights = quotient(weights, hands.counts)
        return np.nan_to_num(self.by_combo(node, player, weights, 0.0))

    def strategy(self, node: Node) -> Floats:
        """[A, 1326]: how often each action is taken; 0 for hands that are not there."""
        play = node.decision
        return np.nan_to_num(self.by_combo(node, play.player, play.strategy, 0.0))

    def held(self, node: Node) -> Flags:
        """[1326]: the hands of the player who acts."""
        play = node.decision
        held = self.by_combo(node, play.player, np.ones(len(play.own.reach)), 0.0)
        return np.asarray(held > 0)

    def by_combo(self, node: Node, player: Player, values: Floats, other: float) -> Floats:
        """[1326]: values [..., H] of a player's hands; `other` for hands that he does not hold.

        The combos of a hand class share its value.
        """
        combos = node.ranges.hands[player].combos
        if combos is None:
            result = np.array(values[..., HAND_OF_COMBO], np.float64)
        else:
            result = np.full((*values.shape[:-1], COMBO_COUNT), other)
            result[..., combos] = values
        result[..., ~live_combos(node.board)] = other
        return result

    def frequency(self, node: Node) -> float:
        """The probability that play gets to a node, the chance of its cards included."""
        met = float(self.matchups(node, Player.OOP).sum())
        cards = node.position.cards
        if self.game is None or not cards:
            share = met / self.pairs / _ways(len(node.board) - len(cards), len(node.board))
        else:
            share = met / FLOP_PAIRS * self._chance(cards) / _ways(FLOP_CARDS, len(node.board))
        return min(share, 1.0)  # weights have single precision

    def line_frequencies(self) -> dict[str, float]:
        """The frequency of each of `lines` over all cards; of a whole game before the flop."""
        often: dict[str, float] = {}
        # A share that is None is found when its node comes: numbers are cached board by board.
        waiting: list[tuple[Node, str, float | None]] = [(self.solution.at(), FIRST, None)]
        while waiting:
            node, line, share = waiting.pop()
            share = self.frequency(node) if share is None else share
            below, deal = self.children(node), node.deal
            if deal is not None and deal.count != FLOP_CARDS:
                # A line with a card is that of the node before it.
                dealt = [(child, line, None) for child in below]
                waiting += dealt[::-1] if share > 0 else [(below[0], line, 0.0)]
                continue
            often[line] = often.get(line, 0.0) + share
            if deal is None and below:
                taken = node.decision.taken[::-1] if share > 0 else np.zeros(len(below))
                lines = [f"{line}:{self.step(child)}" for child in below]
                shares = (share * np.nan_to_num(taken)).tolist()
                waiting += list(zip(below, lines, shares, strict=True))[::-1]
        return often

    def _chance(self, cards: tuple[int, ...]) -> float:
        """The chance of a flop of a whole game: one that its set does not name is as natural."""
        assert self.game is not None
        flop, flops = canonical_flop(cards[:FLOP_CARDS]).flop, self.game.game.flops
        number = self.game.stored.place_of(flop)
        if self.game.plays_every_flop or number is None:
            return flop.multiplicity / ALL_FLOPS
        return float(flops.weights[number] / flops.weights.sum())


def _shown(node: Node) -> Node:
    """The node itself, or the first of the next street where no card is seen to come."""
    deal = node.deal
    if deal is None or not deal.stored or deal.count:
        return node
    return Node(node.solution, node.solution.dealt(node.position))


def _masks(tree: BettingTree) -> dict[str, Flags]:
    decision = tree.kind == NodeKind.DECISION
    return {
        "H_DEC": decision & (tree.player == Player.OOP),
        "V_DEC": decision & (tree.player == Player.IP),
        "SPLIT": tree.kind == NodeKind.CHANCE,
        "END": tree.is_terminal,
    }


def _boards(tree: BettingTree, street: Street, *, sees_cards: bool) -> int:
    """The number of boards of a street that follow the root of a tree."""
    if not sees_cards or tree.first_street == Street.PREFLOP:
        return 1
    later = range(tree.first_street + 1, street + 1)
    return math.prod(DECK_SIZE - (each + 1) for each in later)  # street 1 has three cards


def _ways(first: int, last: int) -> int:
    """The number of ways in which a board of `first` cards gets `last`, beside a pair of hands."""
    return math.prod(DECK_SIZE - 4 - cards for cards in range(first, last))

"""The explorer's messages, worked out hand by hand and card by card."""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import eval7

from allstreets.cards import HAND_NAMES
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import ComboRow, Deal, Decision, End, Place
from allstreets.explorer.views.view import SolutionView

PLAYERS: tuple[PlayerName, PlayerName] = ("oop", "ip")
DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
CARDS = {card: eval7.Card(card) for card in DECK}


def equity(combo: str, others: Mapping[str, float], board: Sequence[str]) -> float | None:
    """The share of the pot that a combo wins of weighted combos, over every runout."""
    own = [combo[:2], combo[2:]]
    won = met = 0.0
    for other, weight in others.items():
        cards = [other[:2], other[2:]]
        if len({*own, *cards, *board}) < 4 + len(board) or not weight:
            continue
        rest = [card for card in DECK if card not in (*own, *cards, *board)]
        for run in combinations(rest, 5 - len(board)):
            full = [CARDS[card] for card in (*board, *run)]
            mine = eval7.evaluate([*full, *(CARDS[card] for card in own)])
            theirs = eval7.evaluate([*full, *(CARDS[card] for card in cards)])
            won += weight * (1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
            met += weight
    return won / met if met else None


def mean(pairs: Sequence[tuple[float | None, float]]) -> float | None:
    """The mean of numbers by their weights, without those that do not exist."""
    there = [(number, weight) for number, weight in pairs if number is not None and weight > 0]
    total = sum(weight for _, weight in there)
    return sum(number * weight for number, weight in there) / total if total else None


def cell(rows: Sequence[ComboRow], action: int | None = None) -> dict[str, float | None]:
    """A cell of the grid out of its combos, each as often as it gets here."""
    found = {
        "ev": mean([(row.ev, row.reach) for row in rows]),
        "equity": mean([(row.equity, row.reach) for row in rows]),
    }
    if action is not None:
        found["chance"] = mean([(row.chances[action], row.reach) for row in rows])
        found["action_ev"] = mean([(row.evs[action], row.reach) for row in rows])
    return found


class PlayedOut:
    """A spot played out by the strategies that a view shows, pair of combos by pair of combos."""

    def __init__(self, view: SolutionView) -> None:
        self._view = view
        start = view.place("")
        self._stack, self._board = start.stacks["oop"], start.board
        self._held = [self._weights("", player) for player in PLAYERS]

    def evs(self) -> list[dict[str, float]]:
        """Combo → EV in chips of OOP and IP, where the spot begins."""
        found: list[dict[str, float]] = [{}, {}]
        values = self._values("")
        for own in (0, 1):
            for combo in self._held[own]:
                pairs = [
                    (values[(combo, other) if own == 0 else (other, combo)][own], weight)
                    for other, weight in self._held[1 - own].items()
                    if fits(combo, other)
                ]
                known = mean(list(pairs))
                assert known is not None
                found[own][combo] = known
        return found

    def _weights(self, line: str, player: PlayerName) -> dict[str, float]:
        rows = [row for hand in HAND_NAMES for row in self._view.hand(line, player, hand).rows]
        return {row.cards: row.reach for row in rows if row.reach}

    def _values(self, line: str) -> dict[tuple[str, str], tuple[float, float]]:
        """(OOP's combo, IP's) → what both get in the end, less what they put in since the start."""
        place = self._view.place(line)
        pairs = [
            (own, other) for own in self._held[0] for other in self._held[1] if fits(own, other)
        ]
        match place.here:
            case Decision(player=player, actions=actions):
                below = [self._values(action.line) for action in actions]
                words = [action.word for action in actions]
                chances = {
                    row["combo"]: [row[word] for word in words] for row in self._view.rows(line)
                }
                acting = PLAYERS.index(player)
                found = {}
                for pair in pairs:
                    mix = [chance or 0.0 for chance in chances.get(pair[acting], [])]
                    parts = [(chance, part[pair]) for chance, part in zip(mix, below, strict=False)]
                    found[pair] = (
                        sum(chance * both[0] for chance, both in parts),
                        sum(chance * both[1] for chance, both in parts),
                    )
                return found
            case Deal(cards=cards):
                below_card = {
                    option.card: self._values(option.line) for option in cards if option.line
                }
                found = {}
                for pair in pairs:
                    there = [
                        part[pair]
                        for card, part in below_card.items()
                        if card not in (pair[0][:2], pair[0][2:], pair[1][:2], pair[1][2:])
                    ]
                    found[pair] = (
                        sum(both[0] for both in there) / len(there),
                        sum(both[1] for both in there) / len(there),
                    )
                return found
        return {pair: self._end(place, pair) for pair in pairs}

    def _end(self, place: Place, pair: tuple[str, str]) -> tuple[float, float]:
        assert isinstance(place.here, End)
        paid = [self._stack - place.stacks[player] for player in PLAYERS]
        if place.here.how == "fold":
            oop_wins = place.here.text.startswith("IP folds")
            shares = (1.0, 0.0) if oop_wins else (0.0, 1.0)
        else:
            share = equity(pair[0], {pair[1]: 1.0}, place.board)
            shares = (0.0, 0.0) if share is None else (share, 1 - share)
        return place.pot * shares[0] - paid[0], place.pot * shares[1] - paid[1]


def fits(one: str, other: str) -> bool:
    """Whether two combos share no card."""
    return len({one[:2], one[2:], other[:2], other[2:]}) == 4


def area(points: Sequence[tuple[float, float]]) -> float:
    """The area below a curve, piece by piece."""
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))

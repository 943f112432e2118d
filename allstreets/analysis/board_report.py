"""The same decision on many boards: figures by board, by texture, by category and by hand.

A board counts by its *mass*: the boards that it stands for times the pairs of combos that get to
the decision on it. So a mean over boards is a mean over the hands that are dealt, and the total is
the play on all boards together. Figures by category and by hand are of the player who acts; where
hands are the 169 classes, the combos of a class share its strategy and its EV.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError, Longs, quotient, suggest
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    DRAWS,
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    MADE,
    RANKS,
    Texture,
    cards_text,
    hand_categories,
    live_combos,
    texture,
)
from allstreets.solutions import Decision, OnBoard, Unit, counted_text, realised

SUITS = ("rainbow", "two-tone", "monotone")
PAIRINGS = ("unpaired", "paired", "trips")
CONNECTED = ("connected", "semi-connected", "disconnected")

# The keys that boards are grouped by, and the order of the groups.
TEXTURES: dict[str, tuple[Callable[[Texture], str], Sequence[str]]] = {
    "suits": (lambda flop: flop.suits, SUITS),
    "pairing": (lambda flop: flop.pairing, PAIRINGS),
    "high": (lambda flop: flop.high_card, RANKS[::-1]),
    "connected": (lambda flop: flop.connectedness, CONNECTED),
    "texture": (
        lambda flop: f"{flop.suits} {flop.pairing} {flop.connectedness}",
        [f"{a} {b} {c}" for a in SUITS for b in PAIRINGS for c in CONNECTED],
    ),
}
HAND_KEYS: dict[str, Sequence[str]] = {"category": MADE, "draw": DRAWS, "hand": HAND_NAMES}
"""Keys that hands are grouped by, and the names of the groups."""

REPORT_KEYS = ("board", *TEXTURES, *HAND_KEYS)


@dataclass(frozen=True)
class ReportRow:
    """A board, or a group of boards or hands. NaN: not known."""

    name: str
    boards: int
    weight: float  # boards that they stand for
    share: float  # of all hands that get to the decision
    frequencies: tuple[float, ...]  # [A]
    evs: tuple[float, float]  # of OOP and IP, in the unit of the solution
    equities: tuple[float, float]
    eqrs: tuple[float, float]
    line: str = ""  # to the decision, of a single board


@dataclass(frozen=True, eq=False)
class BoardFigures:
    """Both ranges at a decision on one board."""

    board: tuple[int, ...]
    line: str
    weight: float
    mass: float  # weight times pairs of combos that get there
    reached: bool
    frequencies: Floats  # [A]
    evs: Floats  # [2]
    equities: Floats  # [2]

    @property
    def texture(self) -> Texture:
        """The texture of the flop."""
        return texture(self.board[:3])


@dataclass(frozen=True, eq=False)
class HandSums:
    """Sums over all boards, by groups of a player's hands, each times its mass."""

    mass: Floats  # [G]
    taken: Floats  # [G, A] of the player who acts; A is 0 for the other one
    ev: Floats  # [2, G]: Σ of EVs, and the mass of those that are known
    equity: Floats  # [2, G]

    @property
    def frequencies(self) -> Floats:
        """[G, A]: the frequency of each action."""
        return quotient(self.taken, self.mass[:, None])

    @property
    def evs(self) -> Floats:
        """[G]: mean EV."""
        return quotient(self.ev[0], self.ev[1])

    @property
    def equities(self) -> Floats:
        """[G]: mean equity."""
        return quotient(self.equity[0], self.equity[1])

    def __add__(self, other: "HandSums") -> "HandSums":
        return HandSums(
            self.mass + other.mass,
            self.taken + other.taken,
            self.ev + other.ev,
            self.equity + other.equity,
        )


@dataclass(frozen=True, eq=False)
class BoardReport:
    """A decision on many boards."""

    line: str  # as requested
    player: Player  # who acts
    unit: Unit
    actions: tuple[str, ...]  # [A]
    labels: tuple[str, ...]
    pot: float
    paid: tuple[float, float]
    boards: tuple[BoardFigures, ...]
    hands: dict[str, HandSums] = field(repr=False)  # by the keys of `HAND_KEYS`
    over_hand: bool = False  # whether EVs are results of the whole hand, not from here on

    @property
    def counted(self) -> str:
        """The start from which EVs count, in words."""
        return counted_text(over_hand=self.over_hand)

    def by(self, key: str = "board") -> list[ReportRow]:
        """One row per board or group, in the order of the boards or of the groups' names.

        `key`: board, suits, pairing, high, connected, texture; category, draw, hand.
        """
        if key == "board":
            return [self._row(cards_text(board.board), [board]) for board in self.boards]
        if key in HAND_KEYS:
            return self._hand_rows(key)
        if key not in TEXTURES:
            raise InputError(f"there is no report by '{key}': {suggest(key, list(REPORT_KEYS))}")
        name_of, order = TEXTURES[key]
        groups: dict[str, list[BoardFigures]] = {name: [] for name in order}
        for board in self.boards:
            groups[name_of(board.texture)].append(board)
        return [self._row(name, group) for name, group in groups.items() if group]

    @property
    def total(self) -> ReportRow:
        """All boards together."""
        return self._row("all", self.boards)

    def sorted(self, rows: Sequence[ReportRow], key: str) -> list[ReportRow]:
        """Rows sorted by a column, the largest first; unknown values come last."""
        columns = self.columns()
        if key == "ev":
            key = f"ev_{self.player.name.lower()}{self.unit.column}"
        column = next((name for name in columns if key in (name, _plain(name, self.unit))), None)
        if column is None:
            raise InputError(f"there is no column '{key}': {suggest(key, list(columns))}")
        cells = [(self.cells(row)[column], row) for row in rows]
        if column == "name":
            return [row for _, row in sorted(cells, key=lambda cell: str(cell[0]))]
        return [
            row
            for _, row in sorted(
                cells, key=lambda cell: -np.inf if np.isnan(cell[0]) else cell[0], reverse=True
            )
        ]

    def columns(self) -> tuple[str, ...]:
        """The names of a row's cells."""
        return tuple(self.cells(self.total))

    def cells(self, row: ReportRow) -> dict[str, Any]:
        """A row for CSV, Parquet and JSON; the unit ends the names of EVs."""
        unit = self.unit.column
        cells: dict[str, Any] = {
            "name": row.name,
            "boards": row.boards,
            "weight": row.weight,
            "share": row.share,
            **dict(zip(self.actions, row.frequencies, strict=True)),
        }
        for what, values in (("ev", row.evs), ("equity", row.equities), ("eqr", row.eqrs)):
            for player in Player:
                end = unit if what == "ev" else ""
                cells[f"{what}_{player.name.lower()}{end}"] = values[player]
        return cells

    def table(self, key: str = "board") -> list[dict[str, Any]]:
        """The rows of `by` as cells; those of boards have their textures."""
        rows = [self.cells(row) for row in self.by(key)]
        if key != "board":
            return rows
        textures = [board.texture for board in self.boards]
        return [
            {"board": row.pop("name"), **{k: f(t) for k, (f, _) in TEXTURES.items()}, **row}
            for row, t in zip(rows, textures, strict=True)
        ]

    def _row(self, name: str, boards: Sequence[BoardFigures]) -> ReportRow:
        mass = np.array([board.mass for board in boards])
        total = sum(board.mass for board in self.boards)
        taken = np.array([board.frequencies for board in boards])  # [B, A]
        evs = _mean(mass, np.array([board.evs for board in boards]))
        equities = _mean(mass, np.array([board.equities for board in boards]))
        return ReportRow(
            name,
            len(boards),
            float(sum(board.weight for board in boards)),
            float(mass.sum() / total) if total > 0 else float("nan"),
            tuple(_mean(mass, taken).tolist()),
            (float(evs[0]), float(evs[1])),
            (float(equities[0]), float(equities[1])),
            self._eqrs(evs, equities),
            boards[0].line if len(boards) == 1 else "",
        )

    def _eqrs(self, evs: Floats, equities: Floats) -> tuple[float, float]:
        here = evs + np.array(self.paid) * self.over_hand  # from here on
        oop, ip = realised(here, equities, self.pot).tolist()
        return oop, ip

    def _hand_rows(self, key: str) -> list[ReportRow]:
        sums, names = self.hands[key], HAND_KEYS[key]
        taken, ev, equity = sums.frequencies, sums.evs, sums.equities
        share = sums.mass / (sums.mass.sum() or 1.0)
        weight = float(sum(board.weight for board in self.boards))
        rows = []
        for group in np.flatnonzero(sums.mass > 0).tolist():
            evs, equities = np.full(2, np.nan), np.full(2, np.nan)
            evs[self.player], equities[self.player] = ev[group], equity[group]
            rows.append(
                ReportRow(
                    names[group],
                    len(self.boards),
                    weight,
                    float(share[group]),
                    tuple(taken[group].tolist()),
                    (float(evs[0]), float(evs[1])),
                    (float(equities[0]), float(equities[1])),
                    self._eqrs(evs, equities),
                )
            )
        return rows


class Gathering:
    """A report that grows board by board: reading many of them takes a while."""

    def __init__(self, line: str) -> None:
        """`line` leads to the decision on each board."""
        self._line = line
        self._figures: list[BoardFigures] = []
        self._hands: dict[str, HandSums] = {}
        self._first: Decision | None = None

    def add(self, board: OnBoard) -> None:
        """Add a board; an `InputError` if the decision differs there."""
        node, first = board.node, self._first
        if first is None:
            self._first = node
        elif (node.actions, node.pot) != (first.actions, first.pot):
            raise InputError(
                f"the decision differs between boards: {', '.join(first.actions)} in a pot of "
                f"{first.pot:g} on {cards_text(first.board)}, {', '.join(node.actions)} in "
                f"{node.pot:g} on {cards_text(node.board)}"
            )
        self._figures.append(_figures(board))
        sums, hands = _hand_sums(board), self._hands
        self._hands = {key: hands[key] + sums[key] for key in sums} if hands else sums

    @property
    def report(self) -> BoardReport:
        """All boards so far."""
        first = self._first
        if first is None:
            raise InputError("there is no board to report on: none is solved")
        return BoardReport(
            self._line,
            first.player,
            first.unit,
            first.actions,
            first.labels,
            first.pot,
            first.paid,
            tuple(self._figures),
            self._hands,
            first.over_hand,
        )


def report_of(decisions: Iterable[OnBoard], line: str) -> BoardReport:
    """The report of the same decision on many boards; `line` leads to it on each."""
    gathered = Gathering(line)
    for board in decisions:
        gathered.add(board)
    return gathered.report


def _figures(board: OnBoard) -> BoardFigures:
    node = board.node
    return BoardFigures(
        node.board,
        node.line,
        board.weight,
        board.weight * float(node.own.weights.sum()),
        node.reached,
        node.taken,
        np.array([node.ev(player) for player in Player]),
        np.array([node.mean(node.equity(player), player) for player in Player]),
    )


def _hand_sums(board: OnBoard) -> dict[str, HandSums]:
    """The acting player's hands on one board, by the keys of `HAND_KEYS`."""
    node = board.node
    made, draws = hand_categories(node.board)
    groups = {"category": made, "draw": draws, "hand": HAND_OF_COMBO.astype(np.int64)}
    return {
        key: hand_sums(node, node.player, group, len(HAND_KEYS[key]), board.weight)
        for key, group in groups.items()
    }


def hand_sums(
    node: Decision, player: Player, group: Longs, count: int, weight: float = 1.0
) -> HandSums:
    """A player's hands at a node, combo by combo, added up in `count` groups.

    `group` [1326] holds the group of each combo; `weight` is that of the board.
    """
    hand, weights = combo_pairs(node, player)  # the hand of each combo, and its pairs
    combos = np.flatnonzero(weights > 0)
    hands, inside, mass = hand[combos], group[combos], weight * weights[combos]
    strategy = node.strategy[:, hands] if node.actor == player else np.zeros((0, len(hands)))

    def add(values: Floats) -> Floats:
        return np.bincount(inside, values, minlength=count).astype(np.float64)

    def known(values: Floats) -> Floats:
        there = np.where(np.isfinite(values), mass, 0.0)
        return np.stack([add(np.nan_to_num(values) * there), add(there)])

    taken = np.array([add(np.nan_to_num(row) * mass) for row in strategy])  # [A, G]
    return HandSums(
        add(mass),
        taken.T.reshape(count, len(strategy)),
        known(node.evs(player)[hands]),
        known(node.equity(player)[hands]),
    )


def combo_pairs(node: Decision, player: Player) -> tuple[Longs, Floats]:
    """[1326] of a player: the hand of each combo, and its pairs there."""
    own, other = node.hands[player], node.hands[player.opponent]
    weights = np.zeros(COMBO_COUNT)
    if own.combos is not None:
        hand = np.zeros(COMBO_COUNT, np.int64)
        hand[own.combos] = np.arange(len(own.combos))
        weights[own.combos] = own.weights
        return hand, weights
    # The combos of a class share its pairs by the part of the other's range that each leaves.
    live = live_combos(node.board)
    met = np.where(live, _left(np.where(live, other.reach[HAND_OF_COMBO], 0.0)), 0.0)
    of_class = np.bincount(HAND_OF_COMBO, met, minlength=HAND_COUNT)
    each = np.divide(own.weights, of_class, out=np.zeros(HAND_COUNT), where=of_class > 0)
    return HAND_OF_COMBO.astype(np.int64), met * each[HAND_OF_COMBO]


def _left(reach: Floats) -> Floats:
    """[1326]: Σ of a reach [1326] over the combos that share no card with each."""
    by_card = np.zeros(52)
    for side in range(2):
        by_card += np.bincount(COMBO_CARDS[:, side], reach, minlength=52)
    left: Floats = reach.sum() - by_card[COMBO_CARDS].sum(axis=1) + reach
    return left


def _mean(mass: Floats, values: Floats) -> Floats:
    """[…]: the mean of values [B, …] by mass [B], over the boards where they are known."""
    there = np.isfinite(values) & (mass[:, None] > 0)
    weights = np.where(there, mass[:, None], 0.0)
    return quotient((np.nan_to_num(values) * weights).sum(axis=0), weights.sum(axis=0))


def _plain(name: str, unit: Unit) -> str:
    return name.removesuffix(unit.column) if unit.column else name

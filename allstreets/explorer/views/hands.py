"""The hands of a decision as messages: combo by combo, by category, as a table, and as a range in
the formats of other programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from allstreets.analysis import hand_sums
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
    STARTING,
    Range,
    RangeKind,
    combo_text,
    hand_categories,
    live_combos,
    parse_hand,
    starting_categories,
)
from allstreets.explorer.models.base import PLAYER_NAMES, PlayerName
from allstreets.explorer.models.place import ComboRow, HandDetail, HandGroup, HandGroups
from allstreets.explorer.views.nodes import player_of
from allstreets.solutions import Decision

ALIKE = "all combos of a hand are played alike in this model"


def hand_detail(shown: Decision, player_name: PlayerName, hand: str) -> HandDetail:
    """A cell of the grid, combo by combo."""
    player, hand_class = player_of(player_name), parse_hand(hand)
    same = np.flatnonzero(shown.hands[player].classes == hand_class)
    rows = _rows(shown, player, same.tolist())
    if not shown.by_combo:
        rows = [row for row in rows if row.combos]
    else:
        known = {row.cards: row for row in rows}
        combos = np.flatnonzero((hand_class == HAND_OF_COMBO) & live_combos(shown.board))
        # As people read them: spades first.
        texts = [combo_text(int(combo)) for combo in combos[::-1]]
        rows = [known.get(text) or _not_held(shown, player, text) for text in texts]
    return HandDetail(
        hand=HAND_NAMES[hand_class],
        player=player_name,
        actions=list(shown.actions),
        rows=rows,
        alike=_alike_lines(shown, player, hand_class),
        note=None if shown.by_combo else ALIKE,
    )


def _not_held(shown: Decision, player: Player, cards: str) -> ComboRow:
    """A combo that is not in the range."""
    none = [None] * len(shown.actions) if shown.actor == player else []
    nothing = dict.fromkeys(("ev", "equity", "eqr"))
    return ComboRow.of(cards=cards, combos=1, reach=0, **nothing, chances=none, evs=none)


def _rows(shown: Decision, player: Player, indices: Sequence[int]) -> list[ComboRow]:
    """One row per hand of a player, of those at the given indices."""
    hands, rows, acts = shown.hands[player], list(indices), shown.actor == player
    evs, equity = shown.evs(player), shown.equity(player)
    none = np.zeros((0, len(hands.reach)))
    columns = zip(
        rows,
        evs[rows],
        equity[rows],
        shown.eqr(player, evs, equity)[rows],
        (shown.strategy if acts else none)[:, rows].T,
        (shown.action_evs if acts else none)[:, rows].T,
        strict=True,
    )
    return [
        ComboRow.of(
            cards=HAND_NAMES[index] if hands.combos is None else combo_text(hands.combos[index]),
            combos=float(hands.counts[index]),
            reach=float(hands.reach[index]),
            ev=ev,
            equity=share,
            eqr=eqr,
            chances=chances,
            evs=action_evs,
            locked=bool(acts and len(shown.locked) and shown.locked[index]),
        )
        for index, ev, share, eqr, chances, action_evs in columns
    ]


def _alike_lines(shown: Decision, player: Player, hand: int) -> list[str]:
    """A line for each row or group that combos of a hand are in: "9s8s, 9h8h: 61 combos, T7s …"."""
    combos = shown.hands[player].combos
    if shown.alike is None or combos is None:
        return []
    groups, classes = shown.alike[player], shown.hands[player].classes
    lines = []
    for group in np.unique(groups[classes == hand]).tolist():
        inside = groups == group
        own = np.sort(combos[inside & (classes == hand)])[::-1]  # spades first
        weights = np.zeros(COMBO_COUNT)
        weights[combos[inside]] = 1.0
        lines.append(
            f"{', '.join(combo_text(combo) for combo in own.tolist())}: bucket {group}, "
            f"{int(inside.sum())} combos: {weights_text(weights, shown.board)}"
        )
    return lines


def table(shown: Decision) -> list[Mapping[str, Any]]:
    """One row per hand of the player who acts, or of both where none does."""
    rows: list[Mapping[str, Any]] = []
    for player in Player if shown.actor is None else [shown.actor]:
        for row in _rows(shown, player, _in_order(shown, player)):
            if not row.combos:
                continue
            cells: dict[str, Any] = {
                "player": PLAYER_NAMES[player],
                "combo" if shown.by_combo else "hand": row.cards,
                **row.model_dump(include={"combos", "reach", "equity", "ev", "eqr"}),
            }
            if len(shown.locked):
                cells["locked"] = row.locked
            for word, chance, ev in zip(shown.actions, row.chances, row.evs, strict=False):
                cells |= {word: chance, f"ev_{word}": ev}
            rows.append(cells)
    return rows


def _in_order(shown: Decision, player: Player) -> list[int]:
    """Places of hands in the order of the classes, combos of a class by their cards."""
    hands = shown.hands[player]
    if hands.combos is None:
        return list(range(len(HAND_NAMES)))
    cards = COMBO_CARDS[hands.combos].astype(np.int64)
    order: list[int] = np.lexsort((-cards[:, 1], -cards[:, 0], hands.classes)).tolist()
    return order


def hand_groups(shown: Decision) -> HandGroups:
    """The categories that a player holds: of starting hands, or of made hands and of draws."""
    live = live_combos(shown.board)
    left = np.bincount(HAND_OF_COMBO[live], minlength=HAND_COUNT)
    weights = np.array([np.where(live, shown.combo_weights(player), 0.0) for player in Player])
    groups = []
    for kind, names, category in _groupings(shown.board):
        oop, ip = (hand_sums(shown, player, category, len(names)) for player in Player)
        taken = (oop, ip)[shown.actor or Player.OOP].frequencies
        for index, name in enumerate(names):
            inside = category == index
            combos = weights[:, inside].sum(axis=1)
            if not combos.any():
                continue
            cells = np.bincount(HAND_OF_COMBO[inside], minlength=HAND_COUNT) / np.maximum(left, 1)
            groups.append(
                HandGroup.of(
                    kind=kind,
                    name=name,
                    cells=cells.tolist(),
                    combos=combos.tolist(),
                    shares=np.nan_to_num(quotient(combos, weights.sum(axis=1))).tolist(),
                    frequencies=taken[index],
                    evs=(oop.evs[index], ip.evs[index]),
                    equities=(oop.equities[index], ip.equities[index]),
                )
            )
    player = None if shown.actor is None else PLAYER_NAMES[shown.actor]
    return HandGroups(line=shown.line, player=player, groups=groups)


def _groupings(board: tuple[int, ...]) -> list[tuple[str, tuple[str, ...], Longs]]:
    """The kinds of categories on a board: their names, and the category [1326] of each combo."""
    if not board:
        return [("starting", STARTING, starting_categories())]
    made, draws = hand_categories(board)
    return [("made", MADE, made), ("draw", DRAWS, draws)][: 1 if len(board) == 5 else 2]


# Names of actions and the letters that they have in lines; all sizes of a bet share a name.
LETTERS = {
    "fold": "f",
    "check": "x",
    "call": "c",
    "limp": "c",
    "bet": "b",
    "raise": "r",
    "all-in": "a",
    "allin": "a",
}


@dataclass(frozen=True)
class Reaching:
    """The range with which a player gets to a node, or the part of it that takes an action."""

    range: Range  # weights of four decimals, of unblocked combos
    board: tuple[int, ...]

    @property
    def combos(self) -> float:
        """The sum of its weights."""
        return self.range.combos

    def text(self, kind: RangeKind | str = RangeKind.text) -> str:
        """The range as text in a format."""
        return _text(self.range.beside(self.board), RangeKind(kind))


def reaching(decision: Decision, player_name: PlayerName | None, action: str | None) -> Reaching:
    """A player's range, by default the acting player's, or the part of it that takes an action.

    An action is a word of a line ("r2.5") or a name ("raise": of every size, but the all-in).
    """
    player = decision.player if player_name is None else player_of(player_name)
    if action is None:
        weights = decision.combo_weights(player)
    else:
        if decision.actor != player:
            name = player_name or "this player"
            raise InputError(f"{name} does not act here: leave the action out")
        parts = [decision.combo_weights(player, index) for index in _indices(decision, action)]
        weights = np.sum(parts, axis=0)
    live = np.where(live_combos(decision.board), weights, 0.0)
    return Reaching(Range(np.clip(live, 0.0, 1.0)).rounded(), decision.board)


def _indices(decision: Decision, action: str) -> list[int]:
    """The indices of an action, or of all actions of that name, among those offered."""
    word = action.strip().lower()
    indices = [index for index, offered in enumerate(decision.actions) if offered == word]
    if not indices and word in LETTERS:
        letter = LETTERS[word]
        indices = [n for n, offered in enumerate(decision.actions) if offered.startswith(letter)]
    if not indices:
        raise InputError(f"'{action}' is not offered here: {suggest(action, decision.actions)}")
    return indices


def weights_text(weights: Floats, board: tuple[int, ...]) -> str:
    """The shortest text of weights [1326] on a board, in words."""
    return _text(Range(weights).beside(board), RangeKind.text)


@lru_cache(64)
def _text(held: Range, kind: RangeKind) -> str:
    """The shortest text takes a while to find."""
    return held.text(kind)

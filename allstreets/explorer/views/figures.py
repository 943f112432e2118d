"""A scene as messages: grids, actions, combos, and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    HAND_NAMES,
    HAND_OF_COMBO,
    combo_text,
    live_combos,
    parse_hand,
)
from allstreets.explorer.models.base import Numbers, PlayerName
from allstreets.explorer.models.place import (
    ActionFigures,
    Choice,
    ComboRow,
    Grids,
    HandDetail,
    PlayerGrid,
    RangeSummary,
)
from allstreets.explorer.models.place import Decision as DecisionMessage
from allstreets.explorer.views.alike import alike_lines
from allstreets.explorer.views.betting import PLAYER_NAMES, player_of
from allstreets.solutions import Decision

ALIKE = "all combos of a hand are played alike in this model"


def numbers(values: Floats) -> Numbers:
    """A list with None in the place of what does not exist."""
    return [value if value == value else None for value in values.tolist()]


def number(value: float) -> float | None:
    """A number, or None where it does not exist."""
    return float(value) if np.isfinite(value) else None


def grids(scene: Decision) -> Grids:
    """Both players' hands."""
    oop, ip = _grid(scene, Player.OOP), _grid(scene, Player.IP)
    return Grids(oop=oop, ip=ip, not_reached=scene.why_not() or None)


def _grid(scene: Decision, player: Player) -> PlayerGrid:
    evs = scene.cells(scene.evs(player), player, evs=True)
    equity = scene.cells(scene.equity(player), player)
    return PlayerGrid(
        combos=scene.class_counts().tolist(),
        reach=scene.reach_cells(player).tolist(),
        ev=numbers(evs),
        equity=numbers(equity),
        eqr=numbers(scene.eqr(player, evs, equity)),
        summary=summary(scene, player),
    )


def summary(scene: Decision, player: Player) -> RangeSummary:
    """A player's whole range."""
    equity, ev = scene.mean(scene.equity(player), player), scene.ev(player)
    eqr = scene.eqr(player, np.array([ev]), np.array([equity]))
    return RangeSummary(
        combos=scene.hands[player].size,
        ev=number(ev),
        equity=number(equity),
        eqr=number(eqr[0]),
    )


def decision(scene: Decision, choices: Sequence[Choice]) -> DecisionMessage:
    """Everything about a decision."""
    return DecisionMessage(
        player=PLAYER_NAMES[scene.player],
        seat=scene.seat,
        to_call=scene.to_call,
        pot_odds=scene.to_call / (scene.pot + scene.to_call) if scene.to_call > 0 else None,
        share=scene.share,
        actions=_actions(scene, choices),
        locked=scene.locked_cells().tolist(),
        grids=grids(scene),
        notes=list(scene.notes),
    )


def _actions(scene: Decision, choices: Sequence[Choice]) -> list[ActionFigures]:
    taken, evs, whole = scene.taken, scene.taken_evs(), scene.range_evs()
    return [
        ActionFigures(
            **{**dict(choice), "frequency": number(taken[place])},
            ev=number(evs[place]),
            ev_range=number(whole[place]),
            known=bool(scene.known_actions[place]),
            combos=float((scene.reach * np.nan_to_num(scene.strategy[place])) @ scene.own.counts),
            chances=numbers(scene.cells(scene.strategy[place])),
            evs=numbers(scene.cells(scene.action_evs[place], evs=True)),
        )
        for place, choice in enumerate(choices)
    ]


def hand_detail(scene: Decision, player_name: PlayerName, hand: str) -> HandDetail:
    """A cell of the grid, combo by combo."""
    player, number_of_hand = player_of(player_name), parse_hand(hand)
    same = np.flatnonzero(scene.hands[player].classes == number_of_hand)
    rows = _rows(scene, player, same.tolist())
    if not scene.by_combo:
        found = [row for row in rows if row.combos]
    else:
        known = {row.cards: row for row in rows}
        here = np.flatnonzero((number_of_hand == HAND_OF_COMBO) & live_combos(scene.board))
        # As people read them: spades first.
        texts = [combo_text(int(combo)) for combo in here[::-1]]
        found = [known.get(text) or _not_held(scene, player, text) for text in texts]
    return HandDetail(
        hand=HAND_NAMES[number_of_hand],
        player=player_name,
        actions=list(scene.actions),
        rows=found,
        alike=alike_lines(scene, player, number_of_hand),
        note=None if scene.by_combo else ALIKE,
    )


def _not_held(scene: Decision, player: Player, cards: str) -> ComboRow:
    """A combo that is not in the range."""
    none: Numbers = [None] * len(scene.actions) if scene.actor == player else []
    return ComboRow(
        cards=cards, combos=1, reach=0, ev=None, equity=None, eqr=None, chances=none, evs=none
    )


def _rows(scene: Decision, player: Player, places: Sequence[int]) -> list[ComboRow]:
    """One row per hand of a player, of those at the given places."""
    hands, some, acts = scene.hands[player], list(places), scene.actor == player
    evs, equity = scene.evs(player), scene.equity(player)
    none = np.zeros((0, len(hands.reach)))
    columns = zip(
        some,
        numbers(evs[some]),
        numbers(equity[some]),
        numbers(scene.eqr(player, evs, equity)[some]),
        (scene.strategy if acts else none)[:, some].T,
        (scene.action_evs if acts else none)[:, some].T,
        strict=True,
    )
    return [
        ComboRow(
            cards=HAND_NAMES[place] if hands.combos is None else combo_text(hands.combos[place]),
            combos=float(hands.counts[place]),
            reach=float(hands.reach[place]),
            ev=ev,
            equity=share,
            eqr=eqr,
            chances=numbers(chances),
            evs=numbers(action_evs),
            locked=bool(acts and len(scene.locked) and scene.locked[place]),
        )
        for place, ev, share, eqr, chances, action_evs in columns
    ]


def table(scene: Decision) -> list[Mapping[str, Any]]:
    """One row per hand of the player who acts, or of both where none does."""
    players = list(Player) if scene.actor is None else [scene.actor]
    found: list[Mapping[str, Any]] = []
    for player in players:
        for row in _rows(scene, player, _in_order(scene, player)):
            if not row.combos:
                continue
            cells: dict[str, Any] = {
                "player": PLAYER_NAMES[player],
                "combo" if scene.by_combo else "hand": row.cards,
                **row.model_dump(include={"combos", "reach", "equity", "ev", "eqr"}),
            }
            if len(scene.locked):
                cells["locked"] = row.locked
            for word, chance, ev in zip(scene.actions, row.chances, row.evs, strict=False):
                cells |= {word: chance, f"ev_{word}": ev}
            found.append(cells)
    return found


def _in_order(scene: Decision, player: Player) -> list[int]:
    """Places of hands in the order of the classes, combos of a class by their cards."""
    hands = scene.hands[player]
    if hands.combos is None:
        return list(range(len(HAND_NAMES)))
    cards = COMBO_CARDS[hands.combos].astype(np.int64)
    order: list[int] = np.lexsort((-cards[:, 1], -cards[:, 0], hands.classes)).tolist()
    return order

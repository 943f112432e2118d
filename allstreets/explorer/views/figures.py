"""A scene as messages: grids, actions, combos, and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from allstreets.betting import Player
from allstreets.cards import COMBO_CARDS, HAND_NAMES, HAND_OF_COMBO, combo_text, parse_hand
from allstreets.cards.combos import live_combos
from allstreets.explorer.models.base import Numbers, PlayerName
from allstreets.explorer.models.place import (
    ActionFigures,
    Choice,
    ComboRow,
    Decision,
    Grids,
    HandDetail,
    PlayerGrid,
    RangeSummary,
)
from allstreets.explorer.views.betting import PLAYER_NAMES, player_of
from allstreets.explorer.views.scene import Floats, Scene, class_sums, quotient
from allstreets.solvers.reached import often_taken

ALIKE = "all combos of a hand are played alike in this model"


def numbers(values: Floats) -> Numbers:
    """A list with None in the place of what does not exist."""
    return [value if value == value else None for value in values.tolist()]


def number(value: float) -> float | None:
    """A number, or None where it does not exist."""
    return float(value) if np.isfinite(value) else None


def grids(scene: Scene, seats: Sequence[str]) -> Grids:
    """Both players' hands; `seats` are what people call the players."""
    why = scene.line_reach.why_not(seats)
    oop, ip = _grid(scene, Player.OOP), _grid(scene, Player.IP)
    return Grids(oop=oop, ip=ip, not_reached=why or None)


def _grid(scene: Scene, player: Player) -> PlayerGrid:
    side = scene.sides[player]
    evs, equity = side.cells(side.evs, evs=True), side.cells(side.equity)
    return PlayerGrid(
        combos=scene.combos().tolist(),
        reach=scene.reach_cells(player).tolist(),
        ev=numbers(evs),
        equity=numbers(equity),
        eqr=numbers(scene.eqr(player, evs, equity)),
        summary=summary(scene, player),
    )


def summary(scene: Scene, player: Player) -> RangeSummary:
    """A player's whole range."""
    side = scene.sides[player]
    equity = side.mean(side.equity)
    ev = side.mean(side.evs, evs=True) if side.range_ev is None else side.range_ev
    eqr = scene.eqr(player, np.array([ev]), np.array([equity]))
    return RangeSummary(
        combos=float(side.reach @ scene.counts(player)),
        ev=number(ev),
        equity=number(equity),
        eqr=number(eqr[0]),
    )


def frequencies(scene: Scene) -> Numbers:
    """[A]: how often each action is taken over the whole range."""
    if scene.player is None or scene.strategy is None:
        return []
    side = scene.sides[scene.player]
    return [number(side.mean(row)) for row in scene.strategy]


def decision(
    scene: Scene, choices: Sequence[Choice], seats: Sequence[str], to_call: float
) -> Decision:
    """Everything about a decision."""
    assert scene.player is not None
    return Decision(
        player=PLAYER_NAMES[scene.player],
        seat=seats[scene.player],
        to_call=to_call,
        pot_odds=to_call / (scene.pot + to_call) if to_call > 0 else None,
        share=scene.share,
        actions=_actions(scene, choices),
        locked=_locked(scene).tolist(),
        grids=grids(scene, seats),
        notes=list(scene.notes),
    )


def _locked(scene: Scene) -> Floats:
    """[169]: the share of a hand's combos that have a strategy which was given."""
    if scene.player is None or scene.locked is None:
        return np.zeros(len(HAND_NAMES))
    side = scene.sides[scene.player]
    locked = class_sums(side.classes, scene.locked.astype(np.float64))
    return np.nan_to_num(quotient(locked, class_sums(side.classes, np.ones(len(scene.locked)))))


def _actions(scene: Scene, choices: Sequence[Choice]) -> list[ActionFigures]:
    assert scene.player is not None
    assert scene.strategy is not None
    assert scene.action_evs is not None
    side, counts = scene.sides[scene.player], scene.counts(scene.player)
    taken = np.array([side.mean(chances) for chances in scene.strategy])
    often, known = often_taken(taken), scene.line_reach.known
    found: list[ActionFigures] = []
    for choice, chances, evs in zip(choices, scene.strategy, scene.action_evs, strict=True):
        place = len(found)
        ev = side.mean(evs, evs=True, taken=chances)
        if scene.taken_evs is not None:
            ev = float(scene.taken_evs[place])
        found.append(
            ActionFigures(
                **{**dict(choice), "frequency": number(taken[place])},
                ev=number(ev) if often[place] else None,
                ev_range=number(side.mean(evs, evs=True)),
                known=bool(known[place]),
                combos=float((side.reach * np.nan_to_num(chances)) @ counts),
                chances=numbers(side.cells(chances)),
                evs=numbers(side.cells(evs, evs=True)),
            )
        )
    return found


def hand_detail(scene: Scene, player_name: PlayerName, hand: str) -> HandDetail:
    """A cell of the grid, combo by combo."""
    player, number_of_hand = player_of(player_name), parse_hand(hand)
    side = scene.sides[player]
    rows = _rows(scene, player, np.flatnonzero(side.classes == number_of_hand).tolist())
    if side.combos is None:
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
        note=ALIKE if side.combos is None else None,
    )


def _not_held(scene: Scene, player: Player, cards: str) -> ComboRow:
    """A combo that is not in the range."""
    none: Numbers = [None] * len(scene.actions) if scene.player == player else []
    return ComboRow(
        cards=cards, combos=1, reach=0, ev=None, equity=None, eqr=None, chances=none, evs=none
    )


def _rows(scene: Scene, player: Player, places: Sequence[int]) -> list[ComboRow]:
    """One row a hand of a player, of those at the given places."""
    side, counts, some = scene.sides[player], scene.counts(player), list(places)
    eqr = numbers(scene.eqr(player, side.evs, side.equity)[some])
    evs, equity = numbers(side.evs[some]), numbers(side.equity[some])
    chances: list[Numbers] = [[] for _ in some]
    action_evs: list[Numbers] = [[] for _ in some]
    if scene.player == player and scene.strategy is not None and scene.action_evs is not None:
        chances = [numbers(column) for column in scene.strategy[:, some].T]
        action_evs = [numbers(column) for column in scene.action_evs[:, some].T]
    return [
        ComboRow(
            cards=HAND_NAMES[place] if side.combos is None else combo_text(int(side.combos[place])),
            combos=float(counts[place]),
            reach=float(side.reach[place]),
            ev=evs[row],
            equity=equity[row],
            eqr=eqr[row],
            chances=chances[row],
            evs=action_evs[row],
            locked=scene.player == player and scene.locked is not None and scene.locked[place],
        )
        for row, place in enumerate(some)
    ]


def table(scene: Scene) -> list[Mapping[str, Any]]:
    """One row a hand of the player who acts, or of both where nobody does."""
    players = list(Player) if scene.player is None else [scene.player]
    found: list[Mapping[str, Any]] = []
    for player in players:
        by_combo = scene.sides[player].combos is not None
        for row in _rows(scene, player, _in_order(scene, player)):
            if not row.combos:
                continue
            cells: dict[str, Any] = {
                "player": PLAYER_NAMES[player],
                "combo" if by_combo else "hand": row.cards,
                **row.model_dump(include={"combos", "reach", "equity", "ev", "eqr"}),
            }
            if scene.locked is not None:
                cells["locked"] = row.locked
            for word, chance, ev in zip(scene.actions, row.chances, row.evs, strict=False):
                cells |= {word: chance, f"ev_{word}": ev}
            found.append(cells)
    return found


def _in_order(scene: Scene, player: Player) -> list[int]:
    """Places of hands in the order of the classes, combos of a class by their cards."""
    side = scene.sides[player]
    if side.combos is None:
        return list(range(len(HAND_NAMES)))
    cards = COMBO_CARDS[side.combos].astype(np.int64)
    order: list[int] = np.lexsort((-cards[:, 1], -cards[:, 0], side.classes)).tolist()
    return order

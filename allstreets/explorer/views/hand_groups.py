"""A place by categories of hands: what ranges hold there, and what is done with it."""

from typing import Literal

import numpy as np

from allstreets.analysis import ReportRow, report_of
from allstreets.betting import Player
from allstreets.cards import DRAWS, HAND_COUNT, HAND_OF_COMBO, MADE, hand_categories, live_combos
from allstreets.explorer.models.reports import HandGroup, HandGroups
from allstreets.explorer.views.betting import PLAYER_NAMES
from allstreets.explorer.views.figures import number
from allstreets.solutions import Decision, OnBoard

KINDS: tuple[tuple[Literal["made", "draw"], str, tuple[str, ...]], ...] = (
    ("made", "category", MADE),
    ("draw", "draw", DRAWS),
)


def hand_groups(scene: Decision, line: str) -> HandGroups:
    """The categories that a player holds, of made hands and of draws."""
    player = None if scene.actor is None else PLAYER_NAMES[scene.actor]
    if not scene.board:
        return HandGroups(line=line, player=player, groups=[])
    live = live_combos(scene.board)
    left = np.bincount(HAND_OF_COMBO[live], minlength=HAND_COUNT)
    weights = [np.where(live, scene.combo_weights(each), 0.0) for each in Player]
    report = None if scene.actor is None else report_of([OnBoard(1.0, scene)], line)
    groups = []
    for (kind, key, names), places in zip(KINDS, hand_categories(scene.board), strict=True):
        rows: dict[str, ReportRow] = {}
        if report is not None:
            rows = {row.name: row for row in report.by(key)}
        for place, name in enumerate(names):
            own = places == place
            shares = [float(each[own].sum() / (each.sum() or 1.0)) for each in weights]
            if not any(shares):
                continue
            cells = np.bincount(HAND_OF_COMBO[own], minlength=HAND_COUNT) / np.maximum(left, 1)
            row = rows.get(name)
            groups.append(
                HandGroup(
                    kind=kind,
                    name=name,
                    cells=cells.tolist(),
                    shares={"oop": shares[0], "ip": shares[1]},
                    frequencies=[number(one) for one in row.frequencies] if row else [],
                    ev=number(row.evs[scene.player]) if row else None,
                    equity=number(row.equities[scene.player]) if row else None,
                )
            )
    return HandGroups(line=line, player=player, groups=groups)

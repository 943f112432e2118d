"""The hands of a solved whole game at any place."""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from allstreets.betting import CHIPS_PER_BB, NodeKind, Player, Street, paid_at, payoffs
from allstreets.cards import HAND_OF_COMBO, hand_pairs
from allstreets.explorer.views.class_scenes import (
    BUCKET_EVS,
    FLOP_EQUITY,
    NO_EQUITY,
    bare_scene,
    class_scene,
    no_equity,
    reach_after,
)
from allstreets.explorer.views.ends import ENDS, acted, end_evs
from allstreets.explorer.views.equity import ComboEquity, flop_equity, preflop_class_equity
from allstreets.explorer.views.scene import Floats, Scene, Side, class_sums
from allstreets.explorer.views.whole_lines import PotPlace, WholeLines, WholePlace
from allstreets.solvers.class_node import in_bb
from allstreets.solvers.flops.evaluation import pairs_met
from allstreets.solvers.flops.hands import live
from allstreets.solvers.flops.sweep import swept
from allstreets.solvers.flops.view import FlopView
from allstreets.solvers.reached import settled_actions

KEPT = 96  # scenes
KEPT_FLOPS = 8  # pots on flops, with all their values


class WholeScenes:
    """Scenes by place; what was looked at is kept for a while."""

    def __init__(self, lines: WholeLines) -> None:
        self._lines = lines
        self._equity = ComboEquity()
        self.at = lru_cache(KEPT)(lambda place: self._find(place).learned())
        self.pot_on_flop = lru_cache(KEPT_FLOPS)(self._pot_on_flop)
        result = lines.result
        self.payoffs = payoffs(result.before.tree, result.rules)

    def _find(self, place: WholePlace) -> Scene:
        if place.after is None:
            return self._before(place.before)
        assert self._lines.whole is not None
        if self._lines.whole.cards.kind == "exact":
            return self._by_combo(place.before, place.after)
        return self._by_class(place.before, place.after)

    def _before(self, node: int) -> Scene:
        before = self._lines.result.before
        tree, reach = before.tree, before.reach[node]
        paid = _in_bb(paid_at(tree, tree.pot, node))
        equities = preflop_class_equity(before.pairs, reach)
        if tree.kind[node] == NodeKind.DECISION:
            return class_scene(before.node(node), (), paid, equities)
        met: Floats = reach[::-1] @ before.pairs
        evs = None
        if before.values is not None:
            evs = before.values[:, node] / np.where(met > 0, met * CHIPS_PER_BB, np.nan)
        scene = bare_scene((), in_bb(tree.pot_at(node)), paid, reach, met, equities, evs)
        if tree.kind[node] in ENDS:
            return end_evs(self._lines.before(), node, self.payoffs, scene)
        return scene

    def _pot_on_flop(self, flop: int, number: int) -> FlopView:
        """A pot on the flop with this number of the 1,755."""
        whole = self._lines.whole
        assert whole is not None
        place = [one.number for one in whole.game.flops.flops].index(flop)
        return swept(whole.flop_view(place, number), whole.cards.kind == "classes")

    def _paid(self, view: FlopView, node: int) -> tuple[float, float]:
        return _in_bb(paid_at(view.pot.tree, view.pot.rules.bb_ante, node))

    def _by_class(self, before: int, place: PotPlace) -> Scene:
        view = self.pot_on_flop(place.flop.flop.number, place.number)
        tree, node = view.pot.tree, place.node
        whole = self._lines.whole
        assert whole is not None
        buckets = whole.cards.kind == "buckets"
        board, paid = place.flop.cards, self._paid(view, node)
        notes: tuple[str, ...] = ()
        if buckets:
            notes = (NO_EQUITY, BUCKET_EVS)
        elif tree.street[node] > Street.FLOP:
            notes = (FLOP_EQUITY,)
        if tree.kind[node] == NodeKind.DECISION:
            found = view.node(node, "")
            equities = no_equity() if buckets else flop_equity(view.flop.cards, found.reach)
            scene = class_scene(found, board, paid, equities)
        else:
            above = int(tree.parent[node])
            reach = reach_after(view.node(above, ""), tree.children_of(above).tolist().index(node))
            equities = no_equity() if buckets else flop_equity(view.flop.cards, reach)
            met: Floats = reach[::-1] @ hand_pairs(view.flop.cards)
            scene = bare_scene(board, in_bb(tree.pot_at(node)), paid, reach, met, equities)
            if tree.kind[node] in ENDS:
                betting = self._lines.after(before, place.number, place.flop.text)
                scene = end_evs(betting, node, view.pot.payoffs, scene)
        return replace(scene, notes=(*scene.notes, *notes))

    def _by_combo(self, before: int, place: PotPlace) -> Scene:
        view = self.pot_on_flop(place.flop.flop.number, place.number)
        tree, node = view.pot.tree, place.node
        combos = live(view.flop)
        classes = HAND_OF_COMBO[combos].astype(np.int64)
        played = [_played(view, node, player) for player in Player]
        reach = [view.reach[player][classes] * played[player] for player in Player]
        met = [pairs_met(view.hands.first, reach[player.opponent]) for player in Player]
        shown = place.flop.shown(combos)
        # By the suits that were solved, so that who beats whom is counted once for all spellings.
        equities = self._equity(view.flop.cards, (combos, combos), (reach[0], reach[1]))
        decides = tree.kind[node] == NodeKind.DECISION
        evs = [np.full(len(combos), np.nan)] * 2
        action_evs = None
        if decides and view.evaluate is not None:
            totals = view.evaluate(node, reach, met)
            evs = [_mean(totals.players[player], met[player]) for player in Player]
            action_evs = _mean(totals.actions, met[tree.player_at(node)])
        sides = []
        for player in Player:
            # A class that never plays so shows what it would do, as the cards are dealt.
            some = class_sums(classes, played[player])[classes] > 0
            cells = np.where(some, played[player], 1.0)
            sides.append(
                Side(
                    combos=shown,
                    reach=reach[player],
                    weights=reach[player] * met[player],
                    evs=evs[player],
                    equity=equities[player],
                    cell_weights=cells,
                    cell_ev_weights=cells * met[player],
                )
            )
        betting = self._lines.after(before, place.number, place.flop.text)
        dealt = float(pairs_met(view.hands.first, np.ones(len(combos))).sum())
        scene = Scene(
            board=place.flop.cards,
            pot=betting.pot(node),
            paid=self._paid(view, node),
            sides=(sides[0], sides[1]),
            player=tree.player_at(node) if decides else None,
            actions=tuple(choice.word for choice in betting.choices(node)) if decides else (),
            strategy=view.kept.at(node) if decides else None,
            action_evs=action_evs,
            share=float(sides[0].weights.sum()) / dealt,
            settled=settled_actions(tree, node) if decides else None,
        )
        if tree.kind[node] in ENDS:
            return end_evs(betting, node, view.pot.payoffs, scene)
        return scene


def _played(view: FlopView, node: int, player: Player) -> Floats:
    """[H]: how likely a player's combos are to have played so since the flop."""
    tree = view.pot.tree
    played = np.ones(len(view.hands.first.combos))
    for here, below in pairwise(tree.path_to(node)):
        if tree.kind[here] == NodeKind.DECISION and tree.player_at(here) == player:
            action = tree.children_of(here).tolist().index(below)
            played = acted(played, view.kept.at(here)[action])
    return played


def _mean(totals: Floats, met: Floats) -> Floats:
    """Totals in chips times pairs as EVs in bb."""
    means: Floats = totals / np.where(met > 0, met * CHIPS_PER_BB, np.nan)
    return means


def _in_bb(both: tuple[float, float]) -> tuple[float, float]:
    return in_bb(both[0]), in_bb(both[1])

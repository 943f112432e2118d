"""The hands of a model of flops at any place. EVs are shares of the starting pot."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from allstreets.betting import CHIPS_PER_BB, NodeKind, Player, Street
from allstreets.cards import hand_pairs
from allstreets.explorer.views.class_scenes import (
    BUCKET_EVS,
    FLOP_EQUITY,
    NO_EQUITY,
    RARE,
    bare_scene,
    class_scene,
    no_equity,
    reach_after,
)
from allstreets.explorer.views.ends import ENDS, end_evs
from allstreets.explorer.views.equity import flop_equity
from allstreets.explorer.views.postflop_lines import PostflopLines, PostflopPlace
from allstreets.explorer.views.scene import Floats, Scene
from allstreets.solvers.class_node import RARE_SHARE, NodeEvs, NodeView
from allstreets.solvers.flops.game import POT
from allstreets.solvers.flops.result_view import postflop_view
from allstreets.solvers.flops.sweep import swept
from allstreets.solvers.flops.view import FlopView

KEPT = 96  # scenes
KEPT_FLOPS = 8  # with all their values
EVEN = 0.5


class PostflopScenes:
    """Scenes by place; what was looked at is kept for a while."""

    def __init__(self, lines: PostflopLines) -> None:
        self._lines = lines
        self.at = lru_cache(KEPT)(lambda place: self._find(place).learned())
        self._view = lru_cache(KEPT_FLOPS)(self._swept)
        self.has_buckets = lines.result.config["solve_type"] == "bucketed"

    def view(self, flop: str, spr: float) -> FlopView:
        """All decisions of a flop."""
        return postflop_view(self._lines.result, flop, spr)

    def _swept(self, flop: str, spr: float) -> FlopView:
        return swept(self.view(flop, spr), not self.has_buckets)

    def _find(self, place: PostflopPlace) -> Scene:
        assert place.flop is not None
        view, node = self._view(place.flop.flop.text, place.spr), place.node
        tree = view.pot.tree
        invested = tree.invested[node]
        paid = float(invested[0]) / POT, float(invested[1]) / POT
        board, cards = place.flop.cards, place.flop.flop.cards
        decides = tree.kind[node] == NodeKind.DECISION
        if decides:
            found = in_pots(view.node(node, ""))
            reach = found.reach
        else:
            above = int(tree.parent[node])
            reach = reach_after(view.node(above, ""), tree.children_of(above).tolist().index(node))
        pairs = hand_pairs(cards)
        met: Floats = reach[::-1] @ pairs
        equities = no_equity() if self.has_buckets else flop_equity(cards, reach)
        betting = self._lines.betting(place.spr, place.flop.text)
        if decides:
            scene = class_scene(found, board, paid, equities)
            share = float((reach[0] * met[0]).sum() / pairs.sum())
            # Buckets meet without regard to the cards they hold: their EVs add up over pairs that
            # are counted so, and all else is told of real pairs.
            oop, ip = (
                replace(side, weights=reach[player] * met[player], ev_weights=side.weights)
                for player, side in zip(Player, scene.sides, strict=True)
            )
            words = tuple(choice.word for choice in betting.choices(node))
            notes = (RARE,) if share < RARE_SHARE else ()
            scene = replace(scene, sides=(oop, ip), actions=words, share=share, notes=notes)
        else:
            scene = bare_scene(board, betting.pot(node), paid, reach, met, equities)
            if tree.kind[node] in ENDS:
                scene = end_evs(betting, node, view.pot.payoffs, scene)
        return replace(scene, notes=(*scene.notes, *self._notes(int(tree.street[node]))))

    def _notes(self, street: int) -> tuple[str, ...]:
        if self.has_buckets:
            return (NO_EQUITY, BUCKET_EVS)
        return (FLOP_EQUITY,) if street > Street.FLOP else ()


def in_pots(node: NodeView) -> NodeView:
    """A decision whose amounts are hundreds of chips, with pots in their place."""
    unit = CHIPS_PER_BB / POT

    def evs() -> NodeEvs:
        told = node.node_evs
        taken = None if told.taken is None else EVEN + told.taken * unit
        return NodeEvs(EVEN + told.players * unit, EVEN + told.actions * unit, taken)

    stacks = node.stacks[0] * unit, node.stacks[1] * unit
    return replace(
        node, pot=node.pot * unit, stacks=stacks, to_call=node.to_call * unit, evaluate=evs
    )


def weights_of(node: NodeView, pairs: Floats) -> Floats:
    """[2, 169]: pairs of combos, own hand and any of the other's, that get to a decision."""
    met: Floats = np.stack([pairs @ node.reach[player.opponent] for player in Player])
    return node.reach * met

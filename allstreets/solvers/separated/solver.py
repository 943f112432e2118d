"""The separated pipeline: a preflop solver on values of flops that were solved beforehand.

Models of single flops are solved once, with full ranges, and their values are put below the preflop
tree. That is fast, and coarse: a hand is worth the same after the flop whatever the ranges that got
there. `unified` solves both together; `separated.play` measures what that is worth.

Exploitability is that of a best response in this simplified game, where nothing is left to decide
after the flop.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import OOP, Player, PreflopRules, build_preflop_tree
from allstreets.cfr import Schedule
from allstreets.games import Lock, PreflopGame, lock_mapping, preflop_locks, rules_mapping
from allstreets.solvers.preflop.cfr import PreflopCfr
from allstreets.solvers.preflop.training import PreflopTraining
from allstreets.solvers.separated.pair_values import PairValues


class ModelLeaves:
    """`Leaves` of a preflop game that are a table of values; there is nothing to learn below."""

    def __init__(self, chips: Floats) -> None:
        self.chips = chips  # [P, 169, 169]: see `PairValues.chips`

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, 169]: the values against the opponent's reach [P, 169]."""
        del player_reach, hand_mask
        return self.evaluate(player, opponent_reach)

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: the same; the best response has no choice."""
        return self.evaluate(player, opponent_reach)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: the values against the opponent's reach [P, 169]."""
        # IP wins what OOP loses: his table is the transposed one with the sign changed.
        form, sign = ("pho,po->ph", 1.0) if player == OOP else ("pho,ph->po", -1.0)
        values: Floats = sign * np.einsum(form, self.chips, opponent_reach)
        return values


class PreflopSolver(PreflopTraining):
    """Solves the betting before the flop on the values of models."""

    def __init__(
        self,
        rules: PreflopRules,
        values: PairValues,
        schedule: Schedule,
        lock: tuple[Lock, ...] = (),
    ) -> None:
        refuse_rake(rules)
        self.rules, self.pair_values, self.lock = rules, values, lock
        tree = build_preflop_tree(rules)
        game = PreflopGame.dealt(tree, rules, values.pairs, preflop_locks(tree, lock))
        self.leaves = ModelLeaves(values.chips(game.pots))
        super().__init__(PreflopCfr(game, self.leaves), schedule, None, raked=False)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored."""
        return {
            "game": "preflop",
            "preflop": rules_mapping(self.rules),
            "sprs": list(self.pair_values.sprs),
            "values": self.pair_values.digest,
            "algorithm": str(self.schedule),
            **({"lock": [lock_mapping(lock) for lock in self.lock]} if self.lock else {}),
        }

    @property
    def memory_bytes(self) -> int:
        """Bytes of values, regrets and average strategies."""
        return self.leaves.chips.nbytes + sum(a.nbytes for a in self.preflop.state().values())

    @property
    def pot_sprs(self) -> tuple[tuple[float, float], ...]:
        """(its own SPR, that of its model) of every pot that sees a flop."""
        values = self.pair_values
        pots = self.preflop.game.pots
        return tuple((pot.spr, values.sprs[values.model_of(pot)]) for pot in pots)


def refuse_rake(rules: PreflopRules) -> None:
    """Models of flops know no rake, and half of a rake would be wrong."""
    if rules.rake > 0:
        raise InputError(
            f"rake {rules.rake:g}: models of single flops are solved without rake; set rake to 0, "
            "or solve preflop and flops as one game, where every pot is raked"
        )

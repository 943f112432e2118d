"""Betting of a street with real boards, as the CUDA kernels read it (`kernels/boards.cu`).

It is that of the kernels for processors, with all lines of a street in one group.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Ints
from allstreets.betting import Player
from allstreets.engines.cuda.exact_layout import Betting, ints
from allstreets.engines.exact.forest import DUMP_ROWS, build_forests, street_lines
from allstreets.engines.exact.kernels.layout import Forest
from allstreets.engines.trees import Trees, deal_streets, side_by_side

LANES = 4  # folds that a block works on side by side

Array = NDArray[Any]
Arrays = dict[str, Array]
FOLD = np.dtype([("rows", np.int32, 2), ("factor", np.float32), ("pot", np.int32)])


@dataclass(frozen=True, eq=False)
class StreetBetting:
    """A street's betting for one own player, all pots of a set."""

    forest: Forest
    line_pot: Ints  # [L]

    @cached_property
    def rows(self) -> Betting:
        """Its rows."""
        return Betting(self.forest)

    @property
    def lines(self) -> int:
        """L."""
        return len(self.line_pot)

    @cached_property
    def line_nodes(self) -> Ints:
        """[L+1]: the nodes before those of each line; all-ins that run out have none."""
        found = self.line_of(self.forest.value_row - DUMP_ROWS)
        return ints(np.searchsorted(found, np.arange(self.lines + 1)))

    def line_of(self, rows: Array) -> Array:
        """The lines that rows of values belong to."""
        return np.searchsorted(self.rows.line_value, rows, side="right") - 1

    @property
    def folds(self) -> Array:
        """[LANES · …]: own folds and the other's, filled up with some that nobody reads."""
        ends = self.rows.ends
        ends = ends[(ends["rows"][:, 2:] >= 0).any(axis=1)]  # without those of the filling
        called, folded, value, fold_value = ends["rows"].T
        found = np.zeros(-(-len(ends) // LANES) * LANES, FOLD)
        found["rows"][:, 1] = -1
        real = found[: len(ends)]
        real["rows"][:, 0] = np.where(folded < 0, called, folded)
        real["rows"][:, 1] = np.where(folded < 0, fold_value, value)
        real["factor"] = ends["amounts"][:, 2]
        real["pot"] = self.line_pot[self.line_of(real["rows"][:, 1])]
        return found

    def arrays(self) -> Arrays:
        """As the kernels of flop and turn read them."""
        rows = self.rows
        return {
            "nodes": rows.nodes,
            "line_nodes": self.line_nodes,
            "line_zeros": rows.by_line(rows.zeros),
            "line_sums": rows.by_line(rows.leaf_sums[:, 0]),
            "line_reach": rows.line_reach,
            "line_value": rows.line_value,
            "line_pot": self.line_pot,
            "folds": self.folds,
            "zeros": rows.zeros,
            "leaf_sums": rows.leaf_sums,
            "own_actions": ints(self.forest.own_actions),
            "other_actions": ints(self.forest.other_actions),
        }


def street_bettings(trees: Trees, own: Player, groups: int) -> list[StreetBetting]:
    """Flop, turn and river of all pots of a set."""
    tree, first = side_by_side([tree for tree, _ in trees])
    chips = [float(one.pot) if one.pot else 1.0 for one, _ in trees]
    payoffs = np.concatenate([each / pot for (_, each), pot in zip(trees, chips, strict=True)])
    forests = build_forests(tree, payoffs, own, groups, run_out=True, first=first, together=True)
    found = []
    for street, forest in zip(deal_streets(tree, run_out=True), forests, strict=True):
        roots = street_lines(tree, street, groups, True, first, True).roots
        pots = np.searchsorted(first, roots, side="right") - 1
        found.append(StreetBetting(forest.kernel, ints(pots)))
    return found

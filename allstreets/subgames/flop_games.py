"""All pots that see a flop, on all flops: what the solver above them asks for.

P pots and F flops make P · F subgames that share nothing. Hands are the 169 classes at their root,
whatever a card model does with them below. Flops are named by their place in the list of flops.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.subgames.flop_pairs import FlopPairs

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Flops = NDArray[np.int64]  # [K] places of flops


class FlopGames(Protocol):
    """P pots on F flops under one card model."""

    @property
    def pots(self) -> int:
        """P."""

    @property
    def flops(self) -> int:
        """F."""

    @property
    def model(self) -> str:
        """The card model, and what else two runs must share: "classes", "exact", …"""

    @property
    def dealt(self) -> FlopPairs:
        """The pairs of combos that the model deals on each flop."""

    def keeps(self, flops: Flops) -> bool:
        """Whether the games of these flops go on from where they were, or start from nothing."""

    def step(
        self,
        player: int,
        own: Floats,
        other: Floats,
        flops: Flops,
        discounts: Floats,
        asked: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops.

        Values are totals over the combos of a class. `own`, `other` [P, 169] are the reach at
        every pot's root, `discounts` [K, 6] the rows of `discount_row`. Values of own hands that
        are not `asked` for [P, 169] mean nothing, and nothing need be learned about them.
        """

    def judge(self, player: int, other: Floats, flops: Flops, *, best: bool) -> Floats:
        """[P, K, 169]: values of the best response to, or of, the average strategies.

        Only where `keeps` holds for these flops.
        """

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, 169]: the average strategy at a decision of a pot's tree."""

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""

    def regret_sums(self, weights: Floats) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos.

        Flops count by their `weights` [F], and those of weight 0 not at all.
        """

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games."""

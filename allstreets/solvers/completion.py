"""How flops are completed that a solution does not store: a card model, and so many iterations.

A `Completion` is a small value that is passed on: to a certificate, to a job, to a review. `solver`
makes it work on a spot: `exact` cards solve it as it is, `boards` draft it.
"""

from dataclasses import dataclass, replace
from typing import Literal

from allstreets.engines import CardModel
from allstreets.games import Spot
from allstreets.solvers.draft import BOARDS, DraftSolver
from allstreets.solvers.spot import SpotSolver

EXACTLY = CardModel("exact", precision="float16")


@dataclass(frozen=True)
class Completion:
    """How flops without stored strategies are solved."""

    model: CardModel = BOARDS
    iterations: int = 100

    @classmethod
    def like(
        cls,
        cards: CardModel,
        kind: Literal["boards", "classes", "exact"] | None = None,
        groups: int | None = None,
        iterations: int | None = None,
    ) -> "Completion":
        """As a solution with these cards solves its flops, where it stores what it needs to.

        What is named is as named.
        """
        model = cards if cards.kind == "boards" else BOARDS
        if kind is not None and kind != model.kind:
            model = EXACTLY if kind == "exact" else CardModel(kind)
        if groups is not None:
            model = replace(model, groups=groups)
        return cls(model, cls.iterations if iterations is None else iterations)

    @property
    def text(self) -> str:
        """For people: "classes, 200 iterations"."""
        return f"{self.model}, {self.iterations:,} iterations"

    def solver(self, spot: Spot, threads: int | None = None) -> SpotSolver:
        """The solver of a spot, untrained; an `InputError` where it cannot be completed so."""
        model = self.model
        if model.stores_cards:
            return DraftSolver(spot, threads=threads, model=model)
        return SpotSolver(
            spot, threads=threads, precision=model.precision, river_groups=model.river_groups
        )


DRAFT = Completion(replace(BOARDS, sets=1), 60)
"""How flops are solved quickly: as a first answer, and beside exact ones in a certificate."""

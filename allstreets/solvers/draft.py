"""Draft a flop in seconds: solved with buckets on turn and river, evaluated with real cards.

1. Learn. The `boards` engine plays every turn and river card, but the hands of a board share the
   strategies of some buckets: a tenth of the slots and of the time of an exact iteration.
2. Lift. On every board a combo plays as its bucket does: an exact subgame that does not learn
   takes these strategies as its average (`engines.lifting`).
3. Evaluate there. EVs, and the best responses of `exploitability`, are those of real combos that
   see every card. So the accuracy of a draft is that of the real game, not that of the game with
   buckets.

A draft is a `SpotSolver` like any other: driven, shown and saved by the same code. It takes ranges
in which suits that the flop makes alike are alike, and no locks.

A `Completion` says how to solve flops that a solution does not store: a card model and a number of
iterations. It is a small value that is passed to a certificate, a job or a review.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from allstreets import engines  # each is loaded when it is used
from allstreets.base import Floats, InputError, thread_count
from allstreets.betting import Player, Street
from allstreets.cards import HAND_OF_COMBO, canonical_flop, hand_combos
from allstreets.cfr import parse_schedule
from allstreets.engines import (
    TWO_BYTES,
    CardModel,
    ExactSubgame,
    StreetView,
    deal_streets,
    every_combo,
)
from allstreets.games import Spot, spot_root
from allstreets.solvers.dealt_out import only_end
from allstreets.solvers.spot import SpotSolver

if TYPE_CHECKING:
    from allstreets.engines import BoardsLift

BOARDS = CardModel("boards", groups=32)


def require_draft(spot: Spot) -> None:
    """Refuse a spot that cannot be drafted."""
    if spot.tree.first_street != Street.FLOP or only_end(spot) is not None:
        raise InputError("only flops are drafted: turns and rivers are solved exactly in a moment")
    if spot.locked_nodes:
        raise InputError("a flop with locks is not drafted: solve it exactly")
    if spot_root(spot).symmetries != every_combo(spot.cards)[0].symmetries:
        raise InputError(
            "a range that treats suits differently is not drafted where the flop does not: "
            "solve it exactly"
        )


def can_draft(spot: Spot) -> bool:
    """Whether a spot can be drafted."""
    try:
        require_draft(spot)
    except InputError:
        return False
    return True


class DraftSolver(SpotSolver):
    """Solves the flop of a spot with buckets; evaluates and shows it with real cards."""

    draft_cards: CardModel
    at_once = 1

    def __init__(
        self,
        spot: Spot,
        threads: int | None = None,
        model: CardModel = BOARDS,
    ) -> None:
        require_draft(spot)
        self.schedule = parse_schedule("ahead")
        self.threads, self.draft_cards = thread_count(threads), model
        first, second, third = spot.cards
        flop = replace(canonical_flop(spot.cards).flop, cards=(first, second, third))
        # Buckets follow the mean weights of hand classes; learning follows those of combos.
        combos = np.maximum(hand_combos(spot.cards), 1)
        means = [np.bincount(HAND_OF_COMBO, held.weights) / combos for held in spot.ranges]
        self._ranges: Floats = np.stack(means)[:, None]  # [2, 1, 169]
        self._engine = engines.BoardsEngine(
            [(spot.tree, spot.payoffs)], [flop], self.threads, model, self._ranges
        )
        self._lifted_at = -1  # the iteration whose strategies the exact subgame plays
        self._begin(spot, self._engine.subgames[0][0])

    @property
    def subgame(self) -> ExactSubgame:
        """The exact subgame, with the strategies that are learned so far."""
        if self._lifted_at != self.iterations:
            lift = self._lift()
            if self._lifted_at < 0:
                self._lifted = self._exact(lift)
            lift.fill(self._lifted)
            self._lifted_at = self.iterations
        return self._lifted

    def _lift(self) -> "BoardsLift":
        """The strategies as a bundle stores them."""
        return engines.BoardsLift(
            self.draft_cards, 0, self._engine.pack(0, self._ranges, [TWO_BYTES])
        )

    def _exact(self, lift: "BoardsLift") -> ExactSubgame:
        """An exact subgame in which the hands of a bucket share a row; buckets never change."""
        root, combos = every_combo(self.spot.cards)
        turns = self._engine.cards[0].streets
        return ExactSubgame(
            self.spot.tree,
            self.spot.payoffs,
            root,
            combos,
            self.threads,
            buckets=lift.sharing,
            learns=False,
            streets=[*turns, engines.listed_river(turns[-1])][: len(deal_streets(self.spot.tree))],
        )

    def view(self, cards: tuple[int, ...], best: Player | None = None) -> StreetView:
        """One board, with only the combos of both ranges."""
        oop, ip = (held.weights > 0 for held in self.spot.ranges)
        return StreetView(self.subgame, self.reach, cards, (oop, ip), best)


EXACTLY = CardModel("exact", precision="float16")


@dataclass(frozen=True)
class Completion:
    """A way to solve flops without stored strategies."""

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
        """The completion by which a solution with these cards solves its flops.

        Arguments that are given override the solution's.
        """
        model = cards if cards.kind == "boards" else BOARDS
        if kind is not None and kind != model.kind:
            model = EXACTLY if kind == "exact" else CardModel(kind)
        if groups is not None:
            model = replace(model, groups=groups)
        return cls(model, cls.iterations if iterations is None else iterations)

    @property
    def text(self) -> str:
        """The completion in words: "classes, 200 iterations"."""
        return f"{self.model}, {self.iterations:,} iterations"

    def solver(self, spot: Spot, threads: int | None = None) -> SpotSolver:
        """The solver of a spot, untrained; an `InputError` if it cannot be completed this way."""
        model = self.model
        if model.stores_cards:
            return DraftSolver(spot, threads=threads, model=model)
        return SpotSolver(
            spot, threads=threads, precision=model.precision, river_groups=model.river_groups
        )


DRAFT = Completion(replace(BOARDS, sets=1), 60)
"""How flops are solved quickly: as a first answer, and beside exact ones in a certificate."""

"""The cards that players know after the flop: a small value that is passed, stored and compared.

| kind      | private hands            | turn and river              | stored strategies      |
|-----------|--------------------------|-----------------------------|------------------------|
| `classes` | 169 hand classes         | averaged out                | all streets            |
| `buckets` | buckets of each street   | chances between buckets     | all streets            |
| `exact`   | combos                   | every card                  | the flop, with its EVs |
| `sampled` | 169 hand classes         | dealt, external sampling    | all streets            |
| `boards`  | combos; on each river    | every card                  | all streets, with the  |
|           | board buckets of hands   |                             | EVs of the flop        |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from allstreets.base import Floats, InputError, Longs
from allstreets.betting import POSTFLOP, BettingTree, Street
from allstreets.cards import hand_cards, hand_combos

Kind = Literal["classes", "buckets", "exact", "sampled", "boards"]
MemoryMode = Literal["resident", "memmap", "per_batch"]
Precision = Literal["float32", "float16", "int16"]
RiverGroups = Literal["none", "suits"]
Counts = tuple[int, int, int]  # on flop, turn and river
StageStreets = tuple[tuple[Street, ...], ...]

EVERYWHERE: tuple[MemoryMode, ...] = ("resident", "memmap", "per_batch")


@dataclass(frozen=True)
class KindFacts:
    """The facts of a kind of cards, kept only here."""

    settings: tuple[str, ...]  # the fields of `CardModel` that it has
    streets: StageStreets  # of each stage of the stored strategies
    flop_hands: Literal["classes", "buckets", "combos"]
    last_street: Street = Street.RIVER  # with decisions that a bundle stores
    stores_cards: bool = False  # strategies of turn and river are stored for each card
    goes_by_ranges: bool = False  # hands are bucketed by the ranges that start a pot
    removes_cards: bool = True  # the players' hands block each other


BY_STREET: StageStreets = tuple((street,) for street in POSTFLOP)
FLOP_ALONE: StageStreets = (POSTFLOP[:1], POSTFLOP[1:])
KINDS: dict[Kind, KindFacts] = {
    "classes": KindFacts((), (POSTFLOP,), "classes"),
    "buckets": KindFacts(("buckets", "seed"), BY_STREET, "buckets", removes_cards=False),
    "exact": KindFacts(
        ("precision", "river_groups"), FLOP_ALONE, "combos", last_street=Street.FLOP
    ),
    "sampled": KindFacts(("sample_pct", "seed"), (POSTFLOP,), "classes"),
    "boards": KindFacts(
        ("groups", "rows", "seed", "sets"),
        FLOP_ALONE,
        "combos",
        stores_cards=True,
        goes_by_ranges=True,
    ),
}


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a kind's engine, kept only here."""

    memory: tuple[MemoryMode, ...] = ("resident",)  # where regrets and strategies may live
    drops_hands: bool = False  # hands that do not play a pot may be left out
    prunes: bool = False  # actions may be skipped by their regrets
    locks: bool = True  # decisions after the flop may be locked, all hands alike
    locks_combos: bool = False  # … or some combos
    shares_rivers: bool = False  # hands of a river board may share a strategy by suits
    precisions: tuple[Precision, ...] = ("float32",)


ON_PROCESSORS: dict[Kind, Capabilities] = {
    "classes": Capabilities(EVERYWHERE, drops_hands=True, prunes=True),
    "buckets": Capabilities(EVERYWHERE, prunes=True),
    "exact": Capabilities(
        locks_combos=True, shares_rivers=True, precisions=("float32", "float16", "int16")
    ),
    "sampled": Capabilities(locks=False),
    "boards": Capabilities(locks_combos=True),
}
ON_GPUS: dict[Kind, Capabilities] = {
    "classes": Capabilities(drops_hands=True),
    "buckets": Capabilities(),
    "exact": Capabilities(locks_combos=True, shares_rivers=True, precisions=("float32", "float16")),
    "boards": Capabilities(locks_combos=True),
}


LANES = 16  # buckets that a kernel takes at a time
MOST_BUCKETS = 240  # of turn or river: one byte numbers them


@dataclass(frozen=True)
class CardModel:
    """A card model with its settings; those of other kinds are set to their defaults."""

    kind: Kind = "classes"
    buckets: Counts = (20, 500, 500)
    precision: Precision = "float32"
    groups: int = 64  # buckets of a player's hands on each river board
    rows: int = 176  # buckets on each turn board; 0: every hand its own
    sample_pct: float = 1.0  # of the pairs of combos, dealt per iteration
    seed: int = 1  # of buckets and of sampled deals
    river_groups: RiverGroups = "none"  # which hands of a river board share a strategy
    sets: int = 3  # pairs of ranges at most that river and turn buckets are made for

    def __post_init__(self) -> None:
        for setting in fields(self)[1:]:
            if setting.name not in self.facts_of_kind.settings:
                object.__setattr__(self, setting.name, setting.default)
        for name, count, least in (("river_groups", self.groups, 1), ("turn_rows", self.rows, 0)):
            if count % LANES or not least <= count <= MOST_BUCKETS:
                raise InputError(
                    f"{name} is {count}: kernels take sixteen buckets at a time, so it must be a "
                    f"multiple of {LANES}, {MOST_BUCKETS} at most"
                )

    def __str__(self) -> str:
        """The model for people and identities: "exact float32", "buckets (20, 500, 500) seed 1"."""
        suits = "" if self.river_groups == "none" else f", river groups by {self.river_groups}"
        fewer = "" if self.sets == CardModel.sets else f", {self.sets} sets of ranges"
        names = {
            "classes": "classes",
            "buckets": f"buckets {self.buckets} seed {self.seed}",
            "exact": f"exact {self.precision}{suits}",
            "sampled": f"sampled {self.sample_pct:g} % seed {self.seed}",
            "boards": f"boards {self.rows} rows {self.groups} groups seed {self.seed}{fewer}",
        }
        return names[self.kind]

    def facts(self) -> dict[str, Any]:
        """The kind and its settings, as JSON data."""
        settings = {name: getattr(self, name) for name in self.facts_of_kind.settings}
        if "buckets" in settings:
            settings["buckets"] = list(self.buckets)
        if self.river_groups == "none":  # as it was before there were any
            settings.pop("river_groups", None)
        if self.sets == CardModel.sets:
            settings.pop("sets", None)
        return {"kind": self.kind, **settings}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "CardModel":
        """The model that `facts` wrote down."""
        given = dict(facts)
        if "buckets" in given:
            flop, turn, river = given["buckets"]
            given["buckets"] = flop, turn, river
        return cls(**given)

    @property
    def facts_of_kind(self) -> KindFacts:
        """The facts of its kind."""
        return KINDS[self.kind]

    @property
    def can(self) -> Capabilities:
        """The capabilities of its engine on processors."""
        return ON_PROCESSORS[self.kind]

    @property
    def streets(self) -> StageStreets:
        """The streets of each stage of the stored strategies."""
        return self.facts_of_kind.streets

    @property
    def last_street(self) -> Street:
        """The last street with decisions that a bundle stores."""
        return self.facts_of_kind.last_street

    @property
    def stores_all_streets(self) -> bool:
        """Whether a stored flop includes the play on turn and river."""
        return self.last_street == Street.RIVER

    @property
    def stores_cards(self) -> bool:
        """Whether strategies of turn and river are stored for each card."""
        return self.facts_of_kind.stores_cards

    @property
    def plays_combos(self) -> bool:
        """Whether hands are combos on the flop."""
        return self.facts_of_kind.flop_hands == "combos"

    @property
    def plays_classes(self) -> bool:
        """Whether hands are the 169 classes on every street."""
        return self.facts_of_kind.flop_hands == "classes"

    @property
    def flop_hands(self) -> str:
        """The hands on the flop: games that agree in them may play each other's strategies."""
        hands = self.facts_of_kind.flop_hands
        return str(self) if hands == "buckets" else hands

    @property
    def goes_by_ranges(self) -> bool:
        """Whether hands are bucketed by the ranges that start a pot."""
        return self.facts_of_kind.goes_by_ranges

    @property
    def removes_cards(self) -> bool:
        """Whether the players' hands block each other."""
        return self.facts_of_kind.removes_cards


CLASSES = CardModel()
EXACT = CardModel("exact")


def stage_of_nodes(tree: BettingTree, streets: StageStreets) -> Longs:
    """[N]: the stage of each node; a chance node still belongs to the street that is over."""
    stage_of_street = np.zeros(len(Street), np.int64)
    for number, members in enumerate(streets):
        for street in members:
            stage_of_street[street] = number
    return stage_of_street[tree.street]


@dataclass(frozen=True, eq=False)
class DealtPairs:
    """The pairs of combos that are dealt on F flops, by class, without a matrix for each flop.

    W_f = n nᵀ − N Nᵀ + diag(n), where n counts a class's combos beside the flop and N those that
    hold each card; a model without card removal between the players deals n nᵀ.
    """

    combos: Floats  # [F, 169] n
    cards: Floats | None  # [F, 169, 52] N; None: no card removal between the players

    @classmethod
    def of(cls, flops: Sequence[tuple[int, ...]], *, removal: bool = True) -> "DealtPairs":
        """The pairs of flops that are given by their cards."""
        combos = np.array([hand_combos(flop) for flop in flops], np.float64)
        if not removal:
            return cls(combos, None)
        return cls(combos, np.array([hand_cards(flop) for flop in flops], np.float64))

    @property
    def flops(self) -> int:
        """F."""
        return len(self.combos)

    def sum(self, weights: Floats) -> Floats:
        """[169, 169]: Σ over flops of weight · W_f."""
        total: Floats = (self.combos.T * weights) @ self.combos
        if self.cards is not None:
            by_card = self.cards.transpose(0, 2, 1).reshape(-1, self.combos.shape[1])
            total -= (by_card.T * np.repeat(weights, self.cards.shape[2])) @ by_card
            total += np.diag(weights @ self.combos)
        return total

    def matrix(self, flop: int) -> Floats:
        """[169, 169]: W of one flop."""
        combos = self.combos[flop]
        matrix: Floats = np.outer(combos, combos)
        if self.cards is not None:
            matrix += np.diag(combos) - self.cards[flop] @ self.cards[flop].T
        return matrix

    def met(self, flop: int, reach: Floats) -> Floats:
        """[…, 169]: W of one flop · reach […, 169], a class's combos with those beside them."""
        combos = self.combos[flop]
        met: Floats = combos * (reach @ combos)[..., None]
        if self.cards is not None:
            met += combos * reach - (reach @ self.cards[flop]) @ self.cards[flop].T
        return met

    def reached(self, player_reach: Floats, opponent_reach: Floats) -> Floats:
        """[F]: Σ over the pairs of each flop of both players' reaches, [169] each."""
        pairs: Floats = (self.combos @ player_reach) * (self.combos @ opponent_reach)
        if self.cards is not None:
            pairs += self.combos @ (player_reach * opponent_reach)
            pairs -= np.einsum("fc,fc->f", player_reach @ self.cards, opponent_reach @ self.cards)
        return pairs

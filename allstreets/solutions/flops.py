"""What a solution stores after the flop, by root: pots on flops, and the table over flops.

`GameFlops` are the pots of a whole game, on all of its flops; `ModelFlops` are flops that were
solved one by one, whose roots are stack-to-pot ratios.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from allstreets.base import Arrays, Floats, Singles, quotient
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_POT,
    POSTFLOP,
    FlopPot,
    PlayerSizes,
    PostflopRules,
    Street,
    StreetSizes,
    paid_at,
)
from allstreets.cards import Flop, hand_pairs, parse_flop
from allstreets.engines import BoardsLift, CardModel, PackedStrategies
from allstreets.games import PotGame, WholeGame, model_stack, pot_at
from allstreets.solutions.decision import POTS, Decision, Evs
from allstreets.solutions.lifted_streets import LiftedStreets
from allstreets.solutions.pot_evaluation import flop_hands
from allstreets.solutions.pot_view import HandTotals, PotView
from allstreets.solutions.preflop import FULL
from allstreets.solutions.source import Row, Source
from allstreets.solutions.walk import SolvedFlop

EVEN = 0.5
OPEN_STREETS = 4  # pots on flops whose turns stay in memory


class Flops(Protocol):
    """What a solution has after the flop, by root."""

    @property
    def cards(self) -> CardModel:
        """What players know of the cards."""

    @property
    def is_stored(self) -> bool:
        """Whether strategies after the flop are stored."""

    @property
    def rows(self) -> Sequence[Row]:
        """The table over flops."""

    def solved(self, root: int) -> Sequence[SolvedFlop]:
        """The flops that are dealt at a root."""

    def pot(self, root: int) -> PotGame:
        """The pot that sees a flop."""

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""

    def streets(self, root: int, flop: Flop) -> LiftedStreets:
        """Turn and river of the pot on a flop, where strategies go by their cards."""

    def counted(self, decision: Decision) -> Decision:
        """A decision of a view, with ranges that meet as real hands do."""

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs of OOP and IP when a flop has been dealt.

        Both get there with `reach` [2, 169], in so many pairs of combos.
        """


class GameFlops:
    """The pots of a whole game on its flops; every flop is dealt in every pot."""

    def __init__(self, game: WholeGame, source: Source, cards: CardModel) -> None:
        self.game, self.source, self.cards = game, source, cards
        self._pots: dict[int, PotGame] = {}
        self._streets: dict[tuple[int, int], LiftedStreets] = {}

    @property
    def is_stored(self) -> bool:
        """Whether strategies after the flop are stored."""
        return self.source.is_kept

    @property
    def rows(self) -> list[Row]:
        """One row per flop.

        weight: how many of the 22,100 flops it stands for; share: of all hands that see a flop,
        those that see this one; exploitability_pct: of its pots, given the ranges that get there;
        ev_oop_bb, ev_ip_bb: mean results of the hands that see it.
        """
        return [
            {
                "flop": flop.text,
                "suits": flop.texture.suits,
                "pairing": flop.texture.pairing,
                "high_card": flop.texture.high_card,
                "connectedness": flop.texture.connectedness,
                **{key: value for key, value in row.items() if key != "flop"},
            }
            for flop, row in zip(self.game.flops.flops, self.source.rows, strict=True)
        ]

    @cached_property
    def _solved(self) -> tuple[SolvedFlop, ...]:
        flops, rows = self.game.flops, self.source.rows
        return tuple(
            SolvedFlop(flop, weight, row["exploitability_pct"])
            for flop, weight, row in zip(flops.flops, flops.weights.tolist(), rows, strict=True)
        )

    def solved(self, root: int) -> tuple[SolvedFlop, ...]:
        """The flops of the game."""
        del root
        return self._solved

    @cached_property
    def flop_pots(self) -> tuple[FlopPot, ...]:
        """The pots that see a flop."""
        return self.game.flop_pots

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {pot.node: number for number, pot in enumerate(self.flop_pots)}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {flop.number: place for place, flop in enumerate(self.game.flops.flops)}

    def number(self, root: int) -> int:
        """The number of the pot that a node before the flop leads to."""
        return self._numbers[root]

    def place_of(self, flop: Flop) -> int | None:
        """The place of a flop in the set; None: it is not one of them."""
        return self._places.get(flop.number)

    def arrays(self, flop: Flop) -> Arrays:
        """Everything that is stored of a flop."""
        return self.source.arrays(self._places[flop.number])

    def pot(self, root: int) -> PotGame:
        """The pot that a node leads to; trees are built when needed."""
        if root not in self._pots:
            self._pots[root] = self.game.after_the_flop(self.flop_pots[self._numbers[root]])
        return self._pots[root]

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""
        return self._strategies(root, self.arrays(flop))

    def _strategies(self, root: int, arrays: Arrays) -> PackedStrategies:
        streets, number = self.cards.streets, self._numbers[root]
        stored = tuple(arrays[f"strategy.{number}.{stage}"] for stage in range(len(streets)))
        return PackedStrategies(self.pot(root).tree, streets, stored)

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""
        arrays, number, pot = self.arrays(flop), self._numbers[root], self.pot(root)
        return PotView(
            pot=pot,
            flop=flop,
            hands=flop_hands(self.cards, flop, arrays.get("held")),
            strategies=self._strategies(root, arrays),
            reach=self.source.before.reach[root],
            stored=_FlopEvs(pot, number, arrays) if f"evs.{number}" in arrays else None,
        )

    def streets(self, root: int, flop: Flop) -> LiftedStreets:
        """Turn and river of the pot on a flop, where they are stored by card."""
        key = self._places[flop.number], root
        streets = self._streets.pop(key, None)
        if streets is None:
            lift = BoardsLift(self.cards, self._numbers[root], self.arrays(flop))
            like = [known for (place, _), known in self._streets.items() if place == key[0]]
            reach = self.source.before.reach[root]
            streets = LiftedStreets(self.pot(root), flop, lift, reach, like[0] if like else None)
        self._streets[key] = streets  # the last to be given up
        while len(self._streets) > OPEN_STREETS:
            del self._streets[next(iter(self._streets))]
        return streets

    def counted(self, decision: Decision) -> Decision:
        """As it is."""
        return decision

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs when a flop has been dealt, by its stored totals [2, P, 169]."""
        values = self.arrays(flop)["values"]
        won = (reach * values[:, self._numbers[root]].astype(np.float64)).sum(axis=1)
        results = quotient(won, np.full(2, pairs * BIG_BLINDS.scale))
        rules, tree = self.pot(root).rules, self.pot(root).tree
        oop, ip = (results + np.array(paid_at(tree, rules.bb_ante, 0)) / BIG_BLINDS.scale).tolist()
        return oop, ip

    def values_at(self, flop: Flop) -> Floats:
        """[2, P, 169]: both players' values at the root of every pot on a flop.

        Totals over a class's combos and all of the opponent's, in chips times pairs of combos.
        """
        return self.arrays(flop)["values"].astype(np.float64)


class _FlopEvs:
    """EVs by combo, as they are stored with the strategies of a flop."""

    def __init__(self, pot: PotGame, number: int, arrays: Arrays) -> None:
        self._tree = pot.tree
        self._nodes = pot.tree.decisions(Street.FLOP)
        self._evs, self._action_evs = arrays[f"evs.{number}"], arrays[f"action_evs.{number}"]

    def totals(self, node: int, met: list[Floats]) -> HandTotals:
        """A decision; `met` [H] of OOP and IP are the pairs of combos that get there."""
        tree, place = self._tree, self._nodes.index(node)
        first = int(tree.child_count[self._nodes[:place]].sum())
        rows = slice(first, first + int(tree.child_count[node]))
        # Where no opposing combo is met, there is no EV and nothing to add up.
        evs, action_evs = np.nan_to_num(self._evs[:, place]), np.nan_to_num(self._action_evs[rows])
        return HandTotals(
            (evs[0] * met[0], evs[1] * met[1]), action_evs * met[tree.player_at(node)]
        )


class ModelFlops:
    """Flops solved one by one, which may be others at each stack-to-pot ratio."""

    is_stored = True

    def __init__(
        self,
        config: Mapping[str, Any],
        cards: CardModel,
        rows: tuple[Row, ...],
        wanted: tuple[tuple[str, float], ...],
        arrays: Callable[[str, float], Arrays],
    ) -> None:
        self.config, self.cards, self.wanted = config, cards, wanted
        self._rows = {(str(row["flop"]), float(row["spr"])): row for row in rows}
        self._arrays = arrays
        self._pots: dict[int, PotGame] = {}

    @property
    def rows(self) -> list[Row]:
        """One row per flop and stack-to-pot ratio.

        weight: how many of the 22,100 flops it stands for, as its set has it (subset_95); where
        flops were named, or those of several sets are in one folder, how often it is dealt.
        Exploitability, EVs and bet frequencies (OOP's first decision, IP's after a check) are
        shares: of the pot, of the pot, and of the hands that get there.
        """
        return [dict(row) for row in self._rows.values()]

    @cached_property
    def sprs(self) -> tuple[float, ...]:
        """The stack-to-pot ratios at which there are flops, rising."""
        return tuple(sorted({spr for _, spr in self._rows}))

    @property
    def missing(self) -> list[tuple[str, float]]:
        """(flop, SPR) that were requested and are not solved."""
        return [key for key in self.wanted if key not in self._rows]

    def count_text(self) -> str:
        """How many flops are solved, for people."""
        flops = len({flop for flop, _ in self._rows})
        missing = f", {len(self.missing):,} are missing" if self.missing else ""
        return f"{flops:,} flops solved{missing}"

    def lines(self) -> list[str]:
        """How each stack-to-pot ratio went, for people."""
        lines = []
        for spr in self.sprs:
            figures = summary_of([row for (_, ratio), row in self._rows.items() if ratio == spr])
            lines.append(
                f"SPR {spr:g}: {figures['solved']:,} flops, exploitable for "
                f"{100 * figures['exploitability_mean']:.2f} % of the pot on average, EV OOP "
                f"{figures['ev_oop']:.3f}, IP {figures['ev_ip']:.3f} pots"
            )
        return lines

    def row(self, root: int, flop: Flop) -> Row:
        """The figures of a flop."""
        return dict(self._rows[flop.text, self.sprs[root]])

    @cached_property
    def _solved(self) -> list[tuple[SolvedFlop, ...]]:
        return [
            tuple(
                SolvedFlop(parse_flop(text).flop, row_weight(row), 100 * row["exploitability"])
                for (text, ratio), row in self._rows.items()
                if ratio == spr
            )
            for spr in self.sprs
        ]

    def solved(self, root: int) -> tuple[SolvedFlop, ...]:
        """The flops that are solved at a ratio."""
        return self._solved[root]

    def pot(self, root: int) -> PotGame:
        """The pot of a ratio."""
        if root not in self._pots:
            raises = self.config["max_raises_per_street"]
            self._pots[root] = pot_at(self.sprs[root], self.sizes, raises)
        return self._pots[root]

    def require_playable(self) -> None:
        """Refuse flops, ratios and sizes that there are not; trees are built when needed."""
        for root, spr in enumerate(self.sprs):
            PostflopRules(
                Street.FLOP,
                CHIPS_PER_POT,
                model_stack(spr),
                self.sizes,
                max_raises=self.config["max_raises_per_street"],
            )
            self.solved(root)

    @cached_property
    def sizes(self) -> tuple[StreetSizes, ...]:
        """The bet sizes of flop, turn and river, which are those of both players."""
        texts = self.config["sizes"]
        players = [
            PlayerSizes.parse(texts[street.text]["bet"], texts[street.text]["raise"])
            for street in POSTFLOP
        ]
        return tuple((player, player) for player in players)

    def arrays(self, root: int, flop: Flop) -> Arrays:
        """Everything that is stored of a flop."""
        return self._arrays(flop.text, self.sprs[root])

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""
        arrays, streets = self.arrays(root, flop), self.cards.streets
        stored = tuple(arrays[f"strategy.0.{stage}"] for stage in range(len(streets)))
        return PackedStrategies(self.pot(root).tree, streets, stored)

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop, in pots."""
        return PotView(
            pot=self.pot(root),
            flop=flop,
            hands=flop_hands(self.cards, flop, self.arrays(root, flop).get("held")),
            strategies=self.strategies(root, flop),
            reach=FULL,
            unit=POTS,
        )

    def streets(self, root: int, flop: Flop) -> LiftedStreets:
        """No model that is solved flop by flop goes by the cards of turn and river."""
        raise NotImplementedError

    def counted(self, decision: Decision) -> Decision:
        """Over real pairs of hands."""
        return by_real_pairs(decision)

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs when a flop has been dealt, as the table over flops has them."""
        del reach, pairs
        row = self.row(root, flop)
        return float(row["ev_oop"]), float(row["ev_ip"])

    def pair_values(self, root: int, flop: Flop) -> Singles:
        """[2, 169, 169]: share of the pot of OOP and IP, the player's hand by row.

        Under the average strategies, in pots; 0.5 where the two hands cannot meet.
        """
        won = self.arrays(root, flop)["pair_values"] / np.float32(CHIPS_PER_POT)
        return np.stack([EVEN + won, EVEN - won.T])


def by_real_pairs(decision: Decision) -> Decision:
    """A decision on a flop solved by itself, whose ranges meet as real hands do.

    Buckets meet without regard to the cards they hold: their EVs add up over pairs that are counted
    so, and all else is counted over real pairs.
    """
    pairs = hand_pairs(decision.board).astype(np.float64)
    oop, ip = (
        replace(hands, weights=hands.reach * (pairs @ decision.hands[1 - player].reach))
        for player, hands in enumerate(decision.hands)
    )

    def evs() -> Evs:
        known = decision.evaluate()
        first, second = decision.hands
        ranges = first.mean(known.hands[0]), second.mean(known.hands[1])
        return replace(known, ranges=ranges)

    return replace(
        decision,
        # Half the pot lies there when the solution starts.
        paid=(decision.paid[0] - EVEN, decision.paid[1] - EVEN),
        hands=(oop, ip),
        deal=lambda: float(pairs.sum()),
        evaluate=evs,
    )


def row_weight(row: Mapping[str, Any]) -> float:
    """How many of the 22,100 flops a row stands for; older folders have sets without weights."""
    return float(row["weight"] if "weight" in row else row["multiplicity"])


def summary_of(rows: Sequence[Mapping[str, Any]]) -> Row:
    """Figures over flops; means are weighted by how many flops each stands for."""
    weight = sum(map(row_weight, rows))

    def mean(key: str) -> float | None:
        if not rows:
            return None
        return sum(row_weight(row) * float(row[key]) for row in rows) / weight

    return {
        "flops": len({row["flop"] for row in rows}),
        "sprs": sorted({float(row["spr"]) for row in rows}),
        "solved": len(rows),
        "converged": sum(bool(row["converged"]) for row in rows),
        "exploitability_mean": mean("exploitability"),
        "exploitability_max": max((row["exploitability"] for row in rows), default=None),
        "iterations_mean": mean("iterations"),
        "iterations_max": max((row["iterations"] for row in rows), default=None),
        "ev_oop": mean("ev_oop"),
        "ev_ip": mean("ev_ip"),
        "bet_oop": mean("bet_oop"),
        "bet_ip": mean("bet_ip"),
    }

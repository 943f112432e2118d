"""Flops solved one by one: the table over flops, and every decision on any of them.

A line is ROOT | FLOP | words, as in a whole game; its root names the stack-to-pot ratio:
"spr3.5 | AsKh7d | x b50%". Turn and river are averaged over, so that no card is named.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from allstreets.base import Arrays, InputError, Singles
from allstreets.betting import (
    CHIPS_PER_POT,
    POSTFLOP,
    POT_SHARES,
    Player,
    PlayerSizes,
    PostflopRules,
    Street,
    StreetSizes,
    find_decision,
    line_text,
    read_only,
    split_line,
    whole_line,
)
from allstreets.cards import HAND_COUNT, Flop, hand_pairs, parse_flop
from allstreets.engines import CardModel, PackedStrategies
from allstreets.games import PotGame, model_stack, pot_at
from allstreets.solutions.decision import POTS, Decision, Evs, OnBoard
from allstreets.solutions.pot_evaluation import flop_hands
from allstreets.solutions.pot_view import PotView

RATIO = re.compile(r"spr\s*(\d{1,9}(?:\.\d{1,12})?)", re.IGNORECASE)
EVEN = 0.5
FULL = read_only(np.ones((2, HAND_COUNT)))  # both players' reach: every hand

Row = dict[str, Any]


class FlopsResult:
    """A solved model of flops: `flops`, `node`, `strategy` and `values`."""

    notation = POT_SHARES

    def __init__(
        self,
        config: Mapping[str, Any],
        model: CardModel,
        rows: tuple[Row, ...],
        wanted: tuple[tuple[str, float], ...],
        arrays: Callable[[str, float], Arrays],
        seconds: float = 0.0,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        self.config, self.cards = config, model
        self.wanted, self.seconds = wanted, seconds
        self.name, self.description = name, description
        self._rows, self._arrays = rows, arrays
        self._pots: dict[float, PotGame] = {}

    def __repr__(self) -> str:
        """One line: what it is, and how much of it is solved."""
        return f"<FlopsResult {self._line()}>"

    def __str__(self) -> str:
        """Some lines: what it is, and how each stack-to-pot ratio went."""
        lines = [self._line()]
        for spr in self.sprs:
            figures = summary_of([row for row in self._rows if row["spr"] == spr])
            lines.append(
                f"SPR {spr:g}: {figures['solved']:,} flops, exploitable for "
                f"{100 * figures['exploitability_mean']:.2f} % of the pot on average, EV OOP "
                f"{figures['ev_oop']:.3f}, IP {figures['ev_ip']:.3f} pots"
            )
        return "\n".join(lines)

    def _line(self) -> str:
        name = f"{self.name}: " if self.name else ""
        flops = len({row["flop"] for row in self._rows})
        missing = f", {len(self.missing):,} are missing" if self.missing else ""
        return f"{name}{self.cards.kind}, {flops:,} flops solved{missing}"

    @property
    def flops(self) -> list[Row]:
        """One row per flop and stack-to-pot ratio: pandas.DataFrame(result.flops) is a table.

        weight: how many of the 22,100 flops it stands for, as its set has it (subset_95); where
        flops were named, or those of several sets are in one folder, how often it is dealt.
        Exploitability, EVs and bet frequencies (OOP's first decision, IP's after a check) are
        shares: of the pot, of the pot, and of the hands that get there.
        """
        return [dict(row) for row in self._rows]

    @cached_property
    def sprs(self) -> tuple[float, ...]:
        """The stack-to-pot ratios at which there are flops, rising."""
        return tuple(sorted({float(row["spr"]) for row in self._rows}))

    @property
    def missing(self) -> list[tuple[str, float]]:
        """(flop, SPR) that were requested and are not solved."""
        there = {(row["flop"], row["spr"]) for row in self._rows}
        return [key for key in self.wanted if key not in there]

    @cached_property
    def _flops_at(self) -> dict[float, tuple[Flop, ...]]:
        return {
            spr: tuple(
                parse_flop(row["flop"]).flop for row in self._rows if float(row["spr"]) == spr
            )
            for spr in self.sprs
        }

    def flops_at(self, spr: float) -> tuple[Flop, ...]:
        """The flops that are solved at a ratio."""
        return self._flops_at[spr]

    def row(self, flop: str, spr: float | None = None) -> Row:
        """The figures of a flop; any spelling will do."""
        key = self._key(flop, spr)
        return next(dict(row) for row in self._rows if (row["flop"], row["spr"]) == key)

    def values(self, flop: str, spr: float | None = None) -> Singles:
        """[2, 169, 169]: share of the pot of OOP and IP, own hand by row, the other's by column.

        Under the average strategies, in pots; 0.5 where the two hands cannot meet.
        """
        won = self._arrays(*self._key(flop, spr))["pair_values"] / np.float32(CHIPS_PER_POT)
        return np.stack([EVEN + won, EVEN - won.T])

    def pot(self, spr: float) -> PotGame:
        """The betting at a stack-to-pot ratio."""
        if spr not in self._pots:
            self._pots[spr] = pot_at(spr, self.sizes, self.config["max_raises_per_street"])
        return self._pots[spr]

    def require_playable(self) -> None:
        """Refuse flops, ratios and sizes that there are not; trees are built when needed."""
        for spr in self.sprs:
            PostflopRules(
                Street.FLOP,
                CHIPS_PER_POT,
                model_stack(spr),
                self.sizes,
                max_raises=self.config["max_raises_per_street"],
            )
            self.flops_at(spr)

    @cached_property
    def sizes(self) -> tuple[StreetSizes, ...]:
        """The bet sizes of flop, turn and river, which are those of both players."""
        texts = self.config["sizes"]
        players = [
            PlayerSizes.parse(texts[street.text]["bet"], texts[street.text]["raise"])
            for street in POSTFLOP
        ]
        return tuple((player, player) for player in players)

    def strategies(self, flop: str, spr: float | None = None) -> PackedStrategies:
        """The strategies of all decisions of a flop, as they are stored."""
        text, ratio = self._key(flop, spr)
        arrays, streets = self._arrays(text, ratio), self.cards.streets
        stored = tuple(arrays[f"strategy.0.{k}"] for k in range(len(streets)))
        return PackedStrategies(self.pot(ratio).tree, streets, stored)

    def flop_view(self, flop: str, spr: float | None = None) -> PotView:
        """Every decision of a flop; EVs are results against half the pot, in pots."""
        text, ratio = self._key(flop, spr)
        found, held = parse_flop(text).flop, self._arrays(text, ratio).get("held")
        return PotView(
            pot=self.pot(ratio),
            flop=found,
            hands=flop_hands(self.cards, found, held),
            strategies=self.strategies(text, ratio),
            reach=FULL,
            unit=POTS,
        )

    def node(self, line: str = "", flop: str | None = None, spr: float | None = None) -> Decision:
        """The decision that a line leads to, by hand class; "" is the first one on the flop.

        Ratio and flop may be part of the line or given as arguments. In a model with buckets a
        class plays the mean of its combos' buckets, over the cards to come and weighted by how
        often it gets here.
        """
        ratio, cards, words = self._split(line, flop)
        text, ratio = self._key(cards, ratio if spr is None else spr)
        tree = self.pot(ratio).tree
        node = find_decision(tree, words, POT_SHARES)
        place = whole_line(ratio_word(ratio), cards, line_text(tree, node, notation=POT_SHARES))
        return in_shares(self.flop_view(text, ratio).node(node, place))

    def decisions(self, line: str = "", spr: float | None = None) -> Iterator[OnBoard]:
        """The decision that a line leads to, on one flop after the other; it names no flop."""
        weights = {row["flop"]: row_weight(row) for row in self._rows}
        for flop, weight in weights.items():
            yield OnBoard(weight, self.node(line, flop, spr))

    def strategy(
        self, line: str = "", flop: str | None = None, spr: float | None = None, *, hand: str
    ) -> dict[str, float]:
        """Action → probability of a hand ("AKs", "77", or two cards, read as their class)."""
        return self.node(line, flop, spr).hand(hand)

    def _split(self, line: str, flop: str | None) -> tuple[float | None, str, str]:
        """(ratio, flop, words) of a line; words alone follow the flop that is given beside them."""
        first = line.split("|")[0]
        if flop is not None and line.strip() and not RATIO.fullmatch(first.strip()):
            line = f"| {line}" if not line.strip().startswith("|") else line
        found = split_line(line, self._read_ratio, flop)
        if found.flop is None:
            example = self._rows[0]["flop"] if self._rows else "AhKd7s"
            raise InputError(f"line '{line}': name a flop, such as {example}")
        return found.root, found.cards, found.after or ""

    def _read_ratio(self, text: str) -> float | None:
        if not text.strip():
            return None
        if found := RATIO.fullmatch(text.strip()):
            return float(found[1])
        raise InputError(
            f"'{text.strip()}' is no stack-to-pot ratio: write {ratio_word(self.sprs[0])}, say"
        )

    def _key(self, flop: str, spr: float | None) -> tuple[str, float]:
        """(flop, SPR) of a flop in any spelling; an `InputError` if it is not solved."""
        text = parse_flop(flop).flop.text
        there = sorted(float(row["spr"]) for row in self._rows if row["flop"] == text)
        if not there:
            count = len({row["flop"] for row in self._rows})
            raise InputError(
                f"the flop {flop} ({text}) is not solved here; {count:,} others are: "
                "--format csv lists them"
            )
        if spr is None and len(there) == 1:
            return text, there[0]
        ratios = ", ".join(f"{ratio:g}" for ratio in there)
        if spr is None:
            raise InputError(f"the flop {flop} is solved at the SPRs {ratios}: say which by --spr")
        near = [ratio for ratio in there if abs(ratio - spr) < 1e-9 * max(ratio, 1.0)]
        if not near:
            raise InputError(f"the flop {flop} is not solved at the SPR {spr:g}, only at {ratios}")
        return text, near[0]


def ratio_word(spr: float) -> str:
    """The root of a line for a stack-to-pot ratio."""
    return f"spr{spr:.12g}"


def in_shares(node: Decision) -> Decision:
    """A place whose EVs are results in pots, with shares of the pot instead: 0.5 is an even split.

    Buckets meet without regard to the cards they hold: their EVs add up over pairs that are counted
    so, and all else is counted over real pairs.
    """
    pairs = hand_pairs(node.board).astype(np.float64)

    def evs() -> Evs:
        found = node.evaluate()
        taken = None if found.taken is None else EVEN + found.taken
        oop, ip = (EVEN + one for one in found.hands)
        ranges = node.hands[0].mean(oop), node.hands[1].mean(ip)
        return Evs((oop, ip), EVEN + found.actions, taken, ranges)

    oop, ip = (
        replace(node.hands[p], weights=node.hands[p].reach * (pairs @ node.hands[1 - p].reach))
        for p in Player
    )
    return replace(
        node,
        # Results are relative to half the pot and all that was put in, shares to the latter alone.
        paid=(node.paid[0] - EVEN, node.paid[1] - EVEN),
        hands=(oop, ip),
        deal=lambda: float(pairs.sum()),
        evaluate=evs,
    )


def row_weight(row: Mapping[str, Any]) -> float:
    """How many of the 22,100 flops a row stands for; older folders have sets without weights."""
    return float(row.get("weight", row["multiplicity"]))


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

"""Pots on flops that a solution stores, by root, and the table over flops.

`GameFlops` are the pots of a whole game, on all of its flops; `ModelFlops` are flops that were
solved one by one, and `RatioRoots` the stack-to-pot ratios above them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from allstreets.base import Arrays, Floats, InputError, Singles, quotient
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_POT,
    POSTFLOP,
    BettingTree,
    FlopPot,
    NodeKind,
    PlayerSizes,
    PostflopRules,
    Street,
    StreetSizes,
    WholeLine,
    make_tree,
    paid_at,
    read_only,
    split_line,
    whole_line,
)
from allstreets.cards import HAND_COUNT, Flop, hand_pairs, parse_flop
from allstreets.engines import BoardsLift, CardModel, PackedStrategies
from allstreets.games import PotGame, WholeGame, model_stack, pot_at
from allstreets.solutions.decision import BB, POTS, Decision, Evs, Unit
from allstreets.solutions.format import number_text
from allstreets.solutions.lifted_streets import LiftedStreets
from allstreets.solutions.pot_evaluation import flop_hands
from allstreets.solutions.pot_view import HandTotals, PotView
from allstreets.solutions.preflop import Roots
from allstreets.solutions.source import Source
from allstreets.solutions.tables import Row
from allstreets.solutions.walk import NoNodeError, SolvedFlop

EVEN = 0.5
OPEN_STREETS = 4  # pots on flops whose turns stay in memory
RATIO = re.compile(r"spr\s*(\d{1,9}(?:\.\d{1,12})?)", re.IGNORECASE)
FULL = read_only(np.ones((2, HAND_COUNT)))  # both players' reach: every hand


class Flops(ABC):
    """The pots of a solution after the flop, by root."""

    unit: Unit  # of amounts and EVs
    is_game = False  # whether they are the pots of a whole game

    def __init__(self, cards: CardModel) -> None:
        self.cards = cards  # what players know of the cards
        self.pot = cache(self._new_pot)  # by root: the pot that sees a flop

    @property
    @abstractmethod
    def is_stored(self) -> bool:
        """Whether strategies after the flop are stored."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The table over flops."""

    @abstractmethod
    def solved(self, root: int) -> Sequence[SolvedFlop]:
        """The flops that are dealt at a root."""

    @abstractmethod
    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs of OOP and IP when a flop has been dealt.

        Both get there with `reach` [2, 169], in `pairs` pairs of combos.
        """

    @abstractmethod
    def _new_pot(self, root: int) -> PotGame: ...

    @abstractmethod
    def _stored(self, root: int, flop: Flop) -> tuple[Arrays, int]:
        """All stored arrays of a flop, and the number of the pot there."""

    @abstractmethod
    def _reach(self, root: int) -> Floats:
        """[2, 169]: both players' reach where the flop is dealt."""

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""
        return self._packed(root, *self._stored(root, flop))

    def _packed(self, root: int, arrays: Arrays, number: int) -> PackedStrategies:
        streets = self.cards.streets
        stored = tuple(arrays[f"strategy.{number}.{stage}"] for stage in range(len(streets)))
        return PackedStrategies(self.pot(root).tree, streets, stored)

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""
        (arrays, number), pot = self._stored(root, flop), self.pot(root)
        return PotView(
            pot=pot,
            flop=flop,
            hands=flop_hands(self.cards, flop, arrays.get("held")),
            strategies=self._packed(root, arrays, number),
            reach=self._reach(root),
            stored=_FlopEvs(pot, number, arrays) if f"evs.{number}" in arrays else None,
            unit=self.unit,
        )

    def streets(self, root: int, flop: Flop) -> LiftedStreets:
        """Turn and river of the pot on a flop, where strategies depend on their cards."""
        raise NotImplementedError

    def counted(self, decision: Decision) -> Decision:
        """A decision of a view, with ranges that meet as real hands do."""
        return decision

    def row(self, root: int, flop: Flop) -> Row:
        """Figures of a flop that was solved separately; otherwise nothing."""
        del root, flop
        return {}


class GameFlops(Flops):
    """The pots of a whole game on its flops; every flop is dealt in every pot."""

    unit = BB
    is_game = True

    def __init__(self, game: WholeGame, source: Source, cards: CardModel) -> None:
        super().__init__(cards)
        self.game, self.source = game, source
        self._streets: dict[tuple[int, int], LiftedStreets] = {}

    @cached_property
    def is_stored(self) -> bool:
        """Whether strategies after the flop are stored."""
        return self.source.stores_flops

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
        return {flop.number: index for index, flop in enumerate(self.game.flops.flops)}

    def place_of(self, flop: Flop) -> int | None:
        """The index of a flop in the set; None: it is not one of them."""
        return self._places.get(flop.number)

    def arrays(self, flop: Flop) -> Arrays:
        """All stored arrays of a flop."""
        return self.source.arrays(self._places[flop.number])

    def _new_pot(self, root: int) -> PotGame:
        return self.game.after_the_flop(self.flop_pots[self._numbers[root]])

    def _stored(self, root: int, flop: Flop) -> tuple[Arrays, int]:
        return self.arrays(flop), self._numbers[root]

    def _reach(self, root: int) -> Floats:
        return np.asarray(self.source.before.reach[root], np.float64)

    def streets(self, root: int, flop: Flop) -> LiftedStreets:
        """Turn and river of the pot on a flop, where they are stored by card."""
        key = self._places[flop.number], root
        streets = self._streets.pop(key, None)
        if streets is None:
            lift = BoardsLift(self.cards, self._numbers[root], self.arrays(flop))
            like = [known for (index, _), known in self._streets.items() if index == key[0]]
            known = like[0] if like else None
            streets = LiftedStreets(self.pot(root), flop, lift, self._reach(root), known)
        self._streets[key] = streets  # the last to be dropped
        while len(self._streets) > OPEN_STREETS:
            del self._streets[next(iter(self._streets))]
        return streets

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs when a flop has been dealt, by its stored totals [2, P, 169]."""
        values = self.arrays(flop)["values"]
        won = (reach * values[:, self._numbers[root]].astype(np.float64)).sum(axis=1)
        results = quotient(won, np.full(2, pairs * BIG_BLINDS.scale))
        rules, tree = self.pot(root).rules, self.pot(root).tree
        oop, ip = (results + np.array(paid_at(tree, rules.bb_ante, 0)) / BIG_BLINDS.scale).tolist()
        return oop, ip


class _FlopEvs:
    """EVs by combo, as they are stored with the strategies of a flop."""

    def __init__(self, pot: PotGame, number: int, arrays: Arrays) -> None:
        self._tree = pot.tree
        self._nodes = pot.tree.decisions(Street.FLOP)
        self._evs, self._action_evs = arrays[f"evs.{number}"], arrays[f"action_evs.{number}"]

    def totals(self, node: int, met: list[Floats]) -> HandTotals:
        """A decision; `met` [H] of OOP and IP are the pairs of combos that get there."""
        tree, index = self._tree, self._nodes.index(node)
        first = int(tree.child_count[self._nodes[:index]].sum())
        rows = slice(first, first + int(tree.child_count[node]))
        # Where no opposing combo is met, there is no EV and nothing to add up.
        evs, action_evs = np.nan_to_num(self._evs[:, index]), np.nan_to_num(self._action_evs[rows])
        return HandTotals(
            (evs[0] * met[0], evs[1] * met[1]), action_evs * met[tree.player_at(node)]
        )


class ModelFlops(Flops):
    """Flops solved one by one; each stack-to-pot ratio may have different flops."""

    unit = POTS
    is_stored = True

    def __init__(
        self,
        config: Mapping[str, Any],
        cards: CardModel,
        rows: tuple[Row, ...],
        wanted: tuple[tuple[str, float], ...],
        arrays: Callable[[str, float], Arrays],
    ) -> None:
        super().__init__(cards)
        self.config, self.wanted = config, wanted
        self._rows = {(str(row["flop"]), float(row["spr"])): row for row in rows}
        self._arrays = arrays

    @property
    def rows(self) -> list[Row]:
        """One row per flop and stack-to-pot ratio.

        weight: how many of the 22,100 flops it stands for: its weight in its set (subset_95), or
        how often it is dealt if flops were named or a folder has several sets. Exploitability, EVs
        and bet frequencies (OOP's first decision, IP's after a check) are shares: of the pot, of
        the pot, and of the hands that get there.
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
        """The number of solved flops, in words."""
        flops = len({flop for flop, _ in self._rows})
        missing = f", {len(self.missing):,} are missing" if self.missing else ""
        return f"{flops:,} flops solved{missing}"

    def lines(self) -> list[str]:
        """The result at each stack-to-pot ratio, in words."""
        lines = []
        for spr in self.sprs:
            figures = summary_of([row for (_, ratio), row in self._rows.items() if ratio == spr])
            lines.append(
                f"SPR {spr:g}: {figures['solved']:,} flops, exploitable for "
                f"{100 * figures['exploitability_mean']:.2f} % of the pot on average, EV OOP "
                f"{number_text(figures['ev_oop'], digits=3)}, IP "
                f"{number_text(figures['ev_ip'], digits=3)} pots"
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

    def _new_pot(self, root: int) -> PotGame:
        return pot_at(self.sprs[root], self.sizes, self.config["max_raises_per_street"])

    def _stored(self, root: int, flop: Flop) -> tuple[Arrays, int]:
        return self._arrays(flop.text, self.sprs[root]), 0

    def _reach(self, root: int) -> Floats:
        del root
        return FULL

    def require_playable(self) -> None:
        """Refuse flops, ratios and sizes that do not exist; trees are built when needed."""
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
        won = self._stored(root, flop)[0]["pair_values"] / np.float32(CHIPS_PER_POT)
        return np.stack([EVEN + won, EVEN - won.T])


class RatioRoots(Roots):
    """The stack-to-pot ratios of flops solved one by one, rising. Both players hold every hand."""

    unit = POTS
    knows_ranges = False

    def __init__(self, models: ModelFlops) -> None:
        if not models.sprs:
            raise InputError("no flop of this model is solved yet: look again later")
        self.models, self.sprs = models, models.sprs

    @property
    def settings(self) -> list[str]:
        """The ratios."""
        return [f"SPR {spr:.12g}" for spr in self.sprs]

    def tree(self, root: int) -> BettingTree:
        """A flop is dealt at every ratio."""
        count = len(self.sprs)
        return make_tree(
            pot=CHIPS_PER_POT,
            stack=model_stack(self.sprs[root]),
            kind=[NodeKind.CHANCE] * count,
            street=[Street.PREFLOP] * count,
            player=[-1] * count,
            parent=[-1, *([0] * (count - 1))],
            invested=[(0, 0)] * count,
            actions=[None] * count,
        )

    def payoffs(self, root: int) -> Floats:
        """No payoffs: no hand ends before the flop."""
        del root
        return np.zeros((len(self.sprs), 2, 3))

    def read(self, text: str) -> int:
        """The root of a ratio; the smallest where none is named."""
        if not text.strip():
            return 0
        ratio = RATIO.fullmatch(text.strip())
        if ratio is None:
            raise InputError(
                f"line '{text.strip()}' begins with neither a ratio nor a flop: write "
                f"{self.text(0)} | AhKd7s | x"
            )
        wanted = float(ratio[1])
        root, near = min(enumerate(self.sprs), key=lambda pair: abs(pair[1] - wanted))
        if abs(near - wanted) > 1e-9 * max(near, 1.0):
            ratios = ", ".join(f"{spr:.12g}" for spr in self.sprs)
            raise NoNodeError(
                f"the SPR {wanted:g} is not solved here, only {ratios}",
                [(self.settings[root], self.text(root))],
            )
        return root

    def text(self, root: int) -> str:
        """The word for a ratio."""
        return ratio_word(self.sprs[root])

    def decision(self, root: int) -> Decision:
        """Hands depend on the flop."""
        raise InputError(f"line '{self.text(root)}': no flop is dealt yet: pick one")

    def reach(self, root: int) -> Floats:
        """[2, 169]: every hand."""
        del root
        return FULL

    def of_line(self, parts: WholeLine[int]) -> int:
        """A flop has its ratio, if it has only one."""
        if parts.before or parts.flop is None:
            return parts.root
        flop, sprs = parts.flop.flop, self.sprs
        roots = [
            root
            for root in range(len(sprs))
            if any(solved.flop.number == flop.number for solved in self.models.solved(root))
        ]
        if len(roots) < 2:
            return roots[0] if roots else parts.root
        after = (parts.after or "").strip()
        lines = [whole_line(self.text(root), parts.cards, after) for root in roots]
        raise NoNodeError(
            f"the flop {parts.cards} is solved at the SPRs "
            f"{', '.join(f'{sprs[root]:g}' for root in roots)}: choose one with --spr, or write "
            f"'{lines[0]}'",
            [(f"SPR {sprs[root]:g}", line) for root, line in zip(roots, lines, strict=True)],
        )

    def with_root(self, line: str) -> str:
        """A line may leave its ratio out."""
        before = split_line(line, str).before
        return line if not before or RATIO.fullmatch(before) else f"| {line}"

    def at_ratio(self, line: str, spr: float | None) -> str:
        """A line at a ratio; where there is only one, it may be left out."""
        first, _, rest = line.partition("|")
        named = RATIO.fullmatch(first.strip())
        if spr is None:
            if named or len(self.sprs) == 1:
                return line
            ratios = ", ".join(f"{ratio:g}" for ratio in self.sprs)
            raise InputError(f"flops are solved at the SPRs {ratios}: choose one with --spr")
        words = rest if named else line
        return f"{ratio_word(spr)} | {words.strip().removeprefix('|').strip()}"


def ratio_word(spr: float) -> str:
    """The root of a line for a stack-to-pot ratio."""
    return f"spr{spr:.12g}"


def by_real_pairs(decision: Decision) -> Decision:
    """A decision on a flop solved separately, with real card removal between the ranges.

    Buckets meet without card removal: their EVs add up over pairs counted that way, and everything
    else over real pairs.
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
        # Half the pot is in the middle when the solution starts.
        paid=(decision.paid[0] - EVEN, decision.paid[1] - EVEN),
        hands=(oop, ip),
        deal=lambda: float(pairs.sum()),
        evaluate=evs,
    )


def row_weight(row: Mapping[str, Any]) -> float:
    """The number of the 22,100 flops that a row stands for; older folders lack weights."""
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

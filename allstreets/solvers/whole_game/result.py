"""A solved whole game that can be walked: `result.node("r2.5 c | AhKd7s | x b50%")`.

It goes on to the river, on every flop of its set; a flop may be spelled with any suits. Where
turn and river are stored card by card, their cards stand in the line: "c x | KsKhKd | x x | 5c".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from allstreets.base import Arrays, Floats, InputError
from allstreets.betting import (
    BIG_BLINDS,
    BLINDS_AND_CARDS,
    FlopPot,
    Line,
    NodeKind,
    Street,
    WholeLine,
    find_decision,
    flop_pots,
    line_text,
    parse_line,
    split_line,
    whole_line,
)
from allstreets.cards import (
    COMBO_PERMUTATIONS,
    CanonicalFlop,
    Flop,
    card_rank,
    parse_board,
    parse_combo,
    parse_flop,
)
from allstreets.engines import CardModel, PackedStrategies, lift_flop
from allstreets.games import Lock, PotGame, WholeGame
from allstreets.solvers.board_report import OnBoard
from allstreets.solvers.decision import Decision
from allstreets.solvers.flops.hands import flop_hands, live
from allstreets.solvers.flops.sweep import swept
from allstreets.solvers.flops.view import HandTotals, PotView
from allstreets.solvers.preflop.result import Mix, PreflopResult, SolutionFacts
from allstreets.solvers.whole_game.lifted_streets import RealStreets
from allstreets.solvers.whole_game.precision import Kept
from allstreets.solvers.whole_game.solver import WholeGameSolver
from allstreets.solvers.whole_game.source import Row, SolverSource, UnifiedSource

NEAR = 3  # flops that are named in place of one that is missing
OPEN_STREETS = 2  # pots on flops whose turns and rivers stay in memory: a few hundred MB each


class UnifiedResult(PreflopResult):
    """A solved whole game."""

    def __init__(self, game: WholeGame, source: UnifiedSource, facts: SolutionFacts) -> None:
        super().__init__(game.preflop, source.before, facts)
        self.game, self.source = game, source
        self.cards = facts.cards or CardModel()
        self._pots: dict[int, PotGame] = {}
        self._streets: dict[tuple[int, int], RealStreets] = {}

    @classmethod
    def of(cls, solver: WholeGameSolver, kept: Kept | None = None, **facts: Any) -> "UnifiedResult":
        """The solution that a solver holds, without files; `facts` such as seconds and name.

        It is what a bundle would store; `kept` is what `keep` returned, if that was done already.
        """
        source = SolverSource(solver, kept)
        return cls(solver.game, source, source.facts(**facts))

    def _flops_text(self) -> str:
        flops = len(self.game.flops.flops)
        return f", {flops:,} flop{'s' * (flops != 1)}, {self.cards}"

    @property
    def lock(self) -> tuple[Lock, ...]:
        """The strategies that were given, not found."""
        return self.game.lock

    @property
    def preflop_exploitability(self) -> float | None:
        """What best responses before the flop alone would gain, in mbb/hand."""
        return self.facts.preflop_exploitability

    @property
    def flops(self) -> list[Row]:
        """One row per flop: pandas.DataFrame(result.flops) is a table.

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

    @property
    def has_flops(self) -> bool:
        """Whether strategies after the flop are stored."""
        return self.source.is_kept

    def flop_table(self, line: str) -> list[Row]:
        """One row per flop: how often play gets to a decision after it, and what is done there.

        reached: whether enough of both ranges gets there for that to have been learned.
        """
        rows: list[Row] = []
        self._refuse_cards(line)
        for flop in self.game.flops.flops:
            node = self.node(line, flop.text)
            taken = node.frequencies().tolist()
            rows.append(
                {
                    "flop": flop.text,
                    "suits": flop.texture.suits,
                    "pairing": flop.texture.pairing,
                    "high_card": flop.texture.high_card,
                    "weight": float(self.game.flops.weights[len(rows)]),
                    "share": node.share,
                    "reached": node.reached,
                    **dict(zip(node.actions, taken, strict=True)),
                }
            )
        return rows

    def decisions(self, line: str) -> Iterator[OnBoard]:
        """The decision that a line leads to, on one flop after the other; by combo where possible.

        The line names no flop: "r2.5 c | x".
        """
        self._refuse_cards(line)
        for flop, weight in zip(self.game.flops.flops, self.game.flops.weights, strict=True):
            found = split_line(line, self.read_root, flop.text)
            if found.root not in [pot.node for pot in self._flop_pots]:
                raise InputError(
                    f"line '{line}' ends before the flop: reports are of decisions on it"
                )
            view, inside = self._view(found, line)
            view = swept(view, self.cards.plays_classes)
            node = view.combo_node if self.cards.plays_combos else view.node
            yield OnBoard(float(weight), node(inside, self._words(found, view, inside)))

    def flop_lines(self) -> list[str]:
        """The lines to all pots that see a flop, the most frequent first."""
        before, tree = self.before, self.game.tree
        seen = {
            pot.node: float(before.reach[pot.node, 0] @ before.pairs @ before.reach[pot.node, 1])
            for pot in self._flop_pots
        }
        return [
            line_text(tree, node, notation=BIG_BLINDS)
            for node in sorted(seen, key=lambda n: -seen[n])
        ]

    def values_at(self, flop: str) -> Floats:
        """[2, P, 169]: both players' values at the root of every pot on a flop.

        Totals over a class's combos and all of the other's, in chips times pairs of combos.
        """
        self._require_flops()
        return self.source.arrays(self._place(parse_flop(flop), flop))["values"].astype(np.float64)

    def pot(self, number: int) -> PotGame:
        """What the pot with this number becomes after the flop; trees are built when needed."""
        if number not in self._pots:
            self._pots[number] = self.game.after_the_flop(self._flop_pots[number])
        return self._pots[number]

    def strategies(self, place: int, number: int) -> PackedStrategies:
        """The strategies of all decisions of a pot on a flop, as they are stored."""
        self._require_flops()
        return self._strategies(self.source.arrays(place), number)

    def flop_view(self, place: int, number: int) -> PotView:
        """The pot with this number on the flop at this place of the set."""
        self._require_flops()
        pot = self.pot(number)
        return self._flop_view(place, number, pot, pot.pot.node)

    def real_streets(self, place: int, number: int) -> RealStreets:
        """Turn and river of a pot on a flop, by their places, where they are stored by card."""
        self._require_flops()
        found = self._streets.pop((place, number), None)
        if found is None:
            pot, flop = self.pot(number), self.game.flops.flops[place]
            trees = [self.pot(each).tree for each in range(len(self._flop_pots))]
            play = lift_flop(self.cards, flop, trees, self.source.arrays(place))[number]
            like = [one for (other, _), one in self._streets.items() if other == place]
            reach = self.before.reach[pot.pot.node]
            found = RealStreets(pot, flop, play, reach, like[0] if like else None)
        self._streets[place, number] = found  # the last to be given up
        while len(self._streets) > OPEN_STREETS:
            del self._streets[next(iter(self._streets))]
        return found

    def _after_the_flop(self, found: WholeLine[int], line: str) -> Decision:
        if self.cards.stores_cards and found.flop is not None:
            place, number = self._where(found)
            way = self._way(number, found)
            if way.cards:
                streets = self.real_streets(place, number)
                words = line_text(streets.pot.tree, way.node, way.cards, BLINDS_AND_CARDS)
                before = line_text(self.game.tree, found.root, notation=BIG_BLINDS)
                shown = streets.at(way, parse_board(found.cards))
                return replace(shown, line=whole_line(before, found.cards, words))
        view, inside = self._view(found, line)
        return view.node(inside, self._words(found, view, inside))

    def _words(self, found: WholeLine[int], view: PotView, inside: int) -> str:
        """The line to a decision on the flop, in its usual words."""
        before = line_text(self.game.tree, found.root, notation=BIG_BLINDS)
        after = line_text(view.pot.tree, inside, notation=BIG_BLINDS)
        return whole_line(before, found.cards, after)

    def _view(self, found: WholeLine[int], line: str) -> tuple[PotView, int]:
        """The pot on the flop that a line leads to, and the decision in its tree."""
        self._require_flops()
        if found.flop is None:
            raise InputError(
                f"line '{line}': a flop is dealt there; name one, such as "
                f"{self.game.flops.flops[0].text}"
            )
        place, number = self._where(found)
        pot = self.pot(number)
        if self.cards.stores_cards:
            inside = self._way(number, found).node
        else:
            inside = find_decision(pot.tree, found.after or "", BIG_BLINDS)
        require_street(self.cards, Street(int(pot.tree.street[inside])), line)
        return self._flop_view(place, number, pot, found.root), inside

    def _where(self, found: WholeLine[int]) -> tuple[int, int]:
        """The place of a line's flop, and the number of its pot."""
        assert found.flop is not None
        place = self._place(found.flop, found.cards)
        return place, [pot.node for pot in self._flop_pots].index(found.root)

    def _way(self, number: int, found: WholeLine[int]) -> Line:
        """The way to a decision where turn and river cards are named."""
        tree, words = self.pot(number).tree, found.after or ""
        way = parse_line(tree, words, parse_board(found.cards), notation=BLINDS_AND_CARDS)
        if tree.kind[way.node] == NodeKind.CHANCE:
            way_on = f"{words.strip()} | 7h |"
            raise InputError(
                f"line '{words.strip()}' after the flop: a card is dealt there: write '{way_on}'"
            )
        if tree.kind[way.node] != NodeKind.DECISION:
            raise InputError(
                f"line '{words.strip()}' after the flop: no player acts there any more"
            )
        return way

    def _refuse_cards(self, line: str) -> None:
        """Refuse a table over flops of a line that names a turn card."""
        after = split_line(line, self.read_root).after or ""
        if self.cards.stores_cards and "|" in after:
            raise InputError(
                f"line '{line}': tables over flops are of decisions on the flop, where turn and "
                "river are real cards"
            )

    def _flop_view(self, place: int, number: int, pot: PotGame, node: int) -> PotView:
        arrays, flop = self.source.arrays(place), self.game.flops.flops[place]
        return PotView(
            pot=pot,
            flop=flop,
            hands=flop_hands(self.cards, flop, arrays.get("held")),
            strategies=self._strategies(arrays, number),
            reach=self.before.reach[node],
            evaluate=_KeptEvs(pot, number, arrays) if f"evs.{number}" in arrays else None,
        )

    def _strategies(self, arrays: Arrays, number: int) -> PackedStrategies:
        streets = self.cards.streets
        stored = tuple(arrays[f"strategy.{number}.{stage}"] for stage in range(len(streets)))
        return PackedStrategies(self.pot(number).tree, streets, stored)

    def _mix(self, node: Decision, line: str, flop: str | None, hand: str) -> Mix:
        found = split_line(line, self.read_root, flop)
        by_class = not self.cards.plays_combos or node.by_combo
        if by_class or found.flop is None or len(hand) < 4:
            return super()._mix(node, line, flop, hand)
        combo = int(COMBO_PERMUTATIONS[found.flop.permutation][parse_combo(hand)])
        places = np.flatnonzero(live(found.flop.flop) == combo)
        if not len(places):
            raise InputError(f"{hand} holds a card of the flop {found.cards}")
        view, inside = self._view(found, line)
        chances = view.strategies.at(inside)[:, int(places[0])]
        return dict(zip(node.actions, chances.tolist(), strict=True))

    def _require_flops(self) -> None:
        if not self.has_flops:
            raise InputError(
                "this solution stores no strategies after the flop (store: preflop, or memory: "
                "per_batch); solve a flop of it with: allstreets solve --from FOLDER --flop …"
            )

    @cached_property
    def _flop_pots(self) -> tuple[FlopPot, ...]:
        return flop_pots(self.game.tree)

    @cached_property
    def _place_of_number(self) -> Mapping[int, int]:
        return {flop.number: place for place, flop in enumerate(self.game.flops.flops)}

    def place_of(self, flop: Flop) -> int | None:
        """The place of a flop in the set; None: it is not one of them."""
        return self._place_of_number.get(flop.number)

    def _place(self, flop: CanonicalFlop, text: str) -> int:
        """The same of a flop that has to be there."""
        place = self.place_of(flop.flop)
        if place is None:
            flops = self.game.flops.flops
            near = near_flops(flops, flop.flop)
            name = text if text == flop.flop.text else f"{text} ({flop.flop.text})"
            raise InputError(
                f"the flop {name} is not among the {len(flops):,} of this solution; near ones: "
                f"{', '.join(one.text for one in near)}"
            )
        return place


class _KeptEvs:
    """EVs by combo as an exact game found them."""

    def __init__(self, pot: PotGame, number: int, arrays: Arrays) -> None:
        self._tree = pot.tree
        self._nodes = pot.tree.decisions(Street.FLOP)
        self._evs, self._action_evs = arrays[f"evs.{number}"], arrays[f"action_evs.{number}"]

    def __call__(self, node: int, reach: list[Floats], met: list[Floats]) -> HandTotals:
        del reach
        tree, place = self._tree, self._nodes.index(node)
        first = int(tree.child_count[self._nodes[:place]].sum())
        rows = slice(first, first + int(tree.child_count[node]))
        # Where no opposing combo is met, there is no EV and nothing to add up.
        evs, action_evs = np.nan_to_num(self._evs[:, place]), np.nan_to_num(self._action_evs[rows])
        return HandTotals(
            (evs[0] * met[0], evs[1] * met[1]), action_evs * met[tree.player_at(node)]
        )


def require_street(cards: CardModel, street: Street, line: str) -> None:
    """Refuse a line to a street of which nothing is stored."""
    if street > cards.last_street:
        raise InputError(
            f"line '{line}': with cards: {cards.kind} the {street.text} is not stored, only "
            f"decisions on the {cards.last_street.text}"
        )


def near_flops(flops: Sequence[Flop], flop: Flop) -> list[Flop]:
    """The flops of a set that are most like another one."""
    return sorted(flops, key=lambda one: _distance(one, flop))[:NEAR]


def _distance(one: Flop, other: Flop) -> tuple[int, int]:
    """How unlike two flops are: suits and pairing before ranks."""
    texture = (one.texture.suits != other.texture.suits) + (
        one.texture.pairing != other.texture.pairing
    )
    ranks = (abs(card_rank(a) - card_rank(b)) for a, b in zip(one.cards, other.cards, strict=True))
    return texture, sum(ranks)

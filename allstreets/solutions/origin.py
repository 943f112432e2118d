"""The whole game that a spot is a flop of, and the distance between its play and exact play.

Both play the same tree from the same ranges; the solution by its card model, the spot by combo. At
a decision their *distance* is the share of the range that acts differently: for each hand class
½ Σ |difference of the chances| over the actions, averaged over the classes as they get there and
meet the opponent's range. 0 is the same play, 1 is never the same action.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from allstreets.base import Floats
from allstreets.betting import BIG_BLINDS, CHIPS_PER_BB, NodeKind, Player, bb_text, line_text
from allstreets.cards import Range
from allstreets.engines import evaluate_flop, lift_flop
from allstreets.games import estimate_spot
from allstreets.solutions.decision import BB, Decision, class_sums
from allstreets.solutions.flop_spot import FlopSpot
from allstreets.solutions.format import number_text, percent_text
from allstreets.solutions.reached import OFF_PATH
from allstreets.solutions.records import OWN_GAME
from allstreets.solutions.spot import SpotSolution, accuracy_text, draft_text
from allstreets.solutions.whole_game import WholeSolution

Evs = tuple[float | None, float | None]  # of OOP and IP in bb over the whole hand; None: unknown


@dataclass(frozen=True)
class RealFigures:
    """A solution's own play of a flop, evaluated with real cards."""

    evs: tuple[float, float]  # of OOP and IP in bb over the whole hand
    loss: float  # mean of both players' best-response gains, a share of the pot


def real_figures(
    result: WholeSolution, spot: FlopSpot, threads: int = 1, free: int | None = None
) -> RealFigures | None:
    """Gains and losses of both players' stored strategies on a flop with real cards.

    None: the solution does not store turn and river there, or `free` bytes of memory are not
    enough.
    """
    if spot.place is None or not result.cards.stores_all_streets:
        return None
    if free is not None and _bytes(spot) > free:
        return None
    flop, stored = spot.flop.flop, result.stored
    pots = [stored.pot(pot.node) for pot in stored.flop_pots]
    arrays = stored.arrays(flop)
    play = lift_flop(result.cards, flop, [pot.tree for pot in pots], arrays)[spot.number]
    pot = pots[spot.number]
    weights: Floats = np.stack([held.hand_weights for held in spot.ranges])  # [2, 169]
    values = evaluate_flop(
        [(pot.tree, pot.payoffs)], flop, [play], weights[:, None, :], threads=threads
    )
    assert values.own is not None
    own, best = (
        [float(weights[player] @ some[player, 0]) / spot.spot.pairs for player in Player]
        for some in (values.own, values.best)
    )
    loss = (sum(best) - sum(own)) / 2 / spot.spot.pot
    return RealFigures((own[0] / CHIPS_PER_BB, own[1] / CHIPS_PER_BB), max(loss, 0.0))


def _bytes(spot: FlopSpot) -> int:
    """The memory of all combos, if strategies are shared about as widely as in rows."""
    full = replace(spot.spot, oop=Range.full(), ip=Range.full())
    return estimate_spot(full, river_groups="suits").process_bytes


@dataclass(frozen=True)
class DecisionDifference:
    """A decision on the flop as the solution plays it and as it is played exactly."""

    line: str  # on the flop, "" is the first decision: "x", "b50%"
    seat: str  # the player who acts: "BB", "SB"
    distance: float  # 0 … 1
    actions: tuple[str, ...]  # [A]
    solution: tuple[float, ...]  # [A]: how often each is taken
    exact: tuple[float, ...]  # [A]


@dataclass(frozen=True)
class Differences:
    """The difference between the solution's own play of a flop and exact play."""

    solution: Evs  # as its own game has it, by the hands of its card model
    exact: Evs
    decisions: tuple[DecisionDifference, ...]  # OOP's first one, and IP's answers to it


@dataclass(frozen=True)
class Origin:
    """The flop and the solution that a spot comes from."""

    line: str  # before the flop
    flop: str  # in the spot's suits
    canonical: str
    fingerprint: str  # of the spot, whichever suits its flop is spelled in
    name: str | None  # of the solution
    stack_bb: str
    cards: str  # its card model
    flops: int  # that it was trained on
    iterations: int
    exploitability: float | None  # in the game of `judged`, mbb/hand
    doubt: str  # why the ranges were not learned; "" where they were
    differences: Differences | None  # None: the solution does not store this flop
    loss: float | None = None  # of its play of the flop with real cards, a share of the pot
    certified: float | None = None  # with real cards, mbb/hand; None: there is no certificate
    judged: str = OWN_GAME  # by which best response `exploitability` was found
    real_evs: Evs | None = None  # of its play of the flop with real cards; None: not evaluated
    paid_bb: tuple[float, float] | None = None  # before the flop; None: in files of old versions
    draft: str | None = None  # the buckets of a draft, in words; None: the spot is solved exactly

    @classmethod
    def of(
        cls,
        result: WholeSolution,
        spot: FlopSpot,
        exact: SpotSolution | None = None,
        real: RealFigures | None = None,
    ) -> "Origin":
        """The origin of a flop; with the solved spot, also their differences."""
        compared = exact is not None and spot.place is not None
        certificate, rules = result.facts.certificate, result.game.rules_of(spot.pot)
        paid = spot.pot.pot / 2 + rules.bb_ante / 2, spot.pot.pot / 2 - rules.bb_ante / 2
        valid = certificate is not None and not certificate.outdated
        return cls(
            line=spot.line,
            flop=spot.cards,
            canonical=spot.flop.flop.text,
            fingerprint=spot.fingerprint,
            name=result.facts.name,
            stack_bb=bb_text(result.rules.stack),
            cards=str(result.cards),
            flops=len(result.game.flops.flops),
            iterations=result.iterations,
            exploitability=result.exploitability,
            doubt=spot.doubt,
            differences=differences(result, spot, exact) if compared and exact else None,
            loss=None if real is None else real.loss,
            certified=certificate.real_exploitability_mbb if valid and certificate else None,
            judged=result.facts.judged,
            real_evs=None if real is None else real.evs,
            paid_bb=(BB.amount(paid[0]), BB.amount(paid[1])),
            draft=None if exact is None or exact.draft is None else draft_text(exact.draft),
        )

    @classmethod
    def read(cls, keys: Mapping[str, Any]) -> "Origin":
        """Read a `mapping`; keys of later versions are ignored."""
        given = {field.name: keys[field.name] for field in fields(cls) if field.name in keys}
        known = given["differences"]
        if known is not None:
            decisions = tuple(
                DecisionDifference(
                    line=decision["line"],
                    seat=decision["seat"],
                    distance=decision["distance"],
                    **{key: tuple(decision[key]) for key in ("actions", "solution", "exact")},
                )
                for decision in known["decisions"]
            )
            given["differences"] = Differences(
                tuple(known["solution"]), tuple(known["exact"]), decisions
            )
        for key in ("real_evs", "paid_bb"):
            if given.get(key) is not None:
                given[key] = tuple(given[key])
        return cls(**given)

    @property
    def counted(self) -> str:
        """The kind of EVs in its own game; real cards where its hands are combos."""
        kind = self.cards.split()[0]
        return "with real cards" if kind == "exact" else f"{OWN_GAME}, by {kind}"

    def mapping(self) -> dict[str, Any]:
        """Plain data, as a manifest stores it."""
        return asdict(self)


def differences(result: WholeSolution, spot: FlopSpot, exact: SpotSolution) -> Differences:
    """The difference between a solution's own play of a flop and the solved spot."""
    assert spot.place is not None
    view = result.stored.view(spot.pot.node, spot.flop.flop)
    tree = view.pot.tree
    first, answers = view.node(0, ""), []
    for child in tree.children_of(0).tolist():
        if tree.kind[child] == NodeKind.DECISION:
            answers.append(child)
    decisions = []
    for node in (0, *answers):
        line = line_text(tree, node, notation=BIG_BLINDS)
        mine, theirs = view.node(node, line), exact.at(line_text(exact.spot.tree, node)).decision
        # A line that no hand reaches was learned by neither.
        if mine.reached and theirs.reached:
            decisions.append(_difference(mine, theirs))
    own, paid = first.whole_hand(), first.paid
    return Differences(
        solution=_known(own.ev(Player.OOP), own.ev(Player.IP)),
        exact=_known(*(exact.evs[p] / CHIPS_PER_BB - paid[p] for p in Player)),
        decisions=tuple(decisions),
    )


def _difference(mine: Decision, theirs: Decision) -> DecisionDifference:
    own = theirs.own
    weights = class_sums(own.classes, own.weights)
    exact, stored = (
        np.array([each.cells(chances) for chances in each.strategy])  # [A, 169]
        for each in (theirs, mine)
    )
    apart = np.abs(exact - stored).sum(axis=0) / 2
    met = (weights > 0) & np.isfinite(apart)
    return DecisionDifference(
        line=mine.line,
        seat=mine.seat,
        distance=float(apart[met] @ weights[met] / weights[met].sum()),
        actions=mine.actions,
        solution=tuple(mine.taken.tolist()),
        exact=tuple(theirs.taken.tolist()),
    )


def _known(oop: float, ip: float) -> Evs:
    return None if math.isnan(oop) else oop, None if math.isnan(ip) else ip


def origin_lines(origin: Origin, reached: float) -> list[str]:
    """The sources of the figures, and their differences; `reached` is a share of the pot."""
    name = f"'{origin.name}'" if origin.name else "the whole-game solution"
    lines = [
        f"Ranges and pot: line '{origin.line}' of {name} ({origin.stack_bb} bb, cards "
        f"{origin.cards}, {origin.iterations:,} iterations), {_worth(origin)}.",
        f"Strategies and EVs: {origin.flop} {_solved(origin, reached)}.",
    ]
    if origin.doubt:
        why = origin.doubt.partition(",")[0]
        entered = origin.doubt.startswith(OFF_PATH)
        meaning = "its range is an entry range." if entered else "its ranges mean little."
        lines.append(f"The line is {why}: {meaning}")
    return [*lines, *difference_lines(origin)]


def origin_head(origin: Origin, reached: float) -> str:
    """The same in a line."""
    name = f"'{origin.name}'" if origin.name else "the whole game"
    parts = [
        f"Ranges and pot from {name}, {origin.line} ({_worth(origin)})",
        f"this flop {_solved(origin, reached)}",
    ]
    differences = origin.differences
    if origin.loss is not None:
        parts.append(f"the solution's own play of it loses {_of_pot(origin.loss)} of the pot")
    if differences is None:
        parts.append("the solution stores no play of this flop to compare with")
    else:
        oop, (evs, counted) = Player.OOP, _own_evs(origin, differences)
        parts.append(
            f"EV of {oop.seat} {_ev(origin, oop, evs)} bb there {counted}, "
            f"{_ev(origin, oop, differences.exact)} here"
        )
        acts = [
            f"{percent_text(decision.distance, 0)} of {decision.seat}'s range"
            for decision in differences.decisions
            if decision.line in ("", "x")
        ]
        if acts:
            parts.append(f"{' and '.join(acts)} act differently at first")
    return " · ".join(parts)


def _solved(origin: Origin, reached: float) -> str:
    """The way in which the spot was solved, and to what share of the pot."""
    text = accuracy_text(reached, draft=origin.draft is not None)
    return text if origin.draft is None else f"is {text} ({origin.draft})"


def difference_lines(origin: Origin) -> list[str]:
    """The difference between the solution's play of the flop and exact play, in words."""
    differences = origin.differences
    if differences is None:
        return [
            "The solution stores no play of this flop to compare with: it was trained on "
            f"{origin.flops:,} of the 1,755."
        ]
    evs, counted = _own_evs(origin, differences)
    seats = [
        f"{player.seat} {_ev(origin, player, evs)} → {_ev(origin, player, differences.exact)} bb"
        for player in Player
    ]
    here = "exact" if origin.draft is None else "draft"
    lines = [f"The solution's own play {counted} → {here}: EV {', '.join(seats)}."]
    own = [f"{player.seat} {_ev(origin, player, differences.solution)} bb" for player in Player]
    if any(_ev(origin, p, evs) != _ev(origin, p, differences.solution) for p in Player):
        lines.append(f"{origin.counted[0].upper()}{origin.counted[1:]}, it has {', '.join(own)}.")
    if origin.loss is not None:
        lines.append(
            f"With real cards its own play of this flop is exploitable for {_of_pot(origin.loss)} "
            "of the pot."
        )
    for decision in differences.decisions:
        where = f" after {decision.line}" if decision.line else " first"
        mixes = zip(decision.actions, decision.solution, decision.exact, strict=True)
        mix = ", ".join(f"{word} {_share(mine)} → {_share(exact)}" for word, mine, exact in mixes)
        lines.append(
            f"{decision.seat}{where}: {mix} %; {percent_text(decision.distance, 0)} of the range "
            "act differently."
        )
    return lines


def _own_evs(origin: Origin, differences: Differences) -> tuple[Evs, str]:
    """EVs of the solution's own play, with real cards where these are known, and their kind."""
    if origin.real_evs is not None:
        return origin.real_evs, "with real cards"
    return differences.solution, origin.counted


def _worth(origin: Origin) -> str:
    """The quality of the solution, by the figures that it has."""
    own = origin.exploitability
    if origin.certified is not None:
        more = "" if own is None else f", {own:.3g} {origin.judged}"
        return f"exploitable for {origin.certified:.3g} mbb/hand with real cards{more}"
    if own is None:
        return "exploitability unknown"
    return f"exploitable for {own:.3g} mbb/hand {origin.judged}"


def _ev(origin: Origin, player: Player, results: Evs) -> str:
    """A player's EV from the flop on, by results of the whole hand."""
    result = results[player]
    if result is None:
        return "–"
    if origin.paid_bb is None:
        return number_text(result, "+", 3)
    return number_text(result + origin.paid_bb[player], digits=3)


def _of_pot(loss: float) -> str:
    return f"{100 * loss:.2g} %"


def _share(value: float) -> str:
    return f"{100 * value:.0f}"

"""The ready-made solution that is nearest to a solved game, and how the two differ.

A game is the same where blinds, antes and rake are, and the first player has the same actions.
Of those games the one whose stack is nearest in ratio is meant, and of equals the one that shares
most decisions. Later decisions are compared where both offer the same actions for the same pot.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log
from typing import Any

from allstreets.analysis import Comparison, compare_decisions
from allstreets.base import InputError
from allstreets.betting import CHIPS_PER_BB
from allstreets.games import rules_mapping
from allstreets.solutions import Certificate, WholeSolution
from allstreets.storage.opening import load
from allstreets.storage.packs import Packed, library

SAME_RULES = ("small_blind", "big_blind", "ante", "bb_ante", "rake", "rake_cap")
FURTHEST = log(1.25)  # of a stack


@dataclass(frozen=True, eq=False)
class ReadyMadeComparison:
    """A solution beside the ready-made one of its game."""

    name: str
    stacks: tuple[float, float]  # in bb, of the solution and of the ready-made one
    certificate: Certificate | None
    values: tuple[float, float] | None  # of both games for the small blind, in mbb/hand
    decisions: tuple[Comparison, ...]  # the first ones; the solution comes first

    def to_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        worth = None if self.certificate is None else self.certificate.real_exploitability_mbb
        return {
            "name": self.name,
            "stacks_bb": list(self.stacks),
            "real_exploitability_mbb": worth,
            "values_sb_mbb": None if self.values is None else list(self.values),
            "decisions": [
                {
                    "line": each.line,
                    "player": each.seat,
                    "distance": each.distance,
                    "frequencies": {
                        word: list(pair)
                        for word, *pair in zip(each.actions, *each.frequencies, strict=True)
                    },
                }
                for each in self.decisions
            ],
        }


def compare_with_ready_made(solution: WholeSolution) -> ReadyMadeComparison | None:
    """A solution beside the ready-made one that is nearest; None: no such game ships."""
    if solution.unit.name != "bb" or solution.locks:
        return None
    near = sorted(
        (distance, packed.name, packed)
        for packed in library().values()
        if (distance := _distance(solution, packed)) <= FURTHEST
    )
    best: tuple[float, Packed, WholeSolution, tuple[Comparison, ...]] | None = None
    for distance, _, packed in near:
        if best is not None and distance > best[0]:
            break
        ready = load(packed.folder(), WholeSolution)
        shared = tuple(_shared(solution, ready))
        begins = bool(shared) and not shared[0].line
        if begins and (best is None or len(shared) > len(best[3])):
            best = distance, packed, ready, shared
    if best is None:
        return None
    _, packed, ready, shared = best
    own, other = solution.values, ready.values
    return ReadyMadeComparison(
        name=packed.name,
        stacks=(solution.rules.stack / CHIPS_PER_BB, packed.stack),
        certificate=ready.certificate,
        values=None if own is None or other is None else (own[1], other[1]),
        decisions=shared,
    )


def _distance(solution: WholeSolution, packed: Packed) -> float:
    """How far a ready-made game is by its stack; infinite: it is another game."""
    here, there = rules_mapping(solution.rules), packed.facts["game"]["preflop"]
    if any((here.get(key) or 0) != (there.get(key) or 0) for key in SAME_RULES):
        return inf
    return abs(log(there["stack"] / here["stack"]))


def _shared(solution: WholeSolution, ready: WholeSolution) -> Iterator[Comparison]:
    """The first decisions that both games have."""
    for line in solution.opening_lines():
        try:
            pair = solution.at(line).decision, ready.at(line).decision
            yield compare_decisions(*pair)
        except InputError:
            continue  # the ready-made game has other actions there

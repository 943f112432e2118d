"""Grading a decision: a solution's view of one hand, and the cost of the played action.

EVs are those of the hand against the opponent's range there, when both players continue as the
solution does. They count from the decision on: folding is 0. The loss is the highest learned EV of
an action less the EV of the played one, and never below 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from allstreets.base import Flags, Floats
from allstreets.betting import (
    BLINDS,
    CHIPS,
    CHIPS_PER_BB,
    Player,
    Street,
    action_in_words,
    line_in_words,
)
from allstreets.cards import HAND_COUNT, HAND_NAMES, HAND_OF_COMBO, combo_text, live_combos
from allstreets.solutions import Decision

NEVER = "the solution never gets here"
ROUGH = "the solution hardly ever does this, so the answer to it and the loss are rough"
OUTSIDE = "the solution never has this hand here"
NO_EVS = "the solution stores no EVs"
SHADE = 1e-3  # of a range's largest weight: people count a hand below it as not in the range
DIGITS = 4  # of the numbers stored in grids
RANGE_DIGITS = 3
CLASS_COMBOS = [np.flatnonzero(hand == HAND_OF_COMBO) for hand in range(HAND_COUNT)]
"""The combos of each class."""
ACTIONS = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise", "a": "all-in"}
"""Actions by the first letter of their word."""
STREETS = {street.text: street for street in Street}
ALIKE = 0.01
"""Fraction of the pot: actions whose EVs differ by less count as equal."""
OFTEN = 0.1
"""From this frequency on an action counts as the solution's own: in a perfect solution it would
cost nothing, so its loss measures the accuracy of the hand's EVs."""
SLACK = 2e-6  # bb: rounding
ANSWER_COLUMNS = (
    *("solution", "folder", "seed", "hand", "seat", "player", "street", "pot_kind", "line"),
    *("board", "cards", "pot_bb", "to_call_bb", "taken", "options", "loss_bb", "note", "repeated"),
)
"""The fields of an answer that are stored and exported, in this order."""
STORED_NAMES = {"evaluated_by": "judged_by"}  # field → key in files

Grid = tuple[tuple[float | None, ...], ...]  # [A, 169]
Record = TypeVar("Record", bound="GradedDecision")


@dataclass(frozen=True)
class Option:
    """An action that could have been taken."""

    action: str  # "f", "x", "c", "b3", "r2.5" (bb), "a"
    frequency: float  # of this hand in the solution
    ev_bb: float | None  # from here on: folding is 0; None: not learned


@dataclass(frozen=True, kw_only=True)
class GradedDecision:
    """A decision of a player, and the solution's view of it. Amounts are in big blinds."""

    place: int = 0  # among the actions of the hand
    street: str
    line: str  # the line before it: "r2.5 c | QsJh2h | x"
    board: str
    pot_bb: float  # before it, with the price of a call; a bet counts as far as it can be called
    to_call_bb: float
    stack_bb: float = 0.0  # the chips that both can still bet
    taken: str
    counted_as: str = ""  # the action of the tree that it was graded as; "": `taken`, or none
    options: tuple[Option, ...] = ()
    loss_bb: float | None = None  # None: not graded, and the note says why
    within_bb: float | None = None  # the most that better play gains, on average over the range
    note: str = ""
    evaluated_by: str = ""  # the source of the figures, in words
    solved_to: float | None = None  # a spot's exploitability, of its pot; None: not a spot
    ranges: tuple[str, str] = ("", "")  # of OOP and IP at this decision
    strategy: Grid = ()  # of the player's range by hand class
    evs_bb: Grid = ()

    @property
    def best(self) -> Option | None:
        """The action with the highest EV; among equals, the most frequent."""
        losses = self._losses
        alike = [option for option, loss in losses if loss <= ALIKE * self.pot_bb]
        return max(alike, key=lambda option: option.frequency, default=None)

    @property
    def tolerance_bb(self) -> float:
        """The loss up to which a decision is right.

        It is that of the solution's own actions, or the negligible one.
        """
        own = [loss for option, loss in self._losses if option.frequency >= OFTEN]
        return max([ALIKE * self.pot_bb, *own])

    @property
    def missed(self) -> bool:
        """Whether the decision costs more than the accuracy of the solution's EVs."""
        return self.loss_bb is not None and self.loss_bb > self.tolerance_bb + SLACK

    @property
    def _losses(self) -> list[tuple[Option, float]]:
        """Options whose EVs are known, with their losses."""
        known = [(option, ev) for option in self.options if (ev := option.ev_bb) is not None]
        top = max((ev for _, ev in known), default=0.0)
        return [(option, top - ev) for option, ev in known]

    @property
    def best_action(self) -> str | None:
        """The word of that action."""
        return None if self.best is None else self.best.action

    @property
    def did(self) -> str:
        """The action that was taken, in words."""
        return action_in_words(self.taken, self.line)

    @property
    def better(self) -> str:
        """The best action, in words; "": it is not known."""
        return "" if self.best is None else action_in_words(self.best.action, self.line)

    @property
    def frequency(self) -> float | None:
        """The solution's frequency of the action that was taken."""
        word = self.counted_as or self.taken
        return next((option.frequency for option in self.options if option.action == word), None)

    def to_json(self) -> dict[str, Any]:
        """The decision as JSON data, by the names in files."""
        return {STORED_NAMES.get(name, name): value for name, value in asdict(self).items()}

    @staticmethod
    def fields_of(data: Mapping[str, Any]) -> dict[str, Any]:
        """The same data by the names of fields."""
        names = {key: name for name, key in STORED_NAMES.items()}
        return {names.get(key, key): value for key, value in data.items()}


@dataclass(frozen=True, kw_only=True)
class Answer(GradedDecision):
    """A decision of the player, with the hand and the solution that it was made in."""

    solution: str
    folder: str
    seed: int
    hand: int  # the number of the hand among those of the seed
    seat: str  # "BB", "SB", "OOP", "IP"
    player: str  # "oop" or "ip"
    pot_kind: str
    cards: str
    repeated: bool = False  # whether it is a repetition

    @property
    def words(self) -> str:
        """The line in words."""
        if self.seat in BLINDS:
            return line_in_words(self.line)
        deals = (self.line.count("|") + 1) // 2
        return line_in_words(self.line, CHIPS, Street(STREETS[self.street] - deals))

    def mapping(self) -> dict[str, Any]:
        """The answer as plain data."""
        data = {name: getattr(self, name) for name in ANSWER_COLUMNS}
        return {**data, "options": [asdict(option) for option in self.options]}


def grade(
    bare: Record,
    decision: Decision,
    combo: int,
    taken: int,
    *,
    words: Sequence[str] | None = None,
    chips_per_bb: float = CHIPS_PER_BB,
) -> Record:
    """A decision with its options, its loss and a note on both.

    `combo` took action number `taken`; `words` [A] name the actions, by default as in lines.
    """
    words = decision.actions if words is None else words
    hand = hand_index(decision, combo)
    if hand is None:
        return replace(bare, note=f"{NEVER} with this hand")
    mix = np.round(np.nan_to_num(decision.strategy[:, hand]), 6)
    if not decision.reached:
        options = tuple(Option(*pair, None) for pair in zip(words, mix.tolist(), strict=True))
        return replace(bare, options=options, note=f"{NEVER}: {why_never(decision)}")
    known = decision.evaluate().actions
    evs = _in_bb(decision, known[:, hand], chips_per_bb)
    shown = decision.known_actions.copy()
    rough = not shown[taken]
    best = np.max(evs[shown & np.isfinite(evs)], initial=-np.inf)
    shown[taken] = True
    options = tuple(
        Option(word, chance, _rounded(ev) if seen and np.isfinite(ev) else None)
        for word, chance, ev, seen in zip(words, mix.tolist(), evs.tolist(), shown, strict=True)
    )
    if not np.isfinite(evs[taken]):
        blocked = f"{NEVER}: no hand of the other player's range fits beside this one"
        note = blocked if np.isfinite(known).any() else NO_EVS
        return replace(bare, options=options, note=note)
    loss = max(float(best) - float(evs[taken]), 0.0)
    return replace(bare, options=options, loss_bb=_rounded(loss), note=ROUGH if rough else "")


def with_evidence(graded: GradedDecision, decision: Decision) -> GradedDecision:
    """A graded decision with both ranges, and the strategy of the player's range by hand class.

    A class that is not in the range has no strategy, and an EV that was not learned is None.
    """
    held, live = decision.reach_cells(decision.player), live_combos(decision.board)
    in_range = held > SHADE * held.max(initial=0.0)
    strategy = [decision.cells(row) for row in decision.strategy]
    evs = np.array([decision.cells(row, evs=True) for row in decision.action_evs])
    oop, ip = (_range_text(decision.combo_weights(player), live) for player in Player)
    return replace(
        graded,
        ranges=(oop, ip),
        strategy=_grid(np.where(in_range, strategy, np.nan)),
        evs_bb=_grid(_in_bb(decision, evs)),
    )


def within(exploitability: float, share: float) -> float | None:
    """The most that better play gains at a decision, on average over the hands that reach it.

    In the unit of `exploitability`; `share` is the part of all dealt hands that gets to the
    decision. Improving one decision gains no more than a best response, which is at most twice the
    exploitability, and only as often as play gets there. It is a mean over the range: for one hand
    it is a bound only when divided by that hand's share of the range.
    """
    return _rounded(2 * exploitability / share) if share > 0 else None


def hand_index(decision: Decision, combo: int) -> int | None:
    """The index of a combo among the hands that act at a decision; None: it is not one of them."""
    if decision.own.combos is None:
        return int(HAND_OF_COMBO[combo])
    indices = np.flatnonzero(decision.own.combos == combo)
    return int(indices[0]) if len(indices) else None


def weight_of(decision: Decision, combo: int) -> float:
    """The weight of a combo in the range that acts, of the largest."""
    hand, largest = hand_index(decision, combo), float(decision.reach.max(initial=0.0))
    return float(decision.reach[hand]) / largest if hand is not None and largest > 0 else 0.0


def why_never(decision: Decision) -> str:
    """The player who does not get there, in a few words."""
    shares = decision.line_reach.shares
    least = Player(int(np.argmin(shares)))
    return f"{decision.unit.seats[least]} does so with {share_text(shares[least])} of his range"


def share_text(share: float) -> str:
    """A share of a range: "0.031 %", "none"."""
    return f"{100 * share:.2g} %" if share > 0 else "none"


def _in_bb(decision: Decision, evs: Floats, chips_per_bb: float = CHIPS_PER_BB) -> Floats:
    scale = 1.0 if decision.unit.name == "bb" else chips_per_bb
    in_bb: Floats = evs / scale
    return in_bb


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0  # no −0


def _range_text(weights: Floats, live: Flags) -> str:
    """Classes, or their combos where these differ; the shortest text of a range takes too long."""
    largest = float(weights.max(initial=0.0))
    if largest <= 0:
        return ""
    rounded = np.round(weights / largest, RANGE_DIGITS)
    words = []
    for name, combos in zip(HAND_NAMES, CLASS_COMBOS, strict=True):
        left = combos[live[combos]]
        held = rounded[left]
        if held.any() and (held == held[0]).all():
            words.append(_weighed(name, held[0]))
        else:
            words += [_weighed(combo_text(c), rounded[c]) for c in left[held > 0].tolist()]
    return ",".join(words)


def _weighed(name: str, weight: float) -> str:
    return name if weight == 1 else f"{name}:{weight:g}"


def _grid(values: Floats) -> Grid:
    return tuple(
        tuple(round(value, DIGITS) if np.isfinite(value) else None for value in row)
        for row in np.asarray(values).tolist()
    )

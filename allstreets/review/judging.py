"""What a decision of a solution says of one hand and of what was done with it.

EVs are the hand's, against the range that the other player brings there, both players going on as
the solution does. They count from the decision on: folding is 0. The loss is the highest EV of an
action that was learned, less that of the one that was taken, and never below 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Flags, Floats
from allstreets.betting import BIG_BLINDS, CHIPS_PER_BB, BettingTree, Player, action_text
from allstreets.cards import HAND_COUNT, HAND_NAMES, HAND_OF_COMBO, combo_text, live_combos
from allstreets.review.records import Grid, Option
from allstreets.solutions import Decision

NEVER = "the solution never gets here"
ROUGH = "the solution hardly ever does this, so the answer to it and the loss are rough"
OUTSIDE = "the solution never has this hand here"
NO_EVS = "the solution stores no EVs"
SHADE = 1e-3  # of a range's largest weight: a hand below it is not in the range, for people
DIGITS = 4  # of what is stored in grids
RANGE_DIGITS = 3
CLASS_COMBOS = [np.flatnonzero(hand == HAND_OF_COMBO) for hand in range(HAND_COUNT)]
"""The combos of each class."""


@dataclass(frozen=True)
class Judgement:
    """The options of a hand, and what the taken one cost."""

    options: tuple[Option, ...]
    loss: float | None
    note: str


def judge(
    decision: Decision,
    words: Sequence[str],
    combo: int,
    taken: int,
    chips_per_bb: float = CHIPS_PER_BB,
) -> Judgement:
    """Judge action number `taken` of a combo at a decision; `words` [A] name its actions."""
    hand = hand_place(decision, combo)
    if hand is None:
        return Judgement((), None, f"{NEVER} with this hand")
    mix = np.round(np.nan_to_num(decision.strategy[:, hand]), 6)
    if not decision.reached:
        options = tuple(Option(*one, None) for one in zip(words, mix.tolist(), strict=True))
        return Judgement(options, None, f"{NEVER}: {why_never(decision)}")
    evs = _in_bb(decision, decision.evaluate().actions[:, hand], chips_per_bb)
    shown = decision.known_actions.copy()
    rough = not shown[taken]
    best = np.max(evs[shown & np.isfinite(evs)], initial=-np.inf)
    shown[taken] = True
    options = tuple(
        Option(word, chance, _rounded(ev) if seen and np.isfinite(ev) else None)
        for word, chance, ev, seen in zip(words, mix.tolist(), evs.tolist(), shown, strict=True)
    )
    if not np.isfinite(evs[taken]):
        known = np.isfinite(decision.evaluate().actions).any()
        blocked = f"{NEVER}: no hand of the other player's range fits beside this one"
        return Judgement(options, None, blocked if known else NO_EVS)
    loss = max(float(best) - float(evs[taken]), 0.0)
    return Judgement(options, _rounded(loss), ROUGH if rough else "")


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0  # no −0


def within(exploitability: float, share: float) -> float | None:
    """The most that better play gains at a decision, on the mean of the hands that get there.

    In the unit of `exploitability`; `share`: how much of all that is dealt there gets to the
    decision. Who does better at one decision alone gains no more than a best response does, which
    is at most twice the exploitability; and he gains it only as often as play gets there. It is a
    mean over the range: for one hand it is a bound only when divided by that hand's share of it.
    """
    return _rounded(2 * exploitability / share) if share > 0 else None


def option_words(tree: BettingTree, node: int) -> list[str]:
    """The actions of a decision, amounts in big blinds: "x", "b3", "r7.5", "a"."""
    return [action_text(action, BIG_BLINDS) for action in tree.actions_at(node)]


def weight_of(decision: Decision, combo: int) -> float:
    """The weight of a combo in the range that acts, of the largest."""
    hand, largest = hand_place(decision, combo), float(decision.reach.max(initial=0.0))
    return float(decision.reach[hand]) / largest if hand is not None and largest > 0 else 0.0


def range_texts(decision: Decision) -> tuple[str, str]:
    """Both ranges at a decision, largest weights 1; "" where nothing is left of one."""
    live = live_combos(decision.board)
    oop, ip = (_range_text(decision.combo_weights(player), live) for player in Player)
    return oop, ip


def strategy_grid(decision: Decision) -> Grid:
    """[A, 169]: how often each class acts so; None: it is not in the range."""
    held = decision.reach_cells(decision.player)
    there = held > SHADE * held.max(initial=0.0)
    return _grid(np.where(there, [decision.cells(row) for row in decision.strategy], np.nan))


def ev_grid(decision: Decision) -> Grid:
    """[A, 169]: EVs of each class in big blinds from here on; None: not learned."""
    cells = [decision.cells(row, evs=True) for row in decision.action_evs]
    return _grid(_in_bb(decision, np.array(cells)))


def hand_place(decision: Decision, combo: int) -> int | None:
    """The place of a combo among the hands that act at a decision; None: it is not one of them."""
    if decision.own.combos is None:
        return int(HAND_OF_COMBO[combo])
    found = np.flatnonzero(decision.own.combos == combo)
    return int(found[0]) if len(found) else None


def _in_bb(decision: Decision, evs: Floats, chips_per_bb: float = CHIPS_PER_BB) -> Floats:
    """EVs of the player who acts, in big blinds and from here on."""
    scale = 1.0 if decision.unit.name == "bb" else chips_per_bb
    found: Floats = evs / scale
    return found


def why_never(decision: Decision) -> str:
    """Who does not get there, in a few words."""
    shares = decision.line_reach.shares
    least = Player(int(np.argmin(shares)))
    share = f"{100 * shares[least]:.2g} %" if shares[least] > 0 else "none"
    return f"{least.seat} does so with {share} of his range"


def _range_text(weights: Floats, live: Flags) -> str:
    """Classes, or their combos where these differ; the shortest text of a range takes too long."""
    largest = float(weights.max(initial=0.0))
    if largest <= 0:
        return ""
    rounded = np.round(weights / largest, RANGE_DIGITS)
    words = []
    for name, combos in zip(HAND_NAMES, CLASS_COMBOS, strict=True):
        some = combos[live[combos]]
        held = rounded[some]
        if held.any() and (held == held[0]).all():
            words.append(_weighed(name, held[0]))
        else:
            words += [_weighed(combo_text(one), rounded[one]) for one in some[held > 0].tolist()]
    return ",".join(words)


def _weighed(name: str, weight: float) -> str:
    return name if weight == 1 else f"{name}:{weight:g}"


def _grid(values: Floats) -> Grid:
    return tuple(
        tuple(round(value, DIGITS) if np.isfinite(value) else None for value in row)
        for row in np.asarray(values).tolist()
    )

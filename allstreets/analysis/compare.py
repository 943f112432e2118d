"""Two solutions compared: at one decision, and as a whole.

`Comparison`: both strategies and EVs at the same decision, and the hands that differ most. The
distance of two strategies of a hand is half the sum of the differences of its actions' frequencies,
0 to 1: the share of the time that it acts differently. A hand counts by its share of the range that
gets there, the mean of both solutions; so the distance of two ranges is that of a hand drawn from
them. Where no player acts, there are only EVs.

`Difference`: both players' EVs and the frequencies of actions at some decisions, before and after a
change such as a lock. Both solutions are of the same spot, or of the same game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from allstreets.analysis.board_report import combo_pairs, report_of
from allstreets.base import Floats, InputError, Longs, quotient
from allstreets.betting import BIG_BLINDS, Player
from allstreets.cards import (
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    MADE,
    cards_text,
    combo_text,
    hand_categories,
)
from allstreets.games import Bound, lock_bounds, named_action
from allstreets.solutions import (
    CHIPS,
    Decision,
    SpotSolution,
    Unit,
    WholeSolution,
    class_sums,
    number_text,
    percent_text,
)

Pair = tuple[float, float]  # of the first and the second solution


@dataclass(frozen=True)
class HandDifference:
    """A hand of the player who acts, in both solutions. NaN: not known."""

    name: str  # a combo, or one of the 169 hands
    hand: int  # which of the 169 it is
    share: float  # of the range that gets here
    frequencies: tuple[tuple[float, ...], tuple[float, ...]]  # [A] of both
    evs: Pair
    distance: float  # of its strategies, 0 … 1

    @property
    def weighted(self) -> float:
        """The hand's contribution to the distance of the ranges."""
        return self.share * self.distance

    @property
    def in_both(self) -> bool:
        """Whether it gets here in both solutions."""
        return not np.isnan([chances[0] for chances in self.frequencies]).any()

    @property
    def gain(self) -> float:
        """The hand's gain in the second solution."""
        return self.evs[1] - self.evs[0]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A node in two solutions."""

    line: str
    player: Player | None  # the player who acts; None: there are neither actions nor hands
    unit: Unit
    actions: tuple[str, ...]
    labels: tuple[str, ...]
    frequencies: tuple[tuple[float, ...], tuple[float, ...]]  # [A] of both
    evs: tuple[Pair, Pair]  # of OOP and IP in both
    reached: tuple[bool, bool]
    hands: tuple[HandDifference, ...]  # the largest weighted difference first
    notes: tuple[str, ...] = ()  # other differences between the solutions
    noise: float = 0.0  # EVs that differ by less may be those of one equilibrium

    @property
    def distance(self) -> float:
        """The share of the range that acts differently, 0 … 1; NaN where no player acts."""
        return float("nan") if self.player is None else sum(hand.weighted for hand in self.hands)

    @property
    def seat(self) -> str:
        """The usual name of the player who acts."""
        return "nobody" if self.player is None else self.unit.seats[self.player]

    @property
    def gains(self) -> Pair:
        """Gains of OOP and IP in the second solution."""
        oop, ip = (second - first for first, second in self.evs)
        return oop, ip

    def gain_text(self, noise: float | None = None) -> str:
        """The player who gains in the second solution; differences up to `noise` are ignored."""
        noise = self.noise if noise is None else noise
        told, digits = [], 2 if self.unit is CHIPS else 3
        largest = round(max(map(abs, self.gains)), digits)
        if 0 < largest <= noise:
            return f"No difference beyond {noise:,.{digits}f} {self.unit.name}."
        for player in self.unit.order:
            gain = round(self.gains[player], digits)
            if not np.isfinite(gain):
                return "EVs are not known."
            if gain:
                how = "gains" if gain > 0 else "loses"
                told.append(f"{self.unit.seats[player]} {how} {abs(gain):,.{digits}f}")
        return f"{', '.join(told)} {self.unit.name}." if told else "EVs are the same."

    def cells(self) -> Floats:
        """[169]: how often a hand of each class acts differently; NaN: not in both solutions.

        Means over combos, so that the cells add up to the distance by their shares of the range.
        """
        classes = np.array([hand.hand for hand in self.hands], np.int64)
        weighted = class_sums(classes, np.array([hand.weighted for hand in self.hands]))
        shares = class_sums(classes, np.array([hand.share for hand in self.hands]))
        both = class_sums(classes, np.array([float(hand.in_both) for hand in self.hands]))
        return quotient(weighted, np.where(both > 0, shares, 0.0))

    def table(self) -> list[dict[str, Any]]:
        """One row per hand, for CSV and JSON; _a is the first solution, _b the second."""
        rows = []
        for hand in self.hands:
            row: dict[str, Any] = {"hand": hand.name, "share": hand.share}
            for index, word in enumerate(self.actions):
                row |= {f"{word}_a": hand.frequencies[0][index]}
                row |= {f"{word}_b": hand.frequencies[1][index]}
            unit = self.unit.column
            row |= {f"ev{unit}_a": hand.evs[0], f"ev{unit}_b": hand.evs[1]}
            rows.append({**row, "distance": hand.distance, "weighted": hand.weighted})
        return rows


def compare_decisions(first: Decision, second: Decision, notes: tuple[str, ...] = ()) -> Comparison:
    """A node in two solutions of a game; hands are combos where both solutions have them."""
    for what, one, other in (
        ("the board", cards_text(first.board), cards_text(second.board)),
        ("who acts", _seat(first), _seat(second)),
        ("the pot", first.pot, second.pot),
        ("the actions", ", ".join(first.actions), ", ".join(second.actions)),
    ):
        if one != other:
            raise InputError(f"the decisions differ in {what}: {one} and {other}")
    hands = () if first.actor is None else _hands(first, second)
    taken = first.taken, second.taken
    values = [(first.ev(player), second.ev(player)) for player in Player]
    return Comparison(
        first.line,
        first.actor,
        first.unit,
        first.actions,
        first.labels,
        (tuple(taken[0].tolist()), tuple(taken[1].tolist())),
        (values[0], values[1]),
        (first.reached, second.reached),
        hands,
        notes,
    )


def _seat(node: Decision) -> str:
    return "nobody" if node.actor is None else node.seat


def _hands(first: Decision, second: Decision) -> tuple[HandDifference, ...]:
    """The acting player's hands that get here in either, the largest weighted difference first."""
    by_combo = first.by_combo and second.by_combo
    names, shares, played, evs = [], [], [], []
    for node in (first, second):
        held = _combos(node) if by_combo else _classes(node)
        names.append(held[0])
        shares.append(held[1])
        played.append(held[2])
        evs.append(held[3])
    here = dict.fromkeys([*names[0].tolist(), *names[1].tolist()])
    hands = [_difference(hand, by_combo, names, shares, played, evs) for hand in here]
    return tuple(sorted(hands, key=lambda hand: -hand.weighted))


def _combos(node: Decision) -> tuple[Any, Floats, Floats, Floats]:
    """(combos, their shares of the range, strategy [A, H], EVs) of those that get here."""
    there = node.own.weights > 0
    share = node.own.weights / (node.own.weights.sum() or 1.0)
    return node.combos[there], share[there], node.strategy[:, there], node.evs()[there]


def _classes(node: Decision) -> tuple[Any, Floats, Floats, Floats]:
    """The same by hand class, means over the combos of each as they meet the other's range."""
    own = node.own
    weights = class_sums(own.classes, own.weights)

    def mean(values: Floats) -> Floats:
        live = np.where(np.isfinite(values), own.weights, 0.0)
        sums = class_sums(own.classes, np.nan_to_num(values) * live)
        return quotient(sums, class_sums(own.classes, live))

    there = np.flatnonzero(weights > 0)
    share = weights / (weights.sum() or 1.0)
    played = np.array([mean(row)[there] for row in node.strategy])
    assert len(weights) == HAND_COUNT
    return there, share[there], played, mean(node.evs())[there]


def _difference(
    hand: int,
    by_combo: bool,
    names: list[Any],
    shares: list[Floats],
    played: list[Floats],
    evs: list[Floats],
) -> HandDifference:
    """A hand in both; one that only gets here in one solution plays there alone."""
    share, chances, values = 0.0, [], []
    for side in range(2):
        columns = np.flatnonzero(names[side] == hand)
        if len(columns):
            share += float(shares[side][columns[0]]) / 2
            chances.append(played[side][:, columns[0]])
            values.append(float(evs[side][columns[0]]))
        else:
            chances.append(np.full(played[side].shape[0], np.nan))
            values.append(float("nan"))
    apart = np.abs(chances[0] - chances[1]).sum() / 2
    return HandDifference(
        combo_text(hand) if by_combo else str(HAND_NAMES[hand]),
        int(HAND_OF_COMBO[hand]) if by_combo else hand,
        share,
        (tuple(chances[0].tolist()), tuple(chances[1].tolist())),
        (values[0], values[1]),
        0.0 if np.isnan(apart) else float(apart),
    )


Two = tuple[float, float]  # before and after; NaN where it is not known
Solved: TypeAlias = SpotSolution | WholeSolution
HELD = 0.003  # of a frequency: this close to the request, it holds
MOVED = 0.005  # of a hand's strategy: less is rounding
NAMED_HANDS = 8  # of those that have moved
SELDOM = 0.005  # of the hands that have moved: a category with less is not named
MOSTLY = 0.99  # of the hands that have moved: with EVs for this share the losses count as known
MBB_PER_WIN = 10  # mbb/hand in a bb/100, as people count what they win


@dataclass(frozen=True)
class ActionChange:
    """An action in both solutions; NaN in the one that does not offer it."""

    word: str
    label: str
    frequency: Two
    asked: Bound | None = None  # the frequency that a lock requests

    @property
    def missed(self) -> float:
        """The distance of the new frequency from the request; NaN: no hand gets there any more."""
        if self.asked is None:
            return 0.0
        after = self.frequency[1]
        return max(self.asked.least - after, after - self.asked.most, 0.0 * after)

    @property
    def asked_text(self) -> str:
        """The requested frequencies and the resulting ones; empty where none were requested.

        A lock is made for the hands that got there before: in the new solution others may.
        """
        if self.asked is None:
            return ""
        text, after = f"asked {self.asked.words}", self.frequency[1]
        if np.isnan(after):
            return f"{text}, no hand gets there any more"
        if self.missed <= HELD:
            return f"{text}, holds {percent_text(after)}"
        return (
            f"{text}, {percent_text(after)} after re-solving "
            "(the range that gets there has changed)"
        )


@dataclass(frozen=True)
class DecisionChange:
    """A decision in both solutions."""

    line: str
    seat: str  # who acts
    pot: float
    unit: str  # of the pot and the EVs
    evs: tuple[Two, Two]  # of OOP and IP: of a spot from here on, of a game results of the hand
    actions: tuple[ActionChange, ...]
    moved: str = ""  # the hands that a lock has moved, in a sentence


@dataclass(frozen=True)
class Difference:
    """Two solutions side by side."""

    unit: str  # of the EVs at the start: chips, or mbb/hand
    pot: float | None  # chips at the start of a spot; None: a whole game
    seats: tuple[str, str]  # of OOP and IP
    evs: tuple[Two, Two]  # of OOP and IP, at the start
    doubt: float  # the largest error of both together
    places: tuple[DecisionChange, ...]

    def mapping(self) -> dict[str, Any]:
        """The comparison as JSON data; what is not known is None."""

        def two(name: str, pair: Two) -> dict[str, float | None]:
            before, after = (value if np.isfinite(value) else None for value in pair)
            return {f"{name}_before": before, f"{name}_after": after}

        def both(pairs: tuple[Two, Two]) -> dict[str, float | None]:
            return {**two("ev_oop", pairs[0]), **two("ev_ip", pairs[1])}

        return {
            "unit": self.unit,
            **both(self.evs),
            "places": [
                {
                    "line": change.line,
                    "player": change.seat,
                    **both(change.evs),
                    **({"moved": change.moved} if change.moved else {}),
                    "actions": [
                        {
                            "action": action.word,
                            **two("frequency", action.frequency),
                            **({} if action.asked is None else {"asked": action.asked.text}),
                        }
                        for action in change.actions
                    ],
                }
                for change in self.places
            ],
        }


def difference(
    before: Solved, after: Solved, lines: Sequence[str] = (), asked: Sequence[Bound] = ()
) -> Difference:
    """Both solutions at the start, and at the decisions of some lines that both have.

    A line of a whole game that names no flop means all flops. `asked` are the frequencies of
    the request that made the locks; those that locks of the second solution name are known.
    """
    changes = (_place(before, after, line, asked) for line in lines)
    places = tuple(change for change in changes if change is not None)
    old, new, unknown = before.figures, after.figures, (float("nan"), float("nan"))
    oop, ip = zip(old.evs or unknown, new.evs or unknown, strict=True)
    doubt = _known(old.accuracy, new.accuracy)
    return Difference(old.ev_unit, old.pot, before.unit.seats, (oop, ip), doubt, places)


def _known(*exploitabilities: float | None) -> float:
    return sum(share for share in exploitabilities if share is not None and np.isfinite(share))


def change_lines(difference: Difference) -> list[str]:
    """The change in words: a head, then EVs and frequencies, each before and after."""
    rows = [f"{'':24}{'before':>10}{'after':>10}{'change':>10}"]
    unit = "" if difference.pot is not None else f", {difference.unit}"
    for player in Player:
        rows.append(_amounts(f"EV {difference.seats[player]}{unit}", difference.evs[player]))
    for change in difference.places:
        where = f"'{change.line}'" if change.line else "the first decision"
        in_bb = " bb" if change.unit == BIG_BLINDS.unit else ""
        rows += ["", f"At {where}, pot {change.pot:g}{in_bb}, {change.seat} to act"]
        end = ", bb" if in_bb else " from here"
        rows += [_amounts(f"EV {difference.seats[p]}{end}", change.evs[p]) for p in Player]
        for action in change.actions:
            before, after = action.frequency
            gain = round(100 * (after - before), 1) + 0.0  # no minus before a zero
            signed = f"{gain:+.1f}" if np.isfinite(gain) else ""
            rows.append(
                f"{action.label:24}{percent_text(before):>10}{percent_text(after):>10}{signed:>10}"
            )
            if action.asked is not None:
                rows.append(f"  {action.asked_text}")
        rows += [change.moved] if change.moved else []
    return [*rows, "", gain_text(difference)]


def gain_text(difference: Difference) -> str:
    """The player who gains, in a line, with the accuracy."""
    gains = [after - before for before, after in difference.evs]
    if not np.isfinite(gains).all():
        return "The value of the game is not known in both solutions."
    player = Player(int(np.argmax(gains)))
    if gains[player] <= difference.doubt:
        return (
            f"The EVs differ by {number_text(max(gains[player], 0.0))} {difference.unit}, and are "
            f"known to within {number_text(difference.doubt)}: a smaller target shows who gains."
        )
    loss = -gains[player.opponent]
    share = (
        f"{number_text(gains[player] / MBB_PER_WIN)} bb/100"
        if difference.pot is None
        else f"{percent_text(gains[player] / difference.pot, 2)} of the pot"
    )
    return (
        f"{difference.seats[player]} gains {number_text(gains[player])} {difference.unit} "
        f"({share}), {difference.seats[player.opponent]} loses {number_text(loss)}; EVs are known "
        f"to within {number_text(difference.doubt)} {difference.unit}."
    )


@dataclass(frozen=True)
class _Shown:
    """A decision, or one on all flops together."""

    seat: str
    pot: float
    unit: str
    evs: Two  # of OOP and IP
    labels: dict[str, str]  # by action
    frequencies: dict[str, float]
    decisions: list[tuple[float, Decision]]  # with the weights of their boards


def _place(
    before: Solved, after: Solved, line: str, asked: Sequence[Bound]
) -> DecisionChange | None:
    try:
        old, new = _shown(before, line), _shown(after, line)
    except InputError:  # one of the trees does not have it
        return None
    labels = {**new.labels, **{k: v for k, v in old.labels.items() if k not in new.labels}}
    nan, words = float("nan"), list(new.labels)
    bounds = {words[index]: bound for index, bound in _asked(after, line, asked).items()}
    actions = tuple(
        ActionChange(
            word,
            label,
            (old.frequencies.get(word, nan), new.frequencies.get(word, nan)),
            bounds.get(word),
        )
        for word, label in labels.items()
    )
    oop, ip = zip(old.evs, new.evs, strict=True)
    boards = [
        (weight, one, other)
        for (weight, one), (_, other) in zip(old.decisions, new.decisions, strict=False)
        if one.board == other.board
    ]
    moved = moved_text(boards, bool(bounds)) if len(boards) == len(new.decisions) else ""
    return DecisionChange(line.strip(), new.seat, new.pot, new.unit, (oop, ip), actions, moved)


Twice = tuple[float, Decision, Decision]  # a board's weight, and the decision before and after


def moved_text(boards: Sequence[Twice], asked: bool) -> str:
    """The hands that a lock moved to other actions, those that lose least first; "": none.

    On several boards they are named by category. A loss is that of EV in the solution before, the
    mean of the hands under a name that move. Of a lock that was `asked` for a frequency, the text
    also says that none had to move.
    """
    if not boards or not all(_is_locked(before, after) for _, before, after in boards):
        return ""
    many = len(boards) > 1
    names: Sequence[str] = MADE if many else HAND_NAMES
    moved, known, lost = np.zeros((3, len(names)))
    total = 0.0
    change = np.zeros(len(boards[0][1].actions))
    for weight, before, after in boards:
        groups, parts, losses, weights = _moves(before, after, by_category=many)
        has_loss = np.isfinite(losses)
        masses = (weight * parts * weights, weight * np.where(has_loss, parts, 0.0) * weights)
        moved += np.bincount(groups, masses[0], minlength=len(names))
        known += np.bincount(groups, masses[1], minlength=len(names))
        lost += np.bincount(
            groups, np.where(has_loss, losses, 0.0) * masses[1], minlength=len(names)
        )
        total += weight * float(weights.sum())
        gained = np.nan_to_num(after.strategy - before.strategy)
        change += weight * (gained @ after.own.weights)
    held = np.flatnonzero(moved > (SELDOM * moved.sum() if many else 0.0))
    if not held.size:
        return "No hand had to move: the solution plays like that already." if asked else ""
    means = quotient(lost[held], known[held])
    order = np.argsort(means, kind="stable")  # those that are not known last
    listed = ", ".join(
        f"{names[at]} ({percent_text(float(moved[at] / total))})" if many else str(names[at])
        for at in held[order][:NAMED_HANDS].tolist()
    )
    listed += f" and {len(held) - NAMED_HANDS} more" if len(held) > NAMED_HANDS else ""
    unit, cost = boards[0][1].unit.name, "the cost of each is not known"
    means = means[np.isfinite(means)]
    if means.size:
        least, most = (number_text(max(float(end), 0.0)) for end in (means.min(), means.max()))
        cost = f"each gives up {most if least == most else f'{least} to {most}'} {unit}"
        cost += "" if known.sum() > MOSTLY * moved.sum() else ", where it is known"
    return (
        f"Moved, mostly to {boards[0][2].labels[int(np.argmax(change))]}: "
        f"{percent_text(float(moved.sum() / total))} of the range, those that lose least first: "
        f"{listed}; {cost}."
    )


def _is_locked(before: Decision, after: Decision) -> bool:
    """Whether a lock holds after, and hands can be told apart as before."""
    same = before.by_combo == after.by_combo and before.actions == after.actions
    alike = np.array_equal(before.own.classes, after.own.classes)
    return same and alike and bool(after.locked.any())


def _moves(
    before: Decision, after: Decision, *, by_category: bool
) -> tuple[Longs, Floats, Floats, Floats]:
    """[M] each: name, part that moves, EV that it gives up, and weight of hands on a board.

    Hands are named by class, or combo by combo by category.
    """
    change = np.where(after.locked, np.nan_to_num(after.strategy - before.strategy), 0.0)  # [A, H]
    parts = np.abs(change).sum(axis=0) / 2
    parts[parts < MOVED] = 0.0
    evs = np.where(change == 0, 0.0, before.action_evs)
    losses = np.where(parts > 0, quotient(-(change * evs).sum(axis=0), parts), 0.0)
    if not by_category:
        return before.own.classes, parts, losses, after.own.weights
    hand, weights = combo_pairs(after, after.player)
    held = np.flatnonzero(weights > 0)
    made = hand_categories(after.board)[0][held]
    return made, parts[hand[held]], losses[hand[held]], weights[held]


def _asked(after: Solved, line: str, asked: Sequence[Bound]) -> dict[int, Bound]:
    """The requested frequencies of a decision's actions, by their indices."""
    try:
        here = after.lock_target(line, "line")
    except InputError:  # locks of a whole game are never on one flop
        return {}
    known = [bound for lock in after.locks for bound in lock_bounds(lock, f"lock '{lock.line}'")]
    return {
        named_action(here.tree, here.node, bound.action, bound.where, after.unit.notation): bound
        for bound in (*known, *asked)
        if after.lock_target(bound.line, bound.where).key == here.key
    }


def _shown(result: Solved, line: str) -> _Shown:
    if result.spans_boards(line):
        boards = list(result.boards(line).decisions)
        report = report_of(boards, line)
        total = report.total
        return _Shown(
            report.unit.seats[report.player],
            report.pot,
            report.unit.name,
            total.evs,
            dict(zip(report.actions, report.labels, strict=True)),
            dict(zip(report.actions, total.frequencies, strict=True)),
            [(board.weight, board.node) for board in boards],
        )
    node = result.at(line).decision
    return _Shown(
        node.seat,
        node.pot,
        node.unit.name,
        (node.ev(Player.OOP), node.ev(Player.IP)),
        dict(zip(node.actions, node.labels, strict=True)),
        dict(zip(node.actions, node.taken.tolist(), strict=True)),
        [(1.0, node)],
    )


def _amounts(name: str, pair: Two) -> str:
    change = pair[1] - pair[0]
    signed = number_text(change, "+") if np.isfinite(change) else ""
    return f"{name:24}{number_text(pair[0]):>10}{number_text(pair[1]):>10}{signed:>10}"

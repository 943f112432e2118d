"""What changes between two solutions: EVs, and how often actions are taken somewhere.

Both are of the same spot, or of the same game: one has locks that the other does not have, say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from allstreets.base import InputError
from allstreets.betting import ANY_CARD_WORD, BIG_BLINDS, CHIPS, Player, split_line
from allstreets.games import Bound, lock_bounds, named_action
from allstreets.solvers.board_report import report_of
from allstreets.solvers.format import number_text, percent_text
from allstreets.solvers.preflop.result import PreflopResult
from allstreets.solvers.spot.result import SpotResult
from allstreets.solvers.whole_game.result import UnifiedResult

Two = tuple[float, float]  # before and after; NaN where it is not known
Solved: TypeAlias = SpotResult | PreflopResult
SHOWN = 0.0005  # of a frequency: less is not seen in a table
MBB_PER_WIN = 10  # mbb/hand in a bb/100, as people count what they win


@dataclass(frozen=True)
class ActionChange:
    """An action in both solutions; NaN in the one that does not offer it."""

    word: str
    label: str
    frequency: Two
    asked: Bound | None = None  # how often a lock is to make it so

    @property
    def asked_text(self) -> str:
        """What was asked for, and what has become of it; empty where nothing was.

        A lock holds for the hands that got there before: once all is solved again, others may.
        """
        if self.asked is None:
            return ""
        text, after = f"asked {self.asked.words}", self.frequency[1]
        missed = max(self.asked.least - after, after - self.asked.most)
        if not missed >= SHOWN:
            return text
        return (
            f"{text}, {percent_text(after)} after re-solving "
            "(the range that gets there has changed)"
        )


@dataclass(frozen=True)
class PlaceChange:
    """A decision in both solutions."""

    line: str
    seat: str  # who acts
    pot: float
    unit: str  # of the pot and the EVs
    evs: tuple[Two, Two]  # of OOP and IP: of a spot from here on, of a game results of the hand
    actions: tuple[ActionChange, ...]


@dataclass(frozen=True)
class Difference:
    """Two solutions side by side."""

    unit: str  # of the EVs at the start: chips, or mbb/hand
    pot: float | None  # chips at the start of a spot; None: a whole game
    seats: tuple[str, str]  # of OOP and IP
    evs: tuple[Two, Two]  # of OOP and IP, at the start
    doubt: float  # how far both together may be off
    places: tuple[PlaceChange, ...]

    def mapping(self) -> dict[str, Any]:
        """As JSON data; what is not known is None."""

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
                    "line": place.line,
                    "player": place.seat,
                    **both(place.evs),
                    "actions": [
                        {
                            "action": one.word,
                            **two("frequency", one.frequency),
                            **({} if one.asked is None else {"asked": one.asked.text}),
                        }
                        for one in place.actions
                    ],
                }
                for place in self.places
            ],
        }


def difference(
    before: Solved, after: Solved, lines: Sequence[str] = (), asked: Sequence[Bound] = ()
) -> Difference:
    """Both solutions at the start, and at the decisions of some lines that both have.

    A line of a whole game that names no flop is about all of them. `asked` are the frequencies of
    the request that made the locks; those that locks of the second solution name are known.
    """
    found = (_place(before, after, line, asked) for line in lines)
    places = tuple(place for place in found if place is not None)
    if isinstance(before, SpotResult) and isinstance(after, SpotResult):
        oop, ip = zip(before.evs, after.evs, strict=True)
        # In either solution an EV is off by at most what one player could still gain, and the
        # exploitability is the mean of both gains.
        doubt = 2 * before.spot.pot * _known(before.exploitability, after.exploitability)
        return Difference(CHIPS.unit, before.spot.pot, CHIPS.seats, (oop, ip), float(doubt), places)
    assert isinstance(before, PreflopResult)
    assert isinstance(after, PreflopResult)
    unknown = float("nan"), float("nan")
    oop, ip = zip(before.values or unknown, after.values or unknown, strict=True)
    doubt = 2 * _known(before.exploitability, after.exploitability)
    return Difference("mbb/hand", None, BIG_BLINDS.seats, (oop, ip), doubt, places)


def _known(*exploitabilities: float | None) -> float:
    return sum(one for one in exploitabilities if one is not None and np.isfinite(one))


def change_lines(found: Difference) -> list[str]:
    """For people: a head, then EVs and frequencies, each before and after."""
    rows = [f"{'':24}{'before':>10}{'after':>10}{'change':>10}"]
    unit = "" if found.pot is not None else f", {found.unit}"
    for player in Player:
        rows.append(_amounts(f"EV {found.seats[player]}{unit}", found.evs[player]))
    for place in found.places:
        where = f"'{place.line}'" if place.line else "the first decision"
        in_bb = " bb" if place.unit == BIG_BLINDS.unit else ""
        rows += ["", f"At {where}, pot {place.pot:g}{in_bb}, {place.seat} to act"]
        end = ", bb" if in_bb else " from here"
        rows += [_amounts(f"EV {found.seats[p]}{end}", place.evs[p]) for p in Player]
        for one in place.actions:
            one_before, one_after = one.frequency
            change = round(100 * (one_after - one_before), 1) + 0.0  # no minus before a zero
            signed = f"{change:+.1f}" if np.isfinite(change) else ""
            rows.append(
                f"{one.label:24}{percent_text(one_before):>10}{percent_text(one_after):>10}"
                f"{signed:>10}"
            )
            if one.asked is not None:
                rows.append(f"  {one.asked_text}")
    return [*rows, "", gain_text(found)]


def gain_text(found: Difference) -> str:
    """Who gains, in a line, and how exactly that is known."""
    gains = [after - before for before, after in found.evs]
    if not np.isfinite(gains).all():
        return "What the game is worth is not known in both solutions."
    player = Player(int(np.argmax(gains)))
    if gains[player] <= found.doubt:
        return (
            f"The EVs differ by {number_text(max(gains[player], 0.0))} {found.unit}, and are known "
            f"to within {number_text(found.doubt)}: solve closer to tell who gains."
        )
    loss = -gains[player.opponent]
    share = (
        f"{number_text(gains[player] / MBB_PER_WIN)} bb/100"
        if found.pot is None
        else f"{percent_text(gains[player] / found.pot, 2)} of the pot"
    )
    return (
        f"{found.seats[player]} gains {number_text(gains[player])} {found.unit} ({share}), "
        f"{found.seats[player.opponent]} loses {number_text(loss)}; EVs are known to within "
        f"{number_text(found.doubt)} {found.unit}."
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


def _place(before: Solved, after: Solved, line: str, asked: Sequence[Bound]) -> PlaceChange | None:
    try:
        old, new = _shown(before, line), _shown(after, line)
    except InputError:  # one of the trees does not have it
        return None
    labels = {**new.labels, **{k: v for k, v in old.labels.items() if k not in new.labels}}
    nan, words = float("nan"), list(new.labels)
    bounds = {words[place]: bound for place, bound in _asked(after, line, asked).items()}
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
    return PlaceChange(line.strip(), new.seat, new.pot, new.unit, (oop, ip), actions)


def _asked(after: Solved, line: str, asked: Sequence[Bound]) -> dict[int, Bound]:
    """How often actions of a decision were to be taken, by their places."""
    if isinstance(after, SpotResult):
        here = after.find(line)
        return {
            named_action(after.spot.tree, here.node, bound.action, bound.where): bound
            for bound in asked
            if ANY_CARD_WORD not in bound.line and after.find(bound.line) == here
        }
    if not isinstance(after, UnifiedResult) or split_line(line, after.read_root).flop is not None:
        return {}
    place = after.game.node_at(line, "line")
    known = [bound for lock in after.lock for bound in lock_bounds(lock, f"lock '{lock.line}'")]
    return {
        named_action(place.tree, place.node, bound.action, bound.where, BIG_BLINDS): bound
        for bound in (*known, *asked)
        if after.game.node_at(bound.line, bound.where).order == place.order
    }


def _shown(result: Solved, line: str) -> _Shown:
    if isinstance(result, UnifiedResult):
        found = split_line(line, result.read_root)
        if found.after is not None and found.flop is None:
            report = report_of(result.decisions(line), line)
            total = report.total
            return _Shown(
                report.unit.seats[report.player],
                report.pot,
                report.unit.name,
                total.evs,
                dict(zip(report.actions, report.labels, strict=True)),
                dict(zip(report.actions, total.frequencies, strict=True)),
            )
    node = result.node(line)
    return _Shown(
        node.seat,
        node.pot,
        node.unit.name,
        (node.ev(Player.OOP), node.ev(Player.IP)),
        dict(zip(node.actions, node.labels, strict=True)),
        dict(zip(node.actions, node.frequencies().tolist(), strict=True)),
    )


def _amounts(name: str, pair: Two) -> str:
    change = pair[1] - pair[0]
    signed = number_text(change, "+") if np.isfinite(change) else ""
    return f"{name:24}{number_text(pair[0]):>10}{number_text(pair[1]):>10}{signed:>10}"

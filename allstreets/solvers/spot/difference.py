"""What changes between two solutions of a spot: EVs, and how often actions are taken somewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.solvers.decision import Decision
from allstreets.solvers.spot.result import SpotResult
from allstreets.solvers.words import number_text, percent_text

Two = tuple[float, float]  # before and after; NaN where it is not known


@dataclass(frozen=True)
class ActionChange:
    """An action in both solutions; NaN in the one that does not offer it."""

    word: str
    label: str
    frequency: Two


@dataclass(frozen=True)
class PlaceChange:
    """A decision in both solutions."""

    line: str
    seat: str  # who acts
    pot: float
    evs: tuple[Two, Two]  # of OOP and IP, from here on
    actions: tuple[ActionChange, ...]


@dataclass(frozen=True)
class Difference:
    """Two solutions side by side."""

    pot: float  # at the start
    evs: tuple[Two, Two]  # of OOP and IP, at the start
    exploitability: Two  # fractions of the pot
    places: tuple[PlaceChange, ...]

    def mapping(self) -> dict[str, Any]:
        """As JSON data; what is not known is None."""

        def two(name: str, pair: Two) -> dict[str, float | None]:
            before, after = (value if np.isfinite(value) else None for value in pair)
            return {f"{name}_before": before, f"{name}_after": after}

        def both(pairs: tuple[Two, Two]) -> dict[str, float | None]:
            return {**two("ev_oop", pairs[0]), **two("ev_ip", pairs[1])}

        return {
            **both(self.evs),
            "places": [
                {
                    "line": place.line,
                    "player": place.seat,
                    **both(place.evs),
                    "actions": [
                        {"action": one.word, **two("frequency", one.frequency)}
                        for one in place.actions
                    ],
                }
                for place in self.places
            ],
        }


def difference(before: SpotResult, after: SpotResult, lines: Sequence[str] = ()) -> Difference:
    """Both solutions at the start, and at the decisions of some lines that both have."""
    oop, ip = zip(before.evs, after.evs, strict=True)
    places = (_place(before, after, line) for line in lines)
    return Difference(
        pot=before.spot.pot,
        evs=(oop, ip),
        exploitability=(before.exploitability, after.exploitability),
        places=tuple(place for place in places if place is not None),
    )


def change_lines(found: Difference) -> list[str]:
    """For people: a head, then EVs and frequencies, each before and after."""
    rows = [f"{'':24}{'before':>10}{'after':>10}{'change':>10}"]
    for player in Player:
        rows.append(_amounts(f"EV {player.name}", found.evs[player]))
    for place in found.places:
        where = f"'{place.line}'" if place.line else "the first decision"
        rows += ["", f"At {where}, pot {place.pot:g}, {place.seat} to act"]
        rows += [_amounts(f"EV {player.name} from here", place.evs[player]) for player in Player]
        for one in place.actions:
            one_before, one_after = one.frequency
            change = round(100 * (one_after - one_before), 1) + 0.0  # no minus before a zero
            signed = f"{change:+.1f}" if np.isfinite(change) else ""
            rows.append(
                f"{one.label:24}{percent_text(one_before):>10}{percent_text(one_after):>10}"
                f"{signed:>10}"
            )
    return [*rows, "", gain_text(found)]


def gain_text(found: Difference) -> str:
    """Who gains, in a line, and how exactly that is known."""
    gains = [after - before for before, after in found.evs]
    player = Player(int(np.argmax(gains)))
    # In either solution an EV is off by at most what one player could still gain, and the
    # exploitability is the mean of both gains.
    doubt = 2 * found.pot * sum(share for share in found.exploitability if np.isfinite(share))
    if gains[player] <= doubt:
        return (
            f"The EVs differ by {number_text(max(gains[player], 0.0))} chips, and are known to "
            f"within {number_text(doubt)}: solve closer to tell who gains."
        )
    loss = -gains[player.opponent]
    return (
        f"{player.name} gains {number_text(gains[player])} chips "
        f"({percent_text(gains[player] / found.pot, 2)} of the pot), {player.opponent.name} loses "
        f"{number_text(loss)}; EVs are known to within {number_text(doubt)} chips."
    )


def _place(before: SpotResult, after: SpotResult, line: str) -> PlaceChange | None:
    try:
        old, new = before.node(line), after.node(line)
    except InputError:  # one of the trees does not have it
        return None
    words = [*new.actions, *(word for word in old.actions if word not in new.actions)]
    labels = dict(zip(old.actions, old.labels, strict=True))
    labels |= dict(zip(new.actions, new.labels, strict=True))
    oop, ip = ((old.ev(player), new.ev(player)) for player in Player)
    actions = (
        ActionChange(word, labels[word], (_taken(old, word), _taken(new, word))) for word in words
    )
    return PlaceChange(line.strip(), new.seat, new.pot, (oop, ip), tuple(actions))


def _taken(node: Decision, word: str) -> float:
    if word not in node.actions:
        return float("nan")
    return float(node.frequencies()[node.actions.index(word)])


def _amounts(name: str, pair: Two) -> str:
    change = pair[1] - pair[0]
    signed = number_text(change, "+") if np.isfinite(change) else ""
    return f"{name:24}{number_text(pair[0]):>10}{number_text(pair[1]):>10}{signed:>10}"

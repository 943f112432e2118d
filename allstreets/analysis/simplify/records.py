"""The cost of simple strategies: the figures, and how they are put together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allstreets.analysis.simplify.rule import Mixes, Simplification
from allstreets.base import Floats
from allstreets.betting import Player, Street
from allstreets.solutions import MadeSimple, SpotSolution, WholeSolution


@dataclass(frozen=True)
class StreetPrice:
    """The cost of being simple on one street only, and the number of decisions to remember."""

    street: str  # "preflop", "flop", "turn", "river"
    exploitability: float
    prices: tuple[float, float]  # of OOP and IP
    before: Mixes
    after: Mixes  # when all streets are simple: fewer hands may get there


@dataclass(frozen=True)
class Simplified:
    """The cost of simple strategies in `unit`: % of the pot, or mbb/hand in whole games.

    A player's price is how much more the opponent's best response wins when only he is simple. It
    may be below 0, by at most twice the solution's own exploitability: rounding may improve a
    strategy that is not fully solved.
    """

    rule: Simplification
    players: tuple[Player, ...]  # who is simple
    unit: str
    judged: str  # by which best response: `simplified.OWN_GAME` or `REAL_CARDS`
    seats: tuple[str, str]  # the names of OOP and IP there
    before: float  # exploitability of the solution
    after: float  # the same with simple strategies
    prices: tuple[float, float]  # of OOP and IP
    streets: tuple[StreetPrice, ...]  # simple on one street only
    solution: SpotSolution | WholeSolution | None = field(default=None, repr=False, compare=False)
    """The simple strategies: of a spot, or of a whole game that was saved, opened there."""

    @property
    def mixes_before(self) -> Mixes:
        """Decisions of the simplified players' hands, before."""
        return sum((each.before for each in self.streets), Mixes())

    @property
    def mixes_after(self) -> Mixes:
        """The same, after."""
        return sum((each.after for each in self.streets), Mixes())

    @property
    def who(self) -> str:
        """The simplified players."""
        return " and ".join(self.seats[player] for player in self.players)

    def made_from(self, folder: str | None, name: str | None) -> MadeSimple:
        """The record stored beside the simple strategies; `folder` and `name` of the solution."""
        return MadeSimple(
            folder=folder,
            name=name,
            rule=str(self.rule),
            grid=self.rule.grid,
            sizes=self.rule.sizes,
            drop=self.rule.drop,
            players=tuple(self.seats[player] for player in self.players),
            unit=self.unit,
            judged=self.judged,
            before=self.before,
            after=self.after,
            prices=self._by_seat(),
        )

    def __str__(self) -> str:
        """The simplified players, the rule, and its cost."""
        prices = ", ".join(f"{seat} {price:.3f}" for seat, price in self._by_seat().items())
        return (
            f"{self.who} simple: {self.rule}; exploitable for {self.after:.3f} {self.unit}, "
            f"{self.before:.3f} before; price of {prices}"
        )

    def to_json(self) -> dict[str, Any]:
        """The record as JSON data."""
        return {
            "rule": {
                "grid": self.rule.grid,
                "sizes": self.rule.sizes,
                "drop": self.rule.drop,
            },
            "players": [self.seats[player] for player in self.players],
            "unit": self.unit,
            "judged": self.judged,
            "exploitability_before": self.before,
            "exploitability_after": self.after,
            "prices": self._by_seat(),
            **_mixes(self.mixes_before, self.mixes_after),
            "streets": [
                {
                    "street": each.street,
                    "exploitability": each.exploitability,
                    "prices": self._by_seat(each.prices),
                    **_mixes(each.before, each.after),
                }
                for each in self.streets
            ],
        }

    def _by_seat(self, prices: tuple[float, float] | None = None) -> dict[str, float]:
        """Prices by seat, for the simplified players; of all streets, or the given ones."""
        given = self.prices if prices is None else prices
        return {self.seats[player]: given[player] for player in self.players}


def _mixes(before: Mixes, after: Mixes) -> dict[str, int]:
    return {
        "decisions_before": before.decisions,
        "mixed_before": before.mixed,
        "decisions_after": after.decisions,
        "mixed_after": after.mixed,
    }


def variants(streets: Sequence[Street]) -> list[tuple[Street, ...]]:
    """The streets that are simple, one trial after the other: none, each alone, all."""
    return [(), *((street,) for street in streets), tuple(streets)]


@dataclass(frozen=True, eq=False)
class Trials:
    """Gains of best responses in each of the `variants` [V, 2], and the decisions to remember."""

    streets: tuple[Street, ...]
    best: Floats  # [V, 2]
    own: Floats | None  # [V, 2]: the wins of the strategies themselves; None: they sum to 0
    before: Mapping[Street, Mixes]
    after: Mapping[Street, Mixes]

    def exploitability(self, trial: int) -> float:
        """The mean of both players' gains."""
        gain = self.best[trial].sum()
        if self.own is not None:
            gain -= self.own[trial].sum()
        return max(float(gain) / 2, 0.0)

    def prices(self, trial: int) -> tuple[float, float]:
        """The prices of OOP and IP: how much more the opponent's best response wins."""
        ip_wins, oop_wins = (self.best[trial] - self.best[0])[::-1].tolist()
        return ip_wins, oop_wins

    def street_prices(self) -> tuple[StreetPrice, ...]:
        """The prices of each street alone."""
        return tuple(
            StreetPrice(
                street.text,
                self.exploitability(trial),
                self.prices(trial),
                self.before[street],
                self.after[street],
            )
            for trial, street in enumerate(self.streets, start=1)
        )


def simplified(
    trials: Trials,
    rule: Simplification,
    players: Collection[Player],
    **facts: Any,
) -> Simplified:
    """The record of some trials."""
    return Simplified(
        rule=rule,
        players=tuple(players),
        before=trials.exploitability(0),
        after=trials.exploitability(-1),
        prices=trials.prices(-1),
        streets=trials.street_prices(),
        **facts,
    )

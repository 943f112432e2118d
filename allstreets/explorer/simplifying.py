"""What simple strategies cost, found while a page waits: one solution at a time."""

from threading import Lock

from allstreets import training  # whose kernels are loaded when a price is found
from allstreets.base import InputError
from allstreets.explorer.errors import BusyError
from allstreets.explorer.library import Library
from allstreets.explorer.models.simple import SimplePrice, SimpleStreet
from allstreets.solvers import Simplification, Simplified

MOST_BYTES = {"spot": 400_000_000, "unified": 100_000_000}
"""Of solutions that are judged within seconds; larger ones take a terminal."""


class Simplifying:
    """The simple strategies of a library's solutions."""

    def __init__(self, library: Library) -> None:
        self._library, self._one_at_a_time = library, Lock()

    def price(self, id: str, rule: Simplification) -> SimplePrice:
        """What it costs to make both players' strategies simple."""
        found = self._library.card(id)
        folder = self._library.folder(id)
        if found.bytes > MOST_BYTES.get(found.kind or "", found.bytes):
            raise InputError(
                f"this takes longer than a page should wait. In a terminal: allstreets simplify "
                f"{folder}, with --grid 25%, --sizes 1 or --drop 5%"
            )
        if not self._one_at_a_time.acquire(blocking=False):
            raise BusyError("another price is being found: ask again when it is there")
        try:
            return price_message(
                training.simplify(folder, grid=rule.grid, sizes=rule.sizes, drop=rule.drop)
            )
        finally:
            self._one_at_a_time.release()


def price_message(price: Simplified) -> SimplePrice:
    """A price as it is sent."""

    def of_players(prices: tuple[float, float]) -> list[float]:
        return [prices[player] for player in price.players]

    before, after = price.mixes_before, price.mixes_after
    return SimplePrice(
        rule=str(price.rule),
        unit=price.unit,
        judged=price.judged,
        seats=[price.seats[player] for player in price.players],
        before=price.before,
        after=price.after,
        prices=of_players(price.prices),
        decisions_before=before.decisions,
        mixed_before=before.mixed,
        decisions_after=after.decisions,
        mixed_after=after.mixed,
        streets=[
            SimpleStreet.model_validate(
                {
                    "street": each.street,
                    "exploitability": each.exploitability,
                    "prices": of_players(each.prices),
                    "mixed_before": each.before.mixed,
                    "mixed_after": each.after.mixed,
                }
            )
            for each in price.streets
        ],
    )

"""Simple strategies, made while a page waits: their cost, and saving them; one at a time."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from allstreets import jobs  # its kernels are loaded when a price is computed
from allstreets.analysis import Simplification, Simplified
from allstreets.base import InputError
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError
from allstreets.explorer.models.params import SolutionId
from allstreets.explorer.models.solution import SolutionCard
from allstreets.explorer.models.solves import SimpleForm, SimplePrice, SimpleStreet
from allstreets.explorer.solves.folders import new_path

MOST_BYTES = {"spot": 400_000_000, "unified": 100_000_000}
"""For solutions that are evaluated within seconds; larger ones take a terminal."""

MOST_LETTERS = 200  # of a name


class Simplifying:
    """The simple strategies of a library's solutions; they are saved in the `solves` folder."""

    def __init__(self, library: Library, solves: Path) -> None:
        self._library, self._solves, self._one_at_a_time = library, solves, Lock()

    def price(self, id: str, form: SimpleForm) -> SimplePrice:
        """The cost of making both players' strategies simple."""
        with self._turn(id) as folder:
            return price_message(jobs.simplify(folder, **vars(rule_of(form))))

    def save(self, solution: SolutionId, form: SimpleForm) -> SolutionCard:
        """Save the simple strategies as a separate solution, in the folder of solves."""
        rule = rule_of(form)
        name = f"{self._library.card(solution).name}, {rule}"[:MOST_LETTERS]
        target = new_path(self._solves, "simple", time.time())
        with self._turn(solution) as folder:
            try:
                jobs.simplify(folder, **vars(rule), output=target, name=name)
            except BaseException:
                shutil.rmtree(target, ignore_errors=True)
                raise
        return self._library.card(self._library.id_of(target))

    @contextmanager
    def _turn(self, id: str) -> Iterator[Path]:
        """The folder of a solution that is evaluated within seconds, for one at a time."""
        folder = self._library.folder(id)
        command = f"allstreets simplify {folder}, with --grid 25%, --sizes 1 or --drop 5%"
        require_quick(self._library.card(id), command)
        if not self._one_at_a_time.acquire(blocking=False):
            raise BusyError("another price is being computed: try again when it is done")
        try:
            yield folder
        finally:
            self._one_at_a_time.release()


def require_quick(card: SolutionCard, command: str) -> None:
    """Refuse a solution whose evaluation takes long, and name the command for it."""
    if card.bytes > MOST_BYTES.get(card.kind or "", card.bytes):
        raise InputError(f"this takes longer than a page should wait. In a terminal: {command}")


def rule_of(form: SimpleForm) -> Simplification:
    """The simplification that a form asks for."""
    return Simplification(
        grid=None if form.grid_pct is None else form.grid_pct / 100,
        sizes=form.sizes,
        drop=None if form.drop_pct is None else form.drop_pct / 100,
    )


def price_message(price: Simplified) -> SimplePrice:
    """A price as a message."""

    def of_players(prices: tuple[float, float]) -> list[float]:
        return [prices[player] for player in price.players]

    before, after = price.mixes_before, price.mixes_after
    return SimplePrice.of(
        price,
        rule=str(price.rule),
        seats=[price.seats[player] for player in price.players],
        prices=of_players(price.prices),
        decisions_before=before.decisions,
        mixed_before=before.mixed,
        decisions_after=after.decisions,
        mixed_after=after.mixed,
        streets=[
            SimpleStreet.of(
                each,
                prices=of_players(each.prices),
                mixed_before=each.before.mixed,
                mixed_after=each.after.mixed,
            )
            for each in price.streets
        ],
    )

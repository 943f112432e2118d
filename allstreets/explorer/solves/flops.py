"""Flops of whole games as spots to solve: the input of a process, and the form on the page."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from allstreets.base import InputError, available_bytes, data_size, processors
from allstreets.betting import Player, Street
from allstreets.cards import cards_text
from allstreets.engines import RiverGroups
from allstreets.explorer.models import solves as messages
from allstreets.explorer.solves.folders import Request
from allstreets.explorer.solves.spots import AMOUNTS, NO_DONK, check_form, edits_text, read_form
from allstreets.explorer.views.hands import weights_text
from allstreets.games import Estimate, Spot, estimate_spot, require_memory, sizes_mapping
from allstreets.jobs import GameFlop, SpotConfig, SpotJob, draft_of
from allstreets.solutions import (
    FlopSpot,
    Origin,
    SpotSolution,
    WholeSolution,
    flop_spot,
    real_figures,
)
from allstreets.storage import load_unified

Precision = Literal["float32", "float16"]
SHARED = "on the river, hands alike in strength and suits share a strategy"
WAYS: tuple[tuple[Precision, RiverGroups, str], ...] = (
    ("float32", "none", ""),
    ("float16", "none", "stored in 16 bits"),
    ("float32", "suits", SHARED),
    ("float16", "suits", f"stored in 16 bits; {SHARED}"),
)
"""Storage formats of strategies, the largest first, each with a note in words."""

OriginOf = Callable[[SpotSolution], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Work:
    """The task of a solving process: a spot, alone or as a flop of a whole game."""

    config: SpotConfig
    spot: Spot
    flop: tuple[WholeSolution, FlopSpot] | None = None  # the flop of a whole game that it is

    def draft_job(self, output: Path) -> SpotJob | None:
        """The job that drafts a flop of a whole game; None: it is not drafted.

        Such flops are solved exactly in a moment, or cannot be drafted.
        """
        if self.flop is None:
            return None
        job = SpotJob(self.config, self.spot, output=output, claimed=True)
        return draft_of(replace(job, flop=GameFlop(*self.flop)))

    def origin(self) -> OriginOf | None:
        """The origin stored with it; evaluates the solution's own play of the flop, once."""
        if self.flop is None:
            return None
        result, flop = self.flop
        real = real_figures(result, flop, processors(), available_bytes())
        return lambda exact: Origin.of(result, flop, exact, real).mapping()


@dataclass(frozen=True)
class Fit:
    """A storage format for a flop, and the memory that it needs."""

    precision: Precision
    river_groups: RiverGroups
    words: str
    need: Estimate


def read_work(request: Request) -> Work:
    """The spot of a request that was checked before."""
    form, source = request.spot, request.flop
    config = SpotConfig.model_validate(
        {
            "name": form.name,
            "exploitability_threshold": f"{form.target_pct!r}%",
            "precision": form.precision,
            "river_groups": form.river_groups,
        }
    )
    if request.locked is not None and request.locked.spot is not None:
        return Work(config, Spot.from_mapping(request.locked.spot))
    if source is None:
        return Work(*read_form(form))
    result = load_unified(Path(source.folder))
    flop = flop_spot(result, source.line, source.flop)
    return Work(config, flop.spot, (result, flop))


def spot_bytes(request: Request, free: int | None) -> int:
    """The memory that solving a spot takes; raises `InputError` if that much is not free."""
    if request.flop is None and request.locked is None:
        return check_form(request.spot, free).need.process_bytes
    spot, form = read_work(request).spot, request.spot
    need = estimate_spot(spot, form.precision, processors(), form.river_groups)
    require_memory(spot, form.precision, need, free, form.river_groups)
    return need.process_bytes


def fitting(flop: FlopSpot, output: Path, free: int | None) -> Fit:
    """The best way to store a flop that fits into memory and on the disk."""
    for precision, groups, words in WAYS:
        need = estimate_spot(flop.spot, precision, processors(), groups)
        fit = Fit(precision, groups, words, need)
        if free is None or need.process_bytes <= free:
            break
    else:
        require_memory(flop.spot, fit.precision, fit.need, free, fit.river_groups)
    existing = next(path for path in output.absolute().parents if path.exists())
    room = shutil.disk_usage(existing).free
    # A save lies beside the previous one until it is whole.
    size = 2 * fit.need.memory_bytes
    if size > room:
        raise InputError(
            f"saving this flop takes up to {data_size(size)} in {existing}, where "
            f"{data_size(room)} are free: make room there"
        )
    return fit


def form_of(
    flop: FlopSpot, target_pct: float, precision: str, river_groups: RiverGroups = "none"
) -> messages.SpotForm:
    """The spot as a form, for users to read and to change."""
    name = f"{flop.line} | {flop.cards}"
    return spot_form(flop.spot, name, target_pct, precision, river_groups)


def spot_form(
    spot: Spot, name: str, target_pct: float, precision: str, river_groups: RiverGroups
) -> messages.SpotForm:
    """A spot as a form; locks are not part of it."""
    oop, ip = (weights_text(spot.ranges[player].rounded().weights, spot.cards) for player in Player)
    return messages.SpotForm(
        name=name,
        board=cards_text(spot.cards),
        oop_range=oop,
        ip_range=ip,
        sizes=_sizes(spot),
        edits=edits_text(spot.edit),
        max_raises=spot.max_raises,
        target_pct=target_pct,
        precision=cast(Precision, precision),
        river_groups=river_groups,
        **{name: getattr(spot, name) for name in AMOUNTS},
    )


def source_of(folder: Path, flop: FlopSpot, output: Path) -> messages.FlopSource:
    """The source that the spot of a flop is read from again, and its output folder."""
    return messages.FlopSource(
        folder=str(folder.absolute()),
        line=flop.line,
        flop=flop.cards,
        output=str(output.absolute()),
    )


def _sizes(spot: Spot) -> messages.SizesForm:
    lists: Mapping[str, Mapping[str, str]] = sizes_mapping(spot.rules)
    streets = {
        street.text: messages.StreetSizesForm(
            oop=_player_sizes(lists.get(f"{street.text}_oop", {})),
            ip=_player_sizes(lists.get(f"{street.text}_ip", {})),
        )
        for street in Street
        if street != Street.PREFLOP
    }
    return messages.SizesForm(**streets)


def _player_sizes(lists: Mapping[str, str]) -> messages.PlayerSizesForm:
    donk = lists.get("donk")
    return messages.PlayerSizesForm.model_validate(
        {**lists, "donk": "" if donk is None else donk or NO_DONK}
    )

"""Flops of whole games as spots to solve: what a process reads, and what the page shows of it."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from allstreets.base import InputError, processors
from allstreets.betting import Player, Street
from allstreets.explorer.models.solves import (
    FlopSource,
    PlayerSizesForm,
    SizesForm,
    SpotForm,
    StreetSizesForm,
)
from allstreets.explorer.solves.folders import Request
from allstreets.explorer.solves.spots import NO_DONK, check_form, read_form
from allstreets.explorer.views.range_words import DIGITS, weights_text
from allstreets.solvers import (
    Estimate,
    FlopSpot,
    Origin,
    Spot,
    SpotResult,
    estimate_spot,
    flop_spot,
    require_memory,
)
from allstreets.storage import load_unified
from allstreets.training import SpotConfig, data_size

Precision = Literal["float32", "float16"]
OriginOf = Callable[[SpotResult], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Work:
    """What a solving process solves; `origin` says where it comes from, for what it saves."""

    config: SpotConfig
    spot: Spot
    origin: OriginOf | None = None


def read_work(request: Request) -> Work:
    """The spot of a request that was checked before."""
    form, source = request.form, request.flop
    if source is None:
        return Work(*read_form(form))
    result = load_unified(Path(source.folder))
    found = flop_spot(result, source.line, source.flop)
    config = SpotConfig.model_validate(
        {
            "name": form.name,
            "exploitability_threshold": f"{form.target_pct!r}%",
            "precision": form.precision,
        }
    )
    return Work(config, found.spot, lambda exact: Origin.of(result, found, exact).mapping())


def need_bytes(request: Request, free: int | None) -> int:
    """The memory that solving takes; an `InputError` where so much is not `free`."""
    if request.flop is None:
        return check_form(request.form, free).need.process_bytes
    spot, precision = read_work(request).spot, request.form.precision
    need = estimate_spot(spot, precision, processors())
    require_memory(spot, precision, need, free)
    return need.process_bytes


def fitting(found: FlopSpot, output: Path, free: int | None) -> tuple[Precision, Estimate]:
    """A precision with which a flop fits into memory and on the disk, and what it takes then."""
    need = estimate_spot(found.spot, "float32", processors())
    precision: Precision = "float32"
    if free is not None and need.process_bytes > free:
        precision, need = "float16", estimate_spot(found.spot, "float16", processors())
        require_memory(found.spot, precision, need, free)
    there = next(path for path in output.absolute().parents if path.exists())
    room = shutil.disk_usage(there).free
    # A save stands beside the one before it until it is whole.
    if 2 * need.memory_bytes > room:
        raise InputError(
            f"keeping this flop takes up to {data_size(2 * need.memory_bytes)} in {there}, where "
            f"{data_size(room)} are free: make room there"
        )
    return precision, need


def form_of(found: FlopSpot, target_pct: float, precision: Precision) -> SpotForm:
    """The spot as a form, for people to read and to change."""
    spot = found.spot
    oop, ip = (
        weights_text(np.round(spot.ranges[player].weights, DIGITS), spot.cards) for player in Player
    )
    return SpotForm(
        name=f"{found.line} | {found.cards}",
        board=found.cards,
        oop_range=oop,
        ip_range=ip,
        pot=spot.pot,
        stack=spot.stack,
        chips_per_bb=spot.chips_per_bb,
        sizes=_sizes(spot),
        max_raises=spot.max_raises,
        rake=spot.rake,
        rake_cap=spot.rake_cap,
        add_allin_threshold=spot.add_allin_threshold,
        force_allin_threshold=spot.force_allin_threshold,
        merging_threshold=spot.merging_threshold,
        target_pct=target_pct,
        precision=precision,
    )


def source_of(folder: Path, found: FlopSpot, output: Path) -> FlopSource:
    """Where the spot of a flop is read again, and where it is kept."""
    return FlopSource(
        folder=str(folder.absolute()),
        line=found.line,
        flop=found.cards,
        output=str(output.absolute()),
    )


def _sizes(spot: Spot) -> SizesForm:
    lists: Mapping[str, Mapping[str, str]] = spot.bet_sizes or {}
    streets = {
        street.text: StreetSizesForm(
            oop=_player_sizes(lists[f"{street.text}_oop"]),
            ip=_player_sizes(lists[f"{street.text}_ip"]),
        )
        for street in Street
        if street != Street.PREFLOP
    }
    return SizesForm(**streets)


def _player_sizes(lists: Mapping[str, str]) -> PlayerSizesForm:
    donk = lists.get("donk")
    return PlayerSizesForm.model_validate(
        {**lists, "donk": "" if donk is None else donk or NO_DONK}
    )

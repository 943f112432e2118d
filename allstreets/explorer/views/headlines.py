"""What the manifest of a solution shows at once: a line of a list, and the curve of its run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.betting import bb_text
from allstreets.explorer.models.base import SolutionKind
from allstreets.explorer.models.solution import Curve, CurvePoint, RealQuality
from allstreets.solutions import MadeSimple, row_weight
from allstreets.storage import read_certificate

PERCENT = "% of pot"
MBB = "mbb/hand"

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Headline:
    """A solution in a list."""

    title: str  # what game it is, in one line
    iterations: int | None
    exploitability: float | None
    unit: str
    locks: int = 0  # strategies that were given, not found
    simple: MadeSimple | None = None  # where its strategies were made simple


def headline(kind: SolutionKind, manifest: Manifest) -> Headline:
    """The headline of a manifest of this kind."""
    head, made = HEADLINES[kind](manifest), manifest.get("simplified")
    if made is None:
        return head
    simple = MadeSimple.read(made)
    return replace(head, title=f"{head.title}, {simple.head}", simple=simple)


def real_quality(folder: Path, manifest: Manifest) -> RealQuality | None:
    """What the certificate of a whole game says; None: it has none."""
    found = read_certificate(folder, manifest)
    if found is None:
        return None
    low, high = found.interval_mbb
    return RealQuality(
        exploitability=found.real_exploitability_mbb, low=low, high=high, outdated=found.outdated
    )


def _spot(manifest: Manifest) -> Headline:
    config = manifest["config"]
    return Headline(
        title=f"{config['board']}, pot {config['pot']:,}, stack {config['stack']:,}",
        iterations=int(manifest["iterations"]),
        exploitability=100 * float(manifest["exploitability"]),
        unit=PERCENT,
        locks=len(config.get("lock", ())),
    )


def _unified(manifest: Manifest) -> Headline:
    cards = str(manifest["cards"]).split()[0].rstrip(",")
    return _whole(manifest, f"{_flops(len(manifest['flops']))}, {cards}")


def _preflop(manifest: Manifest) -> Headline:
    return _whole(manifest, "betting before the flop")


def _whole(manifest: Manifest, what: str) -> Headline:
    return Headline(
        title=f"{bb_text(manifest['game']['preflop']['stack'])} bb deep, {what}",
        iterations=int(manifest["iterations"]),
        exploitability=manifest["figures"]["exploitability"],
        unit=MBB,
        locks=len(manifest["game"].get("lock", ())),
    )


def _postflop(manifest: Manifest) -> Headline:
    rows: Sequence[Manifest] = manifest["rows"]
    flops = _flops(len({row["flop"] for row in rows}))
    sprs = ", ".join(f"{spr:g}" for spr in sorted({row["spr"] for row in rows}))
    weight = sum(map(row_weight, rows))
    total = sum(row_weight(row) * row["exploitability"] for row in rows)
    return Headline(
        title=f"{flops}, SPR {sprs or '?'}, {manifest['card_model']['kind']}",
        iterations=max((int(row["iterations"]) for row in rows), default=None),
        exploitability=100 * total / weight if weight else None,
        unit=PERCENT,
    )


def _flops(count: int) -> str:
    return f"{count:,} flop{'' if count == 1 else 's'}"


HEADLINES: dict[SolutionKind, Callable[[Manifest], Headline]] = {
    "spot": _spot,
    "unified": _unified,
    "preflop": _preflop,
    "postflop": _postflop,
}


def curve(unit: str, metrics: Sequence[Manifest]) -> Curve:
    """Exploitability over time, as the checks of a run have it."""
    return Curve(unit=unit, points=[CurvePoint.of_check(row) for row in metrics])

"""Headlines from a manifest alone: a line of the list, and the curve of the run.

Spots that were solved together are one line for all of their boards.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allstreets.base import InputError
from allstreets.betting import bb_text
from allstreets.explorer.folders import id_of
from allstreets.explorer.models import solution as messages
from allstreets.explorer.models.base import SolutionKind
from allstreets.solutions import MadeSimple, row_weight
from allstreets.storage import read_certificate, read_spot_manifest

PERCENT = "% of pot"
MBB = "mbb/hand"
MOST_NAMES = 3  # that a line lists

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Headline:
    """A solution in a list."""

    title: str  # the game, in one line
    iterations: int | None
    exploitability: float | None
    unit: str
    locks: int = 0  # locked strategies
    simple: MadeSimple | None = None  # if its strategies were made simple


def headline(kind: SolutionKind, manifest: Manifest) -> Headline:
    """The headline of a manifest of this kind."""
    head, made = HEADLINES[kind](manifest), manifest.get("simplified")
    if made is None:
        return head
    simple = MadeSimple.read(made)
    return replace(head, title=f"{head.title}, {simple.head}", simple=simple)


def real_quality(folder: Path, manifest: Manifest) -> messages.RealQuality | None:
    """The figures of a whole game's certificate; None: it has none."""
    certificate = read_certificate(folder, manifest)
    if certificate is None and _is_push_or_fold(manifest) and "simplified" not in manifest:
        own = float(manifest["figures"]["exploitability"])  # no flop is seen: cards are real
        return messages.RealQuality.of(
            real_exploitability_mbb=own, low=own, high=own, outdated=False
        )
    if certificate is None:
        return None
    low, high = certificate.interval_mbb
    return messages.RealQuality.of(certificate, low=low, high=high)


def _spot(manifest: Manifest) -> Headline:
    config = manifest["config"]
    return Headline(
        title=f"{config['board']}, pot {config['pot']:,}, stack {config['stack']:,}",
        iterations=int(manifest["iterations"]),
        exploitability=100 * float(manifest["exploitability"]),
        unit=PERCENT,
        locks=len(config.get("lock", ())),
    )


def _whole(manifest: Manifest) -> Headline:
    what = "betting before the flop"
    if _is_push_or_fold(manifest):
        what = "push or fold"
    elif manifest["kind"] == "unified":
        cards = str(manifest["cards"]).split()[0].rstrip(",")
        what = f"{_flops(len(manifest['flops']))}, {cards}"
    return Headline(
        title=f"{bb_text(manifest['game']['preflop']['stack'])} bb deep, {what}",
        iterations=int(manifest["iterations"]),
        exploitability=manifest["figures"]["exploitability"],
        unit=MBB,
        locks=len(manifest["game"].get("lock", ())),
    )


def _is_push_or_fold(manifest: Manifest) -> bool:
    """Whether a whole game is all-in or fold, so that it has no flops to play."""
    if manifest["kind"] != "unified":
        return False
    rules = manifest["game"]["preflop"]
    return not rules.get("limp", True) and not any(rules["raise_sizes"].values())


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
    "unified": _whole,
    "preflop": _whole,
    "postflop": _postflop,
}


def curve(unit: str, metrics: Sequence[Manifest]) -> messages.Curve:
    """Exploitability over time, from the checks of a run."""
    return messages.Curve(unit=unit, points=[messages.CurvePoint.of_check(row) for row in metrics])


def set_headline(folder: Path, manifest: Manifest) -> Headline:
    """The headline of a set; `worst_of` completes it from its spots."""
    entries: Sequence[Manifest] = manifest["spots"]
    solved = sum(entry["row"] is not None for entry in entries)
    names = [str(name) for name in dict.fromkeys(entry["name"] for entry in entries)]
    boards = f"{len(entries):,} board{'' if len(entries) == 1 else 's'}"
    if solved < len(entries):
        boards = f"{solved:,} of {boards}"
    if not names:
        title = "no boards"
    elif len(names) == 1:
        title = f"{names[0]}: {boards}{_stakes(folder / str(entries[0]['folder']))}"
    else:
        listed = names[:MOST_NAMES] + ["…"] * (len(names) > MOST_NAMES)
        title = f"{len(names):,} spots, {boards}: {', '.join(listed)}"
    return Headline(title=title, iterations=None, exploitability=None, unit=PERCENT)


def _stakes(spot: Path) -> str:
    """Pot and stack, which are the same on every board."""
    with suppress(InputError):  # the spot itself is listed, with the problem
        config = read_spot_manifest(spot)["config"]
        return f", pot {config['pot']:,}, stack {config['stack']:,}"
    return ""


def spot_tables(folder: Path, manifest: Manifest) -> list[messages.SpotTable]:
    """The spots of a set, each with the boards that it is solved on."""
    tables: dict[str, list[str]] = {}
    for entry in manifest["spots"]:
        if entry["row"] is not None:
            tables.setdefault(str(entry["name"]), []).append(id_of(folder / str(entry["folder"])))
    return [messages.SpotTable(name=name, solutions=boards) for name, boards in tables.items()]


def worst_of(
    card: messages.SolutionCard, spots: Sequence[messages.SolutionCard]
) -> messages.SolutionCard:
    """A set, rated by the worst of its solved spots that can be read."""
    wanted = sum(len(table.solutions) for table in card.tables)
    known = [spot for spot in spots if spot.exploitability is not None]
    lost = wanted - len(known)
    return card.model_copy(
        update={
            "exploitability": max((spot.exploitability or 0.0 for spot in known), default=None),
            "iterations": max((spot.iterations or 0 for spot in known), default=None),
            "locks": max((spot.locks for spot in known), default=0),
            "problem": f"{lost:,} of {wanted:,} boards cannot be read" if lost else card.problem,
        }
    )

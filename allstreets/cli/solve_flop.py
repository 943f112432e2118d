"""allstreets solve --from: a flop of a solved whole game, exactly, kept beside the solution."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.cli.output import console, print_json, print_looks
from allstreets.cli.solve import print_origin, solve_spot

if TYPE_CHECKING:
    from allstreets.solutions import FlopSpot
    from allstreets.storage import KeptFlop

# What a flag may still say: everything else about the spot comes from the solution.
SETTINGS = ("exploitability_threshold", "algorithm", "precision", "river_groups", "device")
FLAGS = {"oop_range": "oop", "ip_range": "ip", "rake_cap": "rake-cap"}


def solve_flop(
    folder: Path | None,
    line: str | None,
    flop: str | None,
    file: Path | None,
    flags: dict[str, Any],
    *,
    json: bool,
    **options: Any,
) -> None:
    """Solve a flop of the whole game in `folder`, or show it where it is kept already."""
    from allstreets.jobs import SpotJob, parse_target, plan_flop

    if folder is None:
        raise InputError("--line and --flop name a flop of a whole game: add --from DIR")
    _refuse_others(folder, file, flags)
    settings = {key: flags[key] for key in SETTINGS if flags[key] is not None}
    job = plan_flop(folder, line, flop, settings, **options)
    if isinstance(job, SpotJob):
        solve_spot(job, json=json)
        return
    wanted = flags["exploitability_threshold"]
    _show_kept(*job, None if wanted is None else parse_target(wanted), json=json)


def _refuse_others(folder: Path, file: Path | None, flags: dict[str, Any]) -> None:
    if file is not None:
        raise InputError(f"{file} or --from {folder}: a spot comes from one of them, leave one out")
    for key, value in flags.items():
        if value is not None and key not in SETTINGS:
            raise InputError(
                f"--{FLAGS.get(key, key)} has no meaning with --from: board, ranges, pot and "
                "sizes are those of the solution"
            )


def _show_kept(found: "FlopSpot", kept: "KeptFlop", target: float | None, *, json: bool) -> None:
    """A flop that is solved already."""
    from allstreets.cards import parse_flop
    from allstreets.jobs import SpotConfig
    from allstreets.solutions import suits_text

    out, manifest, origin = console(stderr=json), kept.manifest, kept.origin
    out.print(
        f"Solved already, to {100 * kept.exploitability:.3g} % of pot in "
        f"{manifest['iterations']:,} iterations: {kept.folder}",
        markup=False,
        soft_wrap=True,
    )
    renamed = suits_text(found.flop, parse_flop(origin.flop))
    if renamed:
        out.print(f"{found.cards} is {origin.flop} there: {renamed}.")
    oop, ip = manifest["evs"]
    out.print(f"EV OOP {oop:.2f}, IP {ip:.2f} of the pot of {found.spot.pot} chips")
    print_origin(out, origin, kept.exploitability)
    out.print()
    goal = SpotConfig().exploitability_threshold if target is None else target
    if kept.exploitability > goal:
        out.print(f"To go on to {100 * goal:g} %: the same command with --resume.")
    print_looks(out, kept.folder)
    if json:
        print_json(
            {
                "exploitability_pct": 100 * kept.exploitability,
                "exploitability_chips": kept.exploitability * found.spot.pot,
                "iterations": manifest["iterations"],
                "seconds": manifest["seconds"],
                "ev_oop": oop,
                "ev_ip": ip,
                "folder": str(kept.folder),
                "origin": origin.mapping(),
            }
        )

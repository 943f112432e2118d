"""allstreets solve --from: a flop of a solved whole game, exactly, kept beside the solution."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.cli.output import console, print_json, print_looks
from allstreets.cli.solve import Job, print_origin, run_job

if TYPE_CHECKING:
    from allstreets.jobs import SpotConfig
    from allstreets.solutions import FlopSpot, SpotSolution
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
    job: Job,
) -> None:
    """Solve a flop of the whole game in `folder`, or show it where it is kept already.

    1. The line leads to a pot, the pot and the flop are a spot (`solvers.flop_spot`).
    2. A kept spot of the same ranges is shown, in whichever suits it was solved; with --resume it
       goes on.
    3. Any other is solved and kept in FOLDER/spots, or in --output.
    """
    from allstreets.jobs import SpotConfig, check_config
    from allstreets.solutions import flop_spot
    from allstreets.storage import find_kept, load_unified, new_kept

    if folder is None:
        raise InputError("--line and --flop name a flop of a whole game: add --from DIR")
    _refuse_others(folder, file, flags)
    result = load_unified(folder)
    if line is None:
        lines = ", ".join(f"'{one}'" for one in result.flop_lines()[:6])
        raise InputError(f"--from needs --line, the betting before the flop: {lines}")
    found = flop_spot(result, line, flop)
    settings = {key: flags[key] for key in SETTINGS if flags[key] is not None}
    named = {"name": f"{found.line} | {found.cards}", **settings}
    config: SpotConfig = check_config(named, SpotConfig, "command line")
    kept = find_kept(folder, found) if job.output is None else None
    if kept is not None and not job.resume:
        _show_kept(found, kept, config, job)
        return
    if kept is not None:
        # A solver goes on in the suits that it began with.
        found = flop_spot(result, line, kept.origin.flop)
        job = replace(job, output=kept.folder)
    elif job.output is None:
        if job.resume:
            raise InputError(
                f"{found.name} is not solved yet in {folder / 'spots'}: leave --resume out"
            )
        job = replace(job, output=new_kept(folder, found))
    assert job.output is not None
    _announce(found, config, job.output, job)

    from allstreets.base import available_bytes, thread_count
    from allstreets.solutions import Origin, real_figures

    if found.place is not None:
        console(stderr=True).print("Playing the solution's own strategies with real cards …")
    real = real_figures(result, found, thread_count(job.threads), available_bytes())

    def origin(exact: "SpotSolution") -> "Origin":
        return Origin.of(result, found, exact, real)

    run_job(config, found.spot, job, origin)


def _refuse_others(folder: Path, file: Path | None, flags: dict[str, Any]) -> None:
    if file is not None:
        raise InputError(f"{file} or --from {folder}: a spot comes from one of them, leave one out")
    for key, value in flags.items():
        if value is not None and key not in SETTINGS:
            raise InputError(
                f"--{FLAGS.get(key, key)} has no meaning with --from: board, ranges, pot and "
                "sizes are those of the solution"
            )


def _announce(found: "FlopSpot", config: "SpotConfig", output: Path, job: Job) -> None:
    """What is about to be solved, and where it will be; refuse what does not fit."""
    import shutil

    from allstreets.base import available_bytes
    from allstreets.games import estimate_spot, require_memory
    from allstreets.jobs import data_size

    err = console(stderr=True)
    err.print(f"{found.pot.name} pot, 100 chips are 1 bb; to be kept in {output}", markup=False)
    if found.doubt:
        err.print(f"Line '{found.line}' is {found.doubt}.", markup=False)
    groups = config.river_groups
    need = estimate_spot(found.spot, config.precision, river_groups=groups)
    require_memory(found.spot, config.precision, need, available_bytes(), groups)
    if job.saved != "full":
        return
    size = need.memory_bytes
    there = next(path for path in (output, *output.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if size > free:
        raise InputError(
            f"it takes {data_size(size)} to keep in {output}, where {data_size(free)} are free: "
            "--save turn keeps a few per cent of it, --output names another folder"
        )


def _show_kept(found: "FlopSpot", kept: "KeptFlop", config: "SpotConfig", job: Job) -> None:
    """A flop that is solved already."""
    from allstreets.cards import parse_flop
    from allstreets.solutions import suits_text

    out, manifest, origin = console(stderr=job.json), kept.manifest, kept.origin
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
    if kept.exploitability > config.exploitability_threshold:
        goal = f"{100 * config.exploitability_threshold:g} %"
        out.print(f"To go on to {goal}: the same command with --resume.")
    print_looks(out, kept.folder)
    if job.json:
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

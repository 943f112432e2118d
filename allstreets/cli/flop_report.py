"""Flops one by one on a terminal: overview, table over flops, and single flops."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.cli.output import command, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solutions import WholeSolution

GROUPS = ("suits", "pairing", "high_card")
ORDER = ("rainbow", "two-tone", "monotone", "unpaired", "paired", "trips", *"AKQJT98765432")


def report_flops(
    folder: Path,
    flop: str | None,
    line: str,
    spr: float | None,
    form: str,
    parquet: Path | None,
    *,
    combos: bool,
) -> None:
    """What `allstreets report` prints of flops one by one; `form` is text, json or csv."""
    from allstreets.storage import load_flops

    if combos:
        raise InputError(f"--combos is for spots, and {folder} holds hand classes")
    if flop is None and line:
        raise InputError("--line needs --flop: name the flop of that line")
    if parquet is not None and flop is not None:
        raise InputError("--parquet writes the table over all flops; leave --flop out")
    result = load_flops(folder)
    if flop is not None:
        _report_one(result, flop, line, spr, form)
        return
    rows = result.flops
    if spr is not None:
        rows = [row for row in rows if math.isclose(row["spr"], spr)]
        if not rows:
            there = ", ".join(f"{one:g}" for one in result.sprs) or "none"
            raise InputError(f"no flop is solved at SPR {spr:g}, only at: {there}")
    if parquet is not None:
        from allstreets.base import write_parquet

        write_parquet(parquet, rows)
        return
    _report_all(folder, result, rows, form)


def _report_all(
    folder: Path, result: "WholeSolution", rows: list[dict[str, Any]], form: str
) -> None:
    from allstreets.solutions import summary_of

    if form == "csv":
        from allstreets.cli.report import write_csv

        write_csv(rows)
    elif form == "json":
        print_json(
            {
                "name": result.name,
                "description": result.description,
                "config": dict(result.config),
                **summary_of(rows),
                "missing": len(result.missing),
                "seconds": result.seconds,
                "rows": rows,
            }
        )
    else:
        _print_overview(console(), folder, result, rows)


def _print_overview(
    out: "Console", folder: Path, result: "WholeSolution", rows: list[dict[str, Any]]
) -> None:
    from allstreets.solutions import summary_of
    from allstreets.training import duration

    config = result.config
    if result.name:
        out.print(result.name, markup=False)
    kind: str = result.cards.kind
    if kind == "buckets":
        kind += f" ({'/'.join(str(count) for count in result.cards.buckets)})"
    raises = config["max_raises_per_street"]
    limit = "" if raises is None else f", {raises} raise{'' if raises == 1 else 's'} per street"
    out.print(
        f"{kind}, {config['algorithm']}; bets {_sizes(config, 'bet')}, raises "
        f"{_sizes(config, 'raise')}{limit}"
    )
    out.print(f"{len(rows):,} flops solved in {duration(result.seconds)}", end="")
    out.print(f", {len(result.missing):,} are missing" if result.missing else "")
    if not rows:
        out.print("Nothing to show yet: go on with --resume.")
        return
    goal = config["exploitability_threshold"]
    for spr in sorted({row["spr"] for row in rows}):
        found = [row for row in rows if row["spr"] == spr]
        figures = summary_of(found)
        out.print(
            f"\nSPR {spr:g}: exploitability {100 * figures['exploitability_mean']:.2f} % of the "
            f"pot on average, {100 * figures['exploitability_max']:.2f} % at most; "
            f"{figures['converged']:,} of {len(found):,} flops to {100 * goal:g} %, "
            f"{figures['iterations_mean']:.0f} iterations (at most {figures['iterations_max']:,})"
        )
        _print_groups(out, found)
    spr = ["--spr", f"{rows[0]['spr']:g}"] if len(result.sprs) > 1 else []
    one = command("report", folder, "--flop", rows[0]["flop"], *spr)
    out.print(f"\n--format csv lists all flops; one flop: {one}", markup=False, soft_wrap=True)


def _sizes(config: dict[str, Any] | Any, kind: str) -> str:
    texts = [config["sizes"][street][kind] or "none" for street in ("flop", "turn", "river")]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


def _print_groups(out: "Console", rows: list[dict[str, Any]]) -> None:
    """The first decisions by texture; means weighted by how many flops each stands for."""
    from allstreets.solutions import summary_of

    out.print(f"{'':12}{'flops':>7}{'EV OOP':>10}{'EV IP':>10}{'OOP bets':>11}{'IP bets':>10}")
    lines = [("all", rows)]
    for key in GROUPS:
        kinds = sorted({row[key] for row in rows}, key=ORDER.index)
        if len(kinds) > 1:
            lines += [(kind, [row for row in rows if row[key] == kind]) for kind in kinds]
    for name, found in lines:
        mean = summary_of(found)
        out.print(
            f"{name:12}{len(found):7,}{mean['ev_oop']:10.3f}{mean['ev_ip']:10.3f}"
            f"{100 * mean['bet_oop']:9.1f} %{100 * mean['bet_ip']:8.1f} %"
        )
    out.print("EVs are shares of the pot; IP bets after a check.")


def _report_one(
    result: "WholeSolution", flop: str, line: str, spr: float | None, form: str
) -> None:
    from allstreets.cli.node_view import print_head, print_mix, write_node
    from allstreets.solutions import node_report, without_nan

    node, row = result.at(line, flop, spr).decision, result.row(flop, spr)
    if form == "csv":
        write_node(node, form)
    elif form == "json":
        print_json({**without_nan(row), **node_report(node)})
    else:
        out = console()
        out.print(
            f"{row['flop']}, SPR {row['spr']:g}: {row['suits']}, {row['pairing']}, represents "
            f"{row['multiplicity']} of 22,100 flops"
        )
        out.print(
            f"exploitability {100 * row['exploitability']:.2f} % of the pot, "
            f"{row['iterations']:,} iterations; EV OOP {row['ev_oop']:.3f}, IP "
            f"{row['ev_ip']:.3f} pots\n"
        )
        print_head(out, node)
        print_mix(out, node)
        out.print("EVs are shares of the starting pot: 0.5 is an even split.")

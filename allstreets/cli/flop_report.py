"""A model of flops on a terminal: overview, table over flops, and single flops."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.cli.output import command, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solvers.flops.result import ClassStrategy, PostflopResult

GROUPS = ("suits", "pairing", "high_card")
ORDER = ("rainbow", "two-tone", "monotone", "unpaired", "paired", "trips", *"AKQJT98765432")
LEAST_REACH = 1e-3  # hands that get to a decision less often are not drawn


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
    """What `allstreets report` prints of a model of flops; `form` is text, json or csv."""
    from allstreets.storage import load_postflop

    if combos:
        raise InputError(f"--combos is for spots, and {folder} holds hand classes")
    if flop is None and line:
        raise InputError("--line needs --flop, the flop that it is about")
    if parquet is not None and flop is not None:
        raise InputError("--parquet writes the table over all flops; leave --flop out")
    result = load_postflop(folder)
    if flop is not None:
        _report_one(result, flop, line, spr, form)
        return
    rows = result.flops
    if spr is not None:
        rows = [row for row in rows if math.isclose(row["spr"], spr)]
        if not rows:
            there = ", ".join(f"{one:g}" for one in result.sprs) or "none"
            raise InputError(f"no flop is solved at the SPR {spr:g}; there are: {there}")
    if parquet is not None:
        from allstreets.base.parquet import write_parquet

        write_parquet(parquet, rows)
        return
    _report_all(folder, result, rows, form)


def _report_all(
    folder: Path, result: "PostflopResult", rows: list[dict[str, Any]], form: str
) -> None:
    from allstreets.solvers.flops.result import summary_of

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
    out: "Console", folder: Path, result: "PostflopResult", rows: list[dict[str, Any]]
) -> None:
    from allstreets.solvers.flops.result import summary_of
    from allstreets.training.wording import duration

    config = result.config
    if result.name:
        out.print(result.name, markup=False)
    kind = config["solve_type"]
    if kind == "bucketed":
        kind += f" ({'/'.join(str(count) for count in config['buckets'])} buckets)"
    raises = config["max_raises_per_street"]
    out.print(
        f"{kind}, {config['cfr_variant']}; bets {_sizes(config, 'bet')}, raises "
        f"{_sizes(config, 'raise')}, {raises} raise{'' if raises == 1 else 's'} a street"
    )
    out.print(f"{len(rows):,} flops solved in {duration(result.seconds)}", end="")
    out.print(f", {len(result.missing):,} are missing" if result.missing else "")
    if not rows:
        out.print("Nothing to show yet: go on with --resume.")
        return
    goal = config["cfr_exploitability_threshold"]
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
    """How the first decisions go, by texture; means weighted by how often a flop is dealt."""
    from allstreets.solvers.flops.result import summary_of

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
    result: "PostflopResult", flop: str, line: str, spr: float | None, form: str
) -> None:
    found = result.strategy(flop, line, spr)
    row = result.row(flop, spr)
    if form == "csv":
        from allstreets.cli.report import write_csv

        write_csv(hand_rows(found))
    elif form == "json":
        print_json(
            {
                **row,
                "line": found.line,
                "street": found.street.text,
                "player": found.player.name,
                "pot": found.pot / 1000,
                "to_call": found.to_call / 1000,
                "reached": found.reached,
                "actions": action_rows(found),
                "hands": [
                    {key: _plain(value) for key, value in one.items()} for one in hand_rows(found)
                ],
            }
        )
    else:
        _print_one(console(), row, found)


def action_rows(found: "ClassStrategy") -> list[dict[str, Any]]:
    """One row an action: how often it is taken, and whether what follows was learned."""
    taken, known = found.frequencies().tolist(), found.known_actions.tolist()
    return [
        {"action": word, "label": label, "frequency": _plain(taken[place]), "known": known[place]}
        for place, (word, label) in enumerate(zip(found.actions, found.labels, strict=True))
    ]


def hand_rows(found: "ClassStrategy") -> list[dict[str, Any]]:
    """One row a hand that fits beside the flop: its combos, its reach, and each action."""
    from allstreets.cards import HAND_NAMES, hand_combos

    combos = hand_combos(found.flop.cards)
    return [
        {
            "hand": name,
            "combos": int(combos[hand]),
            "reach": float(found.reach[hand]),
            **{
                word: float(found.strategy[place, hand]) for place, word in enumerate(found.actions)
            },
        }
        for hand, name in enumerate(HAND_NAMES)
        if combos[hand]
    ]


def _print_one(out: "Console", row: dict[str, Any], found: "ClassStrategy") -> None:
    import numpy as np

    from allstreets.cli.grid import mix_grid
    from allstreets.cli.node_view import print_table
    from allstreets.solvers.flops.result import SEATS
    from allstreets.solvers.spot.html import node_colours
    from allstreets.solvers.spot.report import action_symbols
    from allstreets.solvers.words import mix_lines

    out.print(
        f"{row['flop']}, SPR {row['spr']:g}: {row['suits']}, {row['pairing']}, stands for "
        f"{row['multiplicity']} of 22,100 flops"
    )
    out.print(
        f"exploitability {100 * row['exploitability']:.2f} % of the pot, "
        f"{row['iterations']:,} iterations; EV OOP {row['ev_oop']:.3f}, IP {row['ev_ip']:.3f} pots"
    )
    call = f", {found.to_call / 1000:g} to call" if found.to_call else ""
    out.print(
        f"\n{found.line or 'first decision'}\n{found.street.text}   {found.player.name} to act   "
        f"pot {found.pot / 1000:g}{call} (starting pot = 1)"
    )
    if not found.reached:
        out.print(found.line_reach.why_not(SEATS), style="bold", markup=False, highlight=False)
    symbols, colours = action_symbols(found), node_colours(found)
    notes = found.line_reach.action_notes()
    print_table(out, mix_lines(found.labels, found.frequencies(), None, notes), symbols, colours)
    out.print()
    shares = np.where(found.reach >= LEAST_REACH, found.strategy, np.nan)
    out.print(mix_grid(shares, symbols, colours))
    out.print("In each cell: the most frequent action and how often, in %; suited above.")


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value

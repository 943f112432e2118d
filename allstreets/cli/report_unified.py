"""allstreets report of a preflop or whole-game solution: overview, table over flops, decisions."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allstreets.base import InputError
from allstreets.cli.output import command, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solutions import Decision, WholeSolution

TABLE_KEYS = ("flop", "suits", "pairing", "high_card", "weight", "share", "reached")


def report_unified(
    folder: Path,
    *,
    line: str | None = None,
    flop: str | None = None,
    form: str = "text",
    combos: bool = False,
    flops: bool = False,
    chart: Path | None = None,
    parquet: Path | None = None,
) -> None:
    """What `allstreets report` prints of a preflop or whole-game solution.

    `form` is text, json or csv; `combos` adds the table by combo to a decision; `flops` selects the
    table over flops, with a line that of the decision on every flop; `chart` is a picture to draw
    of the decision, `parquet` a file for the table.
    """
    from allstreets.solutions import WholeSolution
    from allstreets.storage import load

    if chart is not None:
        from allstreets.training import check_plot_path

        check_plot_path(chart)
    asked = line is not None or flop is not None or chart is not None or combos
    table = flops or parquet is not None or (form == "csv" and not asked)
    if table and (flop is not None or chart is not None):
        raise InputError("the table covers all flops: leave --flop and --chart out")
    if table and combos:
        raise InputError("the table covers all flops: leave --combos out")
    result = load(folder)
    assert isinstance(result, WholeSolution)  # a whole game is one with flops below
    if table:
        _report_flops(result, line, form, parquet)
    elif asked:
        node = result.at(line or "", flop).decision
        if combos and not node.by_combo:
            raise InputError(
                "--combos has no meaning here: hands are the 169 classes; they are combos on turn "
                "and river of games solved with cards: boards"
            )
        _report_node(result, node, form, chart, combos=combos)
    elif form == "json":
        from allstreets.training import solution_mapping

        print_json(solution_mapping(result))
    else:
        _print_overview(console(), folder, result)


def _report_node(
    result: "WholeSolution", node: "Decision", form: str, chart: Path | None, *, combos: bool
) -> None:
    from allstreets.cli.node_view import print_combos, print_head, print_mix, write_node
    from allstreets.cli.preflop_view import EV_NOTE

    if chart is not None:
        from allstreets.solutions import node_chart
        from allstreets.training import plot_chart

        plot_chart(chart, node_chart(result, node))
    if form != "text":
        write_node(node, form)
        return
    out = console()
    print_head(out, node)
    print_mix(out, node)
    if node.reached:
        out.print(EV_NOTE if node.known else "EVs are unknown here.")
    if combos:
        print_combos(out, node)
    if chart is not None:
        out.print(f"Chart: {chart}", markup=False)


def _print_overview(out: "Console", folder: Path, result: "WholeSolution") -> None:
    from allstreets.cli.preflop_view import print_opening
    from allstreets.solutions import WholeSolution
    from allstreets.training import summary_lines

    for text in (result.facts.name, result.facts.description, *summary_lines(result)):
        if text:
            out.print(text, markup=False)
    print_opening(out, result)
    lines = result.opening_lines()
    ways = [["--line", lines[-1], "--chart", "chart.svg"]] if lines else []
    if isinstance(result, WholeSolution):
        ways.append(["--flops"])
        seen = result.flop_lines() if result.has_flops else []
        if seen:
            ways.insert(0, ["--line", seen[0], "--flop", result.game.flops.flops[0].text])
    out.print()
    for way in ways:
        out.print(command("report", folder, *way), markup=False, soft_wrap=True)


def _report_flops(
    result: "WholeSolution", line: str | None, form: str, parquet: Path | None
) -> None:
    from allstreets.solutions import WholeSolution

    if not isinstance(result, WholeSolution):
        raise InputError("this solution ends at the flop: there is no table over flops")
    rows = result.flops if line is None else result.flop_table(line)
    if parquet is not None:
        from allstreets.base import write_parquet

        write_parquet(parquet, rows)
    elif form == "csv":
        from allstreets.cli.report import write_csv

        write_csv(rows)
    elif form == "json":
        from allstreets.solutions import without_nan

        print_json({"line": line, "flops": [without_nan(row) for row in rows]})
    elif line is None:
        _print_flops(console(), rows)
    else:
        _print_actions(console(), rows)


def _print_flops(out: "Console", rows: list[dict[str, Any]]) -> None:
    """The flops as they lie in the set."""
    out.print(f"{'flop':8}{'suits':10}{'weight':>8}{'of hands':>10}{'exploitab.':>12}"
              f"{'EV BB':>9}{'EV SB':>9}")  # fmt: skip
    for row in rows:
        out.print(
            f"{_head(row)}{_percent(row['share'], 10)}{_percent(row['exploitability_pct'], 12, 1)}"
            f"{_bb(row['ev_oop_bb'])}{_bb(row['ev_ip_bb'])}"
        )
    out.print(
        "weight: of the 22,100 flops; of hands: of those that see a flop; exploitability: in % of "
        "the flop's pots; EVs: in bb, results of the whole hand."
    )


def _print_actions(out: "Console", rows: list[dict[str, Any]]) -> None:
    """A decision on every flop, and its means over the hands that get there."""
    from allstreets.solutions import NOT_REACHED

    words = [key for key in rows[0] if key not in TABLE_KEYS]
    out.print(f"{'flop':8}{'suits':10}{'weight':>8}{'gets here':>11}"
              + "".join(f"{word:>10}" for word in words))  # fmt: skip
    for row in rows:
        out.print(
            f"{_head(row)}{_percent(row['share'], 11)}"
            + "".join(_percent(row[word], 10) for word in words)
            + ("" if row["reached"] else f"   {NOT_REACHED}")
        )
    weights = [row["weight"] * row["share"] for row in rows]
    means = (_mean([row[word] for row in rows], weights) for word in words)
    out.print(f"{'all':37}" + "".join(_percent(mean, 10) for mean in means))
    out.print("gets here: of the hands dealt this flop; then how often each action is taken.")


def _head(row: dict[str, Any]) -> str:
    return f"{row['flop']:8}{row['suits']:10}{row['weight']:8,.0f}"


def _mean(values: list[float], weights: list[float]) -> float:
    known = [pair for pair in zip(values, weights, strict=True) if not math.isnan(pair[0])]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total > 0 else math.nan


def _percent(value: float | None, width: int, factor: float = 100) -> str:
    if value is None or math.isnan(value):
        return f"{'–':>{width}}"
    return f"{factor * value:>{width - 2}.2f} %"


def _bb(value: float | None) -> str:
    return f"{'–':>9}" if value is None else f"{round(value, 2) + 0.0:>+9.2f}"

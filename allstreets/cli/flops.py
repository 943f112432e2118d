"""allstreets flops: the 1,755 flops, one of them, or some with weights that stand for all."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.base import InputError
from allstreets.cli.terminal.output import (
    JsonOption,
    console,
    percent,
    plain_table,
    print_json,
    written,
)

if TYPE_CHECKING:
    from allstreets.cards import Flop, FlopSet


FlopFormat = Literal["text", "json", "csv"]


def flops(
    flop: Annotated[
        str,
        typer.Argument(
            metavar="FLOP",
            help="One flop, with any suits, or a set: subset_95.  [default: all flops]",
        ),
    ] = "",
    form: Annotated[
        FlopFormat, typer.Option("--format", "-f", help="text is a summary by texture.")
    ] = "text",
    choose: Annotated[
        int | None,
        typer.Option(
            min=1, max=1754, help="Choose this many flops with weights that stand for all 1,755."
        ),
    ] = None,
    solutions: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help="Choose for the game of this solution on all flops; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None, written("Write the chosen flops to this file.", "--output", "-o")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the 1,755 flops that are distinct up to suit isomorphism, one of them, or a set.

    --choose finds flops and weights on which hands do as well as on all flops. The subsets of the
    package (flops: subset_95 in a training file) were chosen in this way.

    \b
    Examples:
      allstreets flops
      allstreets flops "Ah Kd 7s"
      allstreets flops --format csv > flops.csv
      allstreets flops --format json | jq '.flops[0]'
      allstreets flops subset_95
      allstreets flops --choose 60 --format csv
      allstreets flops --choose 95 --from runs/all_20bb --from runs/all_40bb -o subset_95.json
    """
    if json:
        form = "json"
    if choose is not None:
        if flop:
            raise InputError(f"name a flop or use --choose, not both ('{flop}')")
        _choose(choose, solutions or [], output, form)
    elif solutions or output:
        raise InputError("--from and --output go with --choose N: how many flops to choose")
    elif "_" in flop:
        from allstreets.cards import parse_flop_set

        _show_set(parse_flop_set(flop), form)
    elif flop:
        _show_one(flop, form)
    else:
        _show_all(form)


def _facts(flop: "Flop") -> dict[str, Any]:
    return {
        "flop": flop.text,
        "multiplicity": flop.multiplicity,
        "suits": flop.texture.suits,
        "pairing": flop.texture.pairing,
        "high_card": flop.texture.high_card,
        "connectedness": flop.texture.connectedness,
        "straight_possible": flop.texture.straight_possible,
    }


def _show_one(text: str, form: FlopFormat) -> None:
    from allstreets.cards import SUITS, parse_flop

    parsed = parse_flop(text)
    suit_map = {suit: SUITS[new] for suit, new in zip(SUITS, parsed.suit_map, strict=True)}
    facts = _facts(parsed.flop)
    if form == "json":
        print_json({"given": text, **facts, "suit_map": suit_map})
    elif form == "csv":
        _write_csv([facts])
    else:
        out = console()
        out.print(f"{text} is {facts['flop']}, number {parsed.flop.number + 1:,} of 1,755")
        out.print("suits: " + ", ".join(f"{old} → {new}" for old, new in suit_map.items()))
        out.print(
            f"{facts['suits']}, {facts['pairing']}, {facts['connectedness']}, "
            f"{facts['high_card']} high; represents {facts['multiplicity']} of 22,100 flops"
        )


def _choose(count: int, solutions: list[Path], output: Path | None, form: FlopFormat) -> None:
    from allstreets.base import write_atomic
    from allstreets.cards import build_flop_table, choose_flops, flop_set_error, subset_text
    from allstreets.jobs import solution_leaves

    if output is not None and output.exists():
        raise InputError(f"{output} exists already; name another file")
    leaves = [solution_leaves(folder) for folder in solutions]
    build_flop_table()
    chosen = choose_flops(count, leaves)
    if output is not None:
        weights = {
            flop.text: weight
            for flop, weight in zip(chosen.flops, chosen.weights.tolist(), strict=True)
        }
        games = "".join(f" --from {folder.name}" for folder in solutions)
        made = f"allstreets flops --choose {count}{games}"
        text = subset_text(weights, flop_set_error(chosen), made)
        write_atomic(output, lambda file: file.write(text.encode()))
    _show_set(chosen, form)


def _show_set(flops: "FlopSet", form: FlopFormat) -> None:
    from allstreets.cards import flop_set_error, stated_error

    rows = [
        {**_facts(flop), "weight": weight}
        for flop, weight in zip(flops.flops, flops.weights.tolist(), strict=True)
    ]
    if form == "csv":
        _write_csv(rows)
        return
    error = stated_error(flops.name)  # the file of a subset has it; else all flops are compared
    if error is None:
        error = flop_set_error(flops)
    if form == "json":
        print_json({"set": flops.name, "count": len(rows), "error": error, "flops": rows})
        return
    out = console()
    table = plain_table("flop", "weight", "suits", "pairing")
    for row in rows:
        table.add_row(row["flop"], f"{row['weight']:,.2f}", row["suits"], row["pairing"])
    out.print(table)
    out.print(
        f"\n{len(rows):,} flops stand for 22,100. Hands fare on them as on all flops, to within "
        f"{percent(error)} of a standard deviation; for a flop drawn at random it is 100 %."
    )


def _show_all(form: FlopFormat) -> None:
    from allstreets.cards import all_flops

    rows = [_facts(flop) for flop in all_flops()]
    if form == "json":
        print_json({"count": len(rows), "flops": rows})
        return
    if form == "csv":
        _write_csv(rows)
        return
    out = console()
    for column in ("suits", "pairing", "connectedness"):
        kinds = Counter[str](row[column] for row in rows)
        dealt = Counter[str]()
        for row in rows:
            dealt[row[column]] += row["multiplicity"]
        table = plain_table(column, "flops", "dealt", "share")
        for kind, count in kinds.most_common():
            share = percent(dealt[kind] / 22100, 1)
            table.add_row(kind, f"{count:,}", f"{dealt[kind]:,}", share)
        out.print(table)
        out.print()
    out.print(f"{len(rows):,} flops represent 22,100; --format csv or json lists them")


def _write_csv(rows: list[dict[str, Any]]) -> None:
    from allstreets.base import write_csv_rows

    write_csv_rows(sys.stdout, list(rows[0]), rows)

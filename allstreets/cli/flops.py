"""allstreets flops: the 1,755 flops, or the one that a given flop is isomorphic to."""

import sys
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.output import JsonOption, console, percent, plain_table, print_json

if TYPE_CHECKING:
    from allstreets.cards import Flop


class FlopFormat(StrEnum):
    """How the list is written."""

    text = "text"
    json = "json"
    csv = "csv"


def flops(
    flop: Annotated[
        str, typer.Argument(help="One flop, with any suits; default: all of them.")
    ] = "",
    form: Annotated[
        FlopFormat, typer.Option("--format", "-f", help="text is a summary by texture.")
    ] = FlopFormat.text,
    json: JsonOption = False,
) -> None:
    """The 1,755 flops that are distinct up to suit isomorphism, or one of them.

    \b
    Examples:
      allstreets flops
      allstreets flops "Ah Kd 7s"
      allstreets flops --format csv > flops.csv
      allstreets flops --format json | jq '.flops[0]'
    """
    if json:
        form = FlopFormat.json
    if flop:
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

    found = parse_flop(text)
    suit_map = {suit: SUITS[new] for suit, new in zip(SUITS, found.suit_map, strict=True)}
    facts = _facts(found.flop)
    if form is FlopFormat.json:
        print_json({"given": text, **facts, "suit_map": suit_map})
    elif form is FlopFormat.csv:
        _write_csv([facts])
    else:
        out = console()
        out.print(f"{text} is {facts['flop']}, number {found.flop.number + 1:,} of 1,755")
        out.print("suits: " + ", ".join(f"{old} → {new}" for old, new in suit_map.items()))
        out.print(
            f"{facts['suits']}, {facts['pairing']}, {facts['connectedness']}, "
            f"{facts['high_card']} high; represents {facts['multiplicity']} of 22,100 flops"
        )


def _show_all(form: FlopFormat) -> None:
    from allstreets.cards import all_flops

    rows = [_facts(flop) for flop in all_flops()]
    if form is FlopFormat.json:
        print_json({"count": len(rows), "flops": rows})
        return
    if form is FlopFormat.csv:
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
    import csv

    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)

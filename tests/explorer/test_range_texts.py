"""The page's own reader of range texts: its table of examples matches the server."""

import json

from builders.range_texts import TABLE, rows


def test_the_table_for_the_page_is_what_the_server_reads() -> None:
    again = "write the table anew: cd tests && python -m builders.range_texts"
    assert json.loads(TABLE.read_text()) == rows(), again


def test_the_table_has_every_sort_of_text() -> None:
    counts: dict[str, int] = {}
    for row in rows():
        counts[row["kind"]] = counts.get(row["kind"], 0) + 1
    assert min(counts[kind] for kind in ("page", "server", "both", "wrong")) >= 15, counts

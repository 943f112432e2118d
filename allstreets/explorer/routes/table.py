"""Routes that a method of a part of the server answers directly.

The method's parameters, result and docstring are the route's entry in the OpenAPI document.

It also has the common parts of routes: server components, answers for the OpenAPI document, files.
"""

import io
import re
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import State

from allstreets.base import write_csv_rows
from allstreets.explorer.models import place as messages
from allstreets.explorer.models.base import Refusal
from allstreets.explorer.ranges import range_grid
from allstreets.explorer.solves.games import estimate_game, sample_games
from allstreets.explorer.solves.spots import estimate, examples

Answers = dict[int | str, dict[str, Any]]
REFUSALS: Answers = {
    400: {"model": Refusal, "description": "The request is invalid"},
    403: {"model": Refusal, "description": "The request comes from another page"},
    404: {"model": Refusal, "description": "What the request names does not exist"},
    413: {"model": Refusal, "description": "The request is too large"},
    422: {"model": Refusal, "description": "Something in the request is wrong"},
}
CSV: Answers = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "A table"}
}
ROWS: Answers = {
    200: {
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
        "description": "A table, row by row",
    }
}
ZIP, APKG = "application/zip", "application/octet-stream"
NDJSON = "application/x-ndjson"
BUSY: Answers = {409: {"model": Refusal, "description": "Not in this state, or too much at once"}}
EVENTS: Answers = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Events named `solve`, each with a SolveEvent as data",
    }
}
Row = Mapping[str, Any]
CSV_TYPE = "text/csv; charset=utf-8"
TEXTURE = ("flop", "suits", "pairing", "connectedness", "high_card")
FIGURES = ("weight", "share", "ev_oop", "ev_ip", "equity_oop", "equity_ip")
ODD = re.compile(r"[^A-Za-z0-9_.-]+")  # characters that a header or a file system may not accept
MOST_LETTERS = 80


def part(name: str) -> Any:
    """A part of the server, for routes: `Annotated[Library, part("library")]`."""

    def find(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(find)


def file_answer(media_type: str, what: str) -> Answers:
    """A file that is saved."""
    schema = {"type": "string", "format": "binary"}
    return {200: {"content": {media_type: {"schema": schema}}, "description": what}}


def _lines(what: str) -> Answers:
    """An answer that comes line by line."""
    text = f"Lines, each a {what}; or a Refusal, and the end"
    return {200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": text}}


PARTS = _lines("CardReport with some of the rows")
HAND_PARTS = _lines("BoardHandsPart, the last of which has the report")


def download(content: str | bytes, media_type: str, name: str, suffix: str) -> Response:
    """A file with a readable name, reduced to plain characters: "My game" becomes My-game.zip."""
    plain = ODD.sub("-", name).strip("-.")[:MOST_LETTERS] or "allstreets"
    return Response(
        content,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{plain}{suffix}"'},
    )


def csv_text(rows: Sequence[Row], name: str = "allstreets") -> Response:
    """Rows as a file that a browser saves; missing values are empty cells."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO(newline="")
    shown = [{key: _cell(value) for key, value in row.items()} for row in rows]
    write_csv_rows(text, columns, shown, line_end="\r\n")  # as RFC 4180 has it
    return download(text.getvalue(), CSV_TYPE, name, ".csv")


def _cell(value: Any) -> Any:
    """A number with the digits of messages."""
    return f"{value:.7g}" if isinstance(value, float) else value


def card_rows(report: messages.CardReport) -> list[Row]:
    """One row per card."""
    words = [choice.word for choice in report.actions]
    return [
        {"card": row.card, "same_as": row.same_as, **_figures(row, words)} for row in report.rows
    ]


def flop_rows(report: messages.FlopReport) -> list[Row]:
    """One row per flop."""
    words = [choice.word for choice in report.actions]
    return [
        {
            **{name: getattr(row, name) for name in TEXTURE},
            **_figures(row, words),
            "exploitability_pct": row.exploitability_pct,
        }
        for row in report.rows
    ]


def hand_rows(report: messages.BoardHands, by: messages.HandKey) -> list[Row]:
    """One row per category, draw or hand; figures are those of the player who acts."""
    words, player = [choice.word for choice in report.actions], report.player
    rows: list[messages.BoardHand] = getattr(report, by)
    return [
        {
            by: row.name,
            "player": player,
            "share": row.share,
            **dict(zip(words, row.frequencies, strict=True)),
            **{what: getattr(row, f"{what}_{player}") for what in ("ev", "equity", "eqr")},
        }
        for row in rows
    ]


def _figures(row: messages.ReportRow, words: Sequence[str]) -> dict[str, Any]:
    figures = {name: getattr(row, name) for name in FIGURES}
    return figures | dict(zip(words, row.frequencies, strict=False))


NEW, MADE = {"status_code": 201}, {"status_code": 201, "responses": BUSY}
BUSY_ONLY = {"responses": BUSY}
GONE: dict[str, Any] = {"status_code": 204, "response_class": Response}
ONE = "/solutions/{solution}"
SESSION = "/practice/sessions/{session}"

# By tag: method and path, the name of the operation, the method that answers, and further options.
TABLE: dict[str, tuple[tuple[str, str, str, Any, dict[str, Any]], ...]] = {
    "solutions": (
        ("GET", "/about", "about", "library.about", {}),
        ("GET", "/solutions", "solutions", "library.cards", {}),
        ("GET", "/library", "ready_made", "library.ready_made.list", {}),
        ("GET", ONE, "solution_detail", "library.detail", {}),
        ("POST", f"{ONE}/label", "label_solution", "library.label", {}),
        ("DELETE", ONE, "delete_solution", "deleting.delete", BUSY_ONLY),
        ("GET", "/trash", "trash", "deleting.trash.list", {}),
        ("GET", f"{ONE}/place", "place", "library.place", {}),
        ("GET", f"{ONE}/exact", "exact", "exact_flops.look", {}),
        ("POST", f"{ONE}/exact", "solve_exactly", "exact_flops.start", MADE),
        ("POST", f"{ONE}/lock", "lock", "locking.start", MADE),
        ("POST", f"{ONE}/exploit", "exploit", "exploiting.find", BUSY_ONLY),
        ("GET", f"{ONE}/hud", "hud_numbers", "exploiting.numbers", BUSY_ONLY),
        ("GET", f"{ONE}/difference", "what_changed", "locking.difference", {}),
        ("GET", f"{ONE}/beside", "comparison_choices", "comparing.choices", {}),
        ("GET", f"{ONE}/beside/{{other}}", "comparison", "comparing.compare", {}),
        ("POST", f"{ONE}/simple", "save_simple", "simplifying.save", MADE),
    ),
    "solves": (
        ("GET", "/examples", "examples", examples, {}),
        ("POST", "/solves/estimate", "estimate", estimate, {}),
        ("GET", "/solves", "solves", "solves.list", {}),
        ("GET", "/solves/{solve}", "solve_detail", "solves.detail", {}),
        ("POST", "/solves/{solve}/pause", "pause", "solves.pause", BUSY_ONLY),
        ("POST", "/solves/{solve}/resume", "resume", "solves.resume", BUSY_ONLY),
        ("POST", "/solves/{solve}/stop", "stop", "solves.stop", BUSY_ONLY),
        ("DELETE", "/solves/{solve}", "delete", "solves.delete", BUSY_ONLY),
    ),
    "games": (
        ("GET", "/games/samples", "sample_games", sample_games, {}),
        ("POST", "/games/estimate", "estimate", estimate_game, {}),
    ),
    "ranges": (
        ("POST", "/range", "read_range", range_grid, {}),
        ("GET", "/ranges", "kept_ranges", "kept_ranges.list", {}),
        ("POST", "/ranges", "keep_range", "kept_ranges.keep", NEW),
        ("DELETE", "/ranges", "forget_range", "kept_ranges.remove", GONE),
    ),
    "practice": (
        ("GET", "/practice/topics", "topics", "practising.topics", {}),
        ("POST", "/practice/sessions", "begin", "practising.begin", NEW),
        ("POST", f"{SESSION}/answers", "answer", "practising.answer", BUSY_ONLY),
        ("POST", f"{SESSION}/hands", "deal", "practising.deal", BUSY_ONLY),
        ("GET", "/practice/results", "results", "practising.kept.results", {}),
        ("DELETE", "/practice/results", "delete_results", "practising.kept.delete", GONE),
    ),
    "reviews": (
        ("GET", "/reviews", "all_reviews", "reviews.cards", {}),
        ("GET", "/reviews/{review}", "review_detail", "reviews.detail", {}),
        ("GET", "/reviews/{review}/hands/{hand}", "replay", "reviews.hand", {}),
    ),
}


def table_routes(parts: State) -> APIRouter:
    """The routes of the table, answered by these parts of a server."""
    router = APIRouter(prefix="/api", responses=REFUSALS)
    for tag, rows in TABLE.items():
        for method, path, name, who, more in rows:
            answer = attrgetter(who)(parts) if isinstance(who, str) else who
            router.add_api_route(path, answer, methods=[method], name=name, tags=[tag], **more)
    return router

"""Answers that routes share, as the OpenAPI document describes them."""

from typing import Any

from allstreets.explorer.models.base import Refusal

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "The request makes no sense"},
    403: {"model": Refusal, "description": "The request comes from another page"},
    404: {"model": Refusal, "description": "What the request names does not exist"},
    413: {"model": Refusal, "description": "The request is too large"},
    422: {"model": Refusal, "description": "Something in the request is wrong"},
}
CSV: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "A table"}
}
ROWS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
        "description": "A table, row by row",
    }
}
ZIP, APKG = "application/zip", "application/octet-stream"


def file_answer(media_type: str, what: str) -> dict[int | str, dict[str, Any]]:
    """A file that is saved."""
    schema = {"type": "string", "format": "binary"}
    return {200: {"content": {media_type: {"schema": schema}}, "description": what}}


NDJSON = "application/x-ndjson"


def _lines(what: str) -> dict[int | str, dict[str, Any]]:
    """An answer that comes line by line."""
    told = f"Lines, each a {what}; or a Refusal, and the end"
    return {200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": told}}


PARTS = _lines("CardReport with some of the rows")
HAND_PARTS = _lines("BoardHandsPart, the last of which has the report")
BUSY: dict[int | str, dict[str, Any]] = {
    409: {"model": Refusal, "description": "Not in this state, or too much at once"}
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Events named `solve`, each with a SolveEvent as data",
    }
}

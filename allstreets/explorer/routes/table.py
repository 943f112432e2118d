"""Routes that a part of the server answers by itself: its method is the route.

The method's parameters, result and docstring are the route's entry in the OpenAPI document.
"""

from operator import attrgetter
from typing import Any

from fastapi import APIRouter, Response
from starlette.datastructures import State

from allstreets.explorer.ranges import range_grid
from allstreets.explorer.routes.answers import BUSY, REFUSALS
from allstreets.explorer.solves.examples import examples
from allstreets.explorer.solves.games import estimate_game, sample_games
from allstreets.explorer.solves.spots import estimate

NEW, MADE = {"status_code": 201}, {"status_code": 201, "responses": BUSY}
BUSY_ONLY = {"responses": BUSY}
GONE: dict[str, Any] = {"status_code": 204, "response_class": Response}
ONE = "/solutions/{solution}"
SESSION = "/practice/sessions/{session}"

# By tag: method and path, the name of the operation, who answers, and further options of the route.
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

"""The server's application: routes, readable errors, and the built page."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from allstreets.base import InputError
from allstreets.explorer.comparing import Comparing
from allstreets.explorer.deleting import Deleting
from allstreets.explorer.exact_flops import ExactFlops
from allstreets.explorer.library import Library
from allstreets.explorer.locking import Exploiting, Locking
from allstreets.explorer.models.base import (
    BusyError,
    FormError,
    Hint,
    MissingError,
    Problem,
    Refusal,
)
from allstreets.explorer.models.place import BoardHandsPart
from allstreets.explorer.models.solves import SolveEvent
from allstreets.explorer.practising import Practising
from allstreets.explorer.ranges import KeptRanges
from allstreets.explorer.reviews import Reviews
from allstreets.explorer.routes import solutions, solves
from allstreets.explorer.routes.table import table_routes
from allstreets.explorer.security import Access, Guard
from allstreets.explorer.simplifying import Simplifying
from allstreets.explorer.solves.manager import Solves
from allstreets.jobs import LIMITS, limit_text
from allstreets.solutions import NoNodeError
from allstreets.study import default_file
from allstreets.version import __version__

PAGE = Path(__file__).parent / "page"  # what `npm run build` in web/ writes
NO_PAGE = """<!doctype html><title>allstreets</title>
<p>The page has not been built. In a checkout, run <code>make page</code> (it needs npm) and reload.
The data are available without it: see <a href="/api/openapi.json">/api/openapi.json</a>."""


def create_app(
    library: Library,
    jobs: Solves,
    hosts: Collection[str],
    page: Path = PAGE,
    token: str | None = None,
    tickets: Collection[str] = (),
) -> FastAPI:
    """The application; `hosts` are the host names that it answers to, ports included.

    With a `token` it answers only requests that carry it, or one of the `tickets`.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        jobs.close()

    app = FastAPI(
        title="allstreets explorer",
        version=__version__,
        summary="Solutions of heads-up no-limit hold'em, node by node",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's own pages load scripts from other sites
        redoc_url=None,
    )
    app.state.library, app.state.solves = library, jobs
    app.state.exact_flops = ExactFlops(library, jobs)
    app.state.comparing = Comparing(library)
    app.state.locking = Locking(library, jobs)
    app.state.exploiting = Exploiting(library)
    app.state.deleting = Deleting(library, jobs)
    app.state.kept_ranges = KeptRanges(jobs.folder)
    app.state.practising = Practising(library, default_file())
    app.state.reviews = Reviews(library)
    app.state.simplifying = Simplifying(library, jobs.folder)
    if token is not None:
        app.add_middleware(Access, token=token, tickets=tickets)
    app.add_middleware(Guard, hosts=hosts)
    for router in (table_routes(app.state), solutions.router, solves.router):
        app.include_router(router)
    _add_errors(app)
    _add_page(app, page)
    describe = app.openapi
    # Built on request: it takes as long as everything else together.
    app.openapi = cache(lambda: api_document(describe()))  # type: ignore[method-assign]
    return app


def api_document(document: dict[str, Any]) -> dict[str, Any]:
    """FastAPI's OpenAPI document, with the messages that travel in streams."""
    parts = document["components"]["schemas"]
    for message in (SolveEvent, BoardHandsPart):
        schema = message.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, part in schema.pop("$defs", {}).items():
            parts.setdefault(name, part)
        parts[message.__name__] = schema
    return document


def _add_errors(app: FastAPI) -> None:
    def answer(status: int, message: str, problems: list[Problem]) -> JSONResponse:
        refusal = Refusal(message=message, problems=problems)
        return JSONResponse(refusal.model_dump(mode="json"), status)

    @app.exception_handler(InputError)
    def wrong(_: Request, error: InputError) -> JSONResponse:
        if isinstance(error, FormError):
            return answer(422, str(error), list(error.problems))
        if isinstance(error, NoNodeError):
            hints = [Hint(label=label, line=line) for label, line in error.hints]
            return answer(404, str(error), [Problem(message=str(error), hints=hints)])
        statuses = {MissingError: 404, BusyError: 409}
        return answer(statuses.get(type(error), 422), str(error), [Problem(message=str(error))])

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = []
        for detail in error.errors():
            field = ".".join(map(str, detail["loc"][1:]))
            text = limit_text(detail) if detail["type"] in LIMITS else detail["msg"]
            problems.append(Problem(message=f"{field}: {text}", field=field or None))
        return answer(422, "; ".join(problem.message for problem in problems), problems)

    @app.exception_handler(HTTPException)
    def plain(_: Request, error: HTTPException) -> JSONResponse:
        return answer(error.status_code, str(error.detail), [])


class _Assets(StaticFiles):
    """Files of a page that may be built while the server runs."""

    async def check_config(self) -> None:
        """Accept missing files: until then there are none, which is not an error of the server."""


def _add_page(app: FastAPI, page: Path) -> None:
    """Serve the page's files; every other path opens the page, which reads the address."""
    index = page / "index.html"
    app.mount("/assets", _Assets(directory=page / "assets", check_dir=False), name="assets")

    @app.get("/{path:path}", include_in_schema=False, response_model=None)
    def open_page(path: str) -> FileResponse | HTMLResponse:
        if path.startswith("api/") or path == "api":
            raise HTTPException(404, f"there is no /{path}")
        if not index.is_file():
            return HTMLResponse(NO_PAGE, 200 if path == "" else 404)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

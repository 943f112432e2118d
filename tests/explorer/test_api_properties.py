"""Whatever is asked is answered as the OpenAPI document says, and never with a fault of ours.

Requests are made up from the document; many of them are turned to a solution and a solve that
exist, so that they get past the first question. Long: fifteen requests to every operation, and
schemathesis alone takes a second to import.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from builders.small_forms import river
from builders.small_spots import TURN, spot
from harness.asking import operations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    status_code_conformance,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from allstreets.explorer.app import create_app
from allstreets.explorer.models.solves import SolveProgress
from allstreets.explorer.models.study import PracticeForm
from allstreets.explorer.practising import Practising
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.folders import Request, SolveFolder, Status
from allstreets.explorer.solves.spots import examples
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot

pytestmark = pytest.mark.long

HOST = "testserver"  # that schemathesis asks for
SOLVE = "20260101-000000-ks7d4c9h-0000"
FILES = (".csv", ".zip", ".apkg")
LINES = ["", "x", "x x", "x x | 2h", "x x | *", "b75%", "b75% c | Ah | x", "b75% a", "f", "x | Ks"]
FORMS = [example.form.model_dump(mode="json", by_alias=True) for example in examples()]


def put_solve(folder: SolveFolder) -> None:
    """A solve that has reached its target."""
    solver = SpotSolver(spot(TURN))
    solver.train_batch(20)
    reached = solver.exploitability() / solver.spot.pot
    row = {"iteration": 20, "seconds": 0.1, "exploitability": 100 * reached}
    save_spot(solver, folder.solution, exploitability=reached, metrics=[row], name="a turn")
    form = river(board="Ks7d4c9h", target_pct=99)
    progress = SolveProgress(
        iteration=20,
        seconds=0.1,
        iterations_per_second=200,
        eta_seconds=None,
        exploitability=100 * reached,
        memory_bytes=None,
    )
    folder.write(Request(run=1, state="done", reason="solved", form=form, created=1.8e9))
    folder.write(Status(run=1, state="done", reason="solved", saves=1, progress=progress))


def without_end(app: ASGIApp) -> ASGIApp:
    """An application without its start and end events, which come with every call."""

    async def asked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for part in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{part}.complete"})

    return asked


def operation_of(
    context: schemathesis.HookContext,
) -> schemathesis.APIOperation[Any, Any, Any, Any]:
    assert context.operation is not None
    return context.operation


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    root: Path = tmp_path_factory.mktemp("explorer")
    folder = SolveFolder(root / "solves" / SOLVE)
    put_solve(folder)
    copytree(folder.solution, root / "other")
    library, solves = open_folders([root / "other"], root / "solves")
    solution, other = library.id_of(folder.solution), library.id_of(root / "other")
    app = create_app(library, solves, [HOST])
    practising: Practising = app.state.practising
    session = practising.begin(PracticeForm(solution=solution, seed=1)).session
    document = schemathesis.openapi.from_asgi("/api/openapi.json", without_end(app))
    document.config.analysis.constants.enabled = False  # else requests depend on all our source

    @document.hook
    def flatmap_path_parameters(
        context: schemathesis.HookContext, path_parameters: dict[str, Any] | None
    ) -> st.SearchStrategy[Any]:
        """Three times out of four those that exist."""
        existing = dict(path_parameters or {})
        if operation_of(context).method.upper() != "DELETE":
            names = {"solution": solution, "other": other, "solve": SOLVE, "session": session}
            existing |= {key: name for key, name in names.items() if key in existing}
        return st.sampled_from([existing, existing, existing, path_parameters])

    @document.hook
    def flatmap_query(
        context: schemathesis.HookContext, query: dict[str, Any] | None
    ) -> st.SearchStrategy[Any]:
        """Lines that lead somewhere, as often as not."""
        path = operation_of(context).path
        if not path.startswith("/api/solutions/"):
            return st.just(query)
        known = {"hand": "AKs", "player": "ip"} if path.endswith("/hand") else {}
        there = [{**(query or {}), **known, "line": line} for line in LINES]
        return st.sampled_from([*there, query, query])

    @document.hook
    def flatmap_body(context: schemathesis.HookContext, body: Any) -> st.SearchStrategy[Any]:
        """Spots that can be estimated; none that would be solved."""
        if operation_of(context).path == "/api/solves/estimate":
            return st.sampled_from([*FORMS, body])
        if operation_of(context).path == "/api/practice/sessions" and isinstance(body, dict):
            there = {"solution": solution, "line": "x", "streets": ["river"]}
            return st.sampled_from([{**body, "solution": solution}, there, body])
        if operation_of(context).path.endswith("/lock") and isinstance(body, dict):
            return st.just({**body, "line": "f"})  # where no player acts
        if operation_of(context).path.endswith("/simple") and isinstance(body, dict):
            return st.just({**body, "grid_pct": 30})  # which nothing is saved for
        if operation_of(context).path.endswith("/answers"):
            return st.sampled_from([{"question": 0, "action": 0}, body])
        return st.just(body)

    yield document
    assert [one.id for one in solves.list()] == [SOLVE]  # nothing was started
    assert solves.close()


def require_valid(api: schemathesis.BaseSchema, schema: dict[str, Any], body: bytes) -> None:
    """A body is what the document says, read as JSON Schema 2020-12, which OpenAPI 3.1 is.

    (schemathesis has a check of its own, which does not know the keyword prefixItems.)
    """
    whole = {**schema, "components": api.raw_schema["components"]}
    jsonschema_rs.Draft202012Validator(whole).validate(json.loads(body))


def test_bodies_that_are_not_as_documented_are_noticed(api: schemathesis.BaseSchema) -> None:
    schema = {"$ref": "#/components/schemas/Refusal"}
    require_valid(api, schema, b'{"message": "", "problems": []}')
    with pytest.raises(jsonschema_rs.ValidationError):
        require_valid(api, schema, b'{"message": 1, "problems": []}')


@pytest.mark.parametrize(("method", "path"), operations())
@settings(
    max_examples=15,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_every_answer_is_as_documented(
    api: schemathesis.BaseSchema, method: str, path: str, data: st.DataObject
) -> None:
    mode = data.draw(st.sampled_from(list(schemathesis.GenerationMode)))
    case = data.draw(api[path][method].as_strategy(generation_mode=mode))
    answer = case.call()
    assert answer.status_code < 500
    case.validate_response(answer, checks=[status_code_conformance, content_type_conformance])
    body = answer.content
    if path.endswith("/events") and answer.status_code == 200:
        kind, sent, *rest = body.decode().split("\n")
        assert (kind, rest) == ("event: solve", ["", ""])
        require_valid(api, {"$ref": "#/components/schemas/SolveEvent"}, sent.encode()[6:])
    elif path.endswith(".ndjson") and answer.status_code == 200:
        part = "BoardHandsPart" if path.endswith("/hands.ndjson") else "CardReport"
        for line in body.splitlines():
            require_valid(api, {"$ref": f"#/components/schemas/{part}"}, line)
    elif body and not (path.endswith(FILES) and answer.status_code == 200):
        told = api.raw_schema["paths"][path][method.lower()]["responses"]
        content = told[str(answer.status_code)]["content"]
        require_valid(api, content["application/json"]["schema"], body)
    if answer.status_code >= 400:
        told = json.loads(answer.content)
        assert told["message"]
        assert "Traceback (most" not in told["message"]

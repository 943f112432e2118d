"""Requests to the explorer's application without a network."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from fastapi.routing import APIRoute

from allstreets.explorer.app import create_app
from allstreets.explorer.library import Library
from allstreets.explorer.routes import solutions as solution_routes
from allstreets.explorer.routes import solves as solve_routes
from allstreets.explorer.routes.table import table_routes
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.manager import Solves

HOST = "127.0.0.1:8000"


class Client:
    """Asks the application of a library; it solves nothing."""

    def __init__(self, library: Library) -> None:
        solves = Solves(Path("nowhere"), library.id_of)
        self._app = create_app(library, solves, [HOST])

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
    ) -> httpx.Response:
        """One request."""

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.request(method, path, params=params, headers=headers)

        return asyncio.run(ask())

    def delete(self, path: str) -> httpx.Response:
        """One request to delete something."""
        return self.get(path, method="DELETE")


def operations() -> list[tuple[str, str]]:
    """Method and path of every route of a server."""
    with TemporaryDirectory() as nothing:
        parts = create_app(*open_folders([], Path(nothing)), hosts=()).state
    return [
        (method, route.path)
        for router in (table_routes(parts), solution_routes.router, solve_routes.router)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]

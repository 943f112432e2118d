"""Accepts only same-origin requests, and those of programs on this machine.

The server listens on this machine only. That does not keep out other web pages, which a browser
allows to send requests here: under a host name of their own that resolves to this machine (DNS
rebinding), or by a form. So the requested host must be this server's, and a request that names its
origin must come from this server's page.
"""

import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allstreets.explorer.models.base import Refusal

MAX_BODY_BYTES = 256 * 1024
MAX_HANDS_BYTES = 8 * 1024 * 1024
LARGER = {"/api/reviews": MAX_HANDS_BYTES}  # hand histories of thousands of hands
LENGTH = re.compile(r"[0-9]{1,15}")  # isdigit() would take "²" for a number
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Nothing from elsewhere, and no frame of another page. Styles may be written in elements: the cells
# of a grid are filled by shares that no style sheet can know.
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Middleware that rejects requests of other pages, and bodies that are too big."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket: this server has none
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is not None:
            status, message = refusal
            body = Refusal(message=message).model_dump(mode="json")
            await JSONResponse(body, status, HEADERS)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        if headers.get("host", "") not in self._hosts:
            return 403, f"this server is not called '{headers.get('host', '')}'"
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return 403, f"the page '{origin}' may not send requests to this server"
        elsewhere = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        follows_link = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if elsewhere and not follows_link:
            return 403, "another page may not send requests to this server"
        if method not in SAFE_METHODS:
            return self._bad_body(headers, LARGER.get(path, MAX_BODY_BYTES))
        return None

    @staticmethod
    def _bad_body(headers: Headers, most: int) -> tuple[int, str] | None:
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not LENGTH.fullmatch(length):
            return 411, "say how long the body is (Content-Length)"
        if int(length) > most:
            return 413, f"the body is longer than {most:,} bytes"
        kind = headers.get("content-type", "").split(";")[0].strip().lower()
        if int(length) and kind != "application/json":
            return 415, "send JSON (Content-Type: application/json)"
        return None

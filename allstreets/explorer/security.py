"""The senders of allowed requests: pages of this server, programs of this machine, one user.

The server listens on this machine only. That does not keep out other web pages, which browsers
allow to send requests here: under their own host name that resolves to this machine (DNS
rebinding), or by a form. So the requested host must be this server's, and a request that names its
origin must come from this server's page.

Every program on a machine can send requests to its ports. So where several users can log in, the
printed address carries a token; a browser that opens it gets a cookie that lasts until it is
closed.
"""

import hmac
import re
import secrets
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allstreets.base import InputError
from allstreets.explorer.models.base import Refusal

MAX_BODY_BYTES = 256 * 1024
MAX_HANDS_BYTES = 8 * 1024 * 1024
LARGER = {"/api/reviews": MAX_HANDS_BYTES}  # hand histories of thousands of hands
LENGTH = re.compile(r"[0-9]{1,15}")  # isdigit() would take "²" for a number
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Nothing from other sites, and no frame of another page. Styles may be set on elements: the cells
# of a grid are filled by shares that no style sheet knows.
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
TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,200}")  # these need no escapes in addresses
FIRST_USER = 1000  # accounts below it belong to services, except root
NO_SHELLS = ("false", "nologin", "sync", "shutdown", "halt")
REFUSED = "open the address that 'allstreets explore' printed, with its token"
REFUSED_PAGE = """<!doctype html><title>allstreets</title>
<p>This explorer asks for a token: open the address that <code>allstreets explore</code> printed.
<p>If this browser has opened that before, <a href="">open this page again</a>."""


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


def several_users(accounts: Iterable[Any] | None = None) -> bool:
    """Whether more than one user can log in; no if there is no list of users.

    `accounts` are entries of the passwd database, by default all of them.
    """
    if accounts is None:
        try:
            import pwd
        except ImportError:  # Windows
            return False
        accounts = pwd.getpwall()
    people = {
        account.pw_uid
        for account in accounts
        if (account.pw_uid == 0 or account.pw_uid >= FIRST_USER)
        and PurePosixPath(account.pw_shell).name not in NO_SHELLS
    }
    return len(people) > 1


def choose_token(given: str | None, wanted: bool | None = None) -> str | None:
    """The token of a server: the one given, or a random one if `wanted`; None: it needs none.

    By default a server has one where several users can log in.
    """
    if given is not None:
        if not TOKEN.fullmatch(given):
            raise InputError(
                "a token has 8 to 200 letters and digits (and . _ ~ -): give another one, or leave "
                "--token out for a random one"
            )
        return given
    wanted = several_users() if wanted is None else wanted
    return secrets.token_urlsafe(24) if wanted else None


class Access:
    """Middleware that answers only requests with the token: by cookie, or as a bearer.

    `tickets` open the page once instead: the address that a browser is started with can be seen by
    all users of a machine, in its list of processes.
    """

    def __init__(self, app: ASGIApp, token: str, tickets: Iterable[str] = ()) -> None:
        self._app, self._token, self._tickets = app, token, set(tickets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        answer = self._answer(scope) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """The response that replaces the application's; None: the request may pass."""
        headers, api = Headers(scope=scope), scope["path"].startswith("/api")
        cookie = f"allstreets-{headers.get('host', '').rpartition(':')[2]}"
        known = self._is_token(cookie_parser(headers.get("cookie", "")).get(cookie, ""))
        given = QueryParams(scope["query_string"]).get("token")
        if given is not None and not api and scope["method"] in ("GET", "HEAD"):
            if known or self._is_token(given) or self._is_ticket(given):
                return self._without_token(scope, headers, cookie)
        elif known or self._is_token(_bearer(headers)):
            return None
        if api:
            body = Refusal(message=REFUSED).model_dump(mode="json")
            return JSONResponse(body, 401, {"WWW-Authenticate": "Bearer"})
        return HTMLResponse(REFUSED_PAGE, 401)

    def _without_token(self, scope: Scope, headers: Headers, cookie: str) -> Response:
        """The way to the same address without the token, which the browser remembers."""
        parts = scope["query_string"].decode("latin-1").split("&")
        rest = "&".join(part for part in parts if not part.startswith("token="))
        path = scope["raw_path"].decode("latin-1")
        address = f"http://{headers['host']}{path}{'?' * bool(rest)}{rest}"
        answer = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
        answer.set_cookie(cookie, self._token, httponly=True, samesite="strict")
        return answer

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _is_ticket(self, given: str) -> bool:
        for ticket in self._tickets:
            if hmac.compare_digest(given.encode(), ticket.encode()):
                self._tickets.remove(ticket)
                return True
        return False


def _bearer(headers: Headers) -> str:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else ""

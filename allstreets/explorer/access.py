"""Only the user who started the server may use it: where others can log in, a token says who asks.

Every program on a machine can send requests to a port of it. So the address that is printed carries
a token; whoever opens it gets a cookie that lasts as long as the browser runs.
"""

import hmac
import re
import secrets
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Protocol

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from allstreets.base import InputError
from allstreets.explorer.models.base import Refusal

TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,200}")  # what stands in addresses and cookies as it is
FIRST_USER = 1000  # accounts below it are of services, but for root
NO_SHELLS = ("false", "nologin", "sync", "shutdown", "halt")
REFUSED = "open the address that 'allstreets explore' printed, with its token"
REFUSED_PAGE = """<!doctype html><title>allstreets</title>
<p>This explorer asks for a token: open the address that <code>allstreets explore</code> printed.
<p>If this browser has opened that before, <a href="">open this page again</a>."""


class Account(Protocol):
    """A line of the passwd database."""

    @property
    def pw_uid(self) -> int:
        """The number of the user."""

    @property
    def pw_shell(self) -> str:
        """What is started when he logs in."""


def several_users(accounts: Iterable[Account] | None = None) -> bool:
    """Whether more than one user can log in; no, where there is no list of them."""
    if accounts is None:
        try:
            import pwd
        except ImportError:  # Windows
            return False
        accounts = pwd.getpwall()
    people = {
        one.pw_uid
        for one in accounts
        if (one.pw_uid == 0 or one.pw_uid >= FIRST_USER)
        and PurePosixPath(one.pw_shell).name not in NO_SHELLS
    }
    return len(people) > 1


def choose_token(given: str | None, wanted: bool | None = None) -> str | None:
    """The token of a server: the one given, or a random one if `wanted`; None: it needs none.

    By default one is wanted where several users can log in.
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
        """What is answered in the place of the application; None: the request may pass."""
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

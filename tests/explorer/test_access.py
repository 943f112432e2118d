"""The token: where several users can log in, requests without it are refused."""

import asyncio
import builtins
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from allstreets.base import InputError
from allstreets.explorer import choose_token
from allstreets.explorer.security import HEADERS, Access, Guard, several_users

HOST = "127.0.0.1:8169"
TOKEN = "a-token-of-ours"
COOKIE = f"allstreets-8169={TOKEN}"


async def echo(request: Request) -> JSONResponse:
    return JSONResponse({"query": str(request.url.query)})


METHODS = ["GET", "POST", "DELETE"]


def ask(path: str, method: str = "GET", app: Any = None, **headers: str) -> httpx.Response:
    """The answer to one request."""
    routes = [Route("/{path:path}", echo, methods=METHODS)]
    app = app or Guard(Access(Starlette(routes=routes), TOKEN), [HOST, "localhost:8169"])

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(go())


@pytest.mark.parametrize("path", ["/api/about", "/api/solves", "/api"])
@pytest.mark.parametrize("method", METHODS)
def test_requests_without_the_token_are_refused(path: str, method: str) -> None:
    answer = ask(path, method)
    assert answer.status_code == 401
    assert "open the address that 'allstreets explore' printed" in answer.json()["message"]
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-content-type-options"] == HEADERS["X-Content-Type-Options"]


@pytest.mark.parametrize("path", ["/", "/solution/0a", "/assets/index.js", "/?token=another"])
def test_pages_without_the_token_say_what_to_open(path: str) -> None:
    answer = ask(path)
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert "the address that <code>allstreets explore</code> printed" in answer.text
    assert "set-cookie" not in answer.headers
    assert TOKEN not in answer.text


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "headers",
    [{"cookie": COOKIE}, {"authorization": f"Bearer {TOKEN}"}, {"cookie": f"a=b; {COOKIE}"}],
)
def test_cookie_and_bearer_are_answered(method: str, headers: dict[str, str]) -> None:
    assert ask("/api/about", method, **headers).status_code == 200
    assert ask("/", **headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": f"allstreets-8170={TOKEN}"},  # of the server at another port
        {"cookie": "allstreets-8169="},
        {"cookie": f"allstreets-8169={TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": TOKEN},
    ],
)
def test_anything_else_is_refused(headers: dict[str, str]) -> None:
    assert ask("/api/about", **headers).status_code == 401
    assert ask("/", **headers).status_code == 401


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (f"/?token={TOKEN}", "/"),
        (f"/solution/0a?line=x&token={TOKEN}&tab=cards", "/solution/0a?line=x&tab=cards"),
        (f"/a%20b?token={TOKEN}", "/a%20b"),
        (f"http://{HOST}//evil.example/?token={TOKEN}", "//evil.example/"),
    ],
)
def test_the_printed_address_leads_to_the_page_and_is_remembered(path: str, address: str) -> None:
    answer = ask(path)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"http://{HOST}{address}"  # browsers keep a fragment
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE};")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.lower().split("; "))
    assert "max-age" not in cookie.lower()  # it ends with the browser


def test_a_token_in_the_address_opens_pages_alone() -> None:
    assert ask(f"/api/about?token={TOKEN}").status_code == 401
    assert ask(f"/?token={TOKEN}", "POST").status_code == 401
    again = ask("/?token=an-old-one", cookie=COOKIE)
    assert (again.status_code, again.headers["location"]) == (303, f"http://{HOST}/")


def test_other_pages_are_refused_with_the_token_as_without() -> None:
    assert ask("/api/about", cookie=COOKIE, host="evil.example").status_code == 403
    assert ask("/api/about", "POST", cookie=COOKIE, origin="http://evil.example").status_code == 403
    assert ask(f"/?token={TOKEN}", host="evil.example").status_code == 403


def test_a_ticket_opens_the_page_once() -> None:
    app = Guard(Access(Starlette(routes=[Route("/", echo)]), TOKEN, ["once-only"]), [HOST])
    first = ask("/?token=once-only", app=app)
    assert first.status_code == 303
    assert first.headers["set-cookie"].startswith(f"{COOKIE};")
    assert ask("/?token=once-only", app=app).status_code == 401
    assert ask("/", app=app, cookie=f"allstreets-8169={TOKEN}").status_code == 200


def account(uid: int, shell: str) -> Any:
    return SimpleNamespace(pw_uid=uid, pw_shell=shell)


ROOT = account(0, "/bin/bash")


@pytest.mark.parametrize(
    ("accounts", "several"),
    [
        ([], False),
        ([ROOT], False),  # a container
        ([ROOT, account(1, "/usr/sbin/nologin"), account(65534, "/bin/false")], False),
        ([ROOT, account(999, "/bin/bash")], False),  # of a service
        ([account(1000, "/bin/zsh"), account(0, "/sbin/nologin")], False),
        ([ROOT, ROOT], False),  # two names of one user
        ([ROOT, account(1000, "/bin/zsh")], True),
        ([account(1000, "/bin/zsh"), account(1001, "")], True),  # the default shell
    ],
)
def test_who_can_log_in(accounts: list[Any], several: bool) -> None:
    assert several_users(accounts) is several


def test_where_there_is_no_list_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def without_pwd(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "pwd":
            raise ImportError(name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pwd)
    assert several_users() is False


def test_a_token_is_given_random_or_none() -> None:
    assert choose_token("some-token") == "some-token"
    assert choose_token(None, False) is None
    first, second = choose_token(None, True), choose_token(None, True)
    assert first is not None
    assert second is not None
    assert first != second
    assert choose_token(first) == first  # it can be given again
    assert (choose_token(None) is None) is (not several_users())
    for wrong in ("", "short", "with space", "x" * 201, "a&b=c;d,e", "tökentöken"):
        with pytest.raises(InputError, match="leave --token out"):
            choose_token(wrong)

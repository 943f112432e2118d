"""The requests that the server accepts, and those that it refuses."""

import asyncio
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from allstreets.explorer.security import HEADERS, MAX_BODY_BYTES, Guard

OURS = "127.0.0.1:8169"
HOSTS = (OURS, "localhost:8169")
JSON = {"content-type": "application/json"}


async def echo(request: Request) -> JSONResponse:
    return JSONResponse({"bytes": len(await request.body())})


APP = Guard(Starlette(routes=[Route("/x", echo, methods=["GET", "POST", "DELETE"])]), HOSTS)


def ask(method: str = "GET", host: str = OURS, **options: Any) -> httpx.Response:
    """The answer to one request."""
    headers = {"host": host, **options.pop("headers", {})}

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app=APP)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{OURS}") as client:
            return await client.request(method, "/x", headers=headers, **options)

    return asyncio.run(go())


def raw(headers: list[tuple[bytes, bytes]], method: str = "POST") -> int:
    """The status for headers as they come, which no client library would send."""
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        answers.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": "/x",
        "raw_path": b"/x",
        "query_string": b"",
        "headers": headers,
        "root_path": "",
    }
    asyncio.run(APP(scope, receive, send))
    return int(answers[0]["status"])


@pytest.mark.parametrize("host", HOSTS)
def test_our_names_are_answered(host: str) -> None:
    answer = ask(host=host)
    assert answer.status_code == 200
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8169",
        "127.0.0.1",  # without the port
        "127.0.0.1:80",
        "localhost:81690",
        "localhost.:8169",
        "localhost.evil.example:8169",
        "127.0.0.1:8169.evil.example",
        "127.0.0.1.nip.io:8169",  # a name that leads here
        "0.0.0.0:8169",
        "[::1]:8169",
        "127.0.0.1:8169@evil.example",
        "evil.example, 127.0.0.1:8169",
        " 127.0.0.1:8169",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    answer = ask(host=host)
    assert answer.status_code == 403
    assert "is not called" in answer.json()["message"]
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_no_name_at_all_is_refused() -> None:
    assert raw([], "GET") == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "https://127.0.0.1:8169",  # another scheme is another page
        "http://127.0.0.1",
        "http://127.0.0.1:3000",
        "http://localhost:8169.evil.example",
        "http://localhost:8169/",
        "file://",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_pages_from_elsewhere_are_refused(origin: str, method: str) -> None:
    answer = ask(method, headers={"origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", HOSTS)
def test_our_own_page_may_ask(host: str) -> None:
    headers = {"origin": f"http://{host}", "sec-fetch-site": "same-origin", **JSON}
    assert ask("POST", host, headers=headers, content=b"{}").json() == {"bytes": 2}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["cors", "no-cors", "websocket", "same-origin"])
def test_requests_of_other_pages_without_an_origin_are_refused(site: str, mode: str) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert ask(headers=headers).status_code == 403


def test_a_link_may_lead_here_and_a_form_may_not() -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert ask(headers=headers).status_code == 200
    assert ask("POST", headers=headers).status_code == 403


def test_programs_on_this_machine_may_ask() -> None:
    assert ask("POST", headers=JSON, content=b"{}").status_code == 200
    assert ask("DELETE").status_code == 200


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; x"]
)
def test_bodies_that_a_form_can_send_are_refused(kind: str) -> None:
    answer = ask("POST", headers={"content-type": kind}, content=b"{}")
    assert answer.status_code == 415
    assert "JSON" in answer.json()["message"]


def test_a_kind_with_a_charset_is_json_too() -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert ask("POST", headers=headers, content=b"{}").status_code == 200


def test_large_bodies_are_refused_unread() -> None:
    fits = ask("POST", headers=JSON, content=b"x" * MAX_BODY_BYTES)
    assert fits.json() == {"bytes": MAX_BODY_BYTES}
    assert ask("POST", headers=JSON, content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413


def test_bodies_of_no_known_length_are_refused() -> None:
    async def pieces() -> Any:
        yield b"{}"

    assert ask("POST", headers=JSON, content=pieces()).status_code == 411


@pytest.mark.parametrize(
    "length", [b"-1", b"1.5", b"\xb2", b"0x10", b"1 2", b"9" * 5000, b"", b"\xd9\xa1"]
)
def test_lengths_that_are_no_numbers_are_refused(length: bytes) -> None:
    assert raw([(b"host", OURS.encode()), (b"content-length", length)]) == 411


def test_there_are_no_web_sockets() -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(APP({"type": "websocket", "path": "/x", "headers": []}, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    b"host",
                    b"origin",
                    b"content-length",
                    b"content-type",
                    b"transfer-encoding",
                    b"sec-fetch-site",
                    b"sec-fetch-mode",
                ]
            ),
            st.binary(max_size=20) | st.sampled_from([OURS.encode(), b"cross-site", b"navigate"]),
        ),
        max_size=5,
    ),
    st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD"]),
)
def test_whatever_is_sent_is_answered_and_only_our_name_is_let_in(
    headers: list[tuple[bytes, bytes]], method: str
) -> None:
    status = raw(headers, method)
    first = next((value for name, value in headers if name == b"host"), b"")
    assert status in (200, 403, 405, 411, 413, 415)
    if first.decode("latin-1") not in HOSTS:
        assert status == 403


def test_refusals_repeat_little_of_a_request() -> None:
    answer = ask(headers={"origin": "http://" + "x" * 5000})
    assert answer.status_code == 403
    assert len(answer.json()["message"]) < 300
    assert len(ask(host="x" * 5000).json()["message"]) < 300

"""The server process: its port, its refusals, and its end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from builders.small_forms import endless, wait_for_writer

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.cli.servers import default_folders
from allstreets.explorer import server
from allstreets.explorer.solves.folders import SolveFolder
from allstreets.storage.spot_bundle import read_spot_manifest


@dataclass
class Running:
    """A server that a test has started."""

    process: subprocess.Popen[str]
    port: int
    address: str  # as it was printed

    @property
    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=None)

    def raw(self, request: bytes) -> tuple[int, bytes]:
        """Status and body for bytes as they are, which no client would send."""
        with socket.create_connection(("127.0.0.1", self.port)) as talk:
            talk.sendall(request)
            answer = b""
            while piece := talk.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body

    def get(self, path: bytes) -> tuple[int, bytes]:
        host = f"127.0.0.1:{self.port}".encode()
        return self.raw(b"GET %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % (path, host))

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C; the exit code, and all that was printed since the address."""
        self.process.send_signal(signal.SIGINT)
        out = self.output()
        return self.process.wait(), out

    def output(self) -> str:
        """All that is printed until it ends."""
        assert self.process.stdout is not None
        return self.process.stdout.read()


@contextmanager
def started(
    folder: Path, *arguments: str, access: tuple[str, ...] = ("--no-token",)
) -> Iterator[Running]:
    """allstreets explore as a user starts it, with other users on the machine."""
    # Shells start background jobs with Ctrl-C ignored, which children inherit.
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from allstreets.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "explore", "--no-browser", *access, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**os.environ, "ALLSTREETS_SOLVES": str(folder / "solves")},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        pattern = r"allstreets explorer: (http://127\.0\.0\.1:(\d+)/(?:\?token=\S+)?)\n"
        match = re.fullmatch(pattern, line)
        assert match, line + process.stdout.read()
        yield Running(process, int(match[2]), match[1])
    finally:
        process.kill()
        process.communicate()


def start_solve(client: httpx.Client) -> str:
    """Start a solve that does not end, and wait for its first save; returns its name."""
    form = endless().model_dump(mode="json", by_alias=True)
    begun = client.post("/api/solves", json=form)
    assert begun.status_code == 201, begun.text
    name: str = begun.json()["id"]
    with client.stream("GET", f"/api/solves/{name}/events") as events:
        for line in events.iter_lines():
            data = line.removeprefix("data: ")
            if data != line and json.loads(data)["solve"]["saves"]:
                return name
    raise AssertionError("it ended before its first save")


def test_from_the_first_request_to_ctrl_c(tmp_path: Path) -> None:
    with started(tmp_path, "--port", "0") as running, running.client as client:
        about = client.get("/api/about").json()
        assert about["folders"] == [str(tmp_path / "solves")]
        assert about["solves_at_once"] == 1
        assert about["max_memory_bytes"] > 0
        assert client.get("/api/solves").json() == []
        assert_refusals(running, client)

        name = start_solve(client)
        solution = client.get(f"/api/solves/{name}").json()["solution"]
        cards = client.get("/api/solutions").json()
        assert [card["id"] for card in cards] == [solution]
        assert client.get(f"/api/solutions/{solution}").json()["solve"] == name
        assert client.get(f"/api/solutions/{solution}/place").json()["here"]["player"] == "oop"
        form = endless().model_dump(mode="json", by_alias=True)
        waiting = client.post("/api/solves", json=form).json()
        assert (waiting["state"], waiting["place"]) == ("waiting", 1)
        assert client.delete(f"/api/solves/{waiting['id']}").status_code == 409
        assert client.post(f"/api/solves/{waiting['id']}/stop").json()["state"] == "stopped"
        assert client.delete(f"/api/solves/{waiting['id']}").status_code == 200
        assert client.delete(f"/api/solves/{name}").status_code == 409

        heard: list[str] = []
        begun = threading.Event()

        def listen() -> None:
            place = f"/api/solves/{name}/events"
            with running.client as own, own.stream("GET", place) as stream:
                for line in stream.iter_lines():
                    heard.append(line)
                    begun.set()

        listener = threading.Thread(target=listen)
        listener.start()
        assert begun.wait()
        code, out = running.interrupt()
        listener.join()
        assert not listener.is_alive()
        assert code == 0
        assert out.splitlines()[-1] == "Stopped."
        assert "Traceback" not in out
        assert "ERROR" not in out
        assert heard[0] == "event: solve"
        event = json.loads(heard[1].removeprefix("data: "))
        assert event["solve"]["id"] == name
        assert [point["iteration"] for point in event["points"]]

    folder = SolveFolder(tmp_path / "solves" / name)
    wait_for_writer(folder)
    request, status = folder.request(), folder.status()
    assert request is not None
    assert status is not None
    assert request.state == status.state == "interrupted"
    assert status.progress is not None
    assert read_spot_manifest(folder.solution)["iterations"] == status.progress.iteration


def assert_refusals(running: Running, client: httpx.Client) -> None:
    """Requests that are always refused."""
    assert client.get("/api/about", headers={"host": "evil.example"}).status_code == 403
    elsewhere = {"origin": "http://evil.example"}
    assert client.post("/api/range", json={"text": "AA"}, headers=elsewhere).status_code == 403
    assert client.post("/api/range", content=b'{"text": "AA"}').status_code == 415
    huge = client.post("/api/range", json={"text": "A" * 300_000})
    assert huge.status_code == 413
    assert client.post("/api/range", json={"text": "A" * 110_000}).status_code == 422
    as_json = {"content-type": "application/json"}
    for body in (b"[" * 200_000, b"\xff\xfe", b"{", b'{"text": NaN}', b'{"text": "\\ud800"}'):
        answer = client.post("/api/range", content=body, headers=as_json)
        assert answer.status_code in (400, 422), body[:20]
        assert answer.json()["message"]
    for path in (
        b"/../../etc/passwd",
        b"/assets/../../../../../../etc/passwd",
        b"/assets/%2e%2e/%2e%2e/%2e%2e/app.py",
        b"/%2e%2e/app.py",
        b"/assets/..%2f..%2fapp.py",
        b"/assets/%00",
        b"/%00",
        b"/assets/" + b"x" * 5000,
        b"//etc/passwd",
    ):
        status, body = running.get(path)
        assert status in (200, 400, 404), path  # 200 is the page, which any address opens
        assert b"root:" not in body
        assert b"FastAPI" not in body
    for path in (
        b"/api/solves/%2e%2e",
        b"/api/solves/..%2f..%2fetc",
        b"/api/solves/%00",
        b"/api/solves/" + b"a" * 65,
        b"/api/solutions/%2e%2e/place",
        b"/api/solutions/..%2fx",
        b"/api/../x",
        b"/api/nonsense",
    ):
        status, body = running.get(path)
        assert status in (404, 422), path
        assert json.loads(body)["message"]
    assert running.get(b"/api/solutions/0000/place?line=%00%ff")[0] == 404
    host = f"127.0.0.1:{running.port}".encode()
    two_names = b"GET /api/about HTTP/1.1\r\nHost: %b\r\nHost: evil.example\r\n\r\n" % host
    assert running.raw(two_names)[0] == 400
    assert running.raw(b"GET /api/about HTTP/1.0\r\n\r\n")[0] == 403
    assert running.raw(b"nonsense\r\n\r\n")[0] == 400


@pytest.mark.thorough
def test_a_server_that_is_killed_leaves_a_solve_that_saves_itself(tmp_path: Path) -> None:
    with started(tmp_path, "--port", "0") as running, running.client as client:
        name = start_solve(client)
        running.process.kill()
        running.process.wait()
    folder = SolveFolder(tmp_path / "solves" / name)
    wait_for_writer(folder)
    status = folder.status()
    assert status is not None
    assert status.state == "interrupted"
    assert status.progress is not None
    assert read_spot_manifest(folder.solution)["iterations"] == status.progress.iteration
    with started(tmp_path, "--port", "0") as running, running.client as client:
        (found,) = client.get("/api/solves").json()
        assert (found["id"], found["state"]) == (name, "interrupted")
        assert found["solution"] is not None
        assert client.delete(f"/api/solves/{name}").json()["name"] == found["name"]
        assert client.get("/api/solutions").json() == []
        running.process.terminate()
        out = running.output()
        assert "Traceback" not in out
    assert [path.name for path in (tmp_path / "solves").iterdir()] == [".trash"]


def test_only_who_opens_the_printed_address_is_answered(tmp_path: Path) -> None:
    access = ("--token", "some-token")
    with started(tmp_path, "--port", "0", access=access) as running:
        assert running.address == f"http://127.0.0.1:{running.port}/?token=some-token"
        with running.client as client:
            assert client.get("/").status_code == 401
            assert client.get("/api/about").status_code == 401
            opened = client.get(running.address, follow_redirects=True)
            assert (opened.status_code, str(opened.url)) == (200, str(client.base_url) + "/")
            assert client.get("/api/about").status_code == 200
        with running.client as program:
            bearer = {"authorization": "Bearer some-token"}
            assert program.get("/api/about", headers=bearer).status_code == 200
        code, out = running.interrupt()
        assert code == 0
        assert out.splitlines()[-1] == "Stopped."


def served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visit: Callable[[str], None], **settings: Any
) -> list[str]:
    """Serve while a visitor is there, then press Ctrl-C; returns what was said."""
    said: list[str] = []

    def browse(address: str) -> None:
        try:
            visit(address)
        finally:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(webbrowser, "open", browse)
    before: Any = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        server.serve([], tmp_path, 0, True, said.append, **settings)
    finally:
        signal.signal(signal.SIGINT, before)
    return said


def test_the_browser_is_opened_with_a_ticket_that_is_good_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, list[int]]] = []

    def visit(address: str) -> None:
        answers = [httpx.get(address, timeout=None) for _ in range(2)]
        found.append((address, [answer.status_code for answer in answers]))

    said = served(tmp_path, monkeypatch, visit, token="some-token")
    ((address, statuses),) = found
    assert said[0].endswith("/?token=some-token")
    assert "some-token" not in address  # all users see what processes are started with
    assert statuses == [303, 401]


HALVES = {
    "nothing": b"",
    "half a line": b"GET /api/ab",
    "half of the head": b"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1",
    "half of the body": b"POST /api/range HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    b"Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{",
}
WHOLE = b"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


@pytest.mark.parametrize("half", list(HALVES))
def test_half_a_request_is_given_up(
    half: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[bytes] = []

    def visit(address: str) -> None:
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as talk:
            talk.sendall(HALVES[half].replace(b"%d", str(port).encode()))
            ends.append(talk.recv(1))

    served(tmp_path, monkeypatch, visit, request_seconds=0.01)
    assert ends == [b""]


def test_half_a_request_after_a_whole_one_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole one may take its time; the limit counts for the next one, too."""
    answers: list[bytes] = []
    protocols: list[Any] = []
    timed_protocol = server.timed_protocol

    def remembered(seconds: float) -> Any:
        protocols.append(timed_protocol(seconds))
        return protocols[-1]

    def visit(address: str) -> None:
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as talk:
            talk.sendall(WHOLE % port)
            length = 0
            reader = talk.makefile("rb")
            while (line := reader.readline().lower()) != b"\r\n":
                answers.append(line)
                if line.startswith(b"content-length:"):
                    length = int(line.split()[1])
            reader.read(length)
            protocols[0].seconds = 0.01
            talk.sendall(b"GET /api/ab")
            answers.append(reader.read())

    with monkeypatch.context() as patch:
        patch.setattr(server, "timed_protocol", remembered)
        served(tmp_path, monkeypatch, visit, request_seconds=3600.0)
    assert answers[0].split()[1] == b"200"
    assert answers[-1] == b""


def test_a_request_in_pieces_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[bytes] = []

    def visit(address: str) -> None:
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as talk:
            talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for place in range(len(WHOLE % port)):
                talk.sendall((WHOLE % port)[place : place + 1])
            answers.append(talk.makefile("rb").readline())

    served(tmp_path, monkeypatch, visit, request_seconds=3600.0)
    assert answers == [b"HTTP/1.1 200 OK\r\n"]


def test_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    with server.open_port(0) as taken:
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {number} cannot be used"):
            server.open_port(number)
        monkeypatch.setattr(server, "USUAL_PORT", number)
        with server.open_port(None) as free:
            assert free.getsockname()[0] == "127.0.0.1"
            assert free.getsockname()[1] not in (0, number)
    with server.open_port(None) as usual:
        assert usual.getsockname()[1] == number


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere does not exist; name the folder of a solution"),
        (["file"], "file is a file; name the folder of a solution"),
        (["--port", "70000"], "less than or equal to 65535"),
        (["--solves", "file"], "cannot write to file"),
        (["--token", "short"], "a token has 8 to 200 letters and digits"),
        (["--token", "some token"], "a token has 8 to 200 letters and digits"),
        (["--token", "some-token", "--no-token"], "leave one of them out"),
    ],
)
def test_bad_arguments(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert main(["explore", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert "allstreets explore runs/ solved/" in out
    assert f"[default: {server.USUAL_PORT}, or any free port]" in out


def test_what_is_opened_where_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folders() == []
    (tmp_path / "runs" / "one").mkdir(parents=True)
    assert default_folders() == []
    (tmp_path / "runs" / "one" / "manifest.json").write_text("{}")
    assert default_folders() == [Path("runs")]


def test_the_browser_is_opened_at_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []

    def visit(address: str) -> None:
        opened.append((address, httpx.get(f"{address}api/about", timeout=None).status_code))

    said = served(tmp_path, monkeypatch, visit)
    ((address, status),) = opened
    assert status == 200
    assert said[0] == f"allstreets explorer: {address}"
    assert said[-1] == "Stopped."

"""A real server and a real browser for tests of the explorer's page.

Where there is no Chromium or no built page these tests are left out, and the reason is said; with
ALLSTREETS_NEEDS_BROWSER=1 (as in CI) that is a failure instead. Screenshots of the main views go to
ALLSTREETS_SCREENSHOTS, if it names one. ALLSTREETS_SLOW_ANSWERS=300 lets the page wait 300 ms
longer for every answer of the server: what passes with it does not rely on quick answers.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "allstreets" / "explorer" / "page" / "index.html"
SCREENSHOTS = (
    Path(os.environ["ALLSTREETS_SCREENSHOTS"]) if "ALLSTREETS_SCREENSHOTS" in os.environ else None
)
SLOW_ANSWERS = int(os.environ.get("ALLSTREETS_SLOW_ANSWERS", "0"))  # ms
PATIENCE = 120_000  # ms until what should be seen counts as missing, on however busy a machine
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Answers are held back in the page: the server has done its work by then.
HOLD_BACK = """milliseconds => {
  const [ask, later] = [window.fetch, window.setTimeout];
  window.fetch = async (where, request) => {
    const answer = await ask(where, request);
    await new Promise(resolve => later(resolve, milliseconds));
    request?.signal?.throwIfAborted();
    return answer;
  };
}"""
# No sandbox, since CI runs as root; the rest keeps Chromium from calling home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_browser() -> str:
    """The path of a Chromium; skips the test, or fails it, where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    missing = []
    if found is None:
        missing.append("there is no chromium")
    if not PAGE.is_file():
        missing.append("the page is not built: make page")
    if missing and os.environ.get("ALLSTREETS_NEEDS_BROWSER"):
        pytest.fail(f"the explorer cannot be tested: {', '.join(missing)}")
    if missing or found is None:
        pytest.skip(f"left out: {', '.join(missing)}")
    return found


@dataclass
class Server:
    """`allstreets explore` as a process."""

    process: "subprocess.Popen[str]"
    url: str

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """End it as a user would; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait()


@contextmanager
def explorer(solves: Path, *folders: Path, port: int = 0) -> Iterator[Server]:
    """A running server."""
    command = [sys.executable, "-m", "allstreets", "explore", *map(str, folders)]
    command += ["--no-browser", "--no-token", "--port", str(port), "--solves", str(solves)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=solves.parent
    )
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            break
    else:
        raise AssertionError(f"the server did not start: {''.join(said)}")
    server = Server(process, found[0])
    try:
        yield server
    finally:
        if process.poll() is None:
            server.stop(signal.SIGINT)
        process.stdout.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium."""
    path = find_browser()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@contextmanager
def new_page(chromium: Browser, server: Server, **settings: object) -> Iterator[Page]:
    """A page that may ask nothing but the server, and that must not stumble over its own code."""
    settings = {"viewport": {"width": 1280, "height": 720}, **settings}
    context = chromium.new_context(base_url=server.url, **settings)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    if SLOW_ANSWERS:
        context.add_init_script(f"({HOLD_BACK})({SLOW_ANSWERS})")
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"error in the page: {error}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((server.url, "data:", "blob:"))
            else wrong.append(f"asked elsewhere: {request.url}")
        ),
    )
    yield page
    context.close()
    assert not wrong, wrong


@contextmanager
def clock_stopped(page: Page) -> Iterator[None]:
    """Meanwhile no time passes in the page: what it says for a moment stays until it is seen."""
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    yield
    page.clock.resume()


def keep_picture(page: Page, name: str) -> None:
    """Keep a screenshot as a file of the test run, for people who have asked for pictures."""
    if SCREENSHOTS is not None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")

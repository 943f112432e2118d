"""A check of an installed allstreets, as a user runs it, outside every checkout.

    python tests/harness/installed.py .venv-wheel/bin/python

`make wheel` installs the built wheel into a bare environment and runs this; a test runs it on the
unpacked wheel. It needs the standard library alone.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

SPOT = Path(__file__).parents[2] / "sample_spots" / "river.yaml"
PRINTED = (
    (["--version"], "allstreets "),
    (["library"], "pf-1bb … pf-20bb"),
    (["equity", "AhAs", "KhKs"], "82.36 %"),
    (["report", "hu-20bb"], "exploitability with real cards"),
    (["practice", "--help"], "Play hands against a solution"),
    (["solve", SPOT.name, "--max-iterations", "5", "--output", "solved"], "xploitab"),
    (["report", "solved"], "pot"),
)
"""Commands, and what their output holds. They run in one process; the explorer starts its own."""
COMMANDS = """
import json, sys
from allstreets.cli.main import main
for arguments in json.loads(sys.argv[1]):
    if main(arguments):
        sys.exit(f"failed: {arguments}")
    print("\\f", flush=True)
"""


def check_installed(
    python: str, *, paths: Mapping[str, str] | None = None, page: bool = True
) -> None:
    """Run the commands and open the explorer's page; `paths` are variables of the environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SPOT, folder)
        environment = {**os.environ, **(paths or {}), "XDG_DATA_HOME": str(folder / "data")}
        interpreter = [str(Path(python).absolute()), "-P"]
        done = subprocess.run(
            [*interpreter, "-c", COMMANDS, json.dumps([arguments for arguments, _ in PRINTED])],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        outputs = done.stdout.split("\f")[:-1]
        for (arguments, text), output in zip(PRINTED, outputs, strict=False):
            if text not in output:
                raise SystemExit(f"{arguments}: {output}\n{done.stderr}")
        if done.returncode or len(outputs) < len(PRINTED):
            raise SystemExit(f"{done.stdout}\n{done.stderr}")
        if page:
            _check_page([*interpreter, "-m", "allstreets"], folder, environment)


def _check_page(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Open the explorer at the address that it prints, and load the scripts of its page."""
    arguments = [*command, "explore", "solved", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        arguments, cwd=folder, env=dict(environment), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            browser = build_opener(HTTPCookieProcessor())  # the address has a token, once
            with browser.open(address) as answer:
                text = answer.read().decode()
            scripts = re.findall(r'src="([^"]+\.js)"', text)
            assert scripts, f"no page: {text[:200]}"
            host = re.match(r"http://[^/?]+", address)
            assert host is not None
            with browser.open(f"{host[0]}/{scripts[0].removeprefix('./').lstrip('/')}") as answer:
                assert answer.read().strip()
        finally:
            server.terminate()


if __name__ == "__main__":
    check_installed(sys.argv[1])
    print("The installed package works: library, report, solve, practice, and the explorer's page.")

"""From a key press to the node on the screen: the explorer in a real Chromium, milliseconds.

    python benchmarks/bench_keys.py [--walks 5]

1. Solves a small whole game (sample_configurations/smoke.yaml) and a turn (sample_spots/turn.yaml),
   and opens a ready-made game of the library beside them.
2. Walks through each by keys, forward and back again, and takes the time in the page: from the
   `keydown` event to the first frame that shows the node, with nothing left to load. The first walk
   meets nodes that the server has never read, later ones those that it has.

Writes benchmarks/results/keys.json. It needs Chromium, Playwright and the built page (make page).
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright
from report import Row, write_report

from allstreets.explorer.folders import id_of
from allstreets.storage import library

ROOT = Path(__file__).parents[1]
READY_MADE = "hu-20bb"
# Digits take an action; every other way goes back to where the walk began.
WALKS = {
    "smoke": ("2", "1", "ArrowLeft", "2", "ArrowLeft", "ArrowLeft", "3", "2", "Home"),
    "turn": ("1", "2", "2", "ArrowLeft", "ArrowLeft", "1", "ArrowLeft", "ArrowLeft", "2", "Home"),
    READY_MADE: ("2", "2", "2", "ArrowLeft", "ArrowLeft", "ArrowLeft", "3", "3", "Home"),
}
# A frame later than the one that is asked for is the first after the drawing.
WATCH = """() => {
  window.pressed = null;
  addEventListener("keydown", event => { window.pressed = event.timeStamp; }, true);
  window.drawn = line => new Promise(resolve => {
    const look = () => {
      const shown = document.querySelector("[data-line]")?.dataset.line;
      const wanted = new URLSearchParams(location.search).get("line") ?? "";
      const busy = document.querySelector(".page[aria-busy='true']");
      if (shown !== line && shown === wanted && !busy)
        requestAnimationFrame(() => resolve(performance.now() - window.pressed));
      else requestAnimationFrame(look);
    };
    look();
  });
}"""


def command(*words: str) -> list[str]:
    """A command of allstreets."""
    return [sys.executable, "-m", "allstreets", *words]


def walk(page: Page, keys: Sequence[str]) -> list[float]:
    """Milliseconds of each key, until its node is drawn."""
    times = []
    for key in keys:
        line = page.locator("[data-line]").get_attribute("data-line")
        page.evaluate("line => { window.arrived = window.drawn(line); }", line)
        page.keyboard.press(key)
        times.append(float(page.evaluate("window.arrived")))
    return times


def measure(url: str, ids: dict[str, str], walks: int) -> list[Row]:
    """The first walk through each solution, and the median of all later key presses."""
    rows = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, keys in WALKS.items():
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{url}/solution/{ids[name]}")
            page.locator("[data-hand]").first.wait_for()
            page.evaluate(WATCH)
            first = walk(page, keys)
            later = [took for _ in range(walks) for took in walk(page, keys)]
            rows += [
                Row(f"{name}: first", median(first), "ms", f"slowest {max(first):.0f}"),
                Row(f"{name}: again", median(later), "ms", f"slowest {max(later):.0f}"),
            ]
            page.close()
        chromium.close()
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        smoke, turn = Path(spare) / "smoke", Path(spare) / "turn"
        for words in (
            ("train", str(ROOT / "sample_configurations/smoke.yaml"), "-o", str(smoke)),
            ("solve", str(ROOT / "sample_spots/turn.yaml"), "-o", str(turn)),
        ):
            subprocess.run(command(*words), check=True, stdout=subprocess.DEVNULL)
        folders = {"smoke": smoke, "turn": turn, READY_MADE: library()[READY_MADE].folder()}
        flags = ("--no-browser", "--no-token", "--port", "0", "--solves", f"{spare}/solves")
        server = subprocess.Popen(
            command("explore", *map(str, folders.values()), *flags),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        try:
            lines = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stdout)
            url = next(match[0] for match in lines if match)
            ids = {name: id_of(folder) for name, folder in folders.items()}
            write_report("keys", measure(url, ids, options.walks))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()

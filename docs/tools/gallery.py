"""The gallery: ten pictures of the program at work, taken again by `make gallery`.

Each picture is a real view of real solutions, which are solved first, in a temporary folder: a flop
of the library's 20 bb game, a turn and the same turn with a lock, a small whole game, a review of
sample hands. Chromium takes the pictures, and tests/test_prose.py checks that docs/gallery.md
shows each.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import copy
from urllib.parse import urlencode

from harness.browsing import browser, explorer, new_page
from PIL import Image
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
GAME = "hu-20bb"
SIZE = {"width": 1360, "height": 800}
FLOP = "r2 c | QsJh2h | x"

COMMANDS = (
    f"solve --from {GAME} --line 'r2 c' --flop QsJh2h --target 0.5%",
    "solve {root}/sample_spots/turn.yaml --output solved/turn",
    "lock solved/turn --line x --at-most b75%=20% --output solved/locked",
    "train {root}/sample_configurations/smoke.yaml --flops subset_25 --output solved/game",
    "review {root}/sample_hands/tournament.txt --solutions library --output solved/reviewed",
    f"chart {GAME} --png posters",
)
"""The commands that solve everything in the pictures."""


class Gallery:
    """A browser at the explorer, with what was solved in `folder`."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder
        listed = page.request.get("/api/solutions").json()
        self.names = {each["name"]: each["id"] for each in listed}

    def look(self, name: str, **query: str) -> None:
        """A place of a solution, once it is there with its grid or table."""
        self.page.goto(f"/solution/{self.names[name]}?{urlencode(query)}")
        expect(self.page.locator("[data-line]")).to_have_attribute(
            "data-line", re.compile(".*" if "line" in query else "^$")
        )
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        self.page.wait_for_load_state("networkidle")

    # The pictures, in the order of the page.

    def explorer(self) -> None:
        """The first decision of a certified 20 bb game."""
        self.look(GAME)

    def home(self) -> None:
        """The library and your own solutions."""
        self.page.goto("/")
        expect(self.page.get_by_role("heading", name="Library")).to_be_visible()

    def poster(self) -> None:
        """A chart to print: the big blind's answer to a raise."""
        (path,) = self.folder.glob("posters/*after-r2.png")
        copy(path, IMAGES / "poster.png")

    def flop(self) -> None:
        """A flop of the game, solved with every combo."""
        self.look(GAME, line=FLOP)

    def combos(self) -> None:
        """One hand combo by combo."""
        self.look(GAME, line=FLOP, hand="KTs")

    def cards(self) -> None:
        """One decision on every river card."""
        self.look("turn", line="x x", tab="cards")

    def flops(self) -> None:
        """One decision on every flop, by texture."""
        self.look("smoke", line="c x", tab="flops", by="texture")

    def lock(self) -> None:
        """The changes by a lock."""
        self.look(next(name for name in self.names if ", locked at " in name))

    def review(self) -> None:
        """A played hand, decision by decision."""
        self.page.goto("/review")
        self.page.get_by_role("link", name="tournament.txt").click()
        self.page.get_by_role("row").filter(has_text="preflop").first.click()
        expect(self.page.get_by_test_id("replay")).to_contain_text("bb lost")
        expect(self.page.get_by_role("grid")).to_be_visible()

    def practice(self) -> None:
        """A hand of practice, after a decision."""
        self.page.goto(f"/practice/{self.names[GAME]}")
        self.page.get_by_label("Seed").fill("3")
        self.page.get_by_role("button", name="Play").click()
        play = self.page.get_by_test_id("play")
        expect(play.get_by_role("button").first).to_be_visible()
        self.page.keyboard.press("2")
        expect(self.page.get_by_role("grid")).to_be_visible()


Picture = Callable[[Gallery], None]
PICTURES: tuple[Picture, ...] = (
    Gallery.explorer,
    Gallery.home,
    Gallery.poster,
    Gallery.flop,
    Gallery.combos,
    Gallery.cards,
    Gallery.flops,
    Gallery.lock,
    Gallery.review,
    Gallery.practice,
)


def solve(folder: Path) -> None:
    """Solve everything that the pictures show."""
    for command in COMMANDS:
        print(f"allstreets {command}", flush=True)
        arguments = shlex.split(command.format(root=ROOT))
        subprocess.run(
            [sys.executable, "-m", "allstreets", *arguments],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def shrink(path: Path) -> None:
    """Store a picture with 256 colours, a third of its size."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        ).save(path, optimize=True)


def take(folder: Path, wanted: list[str]) -> None:
    """Take these pictures of the solutions in a folder.

    The explorer opens relative folders, whose names the home page shows. There the game is in the
    library alone; for the other pictures its folder is opened, with the flop beside it.
    """
    os.chdir(folder)
    Path("solves").mkdir(exist_ok=True)
    home = [picture for picture in PICTURES if picture is Gallery.home]
    others = [picture for picture in PICTURES if picture is not Gallery.home]
    _take(folder, [each for each in home if each.__name__ in wanted], "solved")
    _take(folder, [each for each in others if each.__name__ in wanted], "solved", GAME)


def _take(folder: Path, pictures: list[Picture], *opened: str) -> None:
    with (
        browser() as chromium,
        explorer(Path("solves"), *map(Path, opened)) as server,
        new_page(chromium, server, viewport=SIZE, color_scheme="light") as page,
    ):
        gallery = Gallery(page, folder)
        for picture in pictures:
            picture(gallery)
            path = IMAGES / f"{picture.__name__}.png"
            if picture is not Gallery.poster:
                expect(page.locator(".working.on")).to_have_count(0)  # no answer is awaited
                page.screenshot(path=path, animations="disabled")
            shrink(path)
            print(f"docs/images/{picture.__name__}.png", flush=True)


def main() -> None:
    """Solve, then take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pictures", nargs="*", default=[each.__name__ for each in PICTURES])
    parser.add_argument("--folder", type=Path, help="keep the solutions here for the next time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        os.environ["ALLSTREETS_LIBRARY"] = str(folder / "unpacked")
        os.environ["ALLSTREETS_PRACTICE"] = str(folder / "practice.sqlite")
        if not (folder / "solved").exists():
            folder.mkdir(exist_ok=True)
            solve(folder)
        take(folder, options.pictures)


if __name__ == "__main__":
    main()

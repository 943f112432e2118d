"""Groups of real boards on a GPU: are they those of processors, and what does a flop take.

    python3 benchmarks/bench_gpu_groups.py [--flops spread_25] [--groups 64,32] [--sets 3]

Seven pots of a whole game go by three pairs of ranges. Every part stands for itself: one that fails
says so and the others continue. The table comes last.

- host: what processors still do for a flop, in milliseconds of one core
- device: a flop's launches by events, and the whole call with what goes there and comes back
- all: seconds for all flops, all threads preparing them and the device bucketing them
- same: on three flops, the share of hands with another group than on processors, of matrices and
  lists that differ, and whether the device finds the same again
- cpu: what a flop takes on processors, in seconds of one core, and of all threads together. Their
  kernels compile first, for some seconds
- engine: a whole engine of these flops, built, with what each step of it takes

`--host` runs on a processor what can run there, on a turn board: a test of this script.
"""

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "tests")]

from gpu_table import ROWS, part, random_reach, say, timed

from allstreets.betting import Player
from allstreets.cards import parse_cards
from allstreets.engines.boards.cards import (
    BoardBuckets,
    BucketSettings,
    bucket_hands,
    flop_boards,
    river_street,
)
from allstreets.engines.card_model import CardModel
from allstreets.engines.cuda.boards import CudaBoardsEngine
from allstreets.engines.cuda.bucketing import CudaBucketing
from allstreets.engines.exact.cards import every_combo, first_street, kernel_boards, next_street
from allstreets.engines.machine import Pool
from allstreets.jobs.config.whole_game import UnifiedConfig

THREADS = os.cpu_count() or 1
ROWS_ON_TURN = 176
SOME = ("Ks8h5d", "Ks8s3d", "7s7h2d")
FEW = "KsKhKdKc"


def cards_of(text: str) -> tuple[int, ...]:
    return tuple(parse_cards(text))


def streets(cards: tuple[int, ...]) -> tuple[Any, Any]:
    """The turn and the rivers below a flop, or a turn board."""
    first = first_street(*every_combo(cards))
    turn = next_street(first) if len(cards) == 3 else first
    return turn, river_street(turn)


def ranges_of(sets: int) -> list[Any]:
    """[2, 169] each."""
    return list(random_reach(sets).swapaxes(0, 1))


def host(flops: Any) -> None:
    """The processors' work for a flop before the device buckets its hands."""
    river_street(streets(flops[0])[0])  # compiles
    spent: dict[str, float] = {}
    for flop in flops[:6]:
        marks = [time.thread_time()]
        first = first_street(*every_combo(flop))
        turn = next_street(first)
        marks.append(time.thread_time())
        river = river_street(turn)
        marks.append(time.thread_time())
        for own in Player:
            kernel_boards(first, turn, own, all_ins=False)
            kernel_boards(turn, river, own, all_ins=False)
        marks.append(time.thread_time())
        for name, ms in zip(("turn", "rivers", "tables"), 1e3 * np.diff(marks), strict=True):
            spent[name] = spent.get(name, 0.0) + ms / len(flops[:6])
    text = ", ".join(f"{name} {ms:.1f}" for name, ms in spent.items())
    say("host, core-ms a flop", f"{sum(spent.values()):.1f} ({text})")


class Timed:
    """A device whose launches are timed by events."""

    def __init__(self, device: Any) -> None:
        self._device, self.spent = device, dict[str, float]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> Any:
        """Kernels that record their resources."""
        kernels, spent, stream = self._device.compile(source, defines), self.spent, self._stream

        class Noted:
            def launch(self, name: str, *rest: Any) -> None:
                import cupy

                work = partial(kernels.launch, name, *rest)
                spent[name] = spent.get(name, 0.0) + timed(stream, cupy, work, 3)
                say(f"  {name}", f"{rest[0]} blocks, {rest[2] / 1024:.0f} KB: {spent[name]:.2f} ms")

        return Noted()


def device_part(device: Any, flop: Any, settings: BucketSettings, sets: int, gpu: bool) -> None:
    turn, river = streets(flop)
    bucketing = CudaBucketing(device)
    bucketing(turn, river, ranges_of(sets), settings)  # compiles
    best = np.inf
    for _ in range(3 if gpu else 1):
        start = time.perf_counter()
        bucketing(turn, river, ranges_of(sets), settings)
        best = min(best, time.perf_counter() - start)
    name = f"K = {settings.river}: device"
    say(name, f"{1e3 * best:.1f} ms for {len(river.parents)} rivers and {sets} pairs of ranges")
    if gpu:
        noted = Timed(device)
        CudaBucketing(noted)(turn, river, ranges_of(sets), settings)
        say(f"{name}, launches", f"{sum(noted.spent.values()):.2f} ms")


def seconds_for_all(flops: Any, settings: BucketSettings, sets: int, bucketing: Any) -> float:
    """All flops with their boards, in all threads."""

    def build(_: int, place: int) -> None:
        flop_boards(flops[place], ranges_of(sets), settings, bucketing)

    start = time.perf_counter()
    Pool(THREADS).run(len(flops), build)
    return time.perf_counter() - start


def all_flops(device: Any, flops: Any, settings: BucketSettings, sets: int) -> None:
    bucketing = CudaBucketing(device)
    flop_boards(flops[0], ranges_of(sets), settings, bucketing)
    seconds = seconds_for_all(flops, settings, sets, bucketing)
    text = f"{seconds:.2f} s for {len(flops)} flops, {1e3 * seconds / len(flops):.1f} ms a flop"
    say(f"K = {settings.river}: all, {THREADS} threads", text)


def share(mine: Any, found: Any) -> float:
    return float(np.mean(mine != found))


def differences(mine: BoardBuckets, found: BoardBuckets) -> dict[str, float]:
    """Shares of what differs."""
    apart = {
        "groups": max(share(*pair) for pair in zip(mine.river, found.river, strict=True)),
        "margin": share(mine.margin, found.margin),
        "pairs": share(mine.pairs, found.pairs),
        "lists": max(
            max(share(one.first, two.first), share(one.parent, two.parent))
            for one, two in zip(mine.combos, found.combos, strict=True)
        ),
    }
    if mine.turn is not None and found.turn is not None:
        apart["rows"] = max(
            share(one.row, two.row) for one, two in zip(mine.turn, found.turn, strict=True)
        )
    return apart


def same(device: Any, boards: Any, settings: BucketSettings, sets: int) -> None:
    for cards in boards:
        turn, river = streets(cards)
        found = CudaBucketing(device)(turn, river, ranges_of(sets), settings)
        again = CudaBucketing(device)(turn, river, ranges_of(sets), settings)
        repeats = not any(
            any(differences(*pair).values()) for pair in zip(found, again, strict=True)
        )
        mine = bucket_hands(turn, river, ranges_of(sets), settings)
        worst: dict[str, float] = {}
        for pair in zip(mine, found, strict=True):
            for name, apart in differences(*pair).items():
                worst[name] = max(worst.get(name, 0.0), apart)
        text = ", ".join(f"{name} {100 * apart:.4f} %" for name, apart in worst.items())
        say(f"K = {settings.river}: differ from processors", f"{text}; repeats: {repeats}")


def cpu(flops: Any, settings: BucketSettings, sets: int) -> None:
    turn, river = streets(flops[0])
    bucket_hands(turn, river, ranges_of(1), settings)  # compiles
    start = time.thread_time()
    bucket_hands(turn, river, ranges_of(sets), settings)
    core = time.thread_time() - start
    some = flops[: max(THREADS, 2)]
    seconds = seconds_for_all(some, settings, sets, bucket_hands)
    text = f"{core:.2f} s of one core ({len(river.parents)} rivers), "
    text += f"{seconds / len(some):.3f} s a flop in {THREADS} threads ({len(some)} flops)"
    say(f"K = {settings.river}: cpu", text)


def engine(device: Any, chosen: str, settings: BucketSettings, sets: int) -> None:
    """A whole engine: boards and groups, games on the host, everything on the device."""
    config = UnifiedConfig(
        type="unified_cfr", cards="classes", postflop_bet_sizes=(1.0,), flops=chosen
    )
    game = config.game()
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    model = CardModel("boards", groups=settings.river)
    ranges = random_reach(len(trees)) if sets > 1 else None

    class Noted(CudaBoardsEngine):
        def _build(self, *given: Any) -> Any:
            start = time.perf_counter()
            found = super()._build(*given)
            say("  boards, groups and games", f"{time.perf_counter() - start:.2f} s")
            return found

        def _open(self, *, fresh: bool = True) -> None:
            start = time.perf_counter()
            super()._open(fresh=fresh)
            say("  brought to the device", f"{time.perf_counter() - start:.2f} s")

    start = time.perf_counter()
    games = Noted(trees, game.flops.flops, THREADS, model, device, ranges)
    seconds = time.perf_counter() - start
    text = f"{seconds:.2f} s for {games.flops} flops, {1e3 * seconds / games.flops:.0f} ms a flop"
    say(f"K = {settings.river}: engine", text)


def main() -> None:
    """All parts, and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flops", default="spread_25")
    parser.add_argument("--groups", default="64,32")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--parts", default="host,device,all,same,cpu,engine")
    parser.add_argument("--host", action="store_true")
    given = parser.parse_args()
    parts = given.parts.split(",")
    config = UnifiedConfig(
        type="unified_cfr", cards="classes", postflop_bet_sizes=(1.0,), flops=given.flops
    )
    flops = [flop.cards for flop in config.game().flops.flops]
    if given.host:
        from builders.host_device import HostDevice

        device: Any = HostDevice()
    else:
        from allstreets.engines.device import open_device

        device = open_device("cuda")
    say("device", device.name)
    if "host" in parts:
        part("host", partial(host, flops))
    for number, groups in enumerate(int(text) for text in given.groups.split(",")):
        settings = BucketSettings(groups, ROWS_ON_TURN)
        few = cards_of(FEW)
        if "device" in parts:
            flop = few if given.host else cards_of(SOME[0])
            work = partial(device_part, device, flop, settings, given.sets, not given.host)
            part("device", work)
        if "all" in parts and not given.host:
            part("all", partial(all_flops, device, flops, settings, given.sets))
        if "same" in parts:
            boards = [few] if given.host else [cards_of(text) for text in SOME]
            part("same", partial(same, device, boards, settings, given.sets))
        if "cpu" in parts:
            part("cpu", partial(cpu, flops[:2] if given.host else flops, settings, given.sets))
        if "engine" in parts and not given.host and not number:
            part("engine", partial(engine, device, given.flops, settings, given.sets))
    print("\n".join(f"{name:44} {text}" for name, text in ROWS))


if __name__ == "__main__":
    main()

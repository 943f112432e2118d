"""The whole game with cards: boards on a GPU: is it right, and how long do iterations take.

    python3 benchmarks/bench_gpu_boards.py [--flops spread_25] [--groups 64,32] [--parts …]

20 bb, one bet size, one raise a street, seven pots. Every part stands for itself: one that fails
says so and the others continue. The table comes last.

- check: an iteration, a best response and an evaluation beside the same kernels compiled for a
  processor (which the tests compare with the engine for processors), on a flop with few boards
- speed: memory, as it was foretold and as it is; milliseconds of each launch of an iteration by
  events, with TB/s and TFLOP/s of what it cannot do without (`boards_work`); an iteration,
  recorded; with reach and values through the host; the river with other numbers of blocks
- cpu: the same as check beside the engine for processors, on two flops. Its kernels take a minute
  to compile: another process works on it from the beginning, and is waited for until `--patience`
  seconds have passed since the start
- phases, if it is named: the river without one of its phases

`--host` runs on a processor what can run there, with few flops: a test of this script.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "tests")]

from boards_work import work_of
from gpu_table import ROWS, START, part, random_reach, say, timed

from allstreets.betting import Player
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.card_model import CardModel
from allstreets.engines.cuda import boards_rivers as cuda_rivers
from allstreets.engines.cuda.boards import CudaBoardsEngine
from allstreets.engines.cuda.boards_layout import RIVER, BoardsMemory, FlatBoards, FlopCounts
from allstreets.engines.cuda.boards_passes import BoardsPasses, arrange_together, compiled
from allstreets.engines.exact.kernels.layout import UPDATE
from allstreets.games.estimates import hands_of_flops
from allstreets.jobs.config.whole_game import UnifiedConfig

SCHEDULE = parse_schedule("ahead")
FEW = ("7s7h7d",)  # few boards
SOME = ("7s7h7d", "Ks8h5d")
THREADS = os.cpu_count() or 1
WORK = "bytes", "multiplications"
PHASES = "load_numbers", "forward_piece", "add_products", "backward_piece", "store_piece"
KEPT: dict[int, tuple[Any, Any]] = {}  # by groups: trees, and the cards of some flops


def described(flops: Any) -> tuple[Any, Any]:
    """Trees of the pots, and flops."""
    config = UnifiedConfig(
        type="unified_cfr", cards="classes", postflop_bet_sizes=(1.0,), flops=flops
    )
    game = config.game()
    return [(pot.tree, pot.payoffs) for pot in game.pots], game.flops.flops


def model(groups: int) -> CardModel:
    return CardModel("boards", groups=groups)


def answers(games: Any) -> dict[str, Any]:
    """Two iterations, a best response and an evaluation: [P, F, 169] each, by player."""
    reach, every = random_reach(games.pots), np.arange(games.flops)
    found = {}
    for number in (1, 2):
        for player in Player:
            now = [SCHEDULE.at(number)] * games.flops
            other = reach[player.opponent]
            found[f"step {number} {player}"] = games.step(player, reach[player], other, every, now)
    for player in Player:
        other = reach[player.opponent]
        found[f"best response {player}"] = games.best_response(player, other, every)
        found[f"evaluate {player}"] = games.evaluate(player, other, every)
    return found


def compare(name: str, mine: Any, found: Any) -> None:
    """The largest difference beside the largest number of its pot and flop, by kind of pass."""
    worst: dict[str, float] = {}
    for key, here in mine.items():
        size = np.abs(here).max(axis=-1, keepdims=True)
        apart = float((np.abs(here - found[key]) / np.maximum(size, 1e-30)).max())
        kind = key[:-2]
        worst[kind] = max(worst.get(kind, 0.0), apart if np.isfinite(apart) else np.inf)
    text = ", ".join(f"{key} {value:.1e}" for key, value in worst.items())
    say(name, f"{text}: {max(worst.values()) < 1e-3}")


def check(device: Any, groups: int) -> None:
    from builders.host_device import HostDevice

    trees, flops = described(FEW)
    there = CudaBoardsEngine(trees, flops, THREADS, model(groups), device)
    found = answers(there)
    again = CudaBoardsEngine(trees, flops, THREADS, model(groups), device)
    same = all(np.array_equal(found[key], array) for key, array in answers(again).items())
    say(f"K = {groups}: repeats bit for bit", str(same))
    here = CudaBoardsEngine(trees, flops, THREADS, model(groups), HostDevice())
    compare(f"K = {groups}: GPU beside its kernels here", answers(here), found)
    every = list(SCHEDULE.run(3, 3))
    pairs = np.ones((there.pots, there.flops), np.bool_)
    for games in (there, here):
        games.iterate(random_reach(there.pots), pairs, every)
    other, flop = random_reach(there.pots)[1], np.arange(there.flops)
    mine, those = (games.evaluate(Player.OOP, other, flop) for games in (here, there))
    compare(f"K = {groups}: recorded iterations", {"values 0": mine}, {"values 0": those})


def reference(file: str, groups: int) -> None:
    """Write the answers of the engine for processors to a file."""
    trees, flops = described(SOME)
    games = BoardsEngine(trees, flops, 1, model(groups))
    np.savez(file, **answers(games))


def compare_reference(device: Any, groups: int, worker: Any, file: str, patience: float) -> None:
    left = patience - (time.perf_counter() - START)
    try:
        worker.wait(timeout=max(left, 0.1))
    except subprocess.TimeoutExpired:
        worker.kill()
        say("cpu", f"the engine for processors was not compiled within {patience:.0f} s")
        return
    trees, flops = described(SOME)
    there = CudaBoardsEngine(trees, flops, THREADS, model(groups), device)
    compare(f"K = {groups}: GPU beside BoardsEngine", dict(np.load(file)), answers(there))


def launch_all(sets: Sequence[BoardsPasses], player: Player, place: int) -> None:
    """One of the launches of a pass, for all chunks."""
    for one in sets:
        for launches in one._launches[player, UPDATE]:
            name, blocks, threads, shared, argument = launches[place]
            one._kernels.launch(name, blocks, threads, shared, argument)


def kernels(device: Any, games: CudaBoardsEngine, name: str) -> None:
    """Print milliseconds of each launch of an iteration, and how near it comes to its floor."""
    import cupy

    total, moved, done = 0.0, 0.0, 0.0
    launches = games._sets[0]._launches[Player.OOP, UPDATE][0]
    every = [[work_of(one, player) for one in games._sets] for player in Player]
    for place, (kernel, _, threads, shared, _) in enumerate(launches):
        spent = [
            timed(device._stream, cupy, partial(launch_all, games._sets, player, place), 3)
            for player in Player
        ]
        mine = [one[place] for both in every for one in both]
        size, operations = (sum(getattr(one, key) for one in mine) for key in WORK)
        both = sum(spent)
        total, moved, done = total + both, moved + size, done + operations
        text = f"{spent[0]:6.3f} + {spent[1]:6.3f} ms, {size / both / 1e9:5.2f} TB/s"
        if operations:
            text += f", {2 * operations / both / 1e9:.1f} TFLOP/s"
        say(f"  {name}: {kernel}", f"{text} ({threads} threads, {shared / 1024:.0f} KB)")
    one = games._sets[0]
    boards = int(one.cards.flop_first[RIVER][-1])
    say(
        f"{name}: all launches",
        f"{total:.2f} ms an iteration, {total / games.flops:.3f} ms a flop; "
        f"{moved / total / 1e9:.2f} TB/s, {moved / games.flops / 1e6:.0f} MB and "
        f"{done / games.flops / 1e9:.2f} GMAC a flop; {boards / games.flops:.0f} rivers a flop, "
        f"{len(one.pieces[0].cuts) - 1} pieces a board",
    )


def some_there(device: Any, kernels: Any, groups: int) -> BoardsPasses:
    """All pots on a few flops, after a pass."""
    trees, some = KEPT[groups]
    cards = FlatBoards(some, 0, groups, device.shared_bytes, THREADS)
    one = BoardsPasses(device, kernels, np.arange(len(trees)), trees, cards)
    arrange_together(device, [one])
    one.enter(Player.OOP, random_reach(len(trees))[0])
    weights = np.ones((1, 2, len(some), len(trees), 8), np.float32)
    one.ask(np.ones((len(trees), len(some)), np.bool_), weights)
    one.launch(Player.OOP, UPDATE)
    return one


def river_time(device: Any, one: BoardsPasses) -> float:
    """Milliseconds of the river of a flop in a half-iteration."""
    import cupy

    launches = [each[0] for each in one._launches[Player.OOP, UPDATE][0]]
    work = partial(launch_all, [one], Player.OOP, launches.index("play_rivers"))
    return timed(device._stream, cupy, work) / one.flops


def river_variants(device: Any, groups: int, patience: float) -> None:
    """The river with other numbers of blocks on a multiprocessor; a few flops tell."""
    kept = cuda_rivers.MOST_TABLES
    try:
        for tables in (1, 2, 3, 4):
            if time.perf_counter() - START > patience - 10:
                break
            cuda_rivers.MOST_TABLES = tables
            try:
                one = some_there(device, compiled(device, groups), groups)
                text = f"{river_time(device, one):.3f} ms a flop and half-iteration"
                text += f" ({len(one.pieces[0].cuts) - 1} pieces)"
            except Exception as error:
                text = f"FAILED: {str(error)[:100]}"
            say(f"  river: {tables} blocks a multiprocessor", text)
    finally:
        cuda_rivers.MOST_TABLES = kept


class Without:
    """A device that leaves a phase of the river out."""

    def __init__(self, device: Any, gone: str) -> None:
        self._device, self._gone = device, gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> Any:
        """Without the phase."""
        return self._device.compile(source.replace(f"    {self._gone}(s);\n", ""), defines)


def phases(device: Any, groups: int) -> None:
    """Time the river without one of its phases; its results are meaningless then."""
    for gone in ("", *PHASES):
        one = some_there(device, compiled(Without(device, gone), groups), groups)
        name = f"without {gone}" if gone else "whole"
        spent = river_time(device, one)
        say(f"  river, {name}", f"{spent:.3f} ms a flop and half-iteration")


def speed(device: Any, chosen: str, groups: int, gpu: bool) -> None:
    name = f"K = {groups}"
    trees, flops = described(chosen if gpu else FEW)
    start = time.perf_counter()
    before = device.free_bytes
    games = CudaBoardsEngine(trees, flops, THREADS, model(groups), device)
    text = f"{time.perf_counter() - start:.1f} s, {games.memory_bytes / 1e9:.2f} GB of numbers"
    taken = (before - device.free_bytes) / 1e9
    counts = [(like, FlopCounts.of(hands)) for like, hands in hands_of_flops(flops)]
    memory = BoardsMemory(trees, counts, groups, games.model.rows, sets=len(games._sets))
    text += f", {memory.whole / 1e9:.2f} GB foretold"
    chunks = len(games._sets[0].chunks)
    say(f"{name}: {games.flops} flops built", f"{text}, {taken:.2f} GB in all, {chunks} chunks")
    KEPT[groups] = trees, games.cards[:6]
    reach, every = random_reach(games.pots), np.arange(games.flops)
    pairs, run = np.ones((games.pots, games.flops), np.bool_), list(SCHEDULE.run(1, 10))
    best = np.inf
    for _ in range(3 if gpu else 1):  # the first one compiles, loads and records
        start = time.perf_counter()
        games.iterate(reach, pairs, run)
        best = min(best, (time.perf_counter() - start) / len(run))
    say(
        f"{name}: iterate",
        f"{1e3 * best:.2f} ms an iteration, {1e3 * best / games.flops:.3f} ms a flop, "
        f"{184 * best / games.flops:.3f} s for 184 flops",
    )
    fastest = np.inf
    for now in run[:3]:
        start = time.perf_counter()
        for player in Player:
            own, other = reach[player], reach[player.opponent]
            games.step(player, own, other, every, [now] * games.flops)
        fastest = min(fastest, time.perf_counter() - start)
    say(f"{name}: step", f"{1e3 * fastest:.2f} ms an iteration, values to the host")
    if gpu:
        part(f"{name}: kernels", partial(kernels, device, games, name))


def main() -> None:
    """All parts, and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flops", default="spread_25", help="a number, or any choice of flops")
    parser.add_argument("--groups", default="64,32")
    parser.add_argument("--parts", default="check,speed,cpu")
    parser.add_argument("--patience", type=float, default=85.0)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--reference", help="used by the script itself: a file to write")
    given = parser.parse_args()
    every = [int(text) for text in given.groups.split(",")]
    chosen = f"spread_{given.flops}" if given.flops.isdigit() else given.flops
    if given.reference:
        reference(given.reference, every[0])
        return
    parts, worker = given.parts.split(","), None
    file = str(Path(tempfile.mkdtemp()) / "reference.npz")
    if "cpu" in parts:
        command = [sys.executable, __file__, "--groups", str(every[0]), "--reference", file]
        worker = subprocess.Popen(command)
    if given.host:
        from builders.host_device import HostDevice

        device: Any = HostDevice()
    else:
        from allstreets.engines.device import open_device

        device = open_device("cuda")
    say("device", device.name)
    for groups in every:
        if "speed" in parts:
            part("speed", partial(speed, device, chosen, groups, not given.host))
        if "check" in parts and groups == every[0]:
            part("check", partial(check, device, groups))
    if "speed" in parts and not given.host:
        part("river", partial(river_variants, device, every[0], given.patience))
        if "phases" in parts:
            part("phases", partial(phases, device, every[0]))
    if worker is not None:
        work = partial(compare_reference, device, every[0], worker, file, given.patience)
        part("cpu", work)
    print("\n".join(f"{name:44} {text}" for name, text in ROWS))


if __name__ == "__main__":
    main()

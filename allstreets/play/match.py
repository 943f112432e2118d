"""A match as a job: blocks of deals, each played in both seatings, stored when done.

Results are per hand and in bb/100, with 95 % intervals over deals: raw, and corrected
(`play.aivat`). A deal depends only on the seed and its number, so a match is the same with any
number of processes, and an interrupted one resumes where it was.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import (
    Control,
    DamagedFileError,
    Floats,
    InputError,
    cache_folder,
    duration,
    interrupt_request,
    processors,
    read_json_object,
    write_atomic,
)
from allstreets.games import data_hash
from allstreets.jobs import (
    NO_CALLBACKS,
    Callbacks,
    Executor,
    Plan,
    Progress,
    StoppedError,
    Tally,
    on_this_machine,
    piece_control,
)
from allstreets.play.player import SolutionPlayer
from allstreets.play.table import Contender, OutsidePlayer, Table
from allstreets.solutions import WholeSolution
from allstreets.storage import MANIFEST, load, mirrored
from allstreets.study import Effort

VERSION = 1  # of stored results: a change that alters them takes the next number
BLOCK = 50  # deals
NORMAL = 1.96  # standard errors: 95 %
COLUMNS = 4  # of a deal: A's results in the big and in the small blind, then both corrected


@dataclass(frozen=True)
class Estimate:
    """A mean in bb/100, and half of its 95 % interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, results: Floats) -> "Estimate":
        """The estimate from results [N] in bb per hand."""
        if not len(results):
            return cls(math.nan, math.nan)
        error = results.std(ddof=1) / math.sqrt(len(results)) if len(results) > 1 else math.nan
        return cls(100 * float(results.mean()), 100 * NORMAL * float(error))

    def __str__(self) -> str:
        """The result in words: "+1.25 ± 0.31"."""
        return f"{self.mean:+.2f} ± {self.half:.2f}"


@dataclass(frozen=True, eq=False)
class MatchOutcome:
    """The outcome of a match, for the first player."""

    names: tuple[str, str]
    deals: Floats  # [N, 4] of those that were played, in bb
    total: int  # deals to play
    counts: tuple[Mapping[str, int], Mapping[str, int]]  # the counts of answers by kind
    folder: Path
    problem: str | None = None  # every block is stored when it is done

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it before the last deal."""
        return len(self.deals) < self.total

    @property
    def raw(self) -> Estimate:
        """The raw result."""
        return Estimate.of(self.deals[:, :2].mean(axis=1))

    @property
    def corrected(self) -> Estimate:
        """The result corrected for luck."""
        return Estimate.of(self.deals[:, 2:].mean(axis=1))

    def lines(self) -> list[str]:
        """The result, and the luck that the correction removed."""
        hands = 2 * len(self.deals)
        if not hands:
            return ["no hand was played"]
        lines = [
            f"{self.names[0]} against {self.names[1]}, {hands:,} hands: {self.corrected} bb/100 "
            "(95 % interval)",
            f"without the correction for luck: {self.raw} bb/100",
        ]
        if self.corrected.half > 0 and self.raw.half > 0:
            ratio = (self.raw.half / self.corrected.half) ** 2
            lines.append(f"the correction is worth {ratio:,.3g} times as many hands")
        for name, count in zip(self.names, self.counts, strict=True):
            if count.get("solved") or count.get("mapped") or count.get("guessed"):
                lines.append(
                    f"{name}: {count.get('stored', 0):,} decisions as stored, "
                    f"{count.get('solved', 0):,} on streets solved again, "
                    f"{count.get('mapped', 0):,} bets before the flop counted as another size, "
                    f"{count.get('guessed', 0):,} answers by equity alone"
                )
        return lines

    def to_json(self) -> dict[str, Any]:
        """The match in figures."""
        corrected, raw = self.corrected, self.raw
        known = {
            "bb_per_100": corrected.mean,
            "interval": [corrected.mean - corrected.half, corrected.mean + corrected.half],
            "raw_bb_per_100": raw.mean,
            "raw_interval": [raw.mean - raw.half, raw.mean + raw.half],
        }
        return {
            "players": list(self.names),
            "hands": 2 * len(self.deals),
            "wanted_hands": 2 * self.total,
            **json.loads(json.dumps(known).replace("NaN", "null")),
            "decisions": [dict(count) for count in self.counts],
        }


@dataclass(frozen=True)
class Block:
    """Deals that are played one after the other."""

    number: int
    deals: range

    @property
    def name(self) -> str:
        """The name of the player in reports."""
        return f"deals {self.deals.start} to {self.deals.stop - 1}"


@dataclass(frozen=True, eq=False)
class Blocks:
    """Plays blocks; another process opens the solutions itself."""

    table: Table
    players: tuple[Contender, Contender]
    folders: tuple[Path, ...]  # of those that are solutions
    effort: Effort
    seed: int

    def __call__(self, block: Block) -> dict[str, Any]:
        """The results of a block, and the counts of answers by kind."""
        before = [Counter(asdict(player.tally)) for player in self.players]
        # Deals of the same flop follow each other, so its files are read once.
        deals = [self.table.deal(self.seed, number) for number in block.deals]
        rows: dict[int, list[float]] = {}
        first, second = self.players
        for deal in sorted(deals, key=lambda deal: (deal.board[:4], deal.number)):
            if piece_control().wants_to_stop():
                raise StoppedError
            big = self.table.play(deal, (first, second), self.seed, (0, 1))
            small = self.table.play(deal, (second, first), self.seed, (1, 0))
            rows[deal.number] = [big.result, -small.result, big.corrected, -small.corrected]
        after = [Counter(asdict(player.tally)) for player in self.players]
        counts = [new - old for new, old in zip(after, before, strict=True)]
        return {
            "deals": [rows[number] for number in block.deals],
            "counts": [dict(count) for count in counts],
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _blocks, (self.folders, self.effort, self.seed)


@lru_cache(1)
def _blocks(folders: tuple[Path, ...], effort: Effort, seed: int) -> Blocks:
    first, second = (SolutionPlayer(load_game(folder), effort, seed=seed) for folder in folders)
    table = Table.of(first.solution, second.solution)
    return Blocks(table, (first, second), folders, effort, seed)


@dataclass(frozen=True, eq=False)
class MatchJob:
    """Two players, and the number of deals."""

    blocks: Blocks
    names: tuple[str, str]
    total: int  # deals
    folder: Path
    processes: int | None = None
    executor: Executor | None = None  # instead of these

    def plan(self) -> Plan:
        """The plan: the match, its flops, and the deals that are already played."""
        table, left = self.blocks.table, len(self._left())
        cards = f"{len(table.flops):,} flop{'s' * (len(table.flops) != 1)}"
        kept = f", {self.total - left:,} deals kept from before" if left < self.total else ""
        lines = [
            f"{self.names[0]} against {self.names[1]}: {2 * self.total:,} hands, each deal in both "
            f"seatings, on {cards}{kept}"
        ]
        bare = {known.name: None for known in table.solutions if table.solves_flops(known)}
        if bare:
            seconds = self.blocks.effort.seconds
            lines.append(
                f"{' and '.join(bare)} store{'s' * (len(bare) == 1)} no flops: every flop is "
                f"solved when it is dealt, in {seconds:g} s at most, about three times a deal; "
                "results can differ a little between runs"
            )
        if any(solution.rules.rake for solution in table.solutions):
            lines.append("played without rake, though solved with one")
        return Plan(tuple(lines), kernels="match")

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> MatchOutcome:
        """Play the missing deals; an interrupted run returns the finished ones."""
        control = callbacks.control
        in_charge: AbstractContextManager[Control] = (
            interrupt_request("keeping the deals that are played", "the hand in progress")
            if control is None
            else nullcontext(control)
        )
        callbacks.begin()
        self._claim()
        with in_charge as request:
            request.hold()
            known = self._known
            todo = [block for block in self._every if block.number not in known]
            tally = Tally(
                "deals",
                self.total,
                self.total - len(self._left()),
                callbacks.progress,
                figures=_figures,
            )

            def tell(**facts: Any) -> None:
                outcome = self._outcome(known)
                tally.tell(len(outcome.deals), outcome, **facts)

            def keep(index: int, result: dict[str, Any]) -> None:
                block = todo[index]
                write_atomic(
                    self._path(block),
                    lambda out: out.write(json.dumps(result, allow_nan=False).encode()),
                    durable=False,
                )
                known[block.number] = result
                tell()

            def wait() -> None:
                if request.is_paused():
                    tell(paused=True)
                    tally.wait(request)
                    tell()

            tell()
            self._executor(len(todo)).map(self.blocks, todo, keep, control=request, on_tick=wait)
        return self._outcome(known)

    @cached_property
    def _every(self) -> tuple[Block, ...]:
        return tuple(
            Block(number, range(first, min(first + BLOCK, self.total)))
            for number, first in enumerate(range(0, self.total, BLOCK))
        )

    @cached_property
    def _known(self) -> dict[int, dict[str, Any]]:
        """The stored blocks."""
        known: dict[int, dict[str, Any]] = {}
        for block in self._every:
            with suppress(OSError, DamagedFileError, KeyError, ValueError, TypeError):
                result = read_json_object(self._path(block))
                rows = np.array(result["deals"], np.float64)
                if rows.shape == (len(block.deals), COLUMNS) and np.isfinite(rows).all():
                    known[block.number] = result
        return known

    def _left(self) -> list[int]:
        return [n for block in self._every if block.number not in self._known for n in block.deals]

    def _path(self, block: Block) -> Path:
        return self.folder / f"deals-{block.deals.start}-{block.deals.stop}.json"

    def _outcome(self, known: Mapping[int, Mapping[str, Any]]) -> MatchOutcome:
        results = [known[number] for number in sorted(known)]
        rows = [row for result in results for row in result["deals"]]
        first, second = (
            sum((Counter(result["counts"][player]) for result in results), Counter())
            for player in range(2)
        )
        deals = np.array(rows, np.float64).reshape(-1, COLUMNS)
        return MatchOutcome(self.names, deals, self.total, (first, second), self.folder)

    def _claim(self) -> None:
        """Record the match of the folder; refuse another one."""
        path, facts = self.folder / "match.json", {"match": self._identity}
        with suppress(FileNotFoundError):
            try:
                held = read_json_object(path)
            except (DamagedFileError, OSError) as error:
                if isinstance(error, FileNotFoundError):
                    raise
                raise InputError(f"{path} is damaged: name another folder") from None
            if held != facts:
                raise InputError(f"{self.folder} contains another match: name another folder")
            return
        text = json.dumps(facts).encode()
        write_atomic(path, lambda out: out.write(text), durable=False)

    @cached_property
    def _identity(self) -> str:
        return match_identity(self.names, self.blocks)

    def _executor(self, blocks: int) -> Executor:
        if self.executor is not None:
            return self.executor
        alone = not all(player.known for player in self.blocks.players)
        return on_this_machine(1 if alone else min(self.processes or processors(), blocks))


def _figures(progress: Progress) -> list[str]:
    """The figures beside the count: the result so far, and the remaining time."""
    parts = [f"{progress.latest.corrected} bb/100"] if progress.done else []
    return parts if progress.ended else [*parts, f"ETA {duration(progress.eta_seconds)}"]


def match_identity(names: Sequence[str], blocks: Blocks) -> str:
    """A hash of everything that a match's results depend on, except their number."""
    manifests = [(folder / MANIFEST).read_text(encoding="utf-8") for folder in blocks.folders]
    effort = blocks.effort
    draft = None if effort.draft is None else effort.draft.text
    facts = [VERSION, BLOCK, list(names), manifests, effort.target, effort.seconds, draft]
    return data_hash([*facts, blocks.seed])[:32]


def load_game(folder: Path) -> WholeSolution:
    """A whole game that can be played."""
    game = load(mirrored(folder), WholeSolution)
    if not game.is_game:
        raise InputError(f"{folder} is not a whole game: hands are played from the first action on")
    if game.at().kind == "end":
        raise InputError(f"{folder} has no decisions: the blinds are all-in")
    return game


def _folder(path: Path) -> Path:
    """A folder on this machine, also of a ready-made solution's name."""
    return mirrored(path).absolute()


def plan_match(
    first: Path,
    second: Path | OutsidePlayer,
    hands: int,
    *,
    effort: Effort | None = None,
    seed: int = 1,
    output: Path | None = None,
    processes: int | None = None,
) -> MatchJob:
    """A match of a solution against another, or against a connected program."""
    if hands < 2:
        raise InputError("a match has at least 2 hands: each deal is played in both seatings")
    effort = effort or Effort()
    if isinstance(second, Path):
        blocks = _blocks((_folder(first), _folder(second)), effort, seed)
    else:
        player = SolutionPlayer(load_game(first), effort, seed=seed)
        table = Table.of(player.solution, player.solution)
        blocks = Blocks(table, (player, second), (_folder(first),), effort, seed)
    mine, theirs = (player.name for player in blocks.players)
    names = (mine, theirs) if mine != theirs else (f"{mine} (first)", f"{theirs} (second)")
    folder = output or cache_folder() / "matches" / match_identity(names, blocks)
    return MatchJob(blocks, names, (hands + 1) // 2, folder, processes)

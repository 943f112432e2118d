"""Ready-made solutions as a job: each game is trained, certified and packed, one after the other.

    OUTPUT/hu-20bb.zip                     the packs (`storage.packs`)
    WORK/hu-20bb/training/                 the run: checkpoints, metrics, its solution
         hu-20bb/solution/                 what ships, compact; certified as it is

A game whose pack exists is skipped, and an interrupted one resumes: from a checkpoint, with its
certificate, or with the flops that the certificate lacks. A game that fails does not stop the
others.

A file with stacks is a game for each: `hu.yaml` at 10 and 20 bb is hu-10bb and hu-20bb.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from allstreets.base import InputError, data_size, duration, figure
from allstreets.engines import CPU, open_device, release_memory
from allstreets.games import game_device_bytes
from allstreets.jobs.certificate import plan_certify
from allstreets.jobs.config.reading import read_yaml_text
from allstreets.jobs.config.train import parse_train_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Plan
from allstreets.jobs.loop import CHECKPOINTS
from allstreets.jobs.whole_game import UnifiedJob, plan_unified
from allstreets.solutions import Certificate
from allstreets.solvers import Completion
from allstreets.storage import (
    MANIFEST,
    PACK,
    Packed,
    has_checkpoints,
    load_unified,
    packed_solutions,
    save_compact,
    write_pack,
)

FLOPS, ITERATIONS = 64, 120  # of certificates: drawn flops, and how long each is solved
MOST_STACKS = 500
TRAINING, SOLUTION = "training", "solution"
BUILT, KNOWN, TRAINED, LATER, FAILED, STOPPED = (
    "built",
    "there",
    "trained",
    "not begun",
    "failed",
    "interrupted",
)
TARGETS = ((30.0, 5.0), (100.0, 10.0))  # (stack in bb, target in mbb/hand up to there)
DEEP_TARGET = 20.0


def target_mbb(stack: float) -> float:
    """The exploitability with real cards at which a solution of this stack is meant to ship.

    >>> target_mbb(20), target_mbb(100), target_mbb(200)
    (5.0, 10.0, 20.0)
    """
    return next((target for largest, target in TARGETS if stack <= largest), DEEP_TARGET)


@dataclass(frozen=True, eq=False)
class LibraryGame:
    """A game to solve."""

    name: str
    text: str  # its training file
    config: UnifiedConfig

    @cached_property
    def job(self) -> UnifiedJob:
        """The training job, for estimates."""
        return plan_unified(self.config, name=self.name)


@dataclass(frozen=True)
class CertificatePlan:
    """The settings of certificates."""

    flops: int = FLOPS
    iterations: int = ITERATIONS
    cards: Any = "exact"
    drafts: int | None = None
    seed: int = 1


@dataclass(frozen=True, eq=False)
class LibraryJob:
    """Games to be trained, certified and packed."""

    games: tuple[LibraryGame, ...]
    output: Path
    work: Path
    pack: str | None = None  # one for all games; None: each has its own
    certificates: CertificatePlan | None = field(default_factory=CertificatePlan)  # None: later
    device: str = CPU
    threads: int | None = None
    minutes: float | None = None  # no game is begun after this

    def known(self, game: LibraryGame) -> Packed | None:
        """The solution of a game that is packed already."""
        file = self._file(game)
        if not file.exists():
            return None
        packed = {each.name: each for each in packed_solutions(file)}.get(game.name)
        return packed if packed is not None and packed.game == game.text else None

    def _file(self, game: LibraryGame) -> Path:
        return self.output / f"{self.pack or game.name}{PACK}"

    def plan(self) -> Plan:
        """State the needs of each game; certificates come on top."""
        lines, most, seconds = [], 0, 0.0
        for game in self.games:
            if self.known(game) is not None:
                lines.append(f"{game.name}: there")
                continue
            if (self._folder(game) / MANIFEST).exists():
                lines.append(f"{game.name}: trained; its certificate comes next")
                continue
            part = self._needs(game)
            most, seconds = max(most, part.memory_bytes or 0), seconds + (part.seconds or 0.0)
            lines += part.lines
        missing = [game for game in self.games if self.known(game) is None]
        if self.certificates is not None and missing:
            how = self.certificates
            lines.append(
                f"then certificates on {how.flops} drawn flops, solved first "
                f"({how.cards}, {how.iterations} iterations)"
            )
        return Plan(tuple(lines), most, seconds, "unified-boards")

    def _needs(self, game: LibraryGame) -> Plan:
        """The memory and the time of a game's training."""
        job, config = game.job, game.config
        need = job.need
        limit, seconds = config.time_limit_seconds, need.seconds_to(job.iterations)
        seconds = min(seconds, need.setup_seconds + limit) if limit else seconds
        room = need.resident_bytes
        if self.device != CPU:
            room = game_device_bytes(job.game, config.card_model(), need)
        sizes = f"{need.pots} pots, {need.slots:,} actions on each of {need.flops} flops"
        lines = (
            f"{game.name}: {sizes if need.pots else 'no flop is seen'}, {data_size(room)}"
            f"{' on the GPU' if self.device != CPU else ''}, at most {job.iterations:,} iterations "
            f"of about {need.seconds_per_iteration:.2g} s: {duration(seconds)}",
        )
        return Plan(lines, room, seconds)

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> "LibraryOutcome":
        """Build the missing games; finished ones are kept, whatever happens to the next."""
        open_device(self.device)  # report a missing one before anything is done
        callbacks.begin()
        begun, built = time.monotonic(), list[BuiltGame]()
        for number, game in enumerate(self.games, start=1):
            if self.minutes is not None and time.monotonic() - begun > 60 * self.minutes:
                built.append(BuiltGame(game, LATER))
                continue
            callbacks.say(f"{game.name} ({number} of {len(self.games)})")
            start = time.monotonic()
            built.append(self._build(game, callbacks))
            if built[-1].state == STOPPED:
                break
            callbacks.say(f"{built[-1].text} ({duration(time.monotonic() - start)})")
        return LibraryOutcome(self, tuple(built))

    def _build(self, game: LibraryGame, callbacks: Callbacks) -> "BuiltGame":
        """Train, certify and pack a game; errors are part of the result."""
        try:
            known = self.known(game)
            if known is not None:
                return BuiltGame(game, KNOWN, known.certificate)
            if not self._train(game, callbacks):
                return BuiltGame(game, STOPPED)
            if self.certificates is None:
                return BuiltGame(game, TRAINED)
            certificate = self._certify(game, self.certificates, callbacks)
            if certificate is None:
                return BuiltGame(game, STOPPED)
            self._write(game)
            return BuiltGame(game, BUILT, certificate)
        except (KeyboardInterrupt, SystemExit):
            return BuiltGame(game, STOPPED)
        except Exception as error:  # of one game: others may still succeed
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            return BuiltGame(game, FAILED, problem=f"{kind}{error}")

    def _folder(self, game: LibraryGame) -> Path:
        return self.work / game.name / SOLUTION

    def _train(self, game: LibraryGame, callbacks: Callbacks) -> bool:
        """Train a game and store the part that ships; False: the user interrupted it."""
        folder, training = self._folder(game), self.work / game.name / TRAINING
        if (folder / MANIFEST).exists():
            return True
        again = has_checkpoints(training / CHECKPOINTS)
        if again or not (training / MANIFEST).exists():
            job = plan_unified(game.config, training, resume=again, name=game.name)
            outcome = job.run(replace(callbacks, charts=None))
            interrupted, unsaved = outcome.interrupted, outcome.unsaved
            del outcome, job
            release_memory(self.device)
            if interrupted:
                return False
            if unsaved:
                raise InputError(unsaved)
        save_compact(load_unified(training), folder, game.name)
        return True

    def _certify(
        self, game: LibraryGame, how: CertificatePlan, callbacks: Callbacks
    ) -> Certificate | None:
        """Certify the part that ships; None: the user interrupted it."""
        kind = how.cards
        completion = partial(Completion.like, kind=kind, iterations=how.iterations)
        job = plan_certify(
            self._folder(game),
            how.flops,
            completion=completion,
            seed=how.seed,
            threads=self.threads,
            device=self.device if kind == "exact" else CPU,
            drafts=how.drafts,
        )
        certificate = job.run(callbacks).certificate
        del job
        release_memory(self.device)
        return certificate

    def _write(self, game: LibraryGame) -> None:
        """Pack a game; a pack for all games is rewritten with each."""
        together = self.games if self.pack is not None else (game,)
        done = [each for each in together if each is game or self._is_certified(each)]
        folders = {each.name: self._folder(each) for each in done}
        write_pack(self._file(game), folders, {each.name: each.text for each in done})

    def _is_certified(self, game: LibraryGame) -> bool:
        folder = self._folder(game)
        return (folder / MANIFEST).exists() and load_unified(folder).certificate is not None


@dataclass(frozen=True, eq=False)
class BuiltGame:
    """The outcome of a game: built, skipped or failed."""

    game: LibraryGame
    state: str
    certificate: Certificate | None = None
    problem: str | None = None

    @property
    def text(self) -> str:
        """The entry in a line."""
        if self.problem is not None:
            return f"{self.game.name}: failed. {self.problem}"
        return f"{self.game.name}: {self.state}{_worth(self.certificate, self.game.config)}"


def _worth(certificate: Certificate | None, config: UnifiedConfig) -> str:
    """A certificate in a few words, with its target where it misses that."""
    if certificate is None:
        return ""
    low, high = certificate.interval_mbb
    value, target = certificate.real_exploitability_mbb, target_mbb(config.stack_depth)
    interval = "" if low == high else f" [{figure(low)}, {figure(high)}]"
    missed = f", target at most {target:g}" if value > target else ""
    return f", {figure(value)} mbb/hand{interval} with real cards{missed}"


@dataclass(frozen=True, eq=False)
class LibraryOutcome:
    """The outcome of a build."""

    job: LibraryJob
    games: tuple[BuiltGame, ...]

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return any(built.state == STOPPED for built in self.games)

    @property
    def problem(self) -> str | None:
        """The games that failed, and why."""
        failed = [built.text for built in self.games if built.state == FAILED]
        return "\n".join(failed) or None

    def lines(self) -> list[str]:
        """The outcome of each game."""
        return [built.text for built in self.games]

    def to_json(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "games": [
                {
                    "name": built.game.name,
                    "state": built.state,
                    "problem": built.problem,
                    "certificate": built.certificate and built.certificate.to_json(),
                }
                for built in self.games
            ]
        }


def plan_library(
    files: Sequence[Path],
    output: Path,
    *,
    stacks: Sequence[float] = (),
    work: Path | None = None,
    pack: str | None = None,
    certificates: CertificatePlan | None = CertificatePlan(),  # noqa: B008
    device: str | None = None,
    threads: int | None = None,
    minutes: float | None = None,
) -> LibraryJob:
    """The job that builds the games of training files; with `stacks`, each file at each of them."""
    flags = {"device": device, "threads": threads}
    games = tuple(game for file in files for game in _games(file, stacks, flags))
    names = [game.name for game in games]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two games have the name {twice}; rename a file or leave one out")
    where = output / "work" if work is None else work
    on = device or CPU
    return LibraryJob(games, output, where, pack, certificates, on, threads, minutes)


def _games(file: Path, stacks: Sequence[float], flags: Mapping[str, Any]) -> Iterator[LibraryGame]:
    text = read_yaml_text(file)
    for stack in stacks or (None,):
        name = file.stem if stack is None else f"{file.stem}-{stack:g}bb"
        own = text if stack is None else _at_stack(text, name, stack, file)
        config = parse_train_config(own, str(file), flags).solver
        if not isinstance(config, UnifiedConfig):
            raise InputError(
                f"{file}: the library contains whole games, solver: {{type: unified_cfr}}"
            )
        yield LibraryGame(name, own, config)


def _at_stack(text: str, name: str, stack: float, file: Path) -> str:
    """A training file with another name and another stack."""
    for key, value in (("name", name), ("stack_depth", f"{stack:g}")):
        text, count = re.subn(rf"(?m)^(\s*{key}:)[^\n#]*", rf"\g<1> {value}", text)
        if count != 1:
            raise InputError(f"{file}: --stacks needs one line with {key}:, and there are {count}")
    return text


def read_stacks(text: str) -> tuple[float, ...]:
    """Stacks in bb: "10,15,20", or "1-20/0.5" from 1 to 20 in steps of 0.5.

    >>> read_stacks("10, 15"), read_stacks("1-2/0.5,4")
    ((10.0, 15.0), (1.0, 1.5, 2.0, 4.0))
    """
    stacks: list[float] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([\d.]+)(?:\s*-\s*([\d.]+)\s*/\s*([\d.]+))?\s*", part)
        try:
            if match is None:
                raise ValueError
            first, last, step = (float(each) for each in match.groups(default=match[1]))
            count = int((last - first) / step + 1e-9) + 1
            if min(first, step) <= 0 or not 1 <= count <= MOST_STACKS:
                raise ValueError
        except ValueError:
            raise InputError(f"--stacks {text}: write stacks in bb, 10,15,20 or 1-20/0.5") from None
        stacks += [first + number * step for number in range(count)]
    return tuple(stacks)

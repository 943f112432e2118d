"""Solutions side by side: two of the same game compared, one solution's boards in a report.

Games are the same where their keys are equal. Locks, and flops and cards of whole games, may
differ: they are other answers to the same question. Only the betting before the flop is compared
between a preflop solution and a whole game.

The nearest ready-made solution to a solved game has the same blinds, antes and rake, and the same
actions for the first player. Of those it is the one whose stack is nearest in ratio, and among
equals the one that shares most decisions. Later decisions are compared where both offer the same
actions for the same pot.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log
from pathlib import Path
from typing import Any

from allstreets.analysis import BoardReport, Comparison, compare_decisions, report_of
from allstreets.base import InputError
from allstreets.betting import CHIPS_PER_BB, PreflopRules
from allstreets.engines import CardModel
from allstreets.games import (
    LINES,
    Lock,
    Spot,
    WholeGame,
    game_mapping,
    game_of,
    listed_rules,
    lock_mapping,
    rules_mapping,
    rules_of,
    spot_mapping,
)
from allstreets.solutions import (
    Boards,
    Certificate,
    OnBoard,
    PreflopRoots,
    SpotSolution,
    WholeSolution,
)
from allstreets.storage.manifest import folder_kind, read_manifest
from allstreets.storage.opening import Solution, load
from allstreets.storage.packs import Packed, library
from allstreets.storage.solution_files import facts_of
from allstreets.storage.spot_bundle import read_spot
from allstreets.storage.spot_set import SpotSet

SHOWN = 60  # letters of a value in a message
LOCKS, BELOW, SPOT = "locks", "flops and cards", "spot"
NOTHING = None, "none"

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class GameKeys:
    """The game of a solution."""

    kind: str  # in words
    keys: Keys | None = None  # of a spot, or of betting before the flop; None: it has none of these
    after: Keys | None = None  # of betting after the flop, in whole games
    free: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    """Keys that may differ, by LOCKS or BELOW: each value, and its text."""

    def apart(self, other: "GameKeys") -> dict[str, tuple[str, str]]:
        """The keys that differ between two games, in both; none: they are the same game."""
        spots = (self.kind == SPOT) + (other.kind == SPOT)
        if self.keys is None or other.keys is None or spots == 1:
            raise InputError(
                f"a {self.kind} and a {other.kind} cannot be compared: name two spots, or two "
                "preflop or whole games"
            )
        ours, theirs = dict(self.keys), dict(other.keys)
        if spots == 0 and (LINES in ours or LINES in theirs):
            ours, theirs = listed_rules(ours), listed_rules(theirs)
        if self.after is not None and other.after is not None:
            ours, theirs = {**ours, **self.after}, {**theirs, **other.after}
        return {
            key: (_short(ours.get(key)), _short(theirs.get(key)))
            for key in {**ours, **theirs}
            if ours.get(key) != theirs.get(key)
        }

    def notes(self, other: "GameKeys") -> tuple[str, ...]:
        """Other differences from a solution of the same game; an `InputError` if games differ."""
        apart = self.apart(other)
        if apart:
            lines = [
                f"  {key}: {our_text} and {their_text}"
                for key, (our_text, their_text) in apart.items()
            ]
            raise InputError("these are different games; they differ in\n" + "\n".join(lines))
        return tuple(
            f"{what} differ: {_short(our_text)} and {_short(their_text)}"
            for what in {**self.free, **other.free}
            for (mine, our_text), (theirs, their_text) in [
                (self.free.get(what, NOTHING), other.free.get(what, NOTHING))
            ]
            if mine != theirs
        )


def game_keys(solution: Solution) -> GameKeys:
    """The game of a solution."""
    if isinstance(solution, SpotSolution):
        return _of_spot(solution.spot)
    if not isinstance(solution, WholeSolution):
        return GameKeys("set of spots")
    if solution.is_game:
        return _of_game(solution.game, solution.cards)
    if isinstance(solution.roots, PreflopRoots):
        return _of_rules(solution.rules, solution.locks)
    return GameKeys("model of flops")


def stored_keys(folder: Path) -> GameKeys:
    """The game of the solution in a folder, by its manifest alone."""
    kind = folder_kind(folder)
    if kind == "spot":
        return _of_spot(read_spot(folder))
    if kind == "unified":
        manifest = read_manifest(folder, "unified")
        rows = manifest["flops"]
        flops, weights = [row["flop"] for row in rows], [row["weight"] for row in rows]
        cards = facts_of(manifest).cards or CardModel()
        return _of_game(game_of(manifest["game"], flops, weights), cards)
    if kind == "preflop":
        game = read_manifest(folder, "preflop")["game"]
        locks = [Lock.from_mapping(lock) for lock in game.get("lock", ())]
        return _of_rules(rules_of(game["preflop"]), locks)
    return GameKeys("set of spots" if kind == "spots" else "model of flops")


def _of_spot(spot: Spot) -> GameKeys:
    keys = spot_mapping(spot)
    keys.pop("lock", None)
    return GameKeys(SPOT, keys, free=_locks(spot.lock))


def _of_rules(rules: PreflopRules, locks: Sequence[Lock]) -> GameKeys:
    return GameKeys("preflop game", rules_mapping(rules), free=_locks(locks))


def _of_game(game: WholeGame, cards: CardModel) -> GameKeys:
    keys = game_mapping(game)
    keys.pop("lock", None)
    name, preflop = keys.pop("flop_set"), keys.pop("preflop")
    flops = tuple(flop.text for flop in game.flops.flops)
    words = f"{len(flops):,} flop{'s' * (len(flops) != 1)} ({name}), {cards}"
    below = {BELOW: ((flops, str(cards)), words)}
    return GameKeys("whole game", preflop, keys, {**_locks(game.lock), **below})


def _locks(locks: Sequence[Lock]) -> dict[str, tuple[Any, str]]:
    """The locks under LOCKS; empty: none."""
    if not locks:
        return {}
    lines = dict.fromkeys(lock.line.strip() for lock in locks)
    places = ", ".join(f"'{line}'" if line else "the first decision" for line in lines)
    return {LOCKS: ([lock_mapping(lock) for lock in locks], f"{len(locks)} at {places}")}


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def compare(
    first: "Solution | Path | str",
    second: "Solution | Path | str",
    line: str = "",
    flop: str | None = None,
) -> Comparison:
    """The decision of a line in two solutions of the same spot, or of the same whole game.

    Locks, and the flops and cards of whole games, may differ; `notes` says so. Solutions of
    different games are an `InputError` that says what differs. `flop` is that of a line of a
    whole game that names none.
    """
    solution = load(first) if isinstance(first, Path | str) else first
    other = load(second) if isinstance(second, Path | str) else second
    if isinstance(solution, SpotSolution) and isinstance(other, SpotSolution) and flop is not None:
        raise InputError("--flop is for whole games: these are spots")
    notes = game_keys(solution).notes(game_keys(other))
    if isinstance(solution, SpotSolution) and isinstance(other, SpotSolution):
        decisions = solution.at(line).decision, other.at(line).decision
        noise = _accuracy(solution, other)  # in chips
    else:
        assert isinstance(solution, WholeSolution)  # the other kinds with keys
        assert isinstance(other, WholeSolution)
        decisions = solution.at(line, flop).decision, other.at(line, flop).decision
        noise = _accuracy(solution, other) / 1000  # of mbb/hand, in bb
    return replace(compare_decisions(*decisions, notes), noise=noise)


def _accuracy(*solutions: SpotSolution | WholeSolution) -> float:
    """The sum of what EVs may be off by; 0 where nobody measured it."""
    known = (solution.figures.accuracy for solution in solutions)
    return sum(share for share in known if share is not None and isfinite(share))


def board_report(
    solution: "Solution | Path | str",
    line: str = "",
    *,
    spr: float | None = None,
    name: str | None = None,
    whole_hand: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> BoardReport:
    """A decision on every flop of a whole game, of a model of flops, or of a set of spots.

    `line` leads to it and names no flop: "r2.5 c | x" in a whole game, "x b50%" elsewhere. `spr` is
    the stack-to-pot ratio of a model of flops that has several, `name` the spot of a set that has
    several. With `whole_hand` EVs are results of the whole hand. `solution` may be its folder.
    `progress` receives the boards read and their total: all flops take a minute or more.
    """
    boards = boards_of(solution, line, spr=spr, name=name)
    decisions = boards.decisions if progress is None else _told(boards, progress)
    if whole_hand:
        decisions = (replace(board, node=board.node.whole_hand()) for board in decisions)
    return report_of(decisions, line)


def boards_of(
    solution: "Solution | Path | str",
    line: str = "",
    *,
    spr: float | None = None,
    name: str | None = None,
) -> Boards:
    """The decision that `board_report` reports on, on one board after the other."""
    loaded = load(solution) if isinstance(solution, Path | str) else solution
    if isinstance(loaded, SpotSet):
        return loaded.boards(line, name)
    if isinstance(loaded, WholeSolution):
        line = loaded.with_ratio(line, spr)
    return loaded.boards(line)


def _told(boards: Boards, progress: Callable[[int, int], None]) -> Iterator[OnBoard]:
    for done, board in enumerate(boards.decisions):
        progress(done, boards.count)
        yield board
    progress(boards.count, boards.count)


SAME_RULES = ("small_blind", "big_blind", "ante", "bb_ante", "rake", "rake_cap")
FURTHEST = log(1.25)  # of a stack


@dataclass(frozen=True, eq=False)
class ReadyMadeComparison:
    """A solution beside the ready-made one of its game."""

    name: str
    stacks: tuple[float, float]  # in bb, of the solution and of the ready-made one
    certificate: Certificate | None
    values: tuple[float, float] | None  # of both games for the small blind, in mbb/hand
    decisions: tuple[Comparison, ...]  # the first ones; the solution comes first

    def to_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        worth = None if self.certificate is None else self.certificate.real_exploitability_mbb
        return {
            "name": self.name,
            "stacks_bb": list(self.stacks),
            "real_exploitability_mbb": worth,
            "values_sb_mbb": None if self.values is None else list(self.values),
            "decisions": [
                {
                    "line": each.line,
                    "player": each.seat,
                    "distance": each.distance,
                    "frequencies": {
                        word: list(pair)
                        for word, *pair in zip(each.actions, *each.frequencies, strict=True)
                    },
                }
                for each in self.decisions
            ],
        }


def compare_with_ready_made(solution: WholeSolution) -> ReadyMadeComparison | None:
    """A solution beside the ready-made one that is nearest; None: no such game ships."""
    if solution.unit.name != "bb" or solution.locks:
        return None
    near = sorted(
        (distance, packed.name, packed)
        for packed in library().values()
        if (distance := _distance(solution, packed)) <= FURTHEST
    )
    best: tuple[float, Packed, WholeSolution, tuple[Comparison, ...]] | None = None
    for distance, _, packed in near:
        if best is not None and distance > best[0]:
            break
        ready = load(packed.folder(), WholeSolution)
        shared = tuple(_shared(solution, ready))
        begins = bool(shared) and not shared[0].line
        if begins and (best is None or len(shared) > len(best[3])):
            best = distance, packed, ready, shared
    if best is None:
        return None
    _, packed, ready, shared = best
    own, other = solution.values, ready.values
    return ReadyMadeComparison(
        name=packed.name,
        stacks=(solution.rules.stack / CHIPS_PER_BB, packed.stack),
        certificate=ready.certificate,
        values=None if own is None or other is None else (own[1], other[1]),
        decisions=shared,
    )


def _distance(solution: WholeSolution, packed: Packed) -> float:
    """The distance of a ready-made game by its stack; infinite: it is another game."""
    here, there = rules_mapping(solution.rules), packed.facts["game"]["preflop"]
    if any((here.get(key) or 0) != (there.get(key) or 0) for key in SAME_RULES):
        return inf
    return abs(log(there["stack"] / here["stack"]))


def _shared(solution: WholeSolution, ready: WholeSolution) -> Iterator[Comparison]:
    """The first decisions that both games have."""
    for line in solution.opening_lines():
        try:
            pair = solution.at(line).decision, ready.at(line).decision
            yield compare_decisions(*pair)
        except InputError:
            continue  # the ready-made game has other actions there

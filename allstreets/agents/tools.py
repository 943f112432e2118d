"""The tools of an agent: solutions, ranges, decisions, small spots, reviews of hands, equities.

Every method is one tool: plain arguments in, JSON data out, an `InputError` that says what to do
instead. Work is bounded: requests that need more memory or time are refused before they start. Only
the given solutions, the ready-made ones and spots that this server has solved are opened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from weakref import finalize

from allstreets.base import InputError, processors, suggest
from allstreets.betting import Player, measure_postflop_tree
from allstreets.cards import Range, cards_text, equity
from allstreets.explorer import range_at
from allstreets.games import Spot, estimate_spot
from allstreets.interop import read_text
from allstreets.solutions import (
    Decision,
    NotStoredError,
    Solution,
    action_rows,
    player_rows,
    solve,
    without_nan,
)
from allstreets.storage import MANIFEST, Packed, folder_kind, library, load, save_spot
from allstreets.study import Effort, decision_rows, open_games, plan_review

Json = dict[str, Any]

OPEN = 8  # solutions that stay open
LISTED = 100  # solutions in a list
NEXT = 20  # cards or flops that are listed where one is dealt
LONGEST_TEXT = 50_000  # characters of a hand history
HANDS = 3  # that are reviewed at a time
MOST_NODES = 200_000  # of the betting tree of a spot: more take long to count
LEAST_ITERATIONS = 30  # that a spot must be able to make in its time
SEATS = {"oop": Player.OOP, "bb": Player.OOP, "ip": Player.IP, "sb": Player.IP}
SPOTS = "spots"  # a set of solutions, which is not a solution itself
READY_MADE = "library"
BETS, RAISES = "33%, 75%", "60%, a"
DIGITS = 6  # of numbers in an answer


@dataclass(frozen=True)
class Bounds:
    """The limits of a tool."""

    memory_bytes: int = 2_000_000_000
    seconds: float = 60.0


class Tools:
    """The tools of a session."""

    def __init__(self, folders: Sequence[Path] = (), bounds: Bounds | None = None) -> None:
        """`folders` are solutions, or folders of them."""
        self._bounds = bounds or Bounds()
        self._folders = _named(folders)
        self._numbers = count(1)
        self._load = lru_cache(OPEN)(load)
        self._turn = Lock()  # one solve at a time

    @cached_property
    def _solved(self) -> Path:
        """The folder of the spots that this server solves; it ends with the server."""
        temporary = TemporaryDirectory(prefix="allstreets-agent-")
        finalize(self, temporary.cleanup)
        return Path(temporary.name)

    # Solutions.

    def list_solutions(self, search: str = "", limit: int = 30) -> Json:
        """The available solutions; `search` is a part of their names."""
        rows = [
            *({"name": name, **self._described(name)} for name in self._folders),
            *(
                {
                    "name": packed.name,
                    "kind": packed.format,
                    "stack_bb": packed.stack,
                    "exploitability_mbb_with_real_cards": _worth(packed),
                }
                for packed in library().values()
            ),
        ]
        wanted = [row for row in rows if search.lower() in str(row["name"]).lower()]
        shown = wanted[: max(1, min(limit, LISTED))]
        return {"solutions": shown, "more": len(wanted) - len(shown)}

    def _described(self, name: str) -> Json:
        opened = self._opened(name)
        return {"kind": folder_kind(self._folders[name]), "about": opened.headline}

    def _opened(self, name: str) -> Solution:
        """A solution by its name."""
        opened = self._load(self._folder(name))
        assert isinstance(opened, Solution)  # sets of spots have no name here
        return opened

    def _folder(self, name: str) -> Path:
        """The folder of a solution by its name."""
        if name in self._folders:
            return self._folders[name]
        packs = library()
        if name in packs:
            return packs[name].folder()
        near = get_close_matches(name, [*self._folders, *packs], 3)
        meant = f"; nearest: {', '.join(near)}" if near else ""
        raise InputError(f"no solution is called '{name}': list_solutions names them{meant}")

    def get_range(
        self, solution: str, line: str = "", player: str = "", action: str = "", flop: str = ""
    ) -> Json:
        """A player's range at a line, or the part of it that takes an action."""
        seat = _seat(player)
        reaching = range_at(
            self._folder(solution),
            line,
            None if seat is None else ("oop" if seat == Player.OOP else "ip"),
            flop=flop or None,
            action=action or None,
        )
        compact = reaching.range.beside(reaching.board)
        return {
            "solution": solution,
            "line": line,
            "board": cards_text(reaching.board),
            "combos": round(reaching.combos, 2),
            "range": str(compact),
        }

    def get_node(
        self,
        solution: str,
        line: str = "",
        flop: str = "",
        hand: str = "",
        with_ranges: bool = False,
    ) -> Json:
        """A node: pot, stacks, the player who acts, the frequency and EV of each action."""
        try:
            node = self._opened(solution).at(line, flop or None)
        except NotStoredError as error:
            raise InputError(
                f"{error}: get_range names both ranges before the flop, and solve_spot solves it"
            ) from None
        seats = node.unit.seats
        about: Json = {
            "solution": solution,
            "line": node.line,
            "kind": node.kind,
            "street": node.street.text,
            "board": cards_text(node.board),
            "unit": node.unit.name,
            "pot": node.pot,
            "stacks": {seat: node.stacks[player] for player, seat in enumerate(seats)},
            "notes": [text for text in (*node.remarks, node.source_note) if text],
        }
        if node.kind != "decision":
            following = list(islice(node.children, NEXT))
            about["next_lines"] = [child.line for child in following]
            about["more_next_lines"] = max(len(node.children) - NEXT, 0)
            if hand:
                raise InputError(f"line '{node.line}': no player acts there, so no hand plays")
            return about
        decision = node.decision
        about["to_act"], about["to_call"] = decision.seat, decision.to_call
        about["reached"], about["evs"] = decision.reached, decision.counted
        about["players"] = [without_nan(row) for row in player_rows(decision)]
        about["actions"] = [
            {
                **without_nan(row),
                "next_line": child.line,
                **({"range": _taken(decision, index)} if with_ranges else {}),
            }
            for index, (row, child) in enumerate(
                zip(action_rows(decision), node.children, strict=True)
            )
        ]
        if hand:
            play = decision.hand(hand)
            about["hand"] = {
                "hand": play.hand,
                "frequencies": play.frequencies,
                "evs": without_nan(dict(play.evs)),
                **without_nan({"ev": play.ev, "equity": play.equity, "reach": play.reach}),
            }
        return about

    # Solving.

    def solve_spot(
        self,
        board: str,
        oop: str,
        ip: str,
        pot: float,
        stack: float,
        bets: str = BETS,
        raises: str = RAISES,
        rake: str = "0%",
        target_percent: float = 0.5,
        seconds: float = 30.0,
    ) -> Json:
        """Solve a spot with real cards; its name opens it in the other tools."""
        if not 0 < target_percent <= 100 or not seconds > 0:
            raise InputError("target_percent must be above 0 and at most 100, seconds above 0")
        limit = min(seconds, self._bounds.seconds)
        spot = Spot.from_mapping(
            {
                "board": board,
                "oop": oop,
                "ip": ip,
                "pot": pot,
                "stack": stack,
                "bets": bets,
                "raises": raises,
                "rake": rake,
            }
        )
        self._require_small(spot, limit)
        with self._turn:
            result = solve(spot, target_percent / 100, seconds=limit)
            name = f"solved-{next(self._numbers)}"
            folder = self._solved / name
            save_spot(result, folder, exploitability=result.exploitability, seconds=result.seconds)
        self._folders[name] = folder
        oop_ev, ip_ev = result.evs
        return {
            "solution": name,
            "exploitability_percent_of_pot": 100 * result.exploitability,
            "target_reached": result.exploitability <= target_percent / 100,
            "iterations": result.iterations,
            "seconds": round(result.seconds, 2),
            "evs": {"OOP": oop_ev, "IP": ip_ev},
            "first_decision": self.get_node(name),
        }

    def _require_small(self, spot: Spot, seconds: float) -> None:
        """Refuse a spot that needs too much memory or time."""
        measure_postflop_tree(spot.rules, MOST_NODES)
        need = estimate_spot(spot, threads=processors())
        most = self._bounds.memory_bytes
        way = (
            "name a turn or a river instead of a flop, give fewer bet and raise sizes, or narrower "
            "ranges"
        )
        if need.process_bytes > most:
            raise InputError(
                f"this spot needs {need.process_bytes / 1e9:.1f} GB and {most / 1e9:.1f} GB are "
                f"allowed here: {way}"
            )
        if need.seconds_to(LEAST_ITERATIONS) > seconds:
            raise InputError(
                f"this spot needs about {need.seconds_to(LEAST_ITERATIONS):,.0f} s for "
                f"{LEAST_ITERATIONS} iterations and {seconds:,.0f} s are allowed here: {way}"
            )

    def review_hand(self, history: str, solution: str = READY_MADE, hero: str = "") -> Json:
        """Grade the decisions of a played hand by whole games and by spots solved for it."""
        if len(history) > LONGEST_TEXT:
            raise InputError(f"the history has {len(history):,} characters: give one hand")
        files = read_text(history, "history")
        if not files.hands:
            reason = files.skipped[0]
            raise InputError(f"no hand can be read: {reason.reason} ({reason.place})")
        if len(files.hands) > HANDS:
            raise InputError(f"{len(files.hands):,} hands are given: review {HANDS} at a time")
        games = open_games(Path(solution) if solution == READY_MADE else self._folder(solution))
        per_street = min(Effort.seconds, self._bounds.seconds / (3 * len(files.hands)))
        job = plan_review(
            files, games, hero or None, effort=Effort(seconds=per_street), processes=1
        )
        with self._turn:
            review = job.run()
        rows = [without_nan(row) for row in decision_rows(review)]
        kept = [{key: row[key] for key in REVIEWED} for row in rows]
        skipped = [f"{each.reason} ({each.place})" for each in job.skipped]
        return {
            "decisions": kept,
            "lost_bb": sum(row["loss_bb"] or 0.0 for row in kept),
            "not_reviewed": skipped,
        }

    def equity(self, first: str, second: str, board: str = "") -> Json:
        """The exact equity of a hand or range against another one, every runout counted."""
        return equity(first, second, board).to_json()


REVIEWED = (
    "hand", "street", "seat", "cards", "board", "line", "taken", "best", "loss_bb", "within_bb",
    "frequency", "options", "evs_bb", "pot_bb", "judged_by", "note",
)  # fmt: skip
"""The figures of a review's decision that an agent gets."""


def _named(folders: Sequence[Path]) -> dict[str, Path]:
    """Solutions by name: folders that hold one, and those inside of other folders."""
    named: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder: name solutions, or folders of them")
        inside = [folder] if (folder / MANIFEST).exists() else sorted(folder.iterdir())
        solutions = [
            path for path in inside if (path / MANIFEST).exists() and folder_kind(path) != SPOTS
        ]
        if not solutions:
            raise InputError(f"{folder} contains no solution")
        for path in solutions:
            name = path.absolute().name
            if name in named:
                name = f"{path.absolute().parent.name}/{name}"
            named[name] = path
    return named


def _seat(player: str) -> Player | None:
    """The player named by a text; None: it is empty."""
    if not player:
        return None
    if player.lower() not in SEATS:
        raise InputError(f"player '{player}': {suggest(player, list(SEATS))}")
    return SEATS[player.lower()]


def _taken(decision: Decision, action: int) -> str:
    """The part of the range that takes an action."""
    taken = Range(decision.combo_weights(decision.player, action)).rounded(2)
    return str(taken.beside(decision.board)) if taken.combos else ""


def _worth(packed: Packed) -> float | None:
    """The gain of best responses against a ready-made solution with real cards, in mbb/hand."""
    return None if packed.certificate is None else packed.certificate.real_exploitability_mbb


def rounded(data: Any) -> Any:
    """An answer without meaningless digits."""
    if isinstance(data, float):
        return round(data, DIGITS) + 0.0
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    return [rounded(value) for value in data] if isinstance(data, list | tuple) else data

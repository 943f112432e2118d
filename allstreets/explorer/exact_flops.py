"""Flops of the whole games in a library, solved exactly and kept beside them.

A page asks for the state of a flop (`look`) and has it solved (`start`); the solve is like any
other, and its result is a spot in the library.
"""

from pathlib import Path
from threading import Lock

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    BLINDS_AND_CARDS,
    NodeKind,
    WholeLine,
    line_text,
    parse_line,
    split_line,
    whole_line,
)
from allstreets.cards import parse_flop
from allstreets.explorer.folders import LastOpened
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.params import Line, SolutionId
from allstreets.explorer.models.solves import ExactFlop, FlopForm, Solve
from allstreets.explorer.solves.flops import fitting, form_of, source_of
from allstreets.explorer.solves.folders import LIVE_STATES
from allstreets.explorer.solves.manager import Solves
from allstreets.games import usual_iterations
from allstreets.solutions import FlopSpot, WholeSolution, flop_spot, origin_lines, suits_text
from allstreets.storage import KeptFlop, find_kept, folder_kind, load_unified, new_kept

UNKNOWN = {"sparing": "", "memory_bytes": None, "seconds": None, "problem": None}
"""Costs of a flop that is solved already, or is being solved."""


class ExactFlops:
    """Any number of threads may use it."""

    def __init__(self, library: Library, solves: Solves) -> None:
        self._library, self._solves = library, solves
        self._lock = Lock()
        self._games = LastOpened(_load)  # for the holder of the lock

    def look(self, solution: SolutionId, line: Line) -> ExactFlop:
        """The state of a flop of a whole game with real combos."""
        folder = self._library.folder(solution)
        with self._lock:
            whole, flop = _find(self._games.open(folder), line)
        kept = find_kept(folder, flop)
        output = new_kept(folder, flop) if kept is None else kept.folder
        solve = self._solve(output)
        notes = [f"This line is {flop.doubt}."] if flop.doubt else []
        if kept is not None:
            notes = origin_lines(kept.origin, kept.exploitability)
        known = ExactFlop.of(
            line=whole_line(flop.line, whole.cards),
            solution=None if kept is None else self._library.id_of(output),
            spot_line=_spot_line(flop, kept, whole),
            exploitability=None if kept is None else 100 * kept.exploitability,
            draft=kept is not None and kept.is_draft,
            suits="" if kept is None else suits_text(flop.flop, parse_flop(kept.origin.flop)),
            notes=notes,
            solve=None if solve is None else solve.id,
            live=solve is not None and solve.state in LIVE_STATES,
            **UNKNOWN,
        )
        if known.live or (kept is not None and not kept.is_draft):
            return known
        try:
            fit = fitting(flop, output, self._solves.free_bytes)
        except InputError as error:
            return known.model_copy(update={"problem": str(error)})
        need = fit.need
        costs = {"memory_bytes": need.process_bytes, "sparing": fit.words}
        costs["seconds"] = need.seconds_to(usual_iterations(FlopForm(line=line).target_pct))
        return known.model_copy(update=costs)

    def start(self, solution: SolutionId, form: FlopForm) -> Solve:
        """Solve a flop of a whole game with real combos, or resume it."""
        folder = self._library.folder(solution)
        with self._lock:
            result = self._games.open(folder)
            _, flop = _find(result, form.line)
            kept = find_kept(folder, flop)
            if kept is not None:  # a solver resumes in the suits that it began with
                flop = flop_spot(result, flop.line, kept.origin.flop)
        output = new_kept(folder, flop) if kept is None else kept.folder
        solve = self._solve(output)
        if solve is not None and solve.state in LIVE_STATES:
            return solve
        solved = kept is not None and not kept.is_draft
        if kept is not None and solved and 100 * kept.exploitability <= form.target_pct:
            raise BusyError(
                f"this flop is solved already, to {100 * kept.exploitability:.2g} % of the pot: "
                "open it, or ask for a smaller target"
            )
        if solve is not None and (solve.target or 0) <= form.target_pct:
            return self._solves.resume(solve.id)
        if kept is None or not solved:
            fit = fitting(flop, output, self._solves.free_bytes)
            precision, groups = fit.precision, fit.river_groups
        else:
            config = kept.manifest["config"]
            precision, groups = config["precision"], config.get("river_groups", "none")
        described = form_of(flop, form.target_pct, precision, groups)
        return self._solves.start(described, source_of(folder, flop, output))

    def _solve(self, output: Path) -> Solve | None:
        """The solve that writes to a folder, or did last."""
        name = self._solves.solve_of(output)
        return None if name is None else self._solves.detail(name)


def _load(folder: Path) -> WholeSolution:
    """The whole game in a folder."""
    if folder_kind(folder) != "unified":
        raise MissingError("flops are solved from whole games, and this is not one")
    return load_unified(folder)


def _find(result: WholeSolution, line: str) -> tuple[WholeLine[int], FlopSpot]:
    """The flop of a line; the words after it say where the page looks, not what is solved."""
    whole = split_line(line, result.roots.read)
    if whole.flop is None:
        return whole, flop_spot(result, line)
    return whole, flop_spot(result, whole.before, whole.cards)


def _spot_line(flop: FlopSpot, kept: KeptFlop | None, whole: WholeLine[int]) -> str:
    """The line of the spot, in its own suits, to the node that a whole line leads to.

    A line without turn and river cards leads to the node where the turn is dealt.
    """
    tree, after = flop.spot.tree, whole.after or ""
    try:
        path = parse_line(tree, after, flop.spot.cards, notation=BLINDS_AND_CARDS)
    except InputError:
        path = parse_line(tree, after.partition("|")[0], notation=BIG_BLINDS)
        deals = (step for step in path.nodes if tree.kind[step] == NodeKind.CHANCE)
        return line_text(tree, next(deals, path.node))
    spelled = flop.flop if kept is None else parse_flop(kept.origin.flop)
    cards = spelled.named_cards(flop.flop.solved_cards(path.cards))
    return line_text(tree, path.node, cards)

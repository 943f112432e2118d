"""A solution of any kind as the page walks it, only through `Solution` and `Node`."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeVar, cast, get_args

from allstreets.base import InputError
from allstreets.betting import (
    Player,
    is_address,
    read_address,
    split_line,
    whole_line,
    write_address,
)
from allstreets.cards import parse_board
from allstreets.explorer.headlines import Manifest
from allstreets.explorer.models import place as messages
from allstreets.explorer.models.base import EvCount, PlayerName, SolutionKind
from allstreets.explorer.views.descriptions import (
    Description,
    describe_flops,
    describe_spot,
    describe_whole,
)
from allstreets.explorer.views.hands import Reaching, hand_detail, hand_groups, reaching, table
from allstreets.explorer.views.nodes import (
    choices,
    counted,
    deal,
    decision,
    end,
    equity_curve,
    grids,
    notes,
    settings,
    steps,
)
from allstreets.explorer.views.reports import CardReports, FlopTables, Tables, boards_beside
from allstreets.solutions import Decision as Record
from allstreets.solutions import Node, NoNodeError, Position, Solution, SpotSolution, WholeSolution
from allstreets.storage import folder_kind, folder_of, load, mirrored, read_manifest

Part = TypeVar("Part")

CACHED = 96  # decisions with results of the whole hand
EV_NOTES: dict[EvCount, str] = {
    "here": "from here on: folding is 0, and both players' EVs sum to the pot, less any rake",
    "hand": "over the whole hand: chips put in before count as lost",
}


class Turns:
    """A fair lock: a thread that asks for it again comes after all that wait already.

    A plain lock would mostly go back to the thread that has just released it.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._taken = False
        self._waiting: deque[Event] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            turn = Event()
            self._waiting.append(turn)
        turn.wait()

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()  # it stays taken
            else:
                self._taken = False

    def locked(self) -> bool:
        """Whether a thread holds it."""
        return self._taken

    def each(self, begin: Callable[[], Iterator[Part]]) -> Iterator[Part]:
        """The parts of a report, each in its own turn."""
        with self:
            parts = begin()
        while True:
            with self:
                part = next(parts, None)
            if part is None:
                return
            yield part


class SolutionView:
    """A solution that can be walked. A line that leads nowhere is an `InputError`.

    Any number of threads may use it. Requests take turns: solutions cache what they find, and a
    spot's solver has one workspace. A report over cards takes many turns, one for each board, and
    others have theirs between them. A table over flops takes seconds the first time and works on
    nothing that others change: it has its own turns, so that other requests proceed while it is
    built. A report over flops by hands may take a minute: it has such a turn for a flop at a time.
    """

    def __init__(
        self,
        solution: Solution,
        describe: Callable[[], Description],
        tables: Tables | None = None,
    ) -> None:
        self._solution, self._describe, self._tables = solution, describe, tables
        self._turns, self._table_turns = Turns(), Turns()
        self._card_reports = CardReports()
        self._over_hand = lru_cache(CACHED)(lambda at: solution.decision(at).whole_hand())

    def describe(self) -> Description:
        """The solution in words and figures."""
        with self._turns:
            return self._description

    @cached_property
    def _description(self) -> Description:
        return self._describe()

    def refresh(self) -> None:
        """Show results that were solved meanwhile and belong to the solution."""
        with self._turns:
            self._solution.refresh()
            self._over_hand.cache_clear()
            self._card_reports.forget()

    def _node(self, line: str) -> Node:
        """The node that a line leads to.

        A line may have been written before its flop was solved exactly, when any card could come:
        it leads to where the card is dealt.
        """
        try:
            return self._solution.at(line)
        except NoNodeError as error:
            if "card is missing" not in str(error) or not error.hints:
                raise
            known = self._solution.at(error.hints[0][1])
            if not known.source:
                raise
            return known

    def _shown(self, node: Node, evs: EvCount) -> Record:
        """Both ranges at a node, with EVs that count as requested."""
        position: Position = node.position
        return node.ranges if evs == "here" else self._over_hand(position)

    def record(self, line: str, evs: EvCount = "here") -> Record:
        """Both players' hands at a line, with the strategy."""
        with self._turns:
            shown = self._shown(self._node(line), evs)
            _ = shown.learned, shown.equities  # computed once; what follows needs no turn
            return shown

    def place(self, line: str, evs: EvCount = "here") -> messages.Place:
        """Everything that is shown at a line."""
        with self._turns:
            node = self._node(line)
            unit = "pots" if node.unit.name == "pot" else node.unit.name
            return messages.Place.of(
                node,
                solution="",
                unit=node.unit.name,
                evs=evs,
                ev_note=f"{unit} {EV_NOTES[evs]}",
                seats=node.unit.seats,
                settings=settings(node),
                steps=steps(node),
                here=self._here(node, evs),
            )

    def _here(self, node: Node, evs: EvCount) -> messages.Decision | messages.Deal | messages.End:
        if not node.ranges_known:
            return deal(node, None)
        shown = self._shown(node, evs)
        if node.kind == "decision":
            return decision(shown, choices(node), notes(node, shown))
        return deal(node, grids(shown)) if node.kind == "chance" else end(node, grids(shown))

    def hand(
        self, line: str, player: PlayerName, hand: str, evs: EvCount = "here"
    ) -> messages.HandDetail:
        """A cell of the grid, combo by combo."""
        return hand_detail(self.record(line, evs), player, hand)

    def equity(self, line: str) -> messages.EquityCurves:
        """Both ranges, sorted by equity; empty where it is not known."""
        shown = self.record(line)
        oop, ip = (equity_curve(shown, player) for player in Player)
        return messages.EquityCurves(line=shown.line, oop=oop, ip=ip)

    def range(self, line: str, player: PlayerName | None, action: str | None) -> Reaching:
        """A player's range at a line, or the part of it that takes an action."""
        return reaching(self.record(line), player, action)

    def groups(self, line: str, evs: EvCount = "here") -> messages.HandGroups:
        """The hands of a line by category."""
        return hand_groups(self.record(line, evs))

    def rows(self, line: str, evs: EvCount = "here") -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per combo or hand."""
        return table(self.record(line, evs))

    def cards(self, line: str, evs: EvCount = "here") -> Iterator[messages.CardReport]:
        """One row per card of the deal at a line, or of the last one on the way to it, in parts."""
        parts = self._turns.each(lambda: self._card_reports.parts(self._node(line)))
        return (counted(part, over_hand=evs == "hand") for part in parts)

    def flops(self, line: str, evs: EvCount = "here") -> messages.FlopReport:
        """One row per flop: the decision of a line on all of them."""
        with self._table_turns:
            return counted(self._require_tables(line).table(line), over_hand=evs == "hand")

    def flop_hands(self, line: str, evs: EvCount = "here") -> Iterator[messages.BoardHandsPart]:
        """The decision of a line on all flops by hands: a part for each flop that is read."""
        tables = self._require_tables(line)
        return self._table_turns.each(lambda: tables.hands(line, over_hand=evs == "hand"))

    def _require_tables(self, line: str) -> Tables:
        if self._tables is None:
            raise InputError(f"line '{line}': a spot has one board, so there is no table of flops")
        return self._tables


def read_facts(folder: Path) -> tuple[SolutionKind, Manifest]:
    """Kind and manifest of a folder, checked; an `InputError` names the problem."""
    stored = folder_kind(folder)
    if stored in get_args(SolutionKind):
        kind = cast(SolutionKind, stored)
        return kind, read_manifest(folder, kind)
    raise InputError(
        f"{folder} contains a solution of a kind that this version does not know ('{stored}')"
    )


def open_view(folder: Path) -> SolutionView:
    """A view of the solution in a folder."""
    kind, manifest = read_facts(folder)
    if kind == "spots":
        raise InputError(f"{folder} contains spots that were solved together: open one of them")
    if kind == "spot":
        spot = load(folder, SpotSolution)
        beside = boards_beside(spot, folder)
        describe = partial(describe_spot, spot, manifest, boards=beside is not None)
        return SolutionView(spot, describe, beside)
    whole, describe_it = load(folder, WholeSolution), describe_whole
    if kind == "postflop":
        describe_it = describe_flops
    return SolutionView(whole, partial(describe_it, whole, manifest), FlopTables(whole))


def range_at(
    solution: Solution | Path | str,
    line: str = "",
    player: PlayerName | None = None,
    *,
    flop: str | None = None,
    action: str | None = None,
) -> Reaching:
    """A player's range at a line of a solution; by default the acting player's.

    `solution` was loaded, or is its folder. `flop` may be named beside a line instead of in it.
    With an action, as in a line ("r2.5") or by name ("raise"), the part of the range that takes it.
    """
    if flop is not None and is_address(line):
        line = write_address(read_address(line).words, parse_board(flop))
    elif flop is not None:
        parts = split_line(line, str.strip, flop)
        line = whole_line(parts.root, parts.cards, (parts.after or "").strip())
    return open_view(mirrored(folder_of(solution))).range(line, player, action)

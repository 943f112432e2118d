"""The same decision after many cards: over turn or river cards, over flops, and by hands.

A card of a large spot takes a while the first time, and all cards read as many gigabytes as the
strategies have. So a report over cards comes in parts, one for each board that differs:
reports with the rows of that board alone, whose weights are in one unit.

`FlopTables` are those of a whole game or of flops solved one by one; `BoardsBeside` those of a spot
that was solved on several boards. Reports by hands grow board by board, since reading many takes a
while at first: the next request resumes an unfinished report, and complete ones are kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from allstreets.analysis import HAND_KEYS, BoardFigures, BoardReport, Gathering, ReportRow
from allstreets.base import Floats, InputError
from allstreets.betting import Player, Street, dealt
from allstreets.cards import Flop, Texture, card_text, cards_text, hand_combos, parse_card
from allstreets.explorer.folders import id_of
from allstreets.explorer.models.place import (
    BoardHand,
    BoardHands,
    BoardHandsPart,
    CardReport,
    CardRow,
    Choice,
    FlopReport,
    FlopRow,
)
from allstreets.explorer.views.nodes import choices, choices_of, of_both, over_hand_rows
from allstreets.solutions import (
    Boards,
    Decision,
    Flops,
    Node,
    NoNodeError,
    Position,
    SpotSolution,
    WholeSolution,
    is_reached,
)
from allstreets.storage import SpotSet, folder_kind, load_spots

CACHED = 8  # reports over cards, tables
KEPT = 8  # reports by hands
NOT_KNOWN = (float("nan"), float("nan"))


class CardReports:
    """Reports by the node that they are of."""

    def __init__(self) -> None:
        self._made: dict[Position, CardReport] = {}  # by node, the complete ones

    def forget(self) -> None:
        """Make all reports again."""
        self._made.clear()

    def parts(self, node: Node) -> Iterator[CardReport]:
        """The deal at a node, or a node after its last deal with every card, board by board."""
        if node.position in self._made:
            yield self._made[node.position]
            return
        parts = []
        for part in _boards(_last_deal(node), node):
            parts.append(part)
            yield part
        self._made[node.position] = _together(parts)
        while len(self._made) > CACHED:
            del self._made[next(iter(self._made))]


def _last_deal(node: Node) -> Node:
    """The last chance node on the path to a node at which one card was dealt."""
    chances = [step for step in node.path if step.kind == "chance"]
    last = chances[-1] if chances else None
    ways = []
    if last is None or (last.deal is not None and last.deal.count == 3 and last != node):
        ways = node.ways_to_a_deal()
        if not ways:
            raise NoNodeError("No more cards are dealt on this line.")
        last = node.solution.at(ways[0][1])
    deal = last.deal or node.deal
    if deal is None or deal.count == 0:
        reason = "turn and river cards are averaged over"
    elif not deal.stored:
        reason = deal.note
    elif deal.count == 3:
        reason = "no flop is dealt yet: pick one"
    elif ways:
        raise NoNodeError("No card has been dealt yet. These lines lead to one:", ways)
    else:
        return last
    raise InputError(f"line '{node.line}': there is no report over cards, since {reason}")


def _boards(deal: Node, node: Node) -> Iterator[CardReport]:
    """The first decision after each card of a deal, or the node reached after the deal."""
    solution, street = deal.solution, Street(deal.street + 1)
    if deal.deal is not None and deal.deal.solved_again:
        raise InputError(
            f"the {street.text} is not stored in this solution: each card would be solved "
            "again. Look at one card, or solve the spot again with --save full"
        )
    same = solution.runouts(deal.position)
    played = [step.index for step in node.path[len(deal.path) + 1 :]]

    def behind(card: int) -> Node:
        reached = solution.node(solution.dealt(deal.position, (card,)))
        for index in played:
            reached = next(child for child in reached.children if child.index == index)
        return reached

    for board in same.representatives:
        shown = behind(board)
        # A card that this one represents has other combos and the same figures.
        cards = np.flatnonzero(same.representative == board).tolist()
        yield CardReport.of(
            line=deal.line,
            street=street,
            player=shown.actor,
            actions=[] if shown.actor is None else choices(shown),
            unit=shown.unit.name,
            paid=shown.ranges.paid,
            rows=[_card_row(behind(card).line, card, board, shown.ranges) for card in cards],
        )


def _card_row(line: str, card: int, other: int, shown: Decision) -> CardRow:
    evs = [shown.ev(player) for player in Player]
    equities = [shown.mean(shown.equity(player), player) for player in Player]
    return CardRow.of(
        line=line,
        # How often the card is dealt: Σ of the weights of the pairs of combos that get there.
        weight=float(shown.hands[0].weights.sum()),
        share=shown.share,
        frequencies=shown.taken,
        **of_both(evs, equities),
        card=card_text(card),
        same_as=card_text(other) if other != card else None,
    )


def _together(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one part: its rows in the order of the deck."""
    reports = list(parts)
    rows = sorted(
        (row for part in reports for row in part.rows), key=lambda row: parse_card(row.card)
    )
    return reports[0].model_copy(update={"rows": rows})


def joined(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one, whose weights add up to 1."""
    report = _together(parts)
    total = sum(row.weight for row in report.rows) or 1.0
    rows = [row.model_copy(update={"weight": row.weight / total}) for row in report.rows]
    return report.model_copy(update={"rows": rows})


class _Figures(NamedTuple):
    """A decision on a flop in figures of whole ranges; NaN where play never gets there."""

    frequencies: Floats  # [A]
    pairs: float  # of combos that get there
    share: float  # of all pairs of combos
    equities: tuple[float, float]  # of OOP and IP
    evs: tuple[float, float]


class Tables(Protocol):
    """Decisions on many boards; EVs count from there on."""

    def table(self, line: str) -> FlopReport:
        """The decision that a line leads to, a row for each board."""

    def hands(self, line: str, *, over_hand: bool) -> Iterator[BoardHandsPart]:
        """The same by hands, a part for each board that is read."""


class FlopTables:
    """Tables by decision. The first request reads every flop's file, which takes seconds.

    They show the solution's own play, also on flops that were solved exactly beside it.
    """

    def __init__(self, solution: WholeSolution) -> None:
        self._solution = solution
        self._made = lru_cache(CACHED)(self._make)
        self._reports = GrowingReports(solution.boards)

    def table(self, line: str) -> FlopReport:
        """The decision that a line leads to, with "*" or any flop in it."""
        return self._made(*self._read(line))

    def hands(self, line: str, *, over_hand: bool) -> Iterator[BoardHandsPart]:
        """The decision of a line on all flops by hands."""
        where = self._read(line)
        line = self._solution.line_on_any_flop(*where)
        return self._reports.parts(line, self._choices(*where), over_hand=over_hand)

    def _read(self, line: str) -> tuple[int, int]:
        """(root, node) of a decision; refuses a table that would take hours.

        Buckets of later streets are computed flop by flop. Where a turn is a real card, no card is
        common to all flops.
        """
        root, node = self._solution.read_any_flop(line)
        cards, street = self._solution.cards, Street(int(self._flops.pot(root).tree.street[node]))
        if (cards.kind == "buckets" or cards.stores_cards) and street > Street.FLOP:
            raise InputError(
                f"with {cards.kind} there are tables of decisions on the flop only, not on the "
                f"{street.text}: look at single flops"
            )
        return root, node

    @property
    def _flops(self) -> Flops:
        flops = self._solution.below
        assert flops is not None  # `read_any_flop` refuses solutions that end before
        return flops

    def _choices(self, root: int, node: int) -> list[Choice]:
        solution, tree = self._solution, self._flops.pot(root).tree
        averages = not solution.cards.plays_combos

        def line(child: int) -> str:
            return solution.line_on_any_flop(root, dealt(tree, child) if averages else child)

        return choices_of(tree, node, solution.unit.notation, line)

    def _make(self, root: int, node: int) -> FlopReport:
        flops, solution = self._flops, self._solution
        solved, tree = flops.solved(root), flops.pot(root).tree
        figures = [self._figures(root, flop.flop, node) for flop in solved]
        weights = np.array([flop.weight for flop in solved]) * [row.pairs for row in figures]
        total = float(weights.sum()) or 1.0
        some = flops.counted(flops.view(root, solved[0].flop).node(node, ""))
        line = solution.line_on_any_flop(root, node)
        return FlopReport.of(
            some,
            line=line,
            player=tree.player_at(node),
            actions=self._choices(root, node),
            unit=solution.unit.name,
            rows=[
                _row(
                    row,
                    flop.flop.texture,
                    line=line.replace("*", flop.flop.text, 1),
                    flop=flop.flop.text,
                    weight=weight,
                    share=row.share,
                    exploitability_pct=flop.exploitability_pct,
                )
                for flop, row, weight in zip(
                    solved, figures, (weights / total).tolist(), strict=True
                )
            ],
        )

    def _figures(self, root: int, flop: Flop, node: int) -> _Figures:
        """A decision on a flop; figures that would take a while on many flops are left out."""
        flops, start, combos = (
            self._flops,
            self._solution.roots.reach(root),
            hand_combos(flop.cards),
        )
        view = flops.view(root, flop)
        shown = flops.counted(view.node(node, ""))
        evs = equities = NOT_KNOWN
        if flops.cards.plays_classes:
            equities = _both(lambda player: shown.mean(shown.equity(player), player))
        if node > 0 and view.stored is not None:  # EVs that are stored with the strategies
            evs = _both(shown.ev)
        elif node == 0 and is_reached((start @ combos / combos.sum()).tolist()):
            pairs = float(shown.own.weights.sum())
            evs = flops.first_evs(root, flop, start * (combos > 0), pairs)
        return _Figures(shown.taken, float(shown.own.weights.sum()), shown.share, equities, evs)


def _both(figure: Callable[[Player], float]) -> tuple[float, float]:
    """A figure of OOP and IP."""
    return figure(Player.OOP), figure(Player.IP)


def _row(figures: _Figures | BoardFigures, texture: Texture, **facts: Any) -> FlopRow:
    both = of_both(figures.evs, figures.equities)
    return FlopRow.of(texture, frequencies=figures.frequencies, **both, **facts)


class BoardsBeside:
    """The boards on which a spot of a set is solved."""

    def __init__(self, solution: SpotSolution, spots: SpotSet, name: str) -> None:
        self._solution, self._spots, self._name = solution, spots, name
        self._entries = [entry for entry in spots.entries if entry.name == name]
        self._reports = GrowingReports(lambda line: spots.boards(line, name))

    def hands(self, line: str, *, over_hand: bool) -> Iterator[BoardHandsPart]:
        """The decision of a line on all boards by hands."""
        line, actions = self._decision(line)
        return self._reports.parts(line, actions, over_hand=over_hand)

    def table(self, line: str) -> FlopReport:
        """The decision of a line on every board."""
        line, actions = self._decision(line)
        report = self._reports.report(line)
        total = sum(board.mass for board in report.boards) or 1.0
        return FlopReport.of(
            report,
            line=line,
            actions=actions,
            unit=report.unit.name,
            rows=[
                _row(
                    board,
                    board.texture,
                    line=board.line,
                    flop=cards_text(board.board),
                    weight=board.mass / total,
                    exploitability_pct=(entry.row or {}).get("exploitability_pct"),
                    solution=id_of(self._spots.folder / entry.folder),
                )
                for entry, board in zip(self._entries, report.boards, strict=True)
            ],
        )

    def _decision(self, line: str) -> tuple[str, list[Choice]]:
        """A decision that other boards have as well: the line to it, and its actions."""
        node = self._solution.at(line)
        if node.position.cards or node.kind != "decision":
            raise InputError(
                f"line '{line}': tables over boards are of decisions before another card is dealt"
            )
        return node.line, choices(node)


def boards_beside(solution: SpotSolution, folder: Path) -> BoardsBeside | None:
    """The boards beside a spot; None: it is not part of a set, or alone there."""
    with suppress(InputError):
        if folder_kind(folder.parent) == "spots":
            spots = load_spots(folder.parent)
            own = [entry for entry in spots.entries if entry.folder == folder.name]
            if own and sum(entry.name == own[0].name for entry in spots.entries) > 1:
                return BoardsBeside(solution, spots, own[0].name)
    return None


class _Growing:
    """A report in progress."""

    def __init__(self, boards: Boards) -> None:
        self.boards, self.done = boards, 0
        self._gathered = Gathering(boards.line)
        self.report: BoardReport | None = None  # when it is complete

    def step(self) -> None:
        """Read one more board."""
        board = next(self.boards.decisions, None)
        if board is not None:
            self._gathered.add(board)
            self.done += 1
        if board is None or self.done == self.boards.count:
            self.report = self._gathered.report


class GrowingReports:
    """Reports by the line that they are of; one thread at a time may take a step."""

    def __init__(self, begin: Callable[[str], Boards]) -> None:
        self._begin = begin
        self._kept: dict[str, _Growing] = {}

    def steps(self, line: str) -> Iterator[_Growing]:
        """The report after each board that is still to be read."""
        while True:
            growing = self._kept.pop(line, None) or _Growing(self._begin(line))
            if growing.report is None:
                growing.step()  # if that fails, the next request starts again
            self._kept[line] = growing  # the last to be dropped
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
            yield growing
            if growing.report is not None:
                return

    def report(self, line: str) -> BoardReport:
        """The whole report."""
        *_, last = self.steps(line)
        assert last.report is not None
        return last.report

    def parts(
        self, line: str, actions: Sequence[Choice], *, over_hand: bool
    ) -> Iterator[BoardHandsPart]:
        """A message for each step; the last one has the report."""
        for step in self.steps(line):
            report = None
            if step.report is not None:
                report = _message(step.report, actions, over_hand=over_hand)
            yield BoardHandsPart(done=step.done, boards=step.boards.count, report=report)


def _message(report: BoardReport, actions: Sequence[Choice], *, over_hand: bool) -> BoardHands:
    tables = [report.by(key) for key in HAND_KEYS]
    rows = [[_hand_row(row) for row in table] for table in (*tables, [report.total])]
    if over_hand:
        rows = [over_hand_rows(table, report.paid) for table in rows]
    category, draw, hand, (total,) = rows
    return BoardHands.of(
        report,
        actions=actions,
        unit=report.unit.name,
        boards=len(report.boards),
        category=category,
        draw=draw,
        hand=hand,
        total=total,
    )


def _hand_row(row: ReportRow) -> BoardHand:
    eqrs = {"eqr_oop": row.eqrs[0], "eqr_ip": row.eqrs[1]}
    return BoardHand.of(row, **of_both(row.evs, row.equities), **eqrs)

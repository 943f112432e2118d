"""Looking into solutions."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse

from allstreets.base import InputError
from allstreets.cards import RangeKind
from allstreets.explorer.comparing import Comparing
from allstreets.explorer.deleting import Deleting
from allstreets.explorer.library import Library
from allstreets.explorer.models import place as messages
from allstreets.explorer.models.base import Message, PlayerName, Refusal
from allstreets.explorer.models.params import Evs, Line, SolutionId, TrashedId
from allstreets.explorer.models.solution import Trashed
from allstreets.explorer.models.solves import SimpleForm, SimplePrice
from allstreets.explorer.routes.table import (
    BUSY,
    CSV,
    HAND_PARTS,
    NDJSON,
    PARTS,
    REFUSALS,
    ZIP,
    card_rows,
    csv_text,
    download,
    file_answer,
    flop_rows,
    hand_rows,
    part,
)
from allstreets.explorer.simplifying import Simplifying
from allstreets.explorer.views.reports import joined
from allstreets.explorer.views.view import SolutionView
from allstreets.interop import load_tree, zip_ranges

router = APIRouter(prefix="/api", tags=["solutions"], responses=REFUSALS)
TheLibrary = Annotated[Library, part("library")]


def view_of(solution: SolutionId, library: TheLibrary) -> SolutionView:
    """The solution that a path names."""
    return library.view(solution)


TheComparing = Annotated[Comparing, part("comparing")]
TheSimplifying = Annotated[Simplifying, part("simplifying")]
TheDeleting = Annotated[Deleting, part("deleting")]
TheView = Annotated[SolutionView, Depends(view_of)]


@router.post("/trash/{trashed}/restore", responses=BUSY)
def restore(trashed: TrashedId, deleting: TheDeleting) -> list[Trashed]:
    """Restore a solution to its place; returns the rest of the trash."""
    deleting.trash.restore(trashed)
    return deleting.trash.list()


@router.get("/solutions/{solution}/hand")
def hand(
    view: TheView,
    player: PlayerName,
    hand: Annotated[str, Query(max_length=3, examples=["AKs"])],
    line: Line = "",
    evs: Evs = "here",
) -> messages.HandDetail:
    """A hand of a player, combo by combo."""
    return view.hand(line, player, hand, evs)


@router.get("/solutions/{solution}/equity")
def equity(view: TheView, line: Line = "") -> messages.EquityCurves:
    """Equity curves: both ranges sorted by equity."""
    return view.equity(line)


@router.get("/solutions/{solution}/range")
def range_text(
    view: TheView,
    player: PlayerName,
    line: Line = "",
    action: Annotated[str | None, Query(max_length=40, examples=["b50%"])] = None,
    kind: RangeKind = RangeKind.pio,
) -> messages.RangeText:
    """A player's range as text of a kind, or the part of it that takes an action."""
    held = view.range(line, player, action)
    return messages.RangeText(text=held.text(kind), combos=held.combos)


@router.get(
    "/solutions/{solution}/ranges.zip",
    response_class=Response,
    responses=file_answer(ZIP, "Folders by line, as `allstreets export` writes them"),
)
def ranges_zip(
    solution: SolutionId, library: TheLibrary, kind: RangeKind = RangeKind.pio
) -> Response:
    """Every range before the flop as files for other programs."""
    packed = zip_ranges(load_tree(library.folder(solution)), kind)
    return download(packed, ZIP, f"{library.card(solution).name}-{kind}", ".zip")


@router.get("/solutions/{solution}/cards")
def cards(view: TheView, line: Line = "", evs: Evs = "here") -> messages.CardReport:
    """The cards that can be dealt, one row each."""
    return joined(view.cards(line, evs))


@router.get("/solutions/{solution}/cards.ndjson", response_class=StreamingResponse, responses=PARTS)
def card_parts(view: TheView, line: Line = "", evs: Evs = "here") -> StreamingResponse:
    """The same while it is made: a part for each board, the other requests between them."""
    parts = view.cards(line, evs)
    first = next(parts)  # errors of the request are answered as everywhere
    return StreamingResponse(report_lines(chain([first], parts)), media_type=NDJSON)


def report_lines(parts: Iterable[Message]) -> Iterator[str]:
    """Messages, a line each; if something fails, the last line names the problem."""
    try:
        for part in parts:
            yield f"{part.model_dump_json()}\n"
    except InputError as error:
        yield f"{Refusal(message=str(error)).model_dump_json()}\n"


@router.get("/solutions/{solution}/flops")
def flops(view: TheView, line: Line = "", evs: Evs = "here") -> messages.FlopReport:
    """All flops at the same decision, one row each."""
    return view.flops(line, evs)


@router.get(
    "/solutions/{solution}/flops/hands.ndjson",
    response_class=StreamingResponse,
    responses=HAND_PARTS,
)
def flop_hand_parts(view: TheView, line: Line = "", evs: Evs = "here") -> StreamingResponse:
    """The decision on all flops by hands: progress after each flop, then the report."""
    parts = view.flop_hands(line, evs)
    first = next(parts)  # errors of the request are answered as everywhere
    return StreamingResponse(report_lines(chain([first], parts)), media_type=NDJSON)


@router.get("/solutions/{solution}/flops/hands.csv", response_class=Response, responses=CSV)
def flop_hands_csv(
    view: TheView, by: messages.HandKey, line: Line = "", evs: Evs = "here"
) -> Response:
    """The same for a spreadsheet, by category, draw or hand."""
    *_, last = view.flop_hands(line, evs)
    assert last.report is not None
    return csv_text(hand_rows(last.report, by))


@router.get("/solutions/{solution}/categories")
def categories(view: TheView, line: Line = "", evs: Evs = "here") -> messages.HandGroups:
    """The hands at a place by category: both ranges, and the actions of each category."""
    return view.groups(line, evs)


@router.get("/solutions/{solution}/table.csv", response_class=Response, responses=CSV)
def table_csv(view: TheView, line: Line = "", evs: Evs = "here") -> Response:
    """The decision as a table for a spreadsheet."""
    return csv_text(view.rows(line, evs))


@router.get("/solutions/{solution}/cards.csv", response_class=Response, responses=CSV)
def cards_csv(view: TheView, line: Line = "", evs: Evs = "here") -> Response:
    """The report over cards for a spreadsheet."""
    return csv_text(card_rows(joined(view.cards(line, evs))))


@router.get("/solutions/{solution}/flops.csv", response_class=Response, responses=CSV)
def flops_csv(view: TheView, line: Line = "", evs: Evs = "here") -> Response:
    """The table over flops for a spreadsheet."""
    return csv_text(flop_rows(view.flops(line, evs)))


@router.get(
    "/solutions/{solution}/beside/{other}/hands.csv", response_class=Response, responses=CSV
)
def comparison_csv(
    solution: SolutionId,
    other: SolutionId,
    comparing: TheComparing,
    line: Line = "",
    evs: Evs = "here",
) -> Response:
    """The hands for a spreadsheet: _a is the other solution, _b this one."""
    return csv_text(comparing.table(solution, other, line, evs).table())


@router.get("/solutions/{solution}/simple", responses=BUSY)
def simple_price(
    solution: SolutionId,
    simplifying: TheSimplifying,
    grid_pct: Annotated[
        int | None, Query(ge=1, le=100, description="Round frequencies to steps that divide 100")
    ] = None,
    sizes: Annotated[int | None, Query(ge=1, le=9, description="Keep this many sizes")] = None,
    drop_pct: Annotated[
        int | None, Query(ge=1, le=50, description="Drop actions below this")
    ] = None,
) -> SimplePrice:
    """The gain of a best response when both players' strategies are made simple."""
    form = SimpleForm(grid_pct=grid_pct, sizes=sizes, drop_pct=drop_pct)
    return simplifying.price(solution, form)

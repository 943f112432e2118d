"""Reports over flops as the folders that PioViewer writes, which other programs plot.

    Root/report.csv            a row for each flop: both players' equity, EV and EQR, frequencies
         info.txt              player to act, node, line, stacks
         handsEV.csv           EV, equity, EQR and pairs by hand class and by combo, over all flops
         oopPreflopOrder.txt   hand classes, the most valuable first; ipPreflopOrder.txt
         CHECK/…, BET 300/…    the same after an action, for all actions on the flop

Amounts are in chips: 100 are a big blind in whole games. EVs count from here on, frequencies,
equities and EQRs are in per cent. `Global %` is how often play gets to the decision on a flop. The
last row has all flops, each weighted by the hands that it deals. Decisions before the requested
line have no files.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from allstreets.analysis import BoardReport, Gathering, HandSums, ReportRow, hand_sums
from allstreets.base import Floats, InputError, quotient
from allstreets.betting import ActionKind, BettingTree, Player, Street
from allstreets.cards import (
    COMBO_COUNT,
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    card_text,
    combo_text,
)
from allstreets.interop.new_folder import require_absent, write_folder
from allstreets.solutions import Boards, OnBoard, realised
from allstreets.version import __version__

ROOT = "Root"
NEW_LINE = "\r\n"
NO_NUMBER = "nan"
VERBS = {ActionKind.FOLD: "FOLD", ActionKind.CHECK: "CHECK", ActionKind.CALL: "CALL"}
GROUPS = {
    "Preflop Hands": (HAND_OF_COMBO.astype(np.int64), HAND_COUNT),
    "Hands EV": (np.arange(COMBO_COUNT), COMBO_COUNT),
}
"""The tables of handsEV.csv: the group of each combo, and the number of groups."""


@dataclass
class _Sums:
    """The sums of a decision, board by board."""

    gathering: Gathering
    hands: dict[tuple[str, Player], HandSums] = field(default_factory=dict)

    def add(self, board: OnBoard) -> None:
        """Add a board."""
        self.gathering.add(board)
        for name, (group, count) in GROUPS.items():
            for player in Player:
                sums = hand_sums(board.node, player, group, count, board.weight)
                known = self.hands.get((name, player))
                self.hands[name, player] = sums if known is None else known + sums


def export_report(
    boards: Boards, folder: Path | str, progress: Callable[[int, int], None] | None = None
) -> int:
    """Write a decision on all flops, and those after it, into a new folder; returns their number.

    `progress` receives the boards read and their total.
    """
    folder, tree = Path(folder), boards.tree
    require_absent(folder)
    if tree.first_street != Street.FLOP or tree.street[boards.node] != Street.FLOP:
        raise InputError(
            f"line '{boards.line}': reports for PioViewer are of decisions on the flop, of games "
            "and spots that start there"
        )
    first = int(next(node for node in tree.decisions(Street.FLOP)))
    nodes = [node for node in tree.decisions(Street.FLOP) if boards.node in tree.path_to(node)]
    sums = {node: _Sums(Gathering(boards.other(node).line)) for node in {first, *nodes}}
    rows = zip(*(boards.other(node).decisions for node in sums), strict=True)
    for done, row in enumerate(rows):
        if progress is not None:
            progress(done, boards.count)
        for total, board in zip(sums.values(), row, strict=True):
            total.add(board)
    dealt = sums[first].gathering.report
    write_folder(folder, _contents(tree, nodes, sums, dealt))
    return len(nodes)


def _contents(
    tree: BettingTree, nodes: Sequence[int], sums: dict[int, _Sums], dealt: BoardReport
) -> Iterator[tuple[Path, bytes]]:
    """Every file by its path inside the folder."""
    for node in nodes:
        where, report = _words(tree, node), sums[node].gathering.report
        scale = report.unit.notation.scale
        hands = sums[node].hands
        files = {
            "report.csv": _report(tree, node, report, dealt, scale),
            "info.txt": _info(tree, node, report),
            "handsEV.csv": _hands(report, hands, scale),
            **{
                f"{player.name.lower()}PreflopOrder.txt": [_order(hands["Preflop Hands", player])]
                for player in Player
            },
        }
        for name, lines in files.items():
            yield Path(*where, name), NEW_LINE.join([*lines, ""]).encode()


def _words(tree: BettingTree, node: int) -> list[str]:
    """The actions to a node, each as the name of a folder."""
    return [ROOT, *(_word(tree, step) for step in tree.path_to(node)[1:])]


def _word(tree: BettingTree, node: int) -> str:
    """The action that led to a node: "BET 300", a raise by its total on the street."""
    action, before = tree.actions[node], int(tree.parent[node])
    assert action is not None
    if action.kind in VERBS:
        return VERBS[action.kind]
    return f"{'RAISE' if tree.to_call_at(before) else 'BET'} {action.amount:g}"


def _node_id(tree: BettingTree, node: int) -> str:
    """The name of a node: bets by everything the player has put in since the flop."""
    words = ["r:0"]
    for step in tree.path_to(node)[1:]:
        action, before = tree.actions[step], int(tree.parent[step])
        assert action is not None
        chips = tree.invested[step, tree.player_at(before)].item()
        words.append(f"b{chips:g}" if action.is_aggressive else "c")
    return ":".join(words)


def _info(tree: BettingTree, node: int, report: BoardReport) -> list[str]:
    shown = _board(report.boards[0].board)
    return [
        f"{report.player.name} Decision",
        f"Node id: {_node_id(tree, node)}",
        f"Board: {shown}",
        f"Line: {','.join(_words(tree, node))}",
        f"Starting stacks: {round(tree.stack)}",
        "",
        "Report done with weighting flops.",
    ]


def _report(
    tree: BettingTree, node: int, report: BoardReport, dealt: BoardReport, scale: int
) -> list[str]:
    """The lines of report.csv: bets from the largest, then check or call, then fold."""
    children = tree.children_of(node).tolist()[::-1]
    names = [f"{_word(tree, child)} freq" for child in children]
    figures = [f"{player.name} {what}" for player in Player for what in ("Equity", "EV", "EQR")]
    mass = np.array([board.mass for board in report.boards])
    whole = np.array([board.mass for board in dealt.boards])
    shares = [*_shares(mass, whole), *_shares(mass[None].sum(axis=1), whole[None].sum(axis=1))]
    rows = [*report.by("board"), report.total]
    boards = [*(_board(board.board) for board in report.boards), "  "]
    return [
        f"Aggregation analysis,allstreets {__version__}, EV in chips",
        f"File, {report.line}",
        f"Action Line,{' '.join(_words(tree, node))}",
        ",".join(["Flop", "Global %", *figures, *names]),
        *(
            ",".join([board, _percent(share), *_figures(row, scale)])
            for board, share, row in zip(boards, shares, rows, strict=True)
        ),
    ]


def _shares(mass: Floats, whole: Floats) -> list[float]:
    shares: list[float] = np.nan_to_num(quotient(mass, whole)).tolist()
    return shares


def _figures(row: ReportRow, scale: int) -> list[str]:
    """The figures of both players, and the frequencies."""
    cells = []
    for player in Player:
        cells += [
            _percent(row.equities[player]),
            _number(row.evs[player] * scale),
            _percent(row.eqrs[player]),
        ]
    return [*cells, *(_percent(chance) for chance in reversed(row.frequencies))]


def _hands(report: BoardReport, hands: dict[tuple[str, Player], HandSums], scale: int) -> list[str]:
    """The lines of handsEV.csv: tables by class and by combo, the most valuable first."""
    lines: list[str] = []
    for title in GROUPS:
        for player in Player:
            sums = hands[title, player]
            eqrs = realised(sums.evs, sums.equities, report.pot)
            named = "Hand, EV, Equity, Equity Realization, Matchups"
            lines += ["", f"{title} {player.name}", named]
            for group in _by_ev(sums):
                cells = (
                    _number(sums.evs[group] * scale),
                    _percent(sums.equities[group]),
                    _percent(eqrs[group]),
                    _number(sums.mass[group]),
                )
                name = HAND_NAMES[group] if len(sums.mass) == HAND_COUNT else combo_text(group)
                lines.append(",".join([name, *cells]))
    return lines


def _by_ev(sums: HandSums) -> list[int]:
    """The groups that get there, the most valuable first."""
    there = np.flatnonzero(sums.mass > 0)
    order: list[int] = there[np.argsort(-np.nan_to_num(sums.evs[there]), kind="stable")].tolist()
    return order


def _order(sums: HandSums) -> str:
    return ",".join(HAND_NAMES[group] for group in _by_ev(sums))


def _board(cards: Sequence[int]) -> str:
    return " ".join(card_text(card) for card in cards)


def _percent(share: float) -> str:
    return _number(100 * share)


def _number(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else NO_NUMBER

"""Reports over flops as the folders that PioViewer writes, which other programs plot.

    Root/report.csv            a row for each flop: both players' equity, EV and EQR, frequencies
         info.txt              player to act, node, line, stacks
         handsEV.csv           EV, equity, EQR and pairs by hand class and by combo, over all boards
         oopPreflopOrder.txt   hand classes, the most valuable first; ipPreflopOrder.txt
         CHECK/…, BET 300/…    the same after an action
         CHECK/CHECK/…         a decision on the turn: a row for each flop, then one for each card

Amounts are in chips: 100 are a big blind in whole games. EVs count from here on, frequencies,
equities and EQRs are in per cent. `Global %` is how often play gets to the decision on a board. The
last row has all boards, each weighted by the hands that it deals. Decisions before the requested
line have no files.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from allstreets.analysis import BoardReport, Gathering, HandSums, ReportRow, hand_sums
from allstreets.base import Floats, InputError, quotient
from allstreets.betting import ActionKind, BettingTree, Player, Street
from allstreets.cards import (
    COMBO_COUNT,
    DECK_SIZE,
    HAND_COUNT,
    HAND_NAMES,
    HAND_OF_COMBO,
    card_text,
    cards_text,
    combo_text,
    live_combos,
    met_reach,
)
from allstreets.interop.new_folder import require_absent, write_folder
from allstreets.solutions import Boards, Decision, Node, OnBoard, realised
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
    dealt: list[float] = field(default_factory=list)  # the pairs of hands that each board deals

    def add(self, board: OnBoard, dealt: float) -> None:
        """Add a board; `dealt` are its pairs of hands, however they play."""
        self.gathering.add(board)
        self.dealt.append(board.weight * dealt)
        for name, (group, count) in GROUPS.items():
            for player in Player:
                sums = hand_sums(board.node, player, group, count, board.weight)
                known = self.hands.get((name, player))
                self.hands[name, player] = sums if known is None else known + sums


def export_report(
    boards: Boards,
    folder: Path | str,
    progress: Callable[[int, int], None] | None = None,
    *,
    turns: bool = False,
) -> int:
    """Write a decision on all flops, and those after it, into a new folder; returns their number.

    With `turns` those on the turn as well, card by card. `progress` receives the boards read and
    their total.
    """
    folder, tree = Path(folder), boards.tree
    require_absent(folder)
    if tree.first_street != Street.FLOP or tree.street[boards.node] != Street.FLOP:
        raise InputError(
            f"line '{boards.line}': reports for PioViewer are of decisions on the flop, of games "
            "and spots that start there"
        )
    streets = (Street.FLOP, Street.TURN) if turns else (Street.FLOP,)
    below = [node for street in streets for node in tree.decisions(street)]
    nodes = [node for node in below if boards.node in tree.path_to(node)]
    first = int(next(node for node in tree.decisions(Street.FLOP)))
    sums = {node: _Sums(Gathering(boards.other(first).line)) for node in nodes}
    for done, (weight, root) in enumerate(boards.other(first).nodes()):
        if progress is not None:
            progress(done, boards.count)
        _add_flop(tree, root, weight, sums)
    write_folder(folder, _contents(tree, sums))
    return len(nodes)


def _add_flop(tree: BettingTree, root: Node, weight: float, sums: dict[int, _Sums]) -> None:
    """The decisions on a flop, and on its turns card by card."""
    ranges, at = root.ranges, root.position
    whole = float(ranges.hands[Player.OOP].weights.sum())
    for node, total in sums.items():
        if tree.street[node] == Street.FLOP:
            decision = root.solution.decision(replace(at, node=node))
            total.add(OnBoard(weight, decision), whole)
    turns = [node for node in sums if tree.street[node] == Street.TURN]
    for card in range(DECK_SIZE) if turns else ():
        if card in root.board:
            continue
        dealt = _dealt_beside(ranges, card)
        for node in turns:
            position = replace(at, node=node, cards=(*at.cards, card))
            sums[node].add(OnBoard(weight, root.solution.decision(position)), dealt)


def _dealt_beside(ranges: Decision, card: int) -> float:
    """The pairs of hands of both ranges that a card leaves."""
    reach = np.zeros((2, COMBO_COUNT))
    for player in Player:
        hands = ranges.hands[player]
        if hands.combos is None:
            raise InputError(
                "hands are classes here, which do not see the turn: leave --turns out, or solve "
                "with cards: boards"
            )
        reach[player, hands.combos] = hands.reach
    reach *= live_combos((card,))
    every = np.arange(COMBO_COUNT)
    return float(reach[Player.OOP] @ met_reach(every, every, reach[Player.IP]))


def _contents(tree: BettingTree, sums: dict[int, _Sums]) -> Iterator[tuple[Path, bytes]]:
    """Every file by its path inside the folder."""
    for node, total in sums.items():
        report = total.gathering.report
        scale = report.unit.notation.scale
        hands = total.hands
        files = {
            "report.csv": _report(tree, node, report, np.array(total.dealt), scale),
            "info.txt": _info(tree, node, report),
            "handsEV.csv": _hands(report, hands, scale),
            **{
                f"{player.name.lower()}PreflopOrder.txt": [_order(hands["Preflop Hands", player])]
                for player in Player
            },
        }
        for name, lines in files.items():
            yield Path(*_words(tree, node), name), NEW_LINE.join([*lines, ""]).encode()


def _words(tree: BettingTree, node: int, card: str = "") -> list[str]:
    """The actions to a node, each as the name of a folder; `card` where one is dealt, if named."""
    words = [ROOT]
    for step in tree.path_to(node)[1:]:
        if tree.actions[step] is not None:
            words.append(_word(tree, step))
        elif card:
            words.append(card)
    return words


def _word(tree: BettingTree, node: int) -> str:
    """The action that led to a node: "BET 300", a raise by its total on the street."""
    action, before = tree.actions[node], int(tree.parent[node])
    assert action is not None
    if action.kind in VERBS:
        return VERBS[action.kind]
    return f"{'RAISE' if tree.to_call_at(before) else 'BET'} {action.amount:g}"


def _node_id(tree: BettingTree, node: int, card: str) -> str:
    """The name of a node: bets by everything the player has put in since the flop."""
    words = ["r:0"]
    for step in tree.path_to(node)[1:]:
        action, before = tree.actions[step], int(tree.parent[step])
        if action is None:
            words.append(card)
            continue
        chips = tree.invested[step, tree.player_at(before)].item()
        words.append(f"b{chips:g}" if action.is_aggressive else "c")
    return ":".join(words)


def _info(tree: BettingTree, node: int, report: BoardReport) -> list[str]:
    board = report.boards[0].board
    card = cards_text(board[3:])
    return [
        f"{report.player.name} Decision",
        f"Node id: {_node_id(tree, node, card)}",
        f"Board: {_board(board)}",
        f"Line: {','.join(_words(tree, node, card))}",
        f"Starting stacks: {round(tree.stack)}",
        "",
        "Report done with weighting flops.",
    ]


def _report(
    tree: BettingTree, node: int, report: BoardReport, dealt: Floats, scale: int
) -> list[str]:
    """The lines of report.csv: bets from the largest, then check or call, then fold."""
    children = tree.children_of(node).tolist()[::-1]
    names = [f"{_word(tree, child)} freq" for child in children]
    figures = [f"{player.name} {what}" for player in Player for what in ("Equity", "EV", "EQR")]
    on_turn = len(report.boards[0].board) > 3
    card = cards_text(report.boards[0].board[3:])
    return [
        f"Aggregation analysis,allstreets {__version__}, EV in chips",
        f"File, {report.line}",
        f"Action Line,{' '.join(_words(tree, node, card))}",
        ",".join(["Flop", *["Turn"] * on_turn, "Global %", *figures, *names]),
        *(
            ",".join([*board, _percent(share), *_figures(row, scale)])
            for board, share, row in _rows(report, dealt)
        ),
    ]


def _rows(report: BoardReport, dealt: Floats) -> Iterator[tuple[list[str], float, ReportRow]]:
    """Names, `Global %` and figures of every row: by board, on the turn by flop first; then all."""
    flops: dict[tuple[int, ...], list[int]] = {}
    for number, board in enumerate(report.boards):
        flops.setdefault(board.board[:3], []).append(number)
    on_turn = len(report.boards[0].board) > 3

    def row(names: list[str], numbers: list[int]) -> tuple[list[str], float, ReportRow]:
        boards = tuple(report.boards[number] for number in numbers)
        mass = np.array([sum(board.mass for board in boards)])
        share = float(np.nan_to_num(quotient(mass, dealt[numbers].sum(keepdims=True)))[0])
        return names, share, replace(report, boards=boards).total

    for flop, numbers in flops.items():
        yield row([_board(flop), *[""] * on_turn], numbers)
        for number in numbers if on_turn else ():
            yield row([_board(flop), _board(report.boards[number].board[3:])], [number])
    yield row(["  ", *[""] * on_turn], list(range(len(report.boards))))


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

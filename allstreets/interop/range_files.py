"""The tree before the flop as files, in the layouts of other programs.

`hrc` is a separate module. In folders (all kinds but `monker`): the folder of a line has the ranges
of both players after it, so that the range that takes an action is in the folder of that action.

    README.txt
    BB.txt SB.txt             before any action: every hand
    r2.5/BB.txt r2.5/SB.txt   after the small blind's raise: SB.txt is the raising range
    r2.5/c/…                  after the call: the two ranges that see the flop

In one folder (`monker`): an .rng file for each action of each decision, named by the codes of the
actions so far, as in MonkerSolver's export for its viewer.

    0.rng 1.rng 40075.rng     the small blind folds, limps, raises 75 % of the pot
    40075.1.rng               and the big blind calls

| code    | action                                                                           |
|---------|----------------------------------------------------------------------------------|
| 0, 1    | fold; check or call                                                              |
| 3       | all-in                                                                           |
| 40000+N | a raise of N % of the pot, on top of the call                                    |

Two lines for each hand: its name, and `frequency;EV`: the frequency of the action for a hand that
gets there, and its EV, with 2,000 to the big blind and chips put in before counted as lost.
"""

from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from allstreets.base import InputError, Place
from allstreets.betting import (
    BIG_BLINDS,
    ActionKind,
    BettingTree,
    NodeKind,
    Player,
    action_word,
    bb_text,
    line_text,
    pot_share,
)
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO, Range, RangeKind, weight_text
from allstreets.interop.export_kind import ExportKind
from allstreets.interop.hrc import hrc_files
from allstreets.interop.new_folder import README, write_folder
from allstreets.solutions import WholeSolution
from allstreets.storage import load

MONKER_CHIPS = 2000  # to the big blind
MONKER_CODES = {ActionKind.FOLD: 0, ActionKind.CHECK: 1, ActionKind.CALL: 1, ActionKind.ALL_IN: 3}
MONKER_RAISE = 40000
DIGITS = 2  # of weights: what a person reads
EV_DIGITS = 2  # of a 2,000th of a big blind
READABLE = 0o644  # the permissions of files in a .zip

ENDS = {
    NodeKind.FOLD: "the hand is over",
    NodeKind.SHOWDOWN: "both are all-in",
    NodeKind.CHANCE: "the flop is dealt",
}


File = tuple[Path, str, str]  # its path inside the folder, its text, a line of the README


def export_ranges(
    result: WholeSolution, folder: Path | str, kind: ExportKind | str, digits: int = DIGITS
) -> int:
    """Write the tree before the flop into a new folder; return the number of files.

    Weights have `digits` decimals: with two, hands below 0.5 % are left out.
    """
    return write_folder(Path(folder), _contents(result, ExportKind(kind), digits))


def zip_ranges(result: WholeSolution, kind: ExportKind | str, digits: int = DIGITS) -> bytes:
    """The files of `export_ranges` as one .zip; the same solution gives the same bytes."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as packed:
        for where, content in _contents(result, ExportKind(kind), digits):
            entry = ZipInfo(where.as_posix())  # of the earliest possible date
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, READABLE << 16
            packed.writestr(entry, content)
    return out.getvalue()


def load_tree(folder: Place | str) -> WholeSolution:
    """A solution that has a tree before the flop; an `InputError` for others."""
    result = load(folder)
    if not isinstance(result, WholeSolution) or result.unit.name != "bb":
        raise InputError(
            f"{folder} contains no betting before the flop: name a preflop or whole game"
        )
    return result


def _contents(result: WholeSolution, kind: ExportKind, digits: int) -> Iterator[tuple[Path, bytes]]:
    """Every file by its path inside the folder, one after the other; README.txt is the last."""
    listed = []
    layout = LAYOUTS.get(kind)
    files = _files(result, digits, RangeKind(kind)) if layout is None else layout(result, digits)
    for path, text, about in files:
        listed.append((path.as_posix(), about))
        yield path, f"{text}\n".encode()
    yield Path(README), _readme(result, kind, listed).encode()


def _files(result: WholeSolution, digits: int, kind: RangeKind) -> Iterator[File]:
    tree, reach = result.before.tree, result.before.reach
    for node in range(tree.node_count):
        if node and tree.actions[node] is None:  # what follows a flop
            continue
        line = line_text(tree, node, notation=BIG_BLINDS)
        where = Path(*line.split())
        for player in Player:
            held = Range(reach[node, player][HAND_OF_COMBO]).rounded(digits)
            path = where / f"{player.seat}{kind.suffix}"
            about = f"{line or 'the start'}: {player.seat}, {held.combos:.6g} combos"
            yield path, held.text(kind), f"{about}, {_next(tree, node)}"


def _next(tree: BettingTree, node: int) -> str:
    if tree.kind[node] == NodeKind.DECISION:
        return f"{tree.player_at(node).seat} acts"
    return ENDS[NodeKind(int(tree.kind[node]))]


def _monker_files(result: WholeSolution, digits: int) -> Iterator[File]:
    before, tree = result.before, result.before.tree
    names = {0: ""}
    for node in sorted(before.strategies):  # a parent comes before its children
        decision, taken = before.node(node).whole_hand(), set[int]()
        chances = np.nan_to_num(decision.strategy)
        for index, child in enumerate(tree.children_of(node).tolist()):
            code = _monker_code(tree, child)
            while code in taken:  # two raises of nearly the same size
                code += 1
            taken.add(code)
            names[child] = f"{names[node]}.{code}".lstrip(".")
            evs = decision.action_evs[index] * MONKER_CHIPS
            lines = (
                f"{name}\n{weight_text(round(float(chance), digits))};{_ev_text(float(ev))}"
                for name, chance, ev in zip(HAND_NAMES, chances[index], evs, strict=True)
            )
            line = line_text(tree, child, notation=BIG_BLINDS)
            word = action_word(tree, child, BIG_BLINDS)
            about = f"{line}: {decision.seat}, the frequency of {word} and its EV"
            path = Path(f"{names[child]}{RangeKind.monker.suffix}")
            yield path, "\n".join(lines), about


LAYOUTS: Mapping[ExportKind, Callable[[WholeSolution, int], Iterator[File]]] = {
    ExportKind.monker: _monker_files,
    ExportKind.hrc: hrc_files,
}
"""Those that are not a folder for each line."""


def _monker_code(tree: BettingTree, node: int) -> int:
    """The code of the action that led to a node."""
    action, share = tree.actions[node], pot_share(tree, node)
    assert action is not None
    if action.kind in MONKER_CODES:
        return MONKER_CODES[action.kind]
    assert share is not None
    return MONKER_RAISE + round(100 * share)


def _ev_text(ev: float) -> str:
    """An EV; 0 where none was learned, since the format needs a number."""
    return weight_text(round(ev, EV_DIGITS) + 0.0) if np.isfinite(ev) else "0"


CONTENTS = {
    ExportKind.monker: "an action of a decision: hand by hand frequency;EV (2000 to the big blind)",
    ExportKind.hrc: "a decision: actions, and hand by hand weight, frequencies and EVs in bb",
}


def _readme(result: WholeSolution, kind: ExportKind, files: list[tuple[str, str]]) -> str:
    name = result.facts.name or "a heads-up game"
    what = CONTENTS.get(
        kind, "the range of a player after a line: how often he has a combo and plays this line"
    )
    head = [
        f"Ranges before the flop of {name}, {bb_text(result.rules.stack)} bb deep, as {kind}.",
        f"Each file is {what}.",
        "Lines: f fold, x check, c call or limp, r2.5 raise to 2.5 bb, a all-in.",
        "",
    ]
    width = max(len(path) for path, _ in files)
    rows = [f"{path:<{width}}  {about}" for path, about in files]
    return "\n".join([*head, *rows]) + "\n"

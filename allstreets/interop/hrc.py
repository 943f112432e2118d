"""Preflop trees as Holdem Resources Calculator (HRC) exports them: JSON in a folder or a .zip.

    settings.json       stacks and blinds in chips, rake, the equity model
    nodes/0.json        the first decision, then every other one by its number

A node has the player who acts (`player`, by the order of acting before the flop: heads-up 0 is the
small blind), the actions that led there (`sequence`), and those on offer: `F` folds, `C` calls for
a number of chips, `R` raises to a total; a check is `C` or `X` with no amount. An action that leads
to another decision has its number. For every hand class a node has the `weight` that gets there,
the frequency (`played`) of each action, and its `evs` in big blinds from here on: folding is 0.

A larger table is read from where all others have folded to the small blind, which is a heads-up
game; folded cards count as unknown. The EVs of actions give the value of each pot that sees a flop
to both players, since a decision has at most one call or check:

    the caller:  the EV of his call
    the other:   the EV of his raise, less the part from folds and re-raises
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from allstreets.base import DamagedFileError, Floats, InputError, json_object, typed_record
from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    IP,
    OOP,
    ActionKind,
    BettingTree,
    NodeKind,
    Player,
    PreflopRules,
    action_word,
    bb_text,
    build_preflop_tree,
    line_text,
    neat,
    paid_at,
)
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_NAMES, preflop_equity
from allstreets.games import PreflopGame, Strategies
from allstreets.solutions import (
    PreflopRoots,
    PreflopStrategies,
    SolutionFacts,
    WholeSolution,
)
from allstreets.solvers import MBB_PER_CHIP

HRC = "HRC"
SETTINGS, NODES = "settings.json", "nodes"
FOLD, CALL, CHECK, RAISE = "F", "C", "X", "R"
CHIP_EV = "chipev"  # the equity model whose EVs are big blinds
REGULAR = "REGULAR"  # antes that every player posts
UNIT = 100  # of their chips, to one of ours: amounts with decimals become whole numbers
PLAYED_DIGITS, EV_DIGITS = 4, 5
MOST_NODES = 100_000
MOST_BYTES = 10_000_000  # of a file
AFTER_THE_FLOP = {
    "postflop_bet_sizes": "[60%]",
    "max_raises_per_street": 1,
    "cards": "boards",
    "flops": "subset_25",
}
"""The keys of a training file that HRC's trees do not have."""
SEATS = {IP: 0, OOP: 1}  # in the order of acting


@dataclass(frozen=True)
class HrcAction:
    """An action that a node offers."""

    type: str
    amount: float
    node: int | None = None  # the decision that follows


@dataclass(frozen=True)
class HrcHand:
    """A hand class at a node."""

    weight: float
    played: tuple[float, ...]  # [A]
    evs: tuple[float, ...] = ()  # [A]


@dataclass(frozen=True)
class HrcNode:
    """A decision."""

    player: int
    actions: tuple[HrcAction, ...]
    hands: dict[str, HrcHand]
    street: int = 0


@dataclass(frozen=True)
class HrcTable:
    """The stakes of a table."""

    stacks: tuple[float, ...]  # in the order of acting; the blinds are the last two
    blinds: tuple[float, ...]  # big blind, small blind, ante
    anteType: str = REGULAR  # noqa: N815 - its name in the file

    def chips(self, amount: float) -> float:
        """An amount of the export in our chips."""
        return neat(float(Fraction(str(amount)) * CHIPS_PER_BB / Fraction(str(self.blinds[0]))))


@dataclass(frozen=True)
class HrcModel:
    """The value of chips."""

    id: str = CHIP_EV
    raked: bool = False
    rakepct: float = 0.0  # a share of the pot
    rakecap: float = 0.0  # in chips; 0: no cap
    nfnd: bool = True  # no flop, no drop


class HrcExport:
    """The files of an export, in a folder or a .zip."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: ZipFile | None = None
        self._root = ""
        if path.is_file():
            try:
                self._zip = ZipFile(path)
            except (BadZipFile, OSError) as error:
                raise InputError(f"{path} is not a .zip of HRC: {error}") from None
            names = [name for name in self._zip.namelist() if name.endswith(SETTINGS)]
            self._root = min(names, key=len, default="").removesuffix(SETTINGS)

    @property
    def name(self) -> str:
        """The name of the folder or the .zip."""
        return self.path.resolve().name if self._zip is None else self.path.stem

    def read(self, name: str) -> dict[str, Any]:
        """The object in a JSON file."""
        try:
            return json_object(self._bytes(name))
        except (KeyError, FileNotFoundError):
            raise InputError(
                f"{self.path} has no {name}: name the folder or the .zip of an export of HRC, "
                f"which contains {SETTINGS} and {NODES}/"
            ) from None
        except DamagedFileError as error:
            raise InputError(f"{self.path}: {name}: {error}") from None

    def record(self, kind: type[Any], name: str, data: Mapping[str, Any]) -> Any:
        """A record from the data of a file."""
        try:
            return typed_record(kind, data)
        except DamagedFileError as error:
            raise InputError(f"{self.path}: {name}: {error}") from None

    def node(self, number: int) -> HrcNode:
        """A decision by its number."""
        name = f"{NODES}/{number}.json"
        node: HrcNode = self.record(HrcNode, name, self.read(name))
        return node

    def _bytes(self, name: str) -> bytes:
        if self._zip is None:
            file = self.path / name
            size, read = file.stat().st_size, file.read_bytes
        else:
            entry = self._zip.getinfo(f"{self._root}{name}")
            size, read = entry.file_size, lambda: self._zip.read(entry)  # type: ignore[union-attr]
        if size > MOST_BYTES:
            raise InputError(f"{self.path}: {name} has {size:,} bytes: too large for a node")
        return read()


def read_hrc(path: Path | str) -> WholeSolution:
    """The heads-up game of an export: its ranges, frequencies and EVs before the flop."""
    export = HrcExport(Path(path))
    settings = export.read(SETTINGS)
    table: HrcTable = export.record(HrcTable, SETTINGS, settings.get("handdata") or {})
    model: HrcModel = export.record(HrcModel, SETTINGS, settings.get("eqmodel") or {})
    _require_heads_up(export, table)
    first = _small_blinds_turn(export, len(table.stacks))
    lines, decisions = _decisions(export, first, table)
    rules = _rules(table, model, lines)
    tree = build_preflop_tree(rules)
    nodes = _by_node(tree, decisions)
    strategies: Strategies = {node: _played(tree, node, nodes[node]) for node in nodes}
    pairs = preflop_equity().pairs.astype(np.float64)
    before, worth = PreflopStrategies.known(tree, pairs, strategies, None), None
    known = all(hand.evs for each in nodes.values() for hand in each.node.hands.values())
    if model.id == CHIP_EV and known:
        evs = {node: _table(tree, node, nodes[node], "evs") for node in nodes}
        values = _values(before, rules, evs)
        before = PreflopStrategies.known(tree, pairs, strategies, values)
        oop, ip = (values[:, 0].sum(axis=1) / pairs.sum() * MBB_PER_CHIP).tolist()
        worth = oop, ip
    facts = SolutionFacts(0, HRC, None, values=worth, name=export.name)
    return WholeSolution(PreflopRoots(rules, before), None, facts)


def _require_heads_up(export: HrcExport, table: HrcTable) -> None:
    """Refuse tables that are not a heads-up game once all others have folded to the blinds."""
    if len(table.stacks) < 2 or len(table.blinds) < 3:
        raise InputError(f"{export.path}: {SETTINGS}: stacks and blinds are not as written")
    big, small, ante = table.blinds[:3]
    if not (big > 0 and 0 <= small <= big and ante >= 0 and min(table.stacks[-2:]) > 0):
        raise InputError(f"{export.path}: {SETTINGS}: blinds {big:g}/{small:g} are not a game")
    if ante and (len(table.stacks) > 2 or table.anteType != REGULAR):
        raise InputError(
            f"{export.path}: antes of {table.anteType} kind by {len(table.stacks)} players: only "
            "heads-up tables where both post the ante are read"
        )


def _small_blinds_turn(export: HrcExport, players: int) -> int:
    """The node where all others have folded to the small blind."""
    number = 0
    for player in range(players - 1):
        node = export.node(number)
        if node.player != player:
            raise InputError(f"{export.path}: player {node.player} acts first, not {player}")
        if player == players - 2:
            return number
        folds = [action.node for action in node.actions if action.type == FOLD]
        if not folds or folds[0] is None:
            break
        number = folds[0]
    raise InputError(f"{export.path} has no blind against blind: no line is folded to the blinds")


@dataclass(frozen=True)
class _Decision:
    """A decision before the flop, with the words of its actions."""

    node: HrcNode
    words: tuple[str, ...]


def _decisions(
    export: HrcExport, first: int, table: HrcTable
) -> tuple[list[str], dict[str, _Decision]]:
    """The lines of the tree below a node, and every decision by the line to it."""
    lines: list[str] = []
    decisions: dict[str, _Decision] = {}
    waiting, seats = [(first, "")], len(table.stacks)
    seen = {first}
    all_in = table.chips(min(table.stacks[-2:]) - table.blinds[2])
    while waiting:
        number, line = waiting.pop()
        node = export.node(number)
        turn = seats - 2 + len(line.split()) % 2
        if node.player != turn or not node.actions:
            raise InputError(
                f"{export.path}: node {number} is not a decision of player {turn}, who acts there"
            )
        for name, hand in node.hands.items():
            if {len(hand.played), len(hand.evs) or len(hand.played)} != {len(node.actions)}:
                raise InputError(
                    f"{export.path}: node {number}: {name} does not have a number for each action"
                )
        words = tuple(_word(export, number, action, table, all_in) for action in node.actions)
        if len(set(words)) < len(words):
            raise InputError(f"{export.path}: node {number} has two raises of the same size")
        decisions[line] = _Decision(node, words)
        if len(decisions) > MOST_NODES:
            raise InputError(f"{export.path} has more than {MOST_NODES:,} decisions")
        for action, word in zip(node.actions, words, strict=True):
            after = f"{line} {word}".strip()
            if action.node is None or export.node(action.node).street:
                lines.append(after)
                continue
            if action.node in seen:
                raise InputError(f"{export.path}: two actions lead to node {action.node}")
            seen.add(action.node)
            waiting.append((action.node, after))
    return lines, decisions


def _word(export: HrcExport, number: int, action: HrcAction, table: HrcTable, all_in: float) -> str:
    """The word of an action; raises are rounded to a hundredth of a big blind."""
    if action.type in (CALL, CHECK):
        return "c" if action.amount else "x"
    if action.type == FOLD:
        return "f"
    if action.type != RAISE:
        raise InputError(f"{export.path}: node {number}: action '{action.type}' is not known")
    total = round(table.chips(action.amount))
    return "a" if total >= all_in else f"r{bb_text(total)}"


def _rules(table: HrcTable, model: HrcModel, lines: Sequence[str]) -> PreflopRules:
    """The rules of the heads-up game."""
    big, small, ante = (table.chips(amount) for amount in table.blinds[:3])
    cap = table.chips(model.rakecap) if model.raked and model.rakecap else None
    return PreflopRules(
        stack=table.chips(min(table.stacks[-2:])),
        raise_sizes=((), ()),
        raise_cap=None,
        ante=ante,
        small_blind=small,
        big_blind=big,
        rake=model.rakepct if model.raked else 0.0,
        rake_cap=cap,
        no_flop_no_drop=model.nfnd,
        lines=tuple(lines),
    )


def _by_node(tree: BettingTree, decisions: Mapping[str, _Decision]) -> dict[int, _Decision]:
    """Every decision of the tree, as in the export."""
    return {
        node: decisions[line_text(tree, node, notation=BIG_BLINDS)] for node in tree.decisions()
    }


def _table(tree: BettingTree, node: int, decision: _Decision, key: str) -> Floats:
    """[A, 169]: frequencies or EVs of a decision, in the order of the tree; NaN: not given."""
    words = [action_word(tree, child, BIG_BLINDS) for child in tree.children_of(node).tolist()]
    order = [decision.words.index(word) for word in words]
    table = np.full((len(order), HAND_COUNT), np.nan)
    for number, name in enumerate(HAND_NAMES):
        hand = decision.node.hands.get(name)
        numbers = () if hand is None else getattr(hand, key)
        if len(numbers) == len(order):
            table[:, number] = [numbers[action] for action in order]
    return table


def _played(tree: BettingTree, node: int, decision: _Decision) -> Floats:
    """[A, 169]: the strategy; hands missing from the export play uniformly."""
    chances = np.nan_to_num(np.clip(_table(tree, node, decision, "played"), 0, 1))
    total = chances.sum(axis=0)
    return np.where(total > 0, chances / np.where(total > 0, total, 1), 1 / len(chances))


def _values(before: PreflopStrategies, rules: PreflopRules, evs: Mapping[int, Floats]) -> Floats:
    """[2, N, 169]: chips times pairs of combos, from EVs [A, 169] of every decision in bb."""
    tree, stack = before.tree, rules.stack
    game = PreflopGame.dealt(tree, rules, before.pairs)
    met: Floats = before.reach[:, ::-1] @ before.pairs  # [N, 2, 169]: opposing combos of each hand
    values = np.stack([game.terminal_values(p, before.reach[:, p.opponent]) for p in Player])
    for node in reversed(tree.decisions()):  # the EVs of the player who acts
        player, children = tree.player_at(node), tree.children_of(node)
        whole = np.nan_to_num(evs[node]) * CHIPS_PER_BB - paid_at(tree, tree.pot, node)[player]
        values[player, children] = whole * met[node, player]
        values[player, node] = (before.strategies[node] * values[player, children]).sum(axis=0)
    for node in tree.decisions():  # of the other player: the rest of his value above
        opponent, children = tree.player_at(node).opponent, tree.children_of(node)
        flop = children[tree.kind[children] == NodeKind.CHANCE]
        if node and len(flop):
            # It is still 0 there.
            rest = values[opponent, node] - values[opponent, children].sum(axis=0)
            most = stack * met[flop[0], opponent]
            values[opponent, flop[0]] = np.clip(rest, -most, most)
    other = tree.player_at(0).opponent
    values[other, 0] = values[other, tree.children_of(0)].sum(axis=0)
    return values


def training_file(solution: WholeSolution) -> str:
    """A training file of the whole game with the tree before the flop of an imported solution."""
    rules = solution.rules
    keys: dict[str, Any] = {"stack_depth": neat(rules.stack / CHIPS_PER_BB)}
    usual = {"small_blind": 0.5, "big_blind": 1.0, "ante": 0.0}
    for name, value in usual.items():
        given = getattr(rules, name) / CHIPS_PER_BB
        keys |= {} if given == value else {name: given}
    if rules.rake:
        keys |= {"rake": rules.rake, "no_flop_no_drop": rules.no_flop_no_drop}
        if rules.rake_cap is not None:
            keys["rake_cap"] = rules.rake_cap / CHIPS_PER_BB
    given = [f"  {key}: {json.dumps(value)}" for key, value in keys.items()]
    name = json.dumps(f"{solution.name or HRC}, whole game")
    return "\n".join(
        [
            f"# The tree before the flop is that of {HRC}. Sizes after the flop, cards, flops are",
            "# to be chosen: docs/training.md.",
            f"name: {name}",
            "solver:",
            "  type: unified_cfr",
            *given,
            "  preflop_lines:",
            *(f"    - {json.dumps(line)}" for line in rules.lines),
            *(f"  {key}: {value}" for key, value in AFTER_THE_FLOP.items()),
            "",
        ]
    )


def hrc_files(result: WholeSolution, digits: int) -> Iterator[tuple[Path, str, str]]:
    """Path, text and a line about each file of an export, of a preflop or whole game."""
    rules, tree = result.rules, result.before.tree
    if rules.bb_ante:
        raise InputError("the format of HRC is not known to have a big-blind ante: none is written")
    yield Path(SETTINGS), json.dumps(_settings(result), indent=2), "stacks, blinds and rake"
    numbers = {node: number for number, node in enumerate(tree.decisions())}
    for node, number in numbers.items():
        line = line_text(tree, node, notation=BIG_BLINDS)
        about = f"{line or 'the start'}: {tree.player_at(node).seat} acts"
        data = json.dumps(_node(result, node, numbers, max(digits, PLAYED_DIGITS)), indent=2)
        yield Path(NODES) / f"{number}.json", data, about


def _settings(result: WholeSolution) -> dict[str, Any]:
    rules = result.rules
    blinds = (rules.big_blind, rules.small_blind, rules.ante)
    return {
        "handdata": {
            "stacks": [_units(rules.stack)] * 2,
            "blinds": [_units(chips) for chips in blinds],
            "skipSb": False,
            "movingBu": False,
            "anteType": REGULAR,
        },
        "treeconfig": {"mode": "scripted"},
        "engine": {
            "type": "allstreets",
            "maxactive": 2,
            "configuration": {
                "abstractions": [{"street": 0, "buckets": HAND_COUNT}]
                + [{"street": street, "buckets": _hands(result)} for street in (1, 2, 3)]
            },
        },
        "eqmodel": {
            "rakecap": _units(rules.rake_cap or 0),
            "rakepct": rules.rake,
            "id": CHIP_EV,
            "nfnd": rules.no_flop_no_drop,
            "raked": rules.rake > 0,
        },
    }


def _hands(result: WholeSolution) -> int:
    """The hands of a player after the flop: combos or hand classes."""
    combos = result.is_game and result.cards.plays_combos
    return COMBO_COUNT if combos else HAND_COUNT


def _units(chips: float) -> int:
    return round(chips * UNIT)


def _node(
    result: WholeSolution, node: int, numbers: Mapping[int, int], digits: int
) -> dict[str, Any]:
    """A decision as in a file."""
    tree, decision = result.before.tree, result.before.node(node)
    path = [step for step in tree.path_to(node) if step]
    strategy, evs = decision.strategy, np.nan_to_num(decision.action_evs)
    children = tree.children_of(node).tolist()
    return {
        "player": SEATS[tree.player_at(node)],
        "street": 0,
        "children": len(children),
        "sequence": [_action(tree, step, tree.player_at(int(tree.parent[step]))) for step in path],
        "actions": [
            _action(tree, child) | ({"node": numbers[child]} if child in numbers else {})
            for child in children
        ],
        "hands": {
            name: {
                "weight": round(float(decision.own.reach[hand]), digits),
                "played": [round(chance, digits) for chance in strategy[:, hand].tolist()],
                "evs": [round(ev, EV_DIGITS) for ev in evs[:, hand].tolist()],
            }
            for hand, name in enumerate(HAND_NAMES)
        },
    }


def _action(tree: BettingTree, node: int, player: Player | None = None) -> dict[str, Any]:
    """The action that led to a node; with its player in the path to a decision."""
    action, before = tree.actions[node], int(tree.parent[node])
    assert action is not None
    kind, amount = RAISE, action.amount
    if action.kind == ActionKind.FOLD:
        kind, amount = FOLD, 0
    elif not action.is_aggressive:
        kind, amount = CALL, tree.to_call_at(before)
    seat = {} if player is None else {"player": SEATS[player]}
    return {**seat, "type": kind, "amount": _units(amount)}

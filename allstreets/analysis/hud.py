"""A player's HUD numbers (VPIP, 3-bet, fold to c-bet …) as frequencies of decisions.

A number counts an action over all decisions of one situation: a small blind's fold to a 3-bet
counts after every open and 3-bet that the tree has. `SITUATIONS` defines these decisions, `NUMBERS`
the actions that each number counts there.

A number is a mean over its decisions, each weighted by how often play gets there. Of all strategies
with that mean the cheapest is taken, as for one decision (`games.changed_strategy`):
1. A part is a hand at a decision (after the flop, on one flop) with an action that it takes. It can
move to classes of actions: a class is counted by the same numbers.
2. Parts move between classes until every number is met; those that lose least EV move first.
3. The resulting frequencies of each decision are its bounds, and lock it as any others do
(`frequency_locks`). Situations come in the order of play, so that a range changed by one is the
range that gets to the next.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from allstreets.analysis.exploit import Held
from allstreets.analysis.game_play import GamePlay
from allstreets.base import Flags, Floats, InputError, Longs, csv_rows, shorten, suggest
from allstreets.betting import (
    ANY_CARD_WORD,
    BIG_BLINDS,
    BLINDS_AND_CARDS,
    ActionKind,
    BettingTree,
    NodeKind,
    Player,
    Street,
    action_text,
    line_text,
    whole_line,
)
from allstreets.games import Bound, GameNode, WholeGame, changed_strategy
from allstreets.solutions import WholeSolution

COLUMNS = ("number", "frequency")
ROUNDED = 0.02  # people write rounded numbers: the tolerance of their sums
LEAST_SHARE = 1e-3  # of a situation: decisions reached less often were hardly learned

RAISES = frozenset({ActionKind.BET, ActionKind.RAISE, ActionKind.ALL_IN})
FOLD, CALL = frozenset({ActionKind.FOLD}), frozenset({ActionKind.CALL})


@dataclass(frozen=True)
class Past:
    """The actions before a decision, as HUD numbers count them."""

    player: Player  # who acts
    street: Street
    raisers: tuple[Player, ...]  # before the flop, the first one first
    limped: bool
    faces_allin: bool
    flop_bets: int
    donked: bool  # whether the first bet on the flop came from the player who did not raise last


Situation = Callable[[Past], bool]


def _before_flop(raises: int) -> Situation:
    """Facing the last of `raises` raises, not an all-in."""
    return lambda past: (
        past.street == Street.PREFLOP and len(past.raisers) == raises and not past.faces_allin
    )


def _and(*conditions: Situation) -> Situation:
    return lambda past: all(condition(past) for condition in conditions)


def _flop(past: Past) -> bool:
    return past.street == Street.FLOP and bool(past.raisers)


SITUATIONS: dict[str, Situation] = {
    "first in": _and(_before_flop(0), lambda past: past.player == Player.IP),
    "facing a limp": _and(_before_flop(0), lambda past: past.player == Player.OOP),
    "facing an open raise": _and(_before_flop(1), lambda past: past.player == Player.OOP),
    "a limp was raised": _and(_before_flop(1), lambda past: past.player == Player.IP),
    "facing a 3-bet": _before_flop(2),
    "facing a 4-bet": _before_flop(3),
    "facing an all-in before the flop": (
        lambda past: past.street == Street.PREFLOP and past.faces_allin
    ),
    "may lead into the raiser": _and(
        _flop,
        lambda past: past.player == Player.OOP,
        lambda past: past.raisers[-1] == Player.IP,
        lambda past: past.flop_bets == 0,
    ),
    "may c-bet": _and(
        _flop, lambda past: past.raisers[-1] == past.player, lambda past: past.flop_bets == 0
    ),
    "facing a c-bet": _and(
        _flop,
        lambda past: past.raisers[-1] != past.player,
        lambda past: past.flop_bets == 1 and not past.donked,
    ),
}
"""In the order of play."""


@dataclass(frozen=True)
class Number:
    """A number of a HUD: the frequency of actions in a situation."""

    key: str
    label: str
    situation: str
    counts: frozenset[ActionKind]
    others: bool = False  # whether it counts all actions but these

    def flags(self, tree: BettingTree, node: int) -> Flags:
        """[A]: the actions of a decision that it counts."""
        named = [(action.kind in self.counts) != self.others for action in tree.actions_at(node)]
        return np.array(named, np.bool_)


ALL_IN = frozenset({ActionKind.ALL_IN})
NUMBERS = (
    Number("vpip", "VPIP", "first in", FOLD, others=True),
    Number("pfr", "PFR", "first in", RAISES),
    Number("limp", "limp", "first in", CALL),
    Number("open_jam", "open all-in", "first in", ALL_IN),
    Number("raise_limp", "raise a limp", "facing a limp", RAISES),
    Number("fold_to_open", "fold to an open raise", "facing an open raise", FOLD),
    Number("3bet", "3-bet", "facing an open raise", RAISES),
    Number("limp_fold", "limp and fold", "a limp was raised", FOLD),
    Number("limp_raise", "limp and raise", "a limp was raised", RAISES),
    Number("fold_to_3bet", "fold to a 3-bet", "facing a 3-bet", FOLD),
    Number("4bet", "4-bet", "facing a 3-bet", RAISES),
    Number("fold_to_4bet", "fold to a 4-bet", "facing a 4-bet", FOLD),
    Number("fold_to_jam", "fold to an all-in", "facing an all-in before the flop", FOLD),
    Number("donk", "lead into the raiser", "may lead into the raiser", RAISES),
    Number("cbet", "c-bet", "may c-bet", RAISES),
    Number("fold_to_cbet", "fold to a c-bet", "facing a c-bet", FOLD),
    Number("raise_cbet", "raise a c-bet", "facing a c-bet", RAISES),
)
OTHER_NAMES = {
    "rfi": "pfr",
    "3b": "3bet",
    "threebet": "3bet",
    "4b": "4bet",
    "fourbet": "4bet",
    "iso": "raiselimp",
    "foldtoraise": "foldtoopen",
    "foldtosteal": "foldtoopen",
    "foldtothreebet": "foldto3bet",
    "f3b": "foldto3bet",
    "foldtoallin": "foldtojam",
    "flopcbet": "cbet",
    "foldtoflopcbet": "foldtocbet",
    "fcb": "foldtocbet",
}


@dataclass(frozen=True)
class HudEntry:
    """A number of a player, as written."""

    number: Number
    bound: Bound

    @property
    def where(self) -> str:
        """The source of the number, for messages."""
        return self.bound.where


def read_hud(text: str, source: str) -> list[HudEntry]:
    """The rows of a CSV text with the columns number and frequency; others are ignored.

    Frequencies are 60%, 60 or 0.6, <=60% or >=60%; from 1 on numbers are per cent.
    """
    lines = io.StringIO(text.removeprefix("\ufeff"), newline=None)
    columns: list[int] | None = None
    asked: dict[str, HudEntry] = {}
    for line, row in csv_rows(lines, source):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        where = f"{source}, line {line}"
        if columns is None:
            names = [cell.lower() for cell in cells]
            if not set(COLUMNS) <= set(names):
                raise InputError(f"{where}: the first line names the columns number, frequency")
            columns = [names.index(name) for name in COLUMNS]
            continue
        if len(cells) <= max(columns):
            raise InputError(f"{where}: write a number and its frequency: fold_to_cbet,60%")
        statistic = ask(cells[columns[0]], cells[columns[1]], where)
        if statistic.number.key in asked:
            raise InputError(f"{where}: {statistic.number.key} is given twice")
        asked[statistic.number.key] = statistic
    if not asked:
        raise InputError(f"{source} has no numbers: write lines such as 'fold_to_cbet,60%'")
    return list(asked.values())


def ask(name: str, frequency: str, where: str) -> HudEntry:
    """A number by its name, in any spelling: "fold to c-bet", "FoldToCbet"."""
    by_name = {_plain(number.key): number for number in NUMBERS}
    plain = _plain(name)
    number = by_name.get(OTHER_NAMES.get(plain, plain))
    if number is None:
        known = [each.key for each in NUMBERS]
        raise InputError(
            f"{where}: '{shorten(name)}' is not a known number: {suggest(name, known)}"
        )
    bare = re.fullmatch(r"\s*(<=|>=|=)?\s*(\d+(?:\.\d*)?)\s*", frequency)
    if bare is not None and float(bare[2]) >= 1:
        frequency = f"{bare[1] or ''}{bare[2]}%"
    return HudEntry(number, Bound.read(number.key, number.key, frequency, where))


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]", "", name.lower())


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions of a player that a number counts."""

    number: Number
    player: Player
    targets: tuple[GameNode, ...]

    @property
    def counted(self) -> list[tuple[GameNode, Flags]]:
        """The decisions, each with the actions [A] that count."""
        return [(each, self.number.flags(each.tree, each.node)) for each in self.targets]


def decisions_of(game: WholeGame, number: Number, player: Player) -> Decisions:
    """The decisions of a player that a number counts; none, where the tree has no such one."""
    fits = SITUATIONS[number.situation]
    chosen = []
    for target, past in _decisions(game):
        flags = number.flags(target.tree, target.node)
        if past.player == player and fits(past) and flags.any() and not flags.all():
            chosen.append(target)
    return Decisions(number, player, tuple(chosen))


def _decisions(game: WholeGame) -> Iterator[tuple[GameNode, Past]]:
    """The decisions before the flop and on it, with what has happened before."""
    for node in game.tree.decisions():
        yield (
            GameNode(game.tree, node, None, line_text(game.tree, node, notation=BIG_BLINDS)),
            _past(game.tree, node),
        )
    for pot in game.pots:
        root = pot.pot.node
        above, line = _past(game.tree, root), line_text(game.tree, root, notation=BIG_BLINDS)
        for node in pot.tree.decisions(Street.FLOP):
            after = line_text(pot.tree, node, notation=BLINDS_AND_CARDS)
            target = GameNode(pot.tree, node, root, whole_line(line, ANY_CARD_WORD, after))
            yield target, _past(pot.tree, node, above.raisers)


def _past(tree: BettingTree, node: int, raisers: tuple[Player, ...] = ()) -> Past:
    """The actions that lead to a node; `raisers` are those of the street before."""
    before = tree.first_street == Street.PREFLOP
    bettors: list[Player] = []
    limped = False
    path = tree.path_to(node)
    for here, below in pairwise(path):
        action = tree.actions[below]
        if tree.kind[here] != NodeKind.DECISION or action is None:
            continue
        if action.is_aggressive:
            bettors.append(tree.player_at(here))
        limped |= before and action.kind == ActionKind.CALL and here == 0
    decides = tree.kind[node] == NodeKind.DECISION
    player = tree.player_at(node) if decides else Player.OOP
    allin = decides and tree.stack_at(node, player.opponent) == 0
    return Past(
        player,
        Street(int(tree.street[node])),
        tuple(bettors) if before else raisers,
        limped,
        allin,
        0 if before else len(bettors),
        not before and bool(bettors) and bool(raisers) and bettors[0] != raisers[-1],
    )


@dataclass(frozen=True, eq=False)
class HudLocks:
    """The numbers of a player as frequencies of his decisions."""

    player: Player
    asked: tuple[tuple[HudEntry, Decisions], ...]
    bounds: tuple[Bound, ...]  # of each decision

    def held(self, before: GamePlay, now: GamePlay) -> list[Held]:
        """The value of each number in the solution, and with the locks."""
        return [
            Held(
                f"{self.player.seat}: {asked.number.label}",
                asked.bound.words,
                before.frequency(decisions.counted)[0],
                now.frequency(decisions.counted)[0],
            )
            for asked, decisions in self.asked
        ]


def hud_seat(game: WholeGame, asked: Sequence[HudEntry], seat: Player | None = None) -> Player:
    """The seat in which a player has all of these numbers; refuse numbers that no seat has.

    `seat` is his seat; None: only one seat may have them all.
    """
    seats = list(Player) if seat is None else [seat]
    for each in asked:
        having = [p for p in Player if decisions_of(game, each.number, p).targets]
        if not having:
            raise _no_decision(game, each)
        if seat is not None and seat not in having:
            raise _no_decision(game, each, seat)
        seats = [seat for seat in seats if seat in having]
    if len(seats) == 1:
        return seats[0]
    why = "count in both seats" if seats else "are of both seats"
    raise InputError(f"these numbers {why}: name the player's seat, --opponent bb or --opponent sb")


def _no_decision(game: WholeGame, asked: HudEntry, player: Player | None = None) -> InputError:
    """A number without a decision, and the numbers that there are."""
    players = list(Player) if player is None else [player]
    whose = "" if player is None else f" of {player.seat}"
    own = [
        number.key
        for number in NUMBERS
        if any(decisions_of(game, number, each).targets for each in players)
    ]
    there = f"the numbers{whose} here are {', '.join(own)}" if own else f"there are none{whose}"
    return InputError(
        f"{asked.where}: {asked.number.key} counts nothing here: the tree has no decision{whose} "
        f"'{asked.number.situation}'; {there}"
    )


def hud_locks(result: WholeSolution, asked: Sequence[HudEntry], player: Player) -> HudLocks:
    """The frequencies of a player's decisions that meet his numbers at the least cost."""
    game = result.game
    counted = [(each, decisions_of(game, each.number, player)) for each in asked]
    for each, decisions in counted:
        if not decisions.targets:
            raise _no_decision(game, each, player)
    bounds: list[Bound] = []
    play = GamePlay(result, player)
    for situation in SITUATIONS:
        here = [pair for pair in counted if pair[0].number.situation == situation]
        if not here:
            continue
        after_flop = here[0][1].targets[0].root is not None
        if after_flop and not result.has_flops:
            raise InputError(
                f"{here[0][0].where}: {here[0][0].number.key} counts decisions after the flop, of "
                "which this solution stores none"
            )
        new = _bounds(play, here)
        bounds += new
        if not after_flop:
            play = play.with_strategies(_met(play, here[0][1].targets, new))
    return HudLocks(player, tuple(counted), tuple(bounds))


def _met(play: GamePlay, targets: Sequence[GameNode], bounds: Sequence[Bound]) -> dict[int, Floats]:
    """Decision before the flop → [A, 169]: a strategy that meets its bounds."""
    met = {}
    for target in targets:
        shares = np.array([bound.least for bound in bounds if bound.line == target.line])
        if shares.size:
            ((strategy, evs, weights),) = play.plays_with_evs(target)
            met[target.node] = changed_strategy(strategy, evs, weights, shares, shares)
    return met


def _bounds(play: GamePlay, asked: Sequence[tuple[HudEntry, Decisions]]) -> list[Bound]:
    """Bounds of every decision of a situation."""
    targets = asked[0][1].targets
    signatures = [
        np.stack([each.number.flags(t.tree, t.node) for each, _ in asked]).T for t in targets
    ]  # [A, numbers] by decision
    classes = sorted({tuple(row) for flags in signatures for row in flags.tolist()})
    least, most = _class_limits(asked, classes)
    rows: list[tuple[int, int, int, Floats, Floats, Longs]] = []
    plays = [list(play.plays_with_evs(target)) for target in targets]
    totals = [sum(float(weights.sum()) for _, _, weights in each) for each in plays]
    if not sum(totals) > 0:
        raise InputError(
            f"{asked[0][0].where}: {asked[0][0].number.key}: no hand of {play.player.seat} gets to "
            "such a decision in this solution"
        )
    fixed = np.zeros(len(classes))  # the play where nothing is moved
    for number, (flags, each) in enumerate(zip(signatures, plays, strict=True)):
        homes = np.array([classes.index(tuple(row)) for row in flags.tolist()])
        if totals[number] < LEAST_SHARE * sum(totals) or len(set(homes)) < len(classes):
            for strategy, _, weights in each:
                np.add.at(fixed, homes, strategy @ weights)
            continue
        for strategy, evs, weights in each:
            best, ways = _by_class(evs, strategy @ weights, homes, len(classes))
            for action, home in enumerate(homes.tolist()):
                held = np.flatnonzero((strategy[action] > 0) & (weights > 0))
                own = best[:, held].copy()
                own[home] = evs[action, held]
                rows.append(
                    (number, action, home, strategy[action, held] * weights[held], own,
                     ways[:, held])
                )  # fmt: skip
    sizes = [len(row[3]) for row in rows]
    weights = np.concatenate([row[3] for row in rows])
    homes = np.repeat([row[2] for row in rows], sizes)
    where = np.repeat([row[0] for row in rows], sizes)
    actions = np.repeat([row[1] for row in rows], sizes)
    evs = np.concatenate([row[4] for row in rows], axis=1)
    ways = np.concatenate([row[5] for row in rows], axis=1)
    least, most = (
        np.clip((share * sum(totals) - fixed) / (sum(totals) - fixed.sum()), 0.0, 1.0)
        for share in (least, most)
    )
    moved = changed_strategy(np.eye(len(classes))[:, homes], evs, weights, least, most)
    bounds = []
    for number, target in enumerate(targets):
        here = where == number
        if not here.any():
            continue
        taken = np.zeros(len(signatures[number]))
        for home in range(len(classes)):
            stays = here & (homes == home)
            np.add.at(taken, actions[stays], (moved[home] * weights)[stays])
            turns = here & (homes != home)
            np.add.at(taken, ways[home][turns], (moved[home] * weights)[turns])
        taken /= taken.sum()
        names = [action_text(a, BIG_BLINDS) for a in target.tree.actions_at(target.node)]
        bounds += [
            Bound(target.line, name, share, share, asked[0][0].where)
            for name, share in zip(names, taken.tolist(), strict=True)
        ]
    return bounds


def _by_class(evs: Floats, taken: Floats, homes: Floats, classes: int) -> tuple[Floats, Longs]:
    """([C, H] EVs, [C, H] actions): the best action of each class; NaN: none is known.

    Parts without known EVs move to the most frequent action of the class.
    """
    best = np.full((classes, evs.shape[1]), np.nan)
    ways = np.zeros((classes, evs.shape[1]), np.int64)
    for home in range(classes):
        members = np.flatnonzero(homes == home)
        known = np.nan_to_num(evs[members], nan=-np.inf)
        ways[home] = members[known.argmax(axis=0)]
        highest = known.max(axis=0)
        lost = ~np.isfinite(highest)
        ways[home, lost] = members[int(taken[members].argmax())]
        best[home] = np.where(lost, np.nan, highest)
    return best, ways


def _class_limits(
    asked: Sequence[tuple[HudEntry, Decisions]], classes: Sequence[tuple[bool, ...]]
) -> tuple[Floats, Floats]:
    """[C] twice: the least and the most often that each class is taken.

    Numbers of a situation contain each other (VPIP contains PFR and limps) or do not overlap, so
    the rest of one is the share of a separate class.
    """
    numbers = [each for each, _ in asked]
    if len(numbers) == 1:
        bound = numbers[0].bound
        least = np.array([bound.least if row[0] else 1 - bound.most for row in classes])
        most = np.array([bound.most if row[0] else 1 - bound.least for row in classes])
        return least, most
    inexact = [each for each in numbers if each.bound.least != each.bound.most]
    if inexact:
        others = " and ".join(each.number.key for each in numbers if each is not inexact[0])
        raise InputError(
            f"{inexact[0].where}: {inexact[0].number.key} is counted together with {others}: give "
            "one frequency for each, without <= or >="
        )
    shares = np.full(len(classes), np.nan)
    sets = [{c for c, row in enumerate(classes) if row[n]} for n in range(len(numbers))]
    order = sorted(range(len(numbers)), key=lambda n: len(sets[n]))
    whole = [*((sets[n], numbers[n].bound.least, numbers[n]) for n in order)]
    whole.append((set(range(len(classes))), 1.0, numbers[-1]))
    for members, share, each in whole:
        free = [c for c in members if np.isnan(shares[c])]
        left = share - sum(float(shares[c]) for c in members if not np.isnan(shares[c]))
        if left < -ROUNDED or (not free and abs(left) > ROUNDED) or len(free) > 1:
            listed = ", ".join(f"{n.number.key} {n.bound.words}" for n in numbers)
            raise InputError(f"{each.where}: these numbers contradict each other: {listed}")
        for c in free:
            shares[c] = max(left, 0.0)
    shares /= shares.sum()
    return shares, shares.copy()

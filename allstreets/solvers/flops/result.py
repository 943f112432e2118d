"""A model of flops, solved: the table over flops, and any flop's strategies by hand class.

A line is written as for a spot, `x b50% c | * | x`. No card is named, since the models average over
them: `| * |` may be left out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.base.files import Arrays
from allstreets.betting import (
    BettingTree,
    NodeKind,
    Player,
    PlayerSizes,
    Street,
    action_text,
    parse_line,
    pot_share,
)
from allstreets.betting.lines import ANY_CARD_WORD, SEPARATOR, VERBS
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Flop, hand_combos, hand_pairs, parse_flop
from allstreets.solvers.flops.game import POT, FlopGame, flop_game
from allstreets.solvers.flops.strategies import Floats, FlopStrategies
from allstreets.solvers.reached import Bools, LineReach, settled_actions
from allstreets.solvers.words import mix_lines
from allstreets.subgames.buckets import BucketCounts, build_bucket_model
from allstreets.subgames.matrix_model import POSTFLOP

NEXT_CARD = f"{SEPARATOR} {ANY_CARD_WORD} {SEPARATOR}"
CARD = re.compile("[2-9TJQKA][cdhs]", re.IGNORECASE)
SEATS = tuple(player.name for player in Player)


@dataclass(frozen=True, eq=False, repr=False)
class ClassStrategy:
    """A decision on a flop by hand class. Chips are thousandths of the starting pot."""

    flop: Flop
    spr: float
    line: str
    street: Street
    player: Player
    pot: int
    to_call: int
    actions: tuple[str, ...]  # [A]: as in a line: "x", "b50%", "r60%", "a"
    labels: tuple[str, ...]  # [A]: for people: "bet 50 %"
    strategy: Floats  # [A, 169]: probabilities; NaN for hands without a combo beside the flop
    reach: Floats  # [169]: how much of a hand gets here by its own actions
    weights: Floats  # [169]: pairs of combos of a hand and of the other player that get here
    line_reach: LineReach  # how much of both ranges, which start with every hand, gets here

    @property
    def reached(self) -> bool:
        """Whether enough of both ranges gets here for the strategy to have been learned."""
        return self.line_reach.reached

    @property
    def known_actions(self) -> Bools:
        """[A]: whether what follows each action was learned."""
        return self.line_reach.known

    def frequencies(self) -> Floats:
        """[A]: how often each action is taken over all hands that get here."""
        total = self.weights.sum()
        if not total > 0:
            return np.full(len(self.actions), np.nan)
        found: Floats = np.nan_to_num(self.strategy) @ self.weights / total
        return found

    def __repr__(self) -> str:
        """One line: where, who and what."""
        where = f"'{self.line}' on {self.flop.text} at SPR {self.spr:g}"
        return f"<ClassStrategy {where}: {self.player.name} has {', '.join(self.actions)}>"

    def __str__(self) -> str:
        """Some lines: where, who, and how often he does what."""
        call = f", {self.to_call / POT:g} to call" if self.to_call else ""
        why = self.line_reach.why_not(SEATS)
        lines = [
            f"{self.line or 'first decision'} on {self.flop.text}, SPR {self.spr:g}: "
            f"{self.player.name} to act, pot {self.pot / POT:g}{call} (starting pot = 1)",
            *([why] if why else []),
            *mix_lines(self.labels, self.frequencies(), None, self.line_reach.action_notes()),
        ]
        return "\n".join(lines)


class PostflopResult:
    """A solved model: `flops`, `strategy` and `values`."""

    def __init__(
        self,
        config: Mapping[str, Any],
        rows: tuple[dict[str, Any], ...],
        wanted: tuple[tuple[str, float], ...],
        arrays: Callable[[str, float], Arrays],
        seconds: float = 0.0,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        self.config = config
        self.wanted, self.seconds = wanted, seconds
        self.name, self.description = name, description
        self._rows, self._arrays = rows, arrays
        self._games: dict[float, FlopGame] = {}

    def __repr__(self) -> str:
        """One line: what it is, and how much of it is there."""
        return f"<PostflopResult {self._line()}>"

    def __str__(self) -> str:
        """Some lines: what it is, and what its ratios are worth."""
        lines = [self._line()]
        for spr in self.sprs:
            figures = summary_of([row for row in self._rows if row["spr"] == spr])
            lines.append(
                f"SPR {spr:g}: {figures['solved']:,} flops, exploitable for "
                f"{100 * figures['exploitability_mean']:.2f} % of the pot on average, EV OOP "
                f"{figures['ev_oop']:.3f}, IP {figures['ev_ip']:.3f} pots"
            )
        return "\n".join(lines)

    def _line(self) -> str:
        name = f"{self.name}: " if self.name else ""
        flops = len({row["flop"] for row in self._rows})
        missing = f", {len(self.missing):,} are missing" if self.missing else ""
        return f"{name}{self.config['solve_type']}, {flops:,} flops solved{missing}"

    @property
    def flops(self) -> list[dict[str, Any]]:
        """One row a flop and stack-to-pot ratio: pandas.DataFrame(result.flops) is a table.

        Exploitability, EVs and bet frequencies (OOP's first decision, IP's after a check) are
        shares: of the pot, of the pot, and of the hands that get there.
        """
        return [dict(row) for row in self._rows]

    @cached_property
    def sprs(self) -> tuple[float, ...]:
        """The stack-to-pot ratios that there are flops of, rising."""
        return tuple(sorted({float(row["spr"]) for row in self._rows}))

    @property
    def missing(self) -> list[tuple[str, float]]:
        """(flop, SPR) that were asked for and are not solved."""
        there = {(row["flop"], row["spr"]) for row in self._rows}
        return [key for key in self.wanted if key not in there]

    def row(self, flop: str, spr: float | None = None) -> dict[str, Any]:
        """The figures of a flop; any spelling will do."""
        text, ratio = self._key(flop, spr)
        return next(dict(row) for row in self._rows if (row["flop"], row["spr"]) == (text, ratio))

    def values(self, flop: str, spr: float | None = None) -> NDArray[np.float32]:
        """[2, 169, 169]: share of the pot of OOP and IP, own hand by row, the other's by column.

        Under the average strategies, in pots; 0.5 where the two hands cannot meet.
        """
        values = self._arrays(*self._key(flop, spr))["values"]
        return np.stack([values, 1.0 - values.T])

    def game(self, spr: float) -> FlopGame:
        """The betting at a stack-to-pot ratio."""
        if spr not in self._games:
            texts = self.config["sizes"]
            players = [
                PlayerSizes.parse(texts[street.text]["bet"], texts[street.text]["raise"])
                for street in POSTFLOP
            ]
            self._games[spr] = flop_game(
                spr,
                tuple((player, player) for player in players),
                self.config["max_raises_per_street"],
            )
        return self._games[spr]

    def strategies(self, flop: str, spr: float | None = None) -> FlopStrategies:
        """All strategies of a flop as they are kept: by class, or by bucket of each street."""
        text, ratio = self._key(flop, spr)
        arrays = self._arrays(text, ratio)
        count = sum(name.startswith("strategy.") for name in arrays)
        streets = (POSTFLOP,) if count == 1 else tuple((street,) for street in POSTFLOP)
        stored = tuple(arrays[f"strategy.{stage}"] for stage in range(count))
        return FlopStrategies(self.game(ratio).tree, streets, stored)

    def strategy(self, flop: str, line: str = "", spr: float | None = None) -> ClassStrategy:
        """The decision that a line leads to, by hand class; "" is the first one.

        In a model with buckets a class plays the mean of its combos' buckets, over the cards to
        come and weighted by how often it gets here.
        """
        text, ratio = self._key(flop, spr)
        kept, tree = self.strategies(text, ratio), self.game(ratio).tree
        node = find_decision(tree, line)
        player, found = tree.player_at(node), parse_flop(text).flop
        start = self.hands_of_classes(text, ratio)
        moves = self._moves(found, kept, node)
        played = [spread_at(kept, node, start, moves, who) for who in Player]
        reach = [spread.sum(axis=1) for spread in played]
        # A class that never gets here shows what it would do: its hands by the cards alone.
        dealt = spread_at(kept, node, start, moves, None)
        own = np.where(reach[player][:, None] > 0, played[player], dealt)
        combos = hand_combos(found.cards)
        held, shares = combos > 0, combos / combos.sum()
        chances = np.full((int(tree.child_count[node]), HAND_COUNT), np.nan)
        chances[:, held] = kept.at(node) @ own[held].T / own[held].sum(axis=1)
        children = tree.children_of(node).tolist()
        invested = tree.invested[node]
        return ClassStrategy(
            flop=found,
            spr=ratio,
            line=line_words(tree, node),
            street=Street(int(tree.street[node])),
            player=player,
            pot=int(tree.pot_at(node)),
            to_call=int(invested[player.opponent] - invested[player]),
            actions=tuple(action_word(tree, child) for child in children),
            labels=tuple(action_words(tree, child) for child in children),
            strategy=chances,
            reach=np.where(held, reach[player], 0.0),
            weights=reach[player] * (hand_pairs(found.cards) @ reach[player.opponent]),
            line_reach=LineReach(
                (float(reach[0] @ shares), float(reach[1] @ shares)),
                np.nan_to_num(chances) @ (reach[player] * shares),
                settled_actions(tree, node),
            ),
        )

    def hands_of_classes(self, flop: str, spr: float) -> Floats:
        """[169, H]: the shares of a class's combos in each hand of the first stage."""
        buckets = self._arrays(flop, spr).get("flop_buckets")
        if buckets is None:
            return np.eye(HAND_COUNT)
        live = np.flatnonzero(buckets >= 0)
        counts = np.zeros((HAND_COUNT, int(buckets.max()) + 1))
        np.add.at(counts, (HAND_OF_COMBO[live], buckets[live]), 1.0)
        shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        return shares

    def _moves(self, flop: Flop, kept: FlopStrategies, node: int) -> tuple[Floats, ...]:
        """Chances from bucket to bucket, if a node needs them. Found anew, since for all flops
        they would fill a disk.
        """
        if not kept.stages[node]:
            return ()
        return bucket_moves(flop.cards, tuple(self.config["buckets"]), self.config["seed"])

    def _key(self, flop: str, spr: float | None) -> tuple[str, float]:
        """(flop, SPR) of a flop in any spelling; an `InputError` if it is not solved."""
        text = parse_flop(flop).flop.text
        there = sorted(float(row["spr"]) for row in self._rows if row["flop"] == text)
        if not there:
            count = len({row["flop"] for row in self._rows})
            raise InputError(
                f"the flop {flop} ({text}) is not solved here; {count:,} others are: "
                "--format csv lists them"
            )
        if spr is None and len(there) == 1:
            return text, there[0]
        ratios = ", ".join(f"{ratio:g}" for ratio in there)
        if spr is None:
            raise InputError(f"the flop {flop} is solved at the SPRs {ratios}: say which by --spr")
        near = [ratio for ratio in there if abs(ratio - spr) < 1e-9 * max(ratio, 1.0)]
        if not near:
            raise InputError(f"the flop {flop} is not solved at the SPR {spr:g}, only at {ratios}")
        return text, near[0]


def summary_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures over flops; means are weighted by how often a flop is dealt."""
    weight = sum(row["multiplicity"] for row in rows)

    def mean(key: str) -> float | None:
        if not rows:
            return None
        return float(sum(row["multiplicity"] * row[key] for row in rows) / weight)

    return {
        "flops": len({row["flop"] for row in rows}),
        "sprs": sorted({float(row["spr"]) for row in rows}),
        "solved": len(rows),
        "converged": sum(bool(row["converged"]) for row in rows),
        "exploitability_mean": mean("exploitability"),
        "exploitability_max": max((row["exploitability"] for row in rows), default=None),
        "iterations_mean": mean("iterations"),
        "iterations_max": max((row["iterations"] for row in rows), default=None),
        "ev_oop": mean("ev_oop"),
        "ev_ip": mean("ev_ip"),
        "bet_oop": mean("bet_oop"),
        "bet_ip": mean("bet_ip"),
    }


@cache
def bucket_moves(
    cards: tuple[int, int, int], counts: tuple[int, int, int], seed: int
) -> tuple[Floats, ...]:
    """[K, K'] from flop to turn and from turn to river: where a bucket's combos go."""
    return build_bucket_model(cards, BucketCounts(*counts), seed).moves


def spread_at(
    kept: FlopStrategies,
    node: int,
    start: Floats,
    moves: tuple[Floats, ...],
    player: Player | None,
) -> Floats:
    """[R, H]: how rows spread over the hands of the first stage (`start` [R, H]) arrive at a node.

    On the way `player` has played his strategy; `None`: nobody has, the cards alone are dealt.
    """
    tree, spread = kept.tree, start
    for here, below in pairwise(tree.path_to(node)):
        if tree.kind[here] == NodeKind.DECISION and tree.player_at(here) == player:
            spread = spread * kept.at(here)[tree.children_of(here).tolist().index(below)]
        if kept.stages[below] != kept.stages[here]:
            spread = spread @ moves[int(kept.stages[here])]
    return spread


def find_decision(tree: BettingTree, line: str) -> int:
    """The decision that a line leads to; where a card is dealt the line goes on by itself."""
    node = find_node(tree, line)
    if tree.kind[node] != NodeKind.DECISION:
        raise InputError(f"line '{line}': nobody acts there any more")
    return node


def find_node(tree: BettingTree, line: str) -> int:
    """The decision or the end that a line leads to."""
    words: list[str] = []
    node = 0
    for word in [*line.replace(SEPARATOR, " ").split(), ""]:
        if tree.kind[node] == NodeKind.CHANCE:
            words.append(NEXT_CARD)
        if word not in ("", ANY_CARD_WORD):
            if CARD.fullmatch(word):
                raise InputError(
                    f"line '{line}': the model averages over the cards: write {ANY_CARD_WORD} for "
                    f"{word}, or leave it out"
                )
            words.append(word)
        node = parse_line(tree, " ".join(words), any_card=True).node
    if tree.kind[node] == NodeKind.CHANCE:
        node = int(tree.children_of(node)[0])
    return node


def line_words(tree: BettingTree, node: int) -> str:
    """The line to a node, sizes in per cent of the pot: "x b50% c | * | x"."""
    words = []
    for step in tree.path_to(node)[1:]:
        words.append(NEXT_CARD if tree.actions[step] is None else action_word(tree, step))
    return " ".join(words)


def action_word(tree: BettingTree, node: int) -> str:
    """The word of a line for the action that led to a node, sizes in per cent: "b50%"."""
    action = tree.actions[node]
    assert action is not None
    share = pot_share(tree, node)
    word = action_text(action)
    if share is None or word == "a":
        return word
    return f"{word[0]}{float(100 * share):.4g}%"


def action_words(tree: BettingTree, node: int) -> str:
    """What a person reads for that action: "raise 60 %"."""
    action = tree.actions[node]
    assert action is not None
    share = pot_share(tree, node)
    verb = VERBS[action.kind].removesuffix(" to")
    return verb if share is None else f"{verb} {round(100 * share)} %"

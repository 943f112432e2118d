"""The whole game: the cards that are dealt, the betting before the flop, and each pot after it.

With all 1,755 flops the cards are dealt as in the real game. With fewer, the flop is drawn from the
set first, by weight, and the hands beside it; when the players are all-in before the flop, the
board is dealt from the whole deck. Where no pot sees a flop, the hands are too.

`game_mapping` writes a game as plain data: a manifest stores it, and two games are compared by it.
Chips are whole numbers and sizes are written as canonical texts, so that the same game gives the
same data however its file was spelled, and `game_of` reads it back to the last bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    CHIPS_PER_BB,
    CHIPS_PER_POT,
    IP,
    OOP,
    BettingTree,
    FlopPot,
    NodeKind,
    Outcome,
    Player,
    PostflopRules,
    PreflopRules,
    Street,
    StreetSizes,
    TreeSize,
    build_postflop_tree,
    build_preflop_tree,
    flop_pots,
    lowest_bet,
    measure_postflop_tree,
    parse_raise_sizes,
    payoffs,
    postflop_rules,
    same_sizes,
    sizes_from_spot,
    tree_lines,
)
from allstreets.cards import HAND_COUNT, Flop, FlopSet, all_flops, preflop_equity
from allstreets.engines import (
    CLASSES,
    CPU,
    CardModel,
    DealtPairs,
    Engine,
    EngineSpec,
    MemoryMode,
)
from allstreets.games.locks import ClassLock, Lock, lock_mapping
from allstreets.games.spot import sizes_mapping
from allstreets.games.whole_game_locks import (
    GameLocks,
    GameNode,
    PotTree,
    find_game_locks,
    find_node,
)

Strategies = dict[int, Floats]  # decision → [A, 169]


@dataclass(frozen=True, eq=False)
class PreflopGame:
    """The betting before the flop, and the value of hands where it ends without a flop."""

    tree: BettingTree
    results: Floats  # [N, 2, 3]: `betting.payoffs`
    pots: tuple[FlopPot, ...]  # the leaves that see a flop
    pairs: Floats  # [169, 169] W: pairs of combos that are dealt
    margin: Floats  # [169, 169] M: Σ over these pairs of share won − share lost, all-in
    locks: Mapping[int, ClassLock] = field(default_factory=dict)  # by decision

    @classmethod
    def dealt(
        cls,
        tree: BettingTree,
        rules: PreflopRules,
        pairs: Floats,
        locks: Mapping[int, ClassLock] | None = None,
    ) -> "PreflopGame":
        """The game of a tree and its rules where `pairs` are dealt."""
        margin = pairs * (2 * preflop_equity().equity - 1)
        return cls(tree, payoffs(tree, rules), flop_pots(tree), pairs, margin, locks or {})

    @property
    def weight(self) -> float:
        """All pairs of combos: what values are divided by to be a mean over hands."""
        return float(self.pairs.sum())

    def reach(self, strategies: Strategies) -> Floats:
        """[N, 2, 169]: both players' probability of playing to each node, by hand."""
        tree = self.tree
        reach = np.ones((tree.node_count, 2, HAND_COUNT))
        for node in self.tree.decisions():
            children = tree.children_of(node)
            reach[children] = reach[node]
            reach[children, tree.player[node]] *= strategies[node]
        return reach

    def terminal_values(self, player: Player, opponent_reach: Floats) -> Floats:
        """[N, 169]: values where the hand ends before the flop; zeros elsewhere."""
        tree, results = self.tree, self.results[:, player]
        values = np.zeros((tree.node_count, HAND_COUNT))
        folds = np.flatnonzero(tree.kind == NodeKind.FOLD)
        shows = np.flatnonzero(tree.kind == NodeKind.SHOWDOWN)
        values[folds] = results[folds, Outcome.WIN, None] * (opponent_reach[folds] @ self.pairs)
        win, loss = results[shows, Outcome.WIN], results[shows, Outcome.LOSE]
        values[shows] = ((win - loss) / 2)[:, None] * (opponent_reach[shows] @ self.margin.T)
        values[shows] += ((win + loss) / 2)[:, None] * (opponent_reach[shows] @ self.pairs)
        return values

    def pot_reach(self, strategies: Strategies) -> Floats:
        """[2, P, 169]: both players' reach at the pots that see a flop."""
        reach = self.reach(strategies)[[pot.node for pot in self.pots]]
        return reach.transpose(1, 0, 2)

    def held(self, node: int, strategy: Floats) -> Floats:
        """[A, 169]: a strategy at a decision, with locked hands playing their locks."""
        lock = self.locks.get(node)
        return strategy if lock is None else np.where(lock.held, lock.strategy, strategy)

    def values(
        self, player: Player, leaf_values: Floats, *, best: bool, strategies: Strategies
    ) -> Floats:
        """[N, 169]: values when the opponent plays `strategies`; the player too, or his best.

        `leaf_values` [P, 169] are those of the pots that see a flop. Locked hands have no choice.
        """
        tree = self.tree
        reach = self.reach(strategies)
        values = self.terminal_values(player, reach[:, player.opponent])
        values[[pot.node for pot in self.pots]] = leaf_values
        for node in reversed(tree.decisions()):
            below = values[tree.children_of(node)]
            if tree.player[node] != player:
                values[node] = below.sum(axis=0)
            elif best:
                values[node] = below.max(axis=0)
                if lock := self.locks.get(node):
                    locked = (lock.strategy * below).sum(axis=0)
                    values[node] = np.where(lock.held, locked, values[node])
            else:
                values[node] = (strategies[node] * below).sum(axis=0)
        return values


def largest_one(ranges: Floats) -> Floats:
    """Ranges [..., 169] with a largest weight of 1; empty ones stay empty."""
    largest = ranges.max(axis=-1, keepdims=True)
    scaled: Floats = np.divide(ranges, largest, out=np.zeros_like(ranges), where=largest > 0)
    return scaled


@dataclass(frozen=True)
class PotGame:
    """The betting of a pot after the flop, whatever the flop."""

    pot: FlopPot
    rules: PostflopRules
    tree: BettingTree
    payoffs: Floats  # [N, 2, 3]


LARGEST_SPR = 1000.0


def model_stack(spr: float) -> int:
    """The chips behind beside a pot of `CHIPS_PER_POT`, at a stack-to-pot ratio."""
    stack = round(spr * CHIPS_PER_POT)
    if not 1 <= stack <= LARGEST_SPR * CHIPS_PER_POT:
        raise InputError(
            f"an SPR of {spr:g} cannot be played: stacks of {1 / CHIPS_PER_POT:g} to "
            f"{LARGEST_SPR:g} pots can"
        )
    return stack


def pot_at(
    spr: float,
    sizes: tuple[StreetSizes, ...] = same_sizes(Street.FLOP, [0.5, 1.0], [0.5, 1.0]),
    max_raises: int | None = 1,
) -> PotGame:
    """The pot of a stack-to-pot ratio, without a game before the flop; sizes by street."""
    stack = model_stack(spr)
    rules = PostflopRules(Street.FLOP, CHIPS_PER_POT, stack, sizes, max_raises=max_raises)
    tree = build_postflop_tree(rules)
    pot = FlopPot(node=0, pot=CHIPS_PER_POT, stack=stack, raises=0, name=f"spr{spr:.12g}")
    return PotGame(pot, rules, tree, payoffs(tree, rules))


@dataclass(frozen=True, eq=False)
class WholeGame:
    """Rules before and after the flop, and the flops that may come."""

    preflop: PreflopRules
    sizes: tuple[StreetSizes, ...]  # flop, turn, river; of pots that have no own
    flops: FlopSet
    max_raises: int | None = None  # per street, after the flop
    add_allin_threshold: float = 0.0
    force_allin_threshold: float = 0.0
    merging_threshold: float = 0.0
    pot_sizes: Mapping[str, tuple[StreetSizes, ...]] = field(default_factory=dict)
    """The sizes of kinds of pots (`POT_KINDS`) that have their own."""
    min_bet: float | None = None  # in chips; None: a big blind
    lock: tuple[Lock, ...] = ()  # strategies that are held fixed

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: other processes build the trees themselves."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def tree(self) -> BettingTree:
        """The betting before the flop."""
        return build_preflop_tree(self.preflop)

    @cached_property
    def flop_pots(self) -> tuple[FlopPot, ...]:
        """The pots that see a flop, in pre-order of the preflop tree."""
        return flop_pots(self.tree)

    @cached_property
    def tree_sizes(self) -> tuple[TreeSize, ...]:
        """The size of the tree of each of these pots, measured without building it."""
        return tuple(measure_postflop_tree(self._free_rules(pot)) for pot in self.flop_pots)

    @cached_property
    def pots(self) -> tuple[PotGame, ...]:
        """The betting of these pots after the flop."""
        return tuple(self.after_the_flop(pot) for pot in self.flop_pots)

    @cached_property
    def locks(self) -> GameLocks:
        """The locks, found in the trees and checked."""
        return find_game_locks(self.tree, self._free_tree, self.lock)

    def node_at(self, line: str, where: str) -> GameNode:
        """The decision that a line leads to, on every flop; `where` names it in messages."""
        return find_node(self.tree, self._free_tree, line, where)

    @cached_property
    def _free_tree(self) -> PotTree:
        """The tree of the pot that sees the flop at a node, without locks; built once."""
        pots = {pot.node: pot for pot in self.flop_pots}
        return cache(lambda node: build_postflop_tree(self._free_rules(pots[node])))

    @property
    def roughly(self) -> "WholeGame":
        """The game without locks by hand or by flop after the flop: hand classes can play the
        others.

        For estimates, which are made with hand classes whatever the game is solved with.
        """
        by_hand = {
            (root, node) for root, (_, some) in self.locks.pots.items() for node, _ in some
        } | set(self.locks.by_flop)
        nodes = [self.node_at(lock.line, "lock") for lock in self.lock]
        others = (
            lock
            for lock, node in zip(self.lock, nodes, strict=True)
            if (node.root, node.node) not in by_hand
        )
        return replace(self, lock=tuple(others)) if by_hand else self

    def rules_of(self, pot: FlopPot) -> PostflopRules:
        """The rules by which a pot is played after the flop."""
        locks, hand_locks = self.locks.pots.get(pot.node, ((), ()))
        return replace(self._free_rules(pot), locks=locks, hand_locks=hand_locks)

    def _free_rules(self, pot: FlopPot) -> PostflopRules:
        """The same without locks."""
        return postflop_rules(
            pot,
            self.pot_sizes.get(pot.kind, self.sizes),
            self.preflop,
            add_allin_threshold=self.add_allin_threshold,
            force_allin_threshold=self.force_allin_threshold,
            merging_threshold=self.merging_threshold,
            max_raises=self.max_raises,
            min_bet=self.min_bet,
        )

    def after_the_flop(self, pot: FlopPot) -> PotGame:
        """The betting of a pot after the flop."""
        rules = self.rules_of(pot)
        tree = build_postflop_tree(rules)
        return PotGame(pot, rules, tree, payoffs(tree, rules))

    @property
    def smallest_bet(self) -> float:
        """The smallest bet after the flop, in chips."""
        return self.preflop.big_blind if self.min_bet is None else self.min_bet

    @property
    def may_bet_less(self) -> bool:
        """Whether some size may be smaller than the minimum bet, which then overrides it."""
        smallest_pot = min((pot.pot for pot in flop_pots(self.tree)), default=0)
        return any(
            lowest_bet(size, smallest_pot, CHIPS_PER_BB) < self.smallest_bet
            for sizes in (self.sizes, *self.pot_sizes.values())
            for street in sizes
            for player in street
            for size in (*player.bet, *(player.donk or ()))
        )

    def engine(
        self,
        model: CardModel = CLASSES,
        memory: MemoryMode = "resident",
        folder: Path | None = None,
        threads: int = 1,
        ranges: Floats | None = None,
        device: str = CPU,
    ) -> EngineSpec:
        """The spec of the engine for all pots on all flops.

        `ranges` [2, P, 169] are roughly those that start the pots, for models that need them.
        """
        pots = tuple(self.rules_of(pot) for pot in self.flop_pots)
        return EngineSpec(pots, self.flops.flops, model, memory, folder, threads, ranges, device)

    def build(self, spec: EngineSpec) -> Engine:
        """The engine of `spec` in this process, on the trees that the game knows already."""
        return spec.build([(pot.tree, pot.payoffs) for pot in self.pots])

    def dealt(self, model: CardModel = CLASSES) -> Floats:
        """[169, 169]: the pairs of combos that are dealt, those of its flops by weight.

        They sum to those of the whole deck, and equal them where no flop is seen.
        """
        whole = preflop_equity().pairs.astype(np.float64)
        if not self.flop_pots:
            return whole
        cards = [flop.cards for flop in self.flops.flops]
        pairs = DealtPairs.of(cards, removal=model.removes_cards).sum(self.flops.weights)
        pairs *= whole.sum() / pairs.sum()
        return pairs

    def before_the_flop(self, pairs: Floats) -> PreflopGame:
        """The preflop part where `pairs` [169, 169] of combos are dealt."""
        return PreflopGame.dealt(self.tree, self.preflop, pairs, self.locks.preflop)


# Newer rules are written only where they change how older versions play.
LATER_RULES = ("bb_ante", "limp", "allin_spr", "lines")
RULES = tuple(
    rule.name for rule in fields(PreflopRules) if rule.name not in ("raise_sizes", *LATER_RULES)
)
LINES = "lines"
TREE_RULES = ("raise_sizes", "raise_cap", "force_allin_threshold", "limp", "allin_spr", LINES)
"""Rules that make the tree before the flop, and nothing else."""
POSTFLOP_RULES = ("max_raises", "add_allin_threshold", "force_allin_threshold", "merging_threshold")
MIN_BET, POT_SIZES, LOCK = "postflop_min_bet", "postflop_pot_sizes", "lock"


def rules_mapping(rules: PreflopRules) -> dict[str, Any]:
    """The betting before the flop, amounts in chips."""
    keys: dict[str, Any] = {key: getattr(rules, key) for key in RULES} | _later_rules(rules)
    keys["raise_sizes"] = {
        player.seat.lower(): [[str(size) for size in level] for level in rules.raise_sizes[player]]
        for player in (IP, OOP)
    }
    return keys


def _later_rules(rules: PreflopRules) -> dict[str, Any]:
    usual = {rule.name: rule.default for rule in fields(PreflopRules)}
    later = {key: getattr(rules, key) for key in LATER_RULES}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in later.items()
        if value != usual[key]
    }


def rules_of(keys: Mapping[str, Any]) -> PreflopRules:
    """The rules that `rules_mapping` wrote down."""
    given = {key: value for key, value in keys.items() if key not in ("raise_sizes", "lines")}
    sizes, lines = parse_raise_sizes(keys["raise_sizes"]), tuple(keys.get("lines", ()))
    return PreflopRules(raise_sizes=sizes, lines=lines, **given)


def listed_rules(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping of rules with the lines of their tree instead of what made it."""
    tree = build_preflop_tree(rules_of(keys))
    kept = {key: value for key, value in keys.items() if key not in TREE_RULES}
    return {**kept, LINES: sorted(tree_lines(tree))}


def game_mapping(game: WholeGame) -> dict[str, Any]:
    """Everything but the flops, of which there may be many."""
    return {
        "preflop": rules_mapping(game.preflop),
        "postflop_sizes": _sizes_mapping(game.sizes),
        **{f"postflop_{key}": getattr(game, key) for key in POSTFLOP_RULES},
        **_later_keys(game),
        "flop_set": game.flops.name,
    }


def _later_keys(game: WholeGame) -> dict[str, Any]:
    """Rules that earlier versions did not have, where they make this another game."""
    keys: dict[str, Any] = {}
    if game.pot_sizes:
        kinds = sorted(game.pot_sizes.items())
        keys[POT_SIZES] = {kind: _sizes_mapping(sizes) for kind, sizes in kinds}
    if game.may_bet_less:
        keys[MIN_BET] = game.smallest_bet
    if game.lock:
        keys[LOCK] = [lock_mapping(lock) for lock in game.lock]
    return keys


def _sizes_mapping(sizes: tuple[StreetSizes, ...]) -> dict[str, dict[str, str]]:
    rules = PostflopRules(Street.FLOP, pot=1, stack=0, sizes=sizes, chips_per_bb=CHIPS_PER_BB)
    return sizes_mapping(rules)


def game_identity(game: WholeGame) -> dict[str, Any]:
    """JSON facts that two runs of the same game share, however their files were spelled."""
    return {"game": "unified", **game_mapping(game), **_flops(game)}


def _flops(game: WholeGame) -> dict[str, Any]:
    flops = game.flops
    return {"flops": [flop.text for flop in flops.flops], "weights": flops.weights.tolist()}


def game_of(keys: Mapping[str, Any], flops: Sequence[str], weights: Sequence[float]) -> WholeGame:
    """The game that `game_mapping` wrote down, with its flops as `Flop.text` spells them."""
    known = _flop_of_text()
    return WholeGame(
        preflop=rules_of(keys["preflop"]),
        sizes=sizes_from_spot(keys["postflop_sizes"], Street.FLOP),
        flops=FlopSet(
            keys["flop_set"], tuple(known[text] for text in flops), np.array(weights, np.float64)
        ),
        pot_sizes={
            kind: sizes_from_spot(sizes, Street.FLOP)
            for kind, sizes in keys.get(POT_SIZES, {}).items()
        },
        min_bet=keys.get(MIN_BET, 0),  # without it, no size is below a big blind
        lock=tuple(Lock.from_mapping(lock) for lock in keys.get(LOCK, ())),
        **{key: keys[f"postflop_{key}"] for key in POSTFLOP_RULES},
    )


@cache
def _flop_of_text() -> dict[str, Flop]:
    return {flop.text: flop for flop in all_flops()}

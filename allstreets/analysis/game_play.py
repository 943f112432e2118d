"""Strategies of both players in a whole game in which one player deviates.

`GamePlay` is a solution in which a player's decisions are locked, or come from another solution;
everything else stays. It is evaluated flop by flop, like stored strategies: hand classes and
buckets by their own engine, real boards by real combos (`engines.lifting`).

Where a solution stores nothing after the flop, its pots have their values of the solution, for each
pair of hands that meets there: an estimate that is good while little changes after the flop.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from allstreets.analysis.flop_locks import flop_orders
from allstreets.base import Flags, Floats, InputError, Longs, quotient
from allstreets.betting import Line, Player, Street
from allstreets.cards import (
    HAND_COUNT,
    HAND_OF_COMBO,
    Flop,
    Runouts,
    canonical_flop,
    preflop_equity,
)
from allstreets.engines import (
    BoardsLift,
    EngineSpec,
    ExactSubgame,
    Lift,
    PackedStrategies,
    Precision,
    StreetBoards,
    StreetBuckets,
    evaluate_flop,
    set_average_strategy,
)
from allstreets.games import GameNode, Lock, PreflopGame, Strategies
from allstreets.solutions import (
    Decision,
    LiftedStreets,
    Position,
    PotView,
    PreflopStrategies,
    WholeSolution,
    in_suits,
    live,
)

AT_ONCE = 8  # flops
SolutionOf = Callable[[str], WholeSolution]
Observe = Callable[[int, int], None]  # (flops done, their total)
Changed = dict[int, Floats]  # decision → [A, H], or [A, 1] where all hands play alike


@dataclass(frozen=True, eq=False)
class PotWorth:
    """[P, 169]: the values of the pots to a player's hands, all flops together.

    Values are in chips times pairs of combos; the other player plays as in `GamePlay`.
    """

    best: Floats  # by best responses
    own: Floats  # with the player's play of the solution


@dataclass(frozen=True, eq=False)
class LockedLift:
    """A lift in which a player is locked, and may follow another lift."""

    base: BoardsLift
    other: BoardsLift
    player: Player  # the player who follows `other`, and his locks
    changed: Changed
    learns: bool = False
    precision: Precision = "float32"

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The buckets of each player's own solution."""
        base = self.base.sharing(streets)
        if self.other is self.base:
            return base
        pairs = zip(base, self.other.sharing(streets), strict=True)
        return [
            None
            if first is None or second is None
            else (second[0], first[1])
            if self.player == Player.OOP
            else (first[0], second[1])
            for first, second in pairs
        ]

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        """Set each player's own strategies, then the locks."""
        for player in players:
            lift = self.other if player == self.player else self.base
            lift.fill(subgame, (player,))
        if self.player not in players:
            return
        for node, strategy in self.changed.items():
            level = subgame.levels.index(Street(int(subgame.tree.street[node])))
            for number in range(len(subgame.streets[level].runouts)):
                combos = subgame.streets[level].combos(self.player, number)
                if strategy.shape[1] == 1:
                    chances = np.repeat(strategy, len(combos), axis=1)
                else:  # by the combos of the flop, rising
                    chances = strategy[:, np.argsort(np.argsort(combos))]
                set_average_strategy(subgame, level, number, node, chances)

    def on_turn(self, flop: tuple[int, ...], card: int) -> tuple["LockedLift", Runouts]:
        """The same for one turn card, and the root of the subgame that has no other."""
        base, root = self.base.on_turn(flop, card)
        other = base if self.other is self.base else self.other.on_turn(flop, card)[0]
        return replace(self, base=base, other=other), root


class GamePlay:
    """A solution of a whole game in which one player deviates."""

    def __init__(
        self,
        result: WholeSolution,
        player: Player,
        locks: Sequence[Lock] = (),
        other: WholeSolution | None = None,
        open_solution: SolutionOf | None = None,
    ) -> None:
        """`player` follows `other`, by default `result`, except for `locks`.

        Locks with a `solution` copy that of `open_solution`; None: all mean `result`.
        """
        self.result, self.player, self.other = result, player, other or result
        self._open = open_solution or (lambda _: result)
        if other is not None:
            require_same_game(result, other)
        for lock in locks:
            target = result.game.node_at(lock.line, f"line '{lock.line}'")
            if target.tree.player_at(target.node) != player:
                raise InputError(
                    f"'{lock.line}' is a decision of {player.opponent.seat}, who best responds: "
                    f"a best response answers what {player.seat} plays"
                )
        self._locked = replace(result.game, lock=tuple(locks))
        self.preflop: PreflopGame = result.game.before_the_flop(result.before.pairs)
        self.strategies: Strategies = {}
        for node, given in result.before.strategies.items():
            own = self.preflop.tree.player[node] == player
            source = self.other.before.strategies[node] if own else given
            self.strategies[node] = source.astype(np.float64)
        for node, lock_here in self._locked.locks.preflop.items():
            self.strategies[node] = np.where(
                lock_here.held, lock_here.strategy, self.strategies[node]
            )
        self.reach = self.preflop.pot_reach(self.strategies)

    def with_strategies(self, strategies: Strategies) -> "GamePlay":
        """The same with other strategies at some decisions before the flop."""
        play = copy(self)
        play.__dict__.pop("_by_flop", None)
        play.strategies = {**self.strategies, **strategies}
        play.reach = play.preflop.pot_reach(play.strategies)
        return play

    @property
    def responder(self) -> Player:
        """The other player."""
        return self.player.opponent

    @property
    def before(self) -> PreflopStrategies:
        """The play before the flop, without values."""
        tree, locks = self.preflop.tree, self.preflop.locks
        return PreflopStrategies.known(tree, self.preflop.pairs, self.strategies, None, locks)

    # Pots on flops.

    @cached_property
    def _by_flop(self) -> Mapping[tuple[int, int], Changed]:
        """The locks that differ by flop, by pot and flop, for the ranges that get there."""
        changed: dict[tuple[int, int], Changed] = {}
        for order in flop_orders(self._locked, self.result.cards, self._open, self.before.reach):
            changed.setdefault((order.pot, order.flop), {})[order.node] = order.strategy
        return changed

    def changed(self, pot: int, flop: int) -> Changed:
        """The locks in a pot on a flop."""
        game = self.result.game
        root = game.flop_pots[pot].node
        alike, by_hand = self._locked.locks.pots.get(root, ((), ()))
        changed: Changed = {node: np.array(chances)[:, None] for node, chances in alike}
        if by_hand:
            solved = game.flops.flops[flop]
            classes = HAND_OF_COMBO[live(solved)]
            stored = self.other.stored.strategies(root, solved)
            for node, some in by_hand:
                strategy = stored.at(node)
                for hand, chances in some:
                    strategy[:, classes == hand] = np.array(chances)[:, None]
                changed[node] = strategy
        return changed | self._by_flop.get((pot, flop), {})

    def packed(self, pot: int, flop: int) -> PackedStrategies:
        """All strategies of a pot on a flop, of classes and buckets."""
        game = self.result.game
        root, solved = game.flop_pots[pot].node, game.flops.flops[flop]
        packed = self.result.stored.strategies(root, solved)
        changed = self.changed(pot, flop)
        if self.other is not self.result:
            there = self.other.stored.strategies(root, solved)
            tree = packed.tree
            street = Street.FLOP if self.result.cards.plays_combos else None
            nodes = [n for n in tree.decisions(street) if tree.player[n] == self.player]
            changed = {node: there.at(node) for node in nodes} | changed
        if self.result.cards.plays_combos:  # other streets go by the board
            streets = packed.tree.street
            changed = {n: given for n, given in changed.items() if streets[n] == Street.FLOP}
        if not changed:
            return packed
        stored = [stage.astype(np.float64) for stage in packed.stored]
        for node, strategy in changed.items():
            first, count = int(packed.first_row[node]), len(strategy)
            rows = stored[int(packed.stages[node])][first : first + count]
            rows[:, : strategy.shape[1] if strategy.shape[1] > 1 else None] = strategy
        return replace(packed, stored=tuple(stored))

    def lift(self, pot: int, flop: int) -> LockedLift:
        """The same of real boards."""
        cards, game = self.result.cards, self.result.game
        base = BoardsLift(cards, pot, self.result.stored.source.arrays(flop))
        other = base
        if self.other is not self.result:
            solved = game.flops.flops[flop]
            other = BoardsLift(self.other.cards, pot, self.other.stored.arrays(solved))
        return LockedLift(base, other, self.player, self.changed(pot, flop))

    # Values.

    @property
    def is_estimate(self) -> bool:
        """Whether pots have their values of the solution, since no flop is stored."""
        return bool(self.result.game.flop_pots) and not self.result.has_flops

    def worth(self, threads: int = 1, observe: Observe | None = None) -> PotWorth:
        """The values of all pots to the player who responds."""
        game = self.result.game
        best, own = np.zeros((2, len(game.flop_pots), HAND_COUNT))
        if not game.flop_pots:
            return PotWorth(best, own)
        if self.is_estimate:
            estimate = self._estimated()
            return PotWorth(estimate, estimate)
        require_all_streets(self.result)
        spec = game.engine(self.result.cards, threads=threads)
        weights, dealt = game.flops.weights, spec.dealt()
        scale = float(preflop_equity().pairs.sum()) / float(dealt.sum(weights).sum())
        done, count = 0, len(weights)
        for flops, freely, kept in self._values(spec):
            best += scale * np.einsum("k,pkh->ph", weights[flops], freely)
            own += scale * np.einsum("k,pkh->ph", weights[flops], kept)
            done += len(flops)
            if observe is not None:
                observe(done, count)
        return PotWorth(best, own)

    def _values(self, spec: EngineSpec) -> Iterator[tuple[Longs, Floats, Floats]]:
        """(flops, values [P, K, 169] of best responses, and of the player's own play)."""
        game, player = self.result.game, self.responder
        trees = [(pot.tree, pot.payoffs) for pot in game.pots]
        count = len(game.flops.flops)
        if self.result.cards.stores_cards:
            for flop in range(count):
                lifts: list[Lift] = [self.lift(pot, flop) for pot in range(len(trees))]
                values = evaluate_flop(
                    trees, game.flops.flops[flop], lifts, self.reach,
                    players=(player,), threads=spec.threads,
                )  # fmt: skip
                assert values.own is not None
                yield np.array([flop]), values.best[player][:, None], values.own[player][:, None]
            return
        for flops in np.split(np.arange(count), range(AT_ONCE, count, AT_ONCE)):
            engine, all_of_them = spec.of(flops).build(trees), np.arange(len(flops))
            for pot, (tree, _) in enumerate(trees):
                for place, flop in enumerate(flops.tolist()):
                    packed = self.packed(pot, flop)
                    for node in tree.decisions():
                        hands = engine.average(pot, place, node).shape[1]
                        engine.set_average(pot, place, node, packed.at(node)[:, :hands])
            reach = self.reach[self.player]
            yield (
                flops,
                engine.best_response(player, reach, all_of_them),
                engine.evaluate(player, reach, all_of_them),
            )

    def _estimated(self) -> Floats:
        """[P, 169]: the values of pots for each pair of hands that meets, times such pairs."""
        before, player = self.result.before, self.responder
        if before.values is None:
            raise InputError("this solution stores no values of its pots: train it with store: all")
        nodes = [pot.node for pot in self.result.game.flop_pots]
        met = before.pot_reach[self.player] @ self.preflop.pairs
        now = self.reach[self.player] @ self.preflop.pairs
        mean = np.nan_to_num(quotient(before.values[player, nodes].astype(np.float64), met))
        worth: Floats = mean * now
        return worth

    # What is shown.

    def decision(self, position: Position, best: Player | None = None) -> Decision:
        """A decision after the flop, by best responses of a player from there on."""
        assert position.root is not None
        game, line = self.result.game, self.result.line(position)
        pot = [each.node for each in game.flop_pots].index(position.root)
        named = canonical_flop(position.cards[:3])
        flop = self.result.stored.place_of(named.flop)
        assert flop is not None
        if self.result.cards.stores_cards:
            tree = self.result.tree(position)
            path = Line(tuple(tree.path_to(position.node)), position.cards[3:])
            streets = LiftedStreets(
                game.pots[pot], named.flop, self.lift(pot, flop), self.reach[:, pot], best=best
            )
            return replace(streets.at(path, position.cards[:3]), line=line)
        decision = self.view(pot, flop, best).node(position.node, line)
        return in_suits(decision, named, position.cards)

    def view(self, pot: int, flop: int, best: Player | None = None) -> PotView:
        """Every decision of a pot on a flop, of classes and buckets."""
        game = self.result.game
        view = self.result.stored.view(game.flop_pots[pot].node, game.flops.flops[flop])
        reach = self.reach[:, pot]
        return replace(view, strategies=self.packed(pot, flop), reach=reach, best=best)

    def frequency(self, chosen: Sequence[tuple[GameNode, Flags]]) -> tuple[float, float]:
        """(frequency, pairs of combos) with which the player takes actions [A] at decisions.

        Decisions are averaged by how often play gets there.
        """
        taken = total = 0.0
        for target, counted in chosen:
            for strategy, weights in self.stage_plays(target):
                taken += float(counted @ strategy @ weights)
                total += float(weights.sum())
        return (taken / total if total > 0 else float("nan")), total

    def stage_plays(self, target: GameNode) -> Iterator[tuple[Floats, Floats]]:
        """(strategy [A, H], weights [H]) of a decision, on all flops after each other.

        Weights are pairs of combos that get there.
        """
        if target.root is None:
            shown = self.before.node(target.node)
            yield shown.strategy, shown.own.weights
            return
        pot = [each.node for each in self.result.game.flop_pots].index(target.root)
        for flop, weight in enumerate(self._weights):
            strategy, weights = self.view(pot, flop).stage_play(target.node)
            yield strategy, weight * weights

    def plays_with_evs(self, target: GameNode) -> Iterator[tuple[Floats, Floats, Floats]]:
        """(strategy [A, H], EVs [A, H] in the solution, weights [H]) of a decision, flop by flop.

        EVs are NaN where they are not known; after the flop they put hands in an order even where
        play hardly gets there.
        """
        if target.root is None:
            evs = self.result.before.node(target.node).action_evs
            ((strategy, weights),) = self.stage_plays(target)
            yield strategy, evs, weights
            return
        game = self.result.game
        flops = zip(game.flops.flops, self.stage_plays(target), strict=True)
        for flop, (strategy, weights) in flops:
            evs = self.result.stored.view(target.root, flop).stage_evs(target.node)
            yield strategy, evs, weights

    def on_all_flops(
        self, root: int, node: int, best: Player | None
    ) -> Iterator[tuple[float, Decision]]:
        """(weight, decision) of each flop."""
        for flop, weight in zip(self.result.game.flops.flops, self._weights, strict=True):
            yield weight, self.decision(Position(node, root, flop.cards), best)

    @property
    def _weights(self) -> list[float]:
        weights: list[float] = self.result.game.flops.weights.tolist()
        return weights


def require_all_streets(result: WholeSolution) -> None:
    """Refuse a solution that does not store every street."""
    if not result.cards.stores_all_streets:
        raise InputError(
            "with cards: exact a whole game stores no strategies on turn and river, so its play "
            "there is unknown.\nSolve a flop of it: allstreets solve --from"
        )


def require_same_game(result: WholeSolution, other: WholeSolution) -> None:
    """Refuse a solution of another game, of other flops, or of other cards."""
    one, two = result.game, other.game
    same_cards = result.cards.kind == other.cards.kind and (
        result.cards.stores_cards or result.cards == other.cards
    )
    trees = [one.tree, *(pot.tree for pot in one.pots)], [two.tree, *(pot.tree for pot in two.pots)]
    same_bets = [tree.actions for tree in trees[0]] == [tree.actions for tree in trees[1]]
    if not (same_bets and same_cards and result.has_flops == other.has_flops):
        raise InputError(
            "the other solution is of another game: a best response needs the same bets, stacks "
            "and cards"
        )
    missing = [flop.text for flop in one.flops.flops if not _has(other, flop)]
    if missing and result.has_flops:
        raise InputError(f"the other solution was not solved on {missing[0]}: name one that was")


def _has(result: WholeSolution, flop: Flop) -> bool:
    return result.stored.place_of(flop) is not None

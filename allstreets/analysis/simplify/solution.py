"""The price of simple strategies in a whole game or a spot, by best responses.

Flops of a game are evaluated a few at a time, so that a game of any size fits into memory:

    for each group of flops, for each trial (nothing simple, one street, all streets):
        the values of the pots to both best responses, summed over the flops by weight
    for each trial: the best responses before the flop on top of these sums

Strategies of hand classes and buckets are evaluated in their own game. With `cards: boards` they
are played by real combos against best responses that see every card. A spot is evaluated in its own
exact game.

If the simple strategies are stored, the last trial is evaluated as well, and every flop is handed
over as soon as it is done: the evaluated strategies are the stored ones.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from allstreets.analysis.simplify.pots import ModelPots, RealPots, SimpleSubgame, Wanted, own_reach
from allstreets.analysis.simplify.records import Simplified, Trials, simplified, variants
from allstreets.analysis.simplify.rule import Choice, Mixes, Simplification, amounts_at, count_mixes
from allstreets.base import Floats, InputError, quotient
from allstreets.betting import CHIPS_PER_BB, POSTFLOP, Player, Street
from allstreets.cards import HAND_SIZES, preflop_equity
from allstreets.engines import Arrays, DealtPairs, Flops
from allstreets.games import PreflopGame, Strategies, WholeGame
from allstreets.solutions import (
    OWN_GAME,
    REAL_CARDS,
    PreflopStrategies,
    Row,
    SpotSolution,
    StoredGame,
    WholeSolution,
)
from allstreets.solvers import MBB_PER_CHIP, SpotSolver

StoreFlop = Callable[[int, Arrays], None]
"""(index of a flop, its arrays in a bundle)."""


class FlopTotals:
    """Both players' values, added up as flops are evaluated."""

    def __init__(self, game: WholeGame, dealt: DealtPairs, reach: Floats) -> None:
        """`reach` [2, P, 169] is that of the pots under the simple strategies."""
        self._game, self._dealt, self._reach = game, dealt, reach
        self._gains = np.zeros(dealt.flops)  # of both best responses
        self._own = np.zeros((2, dealt.flops))

    def add(self, flops: Flops, best: Floats, own: Floats) -> None:
        """Values [2, P, K, 169] of best responses and of the strategies on some flops."""
        self._gains[flops] = np.einsum("aph,apkh->k", self._reach, best - own)
        self._own[:, flops] = np.einsum("aph,apkh->ak", self._reach, own)

    def rows(self) -> tuple[Row, ...]:
        """One row per flop."""
        flops = self._game.flops
        seen, at_stake = np.zeros((2, self._dealt.flops))
        for pot, oop, ip in zip(self._game.pots, *self._reach, strict=True):
            pairs = self._dealt.reached(oop, ip)
            seen += pairs
            at_stake += pot.pot.pot * pairs
        share = flops.weights * seen
        even = np.ones_like(share) / len(share)
        share = share / share.sum() if share.sum() > 0 else even
        lost = np.maximum(np.nan_to_num(quotient(50 * self._gains, at_stake)), 0.0)
        evs = quotient(self._own, seen * CHIPS_PER_BB)
        return tuple(
            {
                "flop": flop.text,
                "weight": float(flops.weights[index]),
                "share": float(share[index]),
                "exploitability_pct": float(lost[index]),
                "ev_oop_bb": _number(evs[0, index]),
                "ev_ip_bb": _number(evs[1, index]),
            }
            for index, flop in enumerate(flops.flops)
        )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


AT_ONCE = 8  # flops
SEATS = Player.OOP.seat, Player.IP.seat  # of a game
Observe = Callable[[int, int], None]  # (flops done, their total)


def simplify_game(
    result: WholeSolution,
    rule: Simplification,
    players: Collection[Player] = tuple(Player),
    threads: int = 1,
    observe: Observe | None = None,
) -> Simplified:
    """Measure the cost of making the strategies of a solution simple, in mbb/hand."""
    return _evaluated(result, rule, players, threads, observe).price()


def simple_game(
    result: WholeSolution,
    rule: Simplification,
    players: Collection[Player],
    threads: int,
    observe: Observe | None,
    keep: StoreFlop,
) -> tuple[Simplified, StoredGame]:
    """The same, and the simple strategies: flop by flop to `keep`, the rest at the end."""
    evaluator = _evaluated(result, rule, players, threads, observe, keep)
    return evaluator.price(), evaluator.game()


def _evaluated(
    result: WholeSolution,
    rule: Simplification,
    players: Collection[Player],
    threads: int,
    observe: Observe | None,
    keep: StoreFlop | None = None,
) -> "_Evaluator":
    require_streets(result)
    evaluator = _Evaluator(result, rule, players, threads, keep)
    evaluator.add_flops(observe)
    return evaluator


def require_streets(result: WholeSolution) -> None:
    """Refuse a solution that does not store every street."""
    if result.game.flop_pots and not result.has_flops:
        raise InputError(
            "this solution stores no strategies after the flop (store: preflop, or memory: "
            "per_batch).\nTrain it with store: all, or solve a flop of it: allstreets solve --from"
        )
    if result.game.flop_pots and not result.cards.stores_all_streets:
        raise InputError(
            "with cards: exact a whole game stores no strategies on turn and river.\n"
            "Simplify a flop of it: allstreets solve --from DIR --flop …, then that folder"
        )


class _Evaluator:
    """The values of the pots in every trial, and of the whole game."""

    def __init__(
        self,
        result: WholeSolution,
        rule: Simplification,
        players: Collection[Player],
        threads: int,
        keep: StoreFlop | None,
    ) -> None:
        game = result.game
        self._game, self._rake, self._keep = game, result.rules.rake > 0, keep
        self._preflop: PreflopGame = game.before_the_flop(result.before.pairs)
        original = {node: np.array(given) for node, given in result.before.strategies.items()}
        simple, self._before, self._after = _simple_preflop(self._preflop, original, rule, players)
        self._streets = (Street.PREFLOP, *POSTFLOP) if game.pots else (Street.PREFLOP,)
        self._trials = variants(self._streets)
        self._played = [simple if Street.PREFLOP in trial else original for trial in self._trials]
        self._reach = [self._preflop.pot_reach(played) for played in self._played]
        self._wanted = Wanted(result, rule, players, self._reach[0])
        shape = (len(self._trials), 2, len(game.pots), len(HAND_SIZES))
        self._best, self._own = np.zeros(shape), np.zeros(shape)
        self._spec = game.engine(result.cards, threads=threads)
        self._dealt = self._spec.dealt()
        self._totals = FlopTotals(game, self._dealt, self._reach[-1])

    def add_flops(self, observe: Observe | None) -> None:
        """Evaluate every flop."""
        flops = self._game.flops
        if not self._game.pots:
            self._keep_as_it_is()
            return
        real = self._wanted.result.cards.stores_cards
        scale = float(preflop_equity().pairs.sum())
        scale /= float(self._dealt.sum(flops.weights).sum())
        count, done = len(flops.flops), 0
        at_once = 1 if real else AT_ONCE
        for some in np.split(np.arange(count), range(at_once, count, at_once)):
            pots = (RealPots if real else ModelPots)(self._wanted, self._spec, some)
            self._add(pots, flops.weights[some] * scale)
            done += len(some)
            if observe is not None:
                observe(done, count)

    def _keep_as_it_is(self) -> None:
        """Keep a game without play after the flop unchanged."""
        result = self._wanted.result
        if self._keep is not None and result.has_flops:
            for index in range(len(self._game.flops.flops)):
                self._keep(index, result.stored.source.arrays(index))

    def _add(self, pots: ModelPots | RealPots, weights: Floats) -> None:
        for street in POSTFLOP:
            self._before[street] += pots.before[street]
            self._after[street] += pots.after[street]
        for trial, streets in enumerate(self._trials):
            pots.play(streets)
            last = trial == len(self._trials) - 1
            opponent_reach = self._reach[trial][::-1]  # by player
            best = np.stack(
                [pots.best_response(player, opponent_reach[player]) for player in Player]
            )
            self._best[trial] += np.einsum("k,apkh->aph", weights, best)
            if self._rake or (last and self._keep is not None):
                own = np.stack([pots.evaluate(player, opponent_reach[player]) for player in Player])
                self._own[trial] += np.einsum("k,apkh->aph", weights, own)
                if last:
                    self._hand_over(pots, best, own)

    def _hand_over(self, pots: ModelPots | RealPots, best: Floats, own: Floats) -> None:
        """Hand over some flops, which now play the simple strategies; values are [2, P, K, 169]."""
        if self._keep is None:
            return
        self._totals.add(pots.flops, best, own)
        for number, index in enumerate(pots.flops.tolist()):
            arrays = pots.arrays(number, self._reach[-1])
            self._keep(index, {**arrays, "values": own[:, :, number].astype(np.float32)})

    def price(self) -> Simplified:
        """The cost, when all flops are evaluated."""
        real = self._wanted.result.cards.stores_cards
        return simplified(
            self._figures(),
            self._wanted.rule,
            self._wanted.players,
            unit="mbb/hand",
            judged=REAL_CARDS if real else OWN_GAME,
            seats=SEATS,
        )

    def game(self) -> StoredGame:
        """The game without its flops, with the figures of the simple strategies."""
        played, leaves, result = self._played[-1], self._own[-1], self._wanted.result
        values = np.stack(
            [
                self._preflop.values(p, leaves[p], best=False, strategies=played).astype(np.float32)
                for p in Player
            ]
        )
        own = self._means(self._own[-1:], self._played[-1:], best=False)[0]
        before = self._means(self._own[-1:], self._played[-1:], best=True)[0]
        facts = replace(
            result.facts,
            exploitability=self._figures().exploitability(-1),
            preflop_exploitability=max(float((before - own).sum()) / 2, 0.0),
            values=(float(own[0]), float(own[1])),
            seconds=0.0,
            metrics=(),  # of another solution's training
            certificate=None,
        )
        game = self._preflop
        solution = PreflopStrategies.known(game.tree, game.pairs, played, values, game.locks)
        return StoredGame(self._game, solution, self._totals.rows(), facts)

    def _figures(self) -> Trials:
        """The whole game in every trial, in mbb/hand."""
        best = self._means(self._best, self._played, best=True)
        own = self._means(self._own, self._played, best=False) if self._rake else None
        return Trials(self._streets, best, own, self._before, self._after)

    def _means(self, leaves: Floats, played: Sequence[Strategies], *, best: bool) -> Floats:
        """[V, 2]: both players' results where the pots are worth `leaves` [V, 2, P, 169]."""
        scale = MBB_PER_CHIP / self._preflop.weight
        return np.array(
            [
                [
                    scale * self._preflop.values(p, pair[p], best=best, strategies=each)[0].sum()
                    for p in Player
                ]
                for pair, each in zip(leaves, played, strict=True)
            ]
        )


def _simple_preflop(
    game: PreflopGame,
    original: Strategies,
    rule: Simplification,
    players: Collection[Player],
) -> tuple[Strategies, dict[Street, Mixes], dict[Street, Mixes]]:
    """Simple strategies before the flop, and the counts with which those of all streets begin."""
    tree, dealt = game.tree, HAND_SIZES.astype(np.float64)
    simple = dict(original)
    counts = [dict.fromkeys((Street.PREFLOP, *POSTFLOP), Mixes()) for _ in range(2)]

    def weights(player: Player, played: Strategies) -> Strategies:
        return own_reach(tree, Street.PREFLOP, player, {0: dealt}, played)[0]

    def count(player: Player, played: Strategies) -> Mixes:
        here = weights(player, played)
        return count_mixes((played[node], each, dealt) for node, each in here.items())

    for player in players:
        here = weights(player, original)
        simplified = rule.apply_all(
            [
                Choice(
                    original[node],
                    amounts_at(tree, node),
                    each,
                    game.locks[node].held if node in game.locks else None,
                )
                for node, each in here.items()
            ]
        )
        simple |= dict(zip(here, simplified, strict=True))
        for counted, played in zip(counts, (original, simple), strict=True):
            counted[Street.PREFLOP] += count(player, played)
    return simple, counts[0], counts[1]


SPOT_SEATS = Player.OOP.name, Player.IP.name


def simplify_spot(
    solver: SpotSolver, rule: Simplification, players: Collection[Player] = tuple(Player)
) -> Simplified:
    """Make the average strategies of a solver simple, and measure the cost in % of the pot.

    It keeps its regrets, and must be on the CPU. `solution` of the record is its result.
    """
    spot, subgame = solver.spot, solver.subgame
    if not spot.tree.child_count[0]:
        raise InputError("both players are all-in in this spot: there is no strategy to simplify")
    simple = SimpleSubgame(subgame, solver.reach, rule, players)
    streets = tuple(subgame.levels)
    best, own = [], []
    for chosen in variants(streets):
        simple.play(chosen)
        best.append([solver.mean(player, best=True) for player in Player])
        if spot.rake:
            own.append([solver.mean(player, best=False) for player in Player])
    unit = 100 / spot.pot
    trials = Trials(
        streets,
        unit * np.array(best),
        unit * np.array(own) if own else None,
        simple.before,
        simple.after,
    )
    solution = SpotSolution.of(solver)
    solution.exploitability = trials.exploitability(-1) / 100
    solution.iterations = solver.iterations
    return simplified(
        trials,
        rule,
        players,
        unit=solver.unit,
        judged=OWN_GAME,
        seats=SPOT_SEATS,
        solution=solution,
    )

"""What simple strategies cost in a whole game, by best responses before and after the flop.

Flops are judged some at a time, so that a game of any size fits into memory:

    for each group of flops, for each trial (nothing simple, one street, all streets):
        what the pots are worth to both best responses, summed over the flops by weight
    for each trial: the best responses before the flop on top of these sums

Strategies of hand classes and buckets are judged in their own game. With `cards: boards` they are
played by real combos against best responses that see every card.
"""

from collections.abc import Callable, Collection

import numpy as np

from allstreets.base import InputError
from allstreets.betting import POSTFLOP, Player, Street
from allstreets.cards import HAND_SIZES, preflop_equity
from allstreets.solvers.preflop.cfr import Floats, PreflopGame, Strategies
from allstreets.solvers.preflop.training import MBB_PER_CHIP
from allstreets.solvers.simplify.own_reach import own_reach
from allstreets.solvers.simplify.pots import ModelPots, RealPots, Wanted
from allstreets.solvers.simplify.records import (
    OWN_GAME,
    REAL_CARDS,
    Simplified,
    Trials,
    simplified,
    variants,
)
from allstreets.solvers.simplify.rule import Mixes, Simplification, amounts_at, count_mixes
from allstreets.solvers.unified.result import UnifiedResult
from allstreets.subgames import EngineSpec, plays_all_streets

AT_ONCE = 8  # flops
SEATS = Player.OOP.seat, Player.IP.seat
Observe = Callable[[int, int], None]  # (flops done, of how many)


def simplify_game(
    result: UnifiedResult,
    rule: Simplification,
    players: Collection[Player] = tuple(Player),
    threads: int = 1,
    observe: Observe | None = None,
) -> Simplified:
    """Say what it costs to make the strategies of a solution simple, in mbb/hand."""
    require_streets(result)
    judge = _Judge(result, rule, players)
    spec = result.game.engine(result.cards, threads=threads)
    judge.add_flops(spec, observe)
    return simplified(
        judge.trials(),
        rule,
        players,
        unit="mbb/hand",
        judged=REAL_CARDS if result.cards.stores_cards else OWN_GAME,
        seats=SEATS,
    )


def require_streets(result: UnifiedResult) -> None:
    """Refuse a solution that does not store every street."""
    if result.game.flop_pots and not result.has_flops:
        raise InputError(
            "this solution stores no strategies after the flop (store: preflop, or memory: "
            "per_batch).\nTrain it with store: all, or solve a flop of it: allstreets solve --from"
        )
    if result.game.flop_pots and not plays_all_streets(result.cards):
        raise InputError(
            "with cards: exact a whole game stores no strategies on turn and river.\n"
            "Simplify a flop of it: allstreets solve --from DIR --flop …, then that folder"
        )


class _Judge:
    """What the pots are worth in every trial, and what that makes of the whole game."""

    def __init__(
        self, result: UnifiedResult, rule: Simplification, players: Collection[Player]
    ) -> None:
        self.game, self._rake = result.game, result.rules.rake > 0
        self._preflop: PreflopGame = self.game.before_the_flop(result.before.pairs)
        original = {node: np.array(given) for node, given in result.before.strategies.items()}
        simple, self.before, self.after = _simple_preflop(self._preflop, original, rule, players)
        self.streets = (Street.PREFLOP, *POSTFLOP) if self.game.pots else (Street.PREFLOP,)
        self._trials = variants(self.streets)
        self._played = [simple if Street.PREFLOP in one else original for one in self._trials]
        self._reach = [self._preflop.pot_reach(played) for played in self._played]
        self._wanted = Wanted(result, rule, players, self._reach[0])
        shape = (len(self._trials), 2, len(self.game.pots), len(HAND_SIZES))
        self._best, self._own = np.zeros(shape), np.zeros(shape)

    def add_flops(self, spec: EngineSpec, observe: Observe | None) -> None:
        """Judge every flop."""
        flops = self.game.flops
        if not self.game.pots:
            return
        real = self._wanted.result.cards.stores_cards
        scale = float(preflop_equity().pairs.sum())
        scale /= float(spec.dealt().sum(flops.weights).sum())
        count, done = len(flops.flops), 0
        at_once = 1 if real else AT_ONCE
        for some in np.split(np.arange(count), range(at_once, count, at_once)):
            pots = (RealPots if real else ModelPots)(self._wanted, spec, some)
            self._add(pots, flops.weights[some] * scale)
            done += len(some)
            if observe is not None:
                observe(done, count)

    def _add(self, pots: ModelPots | RealPots, weights: Floats) -> None:
        for street in POSTFLOP:
            self.before[street] += pots.before[street]
            self.after[street] += pots.after[street]
        for trial, streets in enumerate(self._trials):
            pots.play(streets)
            for player in Player:
                other = self._reach[trial][player.opponent]
                best = pots.best_response(player, other)
                self._best[trial, player] += np.einsum("k,pkh->ph", weights, best)
                if self._rake:
                    own = pots.evaluate(player, other)
                    self._own[trial, player] += np.einsum("k,pkh->ph", weights, own)

    def trials(self) -> Trials:
        """The whole game in every trial, in mbb/hand."""
        best = self._means(self._best, best=True)
        own = self._means(self._own, best=False) if self._rake else None
        return Trials(self.streets, best, own, self.before, self.after)

    def _means(self, leaves: Floats, *, best: bool) -> Floats:
        """[V, 2]: both players' results where the pots are worth `leaves` [V, 2, P, 169]."""
        scale = MBB_PER_CHIP / self._preflop.weight
        return np.array(
            [
                [
                    scale * self._preflop.values(p, pair[p], best=best, strategies=played)[0].sum()
                    for p in Player
                ]
                for pair, played in zip(leaves, self._played, strict=True)
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
        found = rule.apply_all(
            [(original[node], amounts_at(tree, node), each) for node, each in here.items()]
        )
        simple |= dict(zip(here, found, strict=True))
        for counted, played in zip(counts, (original, simple), strict=True):
            counted[Street.PREFLOP] += count(player, played)
    return simple, counts[0], counts[1]

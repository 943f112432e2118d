"""The exploitability of the whole game, from the values of single flops with real cards.

**Draws.** Flops that a solution was trained on and flops that it never saw are two populations.
Monotone flops are a separate stratum in each: they are 5 % of the deal, less than one draw in a
small sample, and a solution may lose after the flop mostly there. A stratum is ordered by likeness
and cut into parts of equal numbers of dealt flops; every part gives one flop, drawn as often as it
is dealt. So sums over the draws, weighted by the parts, are unbiased. Two neighbouring parts are a
*pair*: the difference of their draws estimates the error of the sums.

**The figure** has two parts, because a best response chooses after the flop, card by card, and
before it, where it sees the sum over all flops:

    after the flop     Σ over flops of the gain of best responses there, play before it unchanged
    before the flop    the extra gain of a best response before the flop, given these values

**Known numbers.** Before the flop every hand's value in every pot is needed, and a sample deals
some hands too few good flops. Three numbers are known on every flop, for every hand in every pot:

    P = W · r      opposing combos that a hand meets, by the opponent's reach r
    G = M · r      its winnings from them at showdown, in pots, without any betting
    V              its value where hand classes play the flop (`certify.class_values`)

Values are regressed on these numbers over the drawn flops, and the sums of the draws are corrected
to the known sums (the regression estimator of survey sampling).

**Drafts.** Where flops are solved exactly, which takes long, many more are drawn and solved with
buckets of hands, which is quick. Such a *draft* has a small error, always in the same direction, so
it is the best of the numbers; but its sum over all flops is not known. The drafts of both samples
estimate it, by a regression on the known numbers, and the exact values are regressed on all four
(double sampling; Neyman 1938, Cochran 1977, chapter 12). On a GPU all flops are drafted: then the
sum is known, and exact values are regressed on P and the draft only. The known numbers leave 6 % of
the variance of exact values between flops, a draft 0.05 % (in a game of 20 bb).

**Leaks.** The gain before the flop is divided among the actions by which a best response deviates
(`RealGame.leaks`), the gain after it among the pots: they show where not to trust a solution.
A pot is off-path where its ranges are too small for answers to have been learned.

**The interval.** The maximum before the flop is taken over estimates, so it leans high: by chance
some action looks better than it is. It is b with all draws and h, the mean of two halves, with half
as many. The part of b that is chance is near h − b: half of that is taken off, and the figure still
leans high rather than low. The gain, on one half of the draws, of responses chosen on the other
half leans low. The interval reaches from there to b, and beyond by Student's t times the standard
error. Errors come from leaving out one draw of a pair after the other (paired jackknife); a pair
has one degree of freedom, and where few pairs make up most of the error, only these count
(Satterthwaite 1946).
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as count_from

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BIG_BLINDS, Player, line_text
from allstreets.cards import (
    HAND_SIZES,
    Flop,
    FlopSet,
    all_flops,
    by_likeness,
    flop_table,
    preflop_equity,
)
from allstreets.engines import DealtPairs, LiftedValues
from allstreets.games import PreflopGame, Strategies
from allstreets.solutions import Leak, PotGain, is_reached
from allstreets.solvers import MBB_PER_CHIP

FEWEST = 4  # draws from a population: a pair of monotone flops, and a pair of others
MONOTONE_SHARE = 1 / 6  # of the draws: three times their share of the deal, since they vary most


@dataclass(frozen=True)
class Draw:
    """A flop and how many of the 22,100 dealt flops it stands for."""

    flop: Flop
    weight: float
    pair: int | None = None  # of draws from neighbouring parts; None: the flop was not drawn


def everything(flops: FlopSet) -> tuple[Draw, ...]:
    """All flops of a set, each with its weight there."""
    pairs = zip(flops.flops, flops.weights.tolist(), strict=True)
    return tuple(Draw(flop, weight) for flop, weight in pairs)


def draw_flops(trained: Collection[int], count: int, seed: int) -> tuple[Draw, ...]:
    """Draw `count` flops of those with the numbers `trained`, and as many of the others.

    An odd count is raised by one, and less than four to four. A population that is not larger is
    taken whole.
    """
    random, pairs = np.random.default_rng(seed), count_from()
    count = max(count + count % 2, FEWEST)
    draws: list[Draw] = []
    for is_trained in (True, False):
        population = [flop for flop in all_flops() if (flop.number in trained) == is_trained]
        if len(population) <= count:
            draws += _whole(population)
            continue
        monotone = [flop for flop in population if flop.texture.suits == "monotone"]
        others = [flop for flop in population if flop.texture.suits != "monotone"]
        first = _draw(monotone, max(_even(count * MONOTONE_SHARE), 2), random, pairs)
        draws += first
        draws += _draw(others, count - _even(len(first)), random, pairs)
    return tuple(draws)


def _even(number: float) -> int:
    """The nearest even number; of two, the larger."""
    return 2 * int(number / 2 + 0.5)


def _whole(flops: Sequence[Flop]) -> list[Draw]:
    return [Draw(flop, float(flop.multiplicity)) for flop in flops]


def _draw(
    stratum: Sequence[Flop], count: int, random: np.random.Generator, pairs: Iterator[int]
) -> list[Draw]:
    """`count` flops of a stratum, or all where there are no more; every pair takes a number."""
    if len(stratum) <= count:
        return _whole(stratum)
    flops = by_likeness(stratum)
    ends = np.cumsum([flop.multiplicity for flop in flops])
    part = float(ends[-1] / count)
    points = (np.arange(count) + random.random(count)) * part
    numbers = np.minimum(np.searchsorted(ends, points, side="right"), len(flops) - 1)
    drawn = [flops[number] for number in numbers.tolist()]
    return [
        Draw(flop, part, pair)
        for first, second in zip(drawn[::2], drawn[1::2], strict=True)
        for pair in [next(pairs)]
        for flop in (first, second)
    ]


FLOPS_BESIDE_HANDS = math.comb(48, 3)  # dealt flops that fit beside any two hands: 17,296
PAIRS_BESIDE_FLOP = math.comb(49, 2) * math.comb(47, 2)  # pairs of combos beside any flop


def known_numbers(
    flops: Sequence[Flop], reach: Floats, count: int, played: Floats | None = None
) -> Floats:
    """[F, K, 2, P, 169]: the first `count` of the numbers above, for reach [2, P, 169].

    `played` [1755, 2, P, 169] are the third, by the numbers of the flops.
    """
    opponent_reach = reach[::-1]
    dealt = DealtPairs.of([flop.cards for flop in flops])
    numbers = np.zeros((len(flops), count, *reach.shape))
    for row, flop in enumerate(flops):
        numbers[row, 0] = dealt.met(row, opponent_reach)
        if count > 1:
            numbers[row, 1] = opponent_reach @ flop_table().margin(flop.number).T
    if count > 2:
        assert played is not None
        numbers[:, 2] = played[[flop.number for flop in flops]]
    return numbers


def known_totals(dealt: Floats, reach: Floats, count: int, played: Floats | None = None) -> Floats:
    """[K, 2, P, 169]: their sums over all flops, where `dealt` [169, 169] pairs are dealt."""
    opponent_reach = reach[::-1]
    sums = [opponent_reach @ dealt]
    if count > 1:
        sums.append(opponent_reach @ (dealt * (2 * preflop_equity().equity - 1)).T)
    if count > 2:
        assert played is not None
        times = np.array([flop.multiplicity for flop in all_flops()], np.float64)
        on_flops = FLOPS_BESIDE_HANDS * float(preflop_equity().pairs.sum())
        sums.append(float(dealt.sum()) / on_flops * np.einsum("f,faph->aph", times, played))
    return np.stack(sums)


LEAST_LEAK = 0.01  # mbb/hand: less is not worth a line
REPLICATES = 32  # of the jackknife at most, twice: more pairs are left out together
FEW_DRAWS = 20  # are not worth a solution of all flops with hand classes
STEADY = 1e-9  # of a sum of squares: what keeps a regression without data at 0
STUDENT = (  # degrees of freedom, and the standard errors on either side of 95 %
    (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (8, 2.306),
    (10, 2.228), (15, 2.131), (20, 2.086), (30, 2.042), (60, 2.000), (np.inf, 1.960),
)  # fmt: skip


@dataclass(frozen=True)
class RealFigures:
    """The exploitability of play with real cards, in mbb/hand."""

    exploitability: float  # of the whole game
    after_flop: float  # by best responses after the flop only
    before_flop: float  # the extra gain of best responses before the flop
    interval: tuple[float, float]  # of the exploitability, 95 %; one point where nothing was drawn
    leaks: tuple[Leak, ...] = ()
    pots: tuple[PotGain, ...] = ()


@dataclass(frozen=True, eq=False)
class Drafts:
    """E more draws that were solved quickly, and quick solutions of the D evaluated ones."""

    weights: Floats  # [E], to the same sum as those of the evaluated draws
    pairs: Longs  # [E]: draws of the same pair, numbered apart from the evaluated ones
    values: Floats  # [E, 2, P, 169]
    known: Floats  # [E, K, 2, P, 169], as of the evaluated draws
    evaluated: Floats  # [D, 2, P, 169]: drafts of the evaluated flops


@dataclass(frozen=True, eq=False)
class EvaluatedFlops:
    """D draws and their values, [D, 2, P, 169] each, in chips times pairs of combos."""

    weights: Floats  # [D]: Σ over the draws of weight · pairs are the pairs before the flop
    pairs: Longs  # [D]: draws of the same pair; −1: not drawn
    best: Floats
    own: Floats | None  # None: one player's win is the other's loss, so sums are 0
    known: Floats  # [D, K, 2, P, 169]: numbers of which the sums over all flops are known …
    totals: Floats  # [K, 2, P, 169]: … and these sums; the first are the opposing combos
    drafts: Drafts | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing was left to chance."""
        return bool((self.pairs < 0).all())

    @property
    def all_weights(self) -> Floats:
        """[D + E]: the weights of draws and drafts."""
        return self.weights if self.drafts is None else np.r_[self.weights, self.drafts.weights]

    @property
    def all_pairs(self) -> Longs:
        """[D + E]: the pairs of draws and drafts."""
        return self.pairs if self.drafts is None else np.r_[self.pairs, self.drafts.pairs]

    def sums(self, weights: Floats) -> Floats:
        """[2, P, 169]: the values of all flops, by the weights [D + E] of draws and drafts."""
        drawn, drafted = np.split(weights, [len(self.weights)])
        if self.whole:
            return np.asarray(np.einsum("d,daph->aph", drawn, self.best))
        known, totals, drafts = self.known, self.totals, self.drafts
        if drafts is not None:
            share = len(drafted) / len(weights)
            total = regressed_sums(
                np.r_[(1 - share) * drawn, share * drafted],
                np.concatenate([drafts.evaluated, drafts.values]),
                np.concatenate([known, drafts.known]),
                totals,
            )
            known = np.concatenate([known, drafts.evaluated[:, None]], axis=1)
            totals = np.concatenate([totals, total[None]])
        return regressed_sums(drawn, self.best, known, totals)


def regressed_sums(weights: Floats, values: Floats, known: Floats, totals: Floats) -> Floats:
    """[2, P, 169]: sums of values [D, 2, P, 169] over all flops, by those of known numbers.

    Each hand in each pot has its own slopes; `known` [D, K, 2, P, 169], `totals` [K, 2, P, 169].
    """
    sums: Floats = np.einsum("d,daph->aph", weights, values)
    lacks = totals - np.einsum("d,dkaph->kaph", weights, known)
    squares = np.einsum("d,dkaph,dlaph->aphkl", weights, known, known, optimize=True)
    products = np.einsum("d,dkaph,daph->aphk", weights, known, values, optimize=True)
    steady = np.trace(squares, axis1=-2, axis2=-1)[..., None, None] * STEADY + STEADY
    slopes = np.linalg.solve(squares + steady * np.eye(len(totals)), products[..., None])[..., 0]
    sums += np.einsum("aphk,kaph->aph", slopes, lacks)
    return sums


class RealGame:
    """Strategies before the flop, on top of flops that were evaluated."""

    def __init__(
        self, preflop: PreflopGame, strategies: Strategies, judged: EvaluatedFlops
    ) -> None:
        self.preflop, self.strategies, self.judged = preflop, strategies, judged
        self.reach = preflop.pot_reach(strategies)
        self._unit = MBB_PER_CHIP / preflop.weight / 2  # the mean of both players' gains
        self._met = np.einsum("aph,daph->d", self.reach, judged.known[:, 0])
        self._meets = float(np.einsum("aph,aph->", self.reach, judged.totals[0]))
        gains = judged.best if judged.own is None else judged.best - judged.own
        self._gains = np.einsum("aph,daph->d", self.reach, gains)

    def figures(self) -> RealFigures:
        """All figures with their interval."""
        weights, pairs = self.judged.all_weights, self.judged.all_pairs
        after, before = self._after(weights), self._before(weights)
        low = high = after + before
        if not self.judged.whole:
            error = margin_of_error(
                jackknife(weights, pairs, lambda w: self._after(w) + self._before(w))
            )
            least = min(max(self._crossed(), 0.0), before)
            low, high = max(after + least - error, 0.0), after + before + error
            halves = [self._before(self._half(side)) for side in (0, 1)]
            luck = sum(halves) / 2 - before
            before = max(before - max(luck, 0.0) / 2, least)
        leaks, pots = tuple(self.leaks()), tuple(self.pot_gains(after))
        return RealFigures(after + before, after, before, (low, high), leaks, pots)

    def leaks(self) -> list[Leak]:
        """The gain of each deviation before the flop, the costliest first.

        With π the player's best response, ρ his reach by it, and V the values of continuing with
        his own strategy σ, the gain telescopes over his decisions n (the performance difference
        lemma, Kakade & Langford 2002):

            V_π(root) − V(root) = Σ_n ρ(n) · (V(n π(n)) − V(n))

        So a part belongs to the action at which the opponent's answers are bad, whatever the cost
        of getting there; parts below zero are that cost, and are left out.
        """
        tree, leaves = self.preflop.tree, self.judged.sums(self.judged.all_weights)
        leaks = []
        for player in Player:
            response = self.strategies | self._response(player, leaves[player])
            reach = self.preflop.reach(response)[:, player]  # [N, 169]
            values = self.preflop.values(
                player, leaves[player], best=False, strategies=self.strategies
            )
            for node in tree.decisions():
                if tree.player[node] != player:
                    continue
                for place, child in enumerate(tree.children_of(node).tolist()):
                    gains = reach[node] * response[node][place] * (values[child] - values[node])
                    line = line_text(tree, child, notation=BIG_BLINDS)
                    leaks.append(Leak(player.seat, line, float(gains.sum()) * self._unit))
        costly = (leak for leak in leaks if leak.gain_mbb >= LEAST_LEAK)
        return sorted(costly, key=lambda leak: -leak.gain_mbb)

    def pot_gains(self, after: float) -> list[PotGain]:
        """The parts of `after`, the gain after the flop, by pot, the costliest first."""
        judged = self.judged
        gains = judged.best if judged.own is None else judged.best - judged.own
        by_pot = np.einsum("d,aph,daph->p", judged.weights, self.reach, gains)
        total = float(by_pot.sum())
        parts = by_pot * (after / total) if total > 0 else np.zeros(len(by_pot))
        shares = self.reach @ HAND_SIZES / HAND_SIZES.sum()  # [2, P]
        pots = [
            PotGain(
                line_text(self.preflop.tree, pot.node, notation=BIG_BLINDS),
                float(part),
                (float(oop), float(ip)),
                not is_reached((float(oop), float(ip))),
            )
            for pot, part, oop, ip in zip(self.preflop.pots, parts, *shares, strict=True)
        ]
        return sorted(pots, key=lambda pot: -pot.gain_mbb)

    def _after(self, weights: Floats) -> float:
        """Gains after the flop: those per pair of combos that sees a flop, times all such pairs."""
        drawn = weights[: len(self._met)]
        met = float(drawn @ self._met)
        share = float(drawn @ self._gains) / met if met > 0 else 0.0
        return max(share * self._meets * self._unit, 0.0)

    def _before(self, weights: Floats) -> float:
        """The gain of best responses before the flop on top of those after it."""
        leaves = self.judged.sums(weights)
        gain = 0.0
        for player in Player:
            freely, kept = (
                self.preflop.values(player, leaves[player], best=best, strategies=self.strategies)
                for best in (True, False)
            )
            gain += float(freely[0].sum() - kept[0].sum())
        return gain * self._unit

    def _crossed(self) -> float:
        """The gain of responses before the flop, chosen on half of the draws, on the other half."""
        halves = [self.judged.sums(self._half(side)) for side in (0, 1)]
        gain = 0.0
        for chosen, valued in (halves, halves[::-1]):
            for player in Player:
                response = self.strategies | self._response(player, chosen[player])
                freely, kept = (
                    self.preflop.values(player, valued[player], best=False, strategies=played)
                    for played in (response, self.strategies)
                )
                gain += float(freely[0].sum() - kept[0].sum()) / 2
        return gain * self._unit

    def _half(self, side: int) -> Floats:
        """[D + E]: the weights when one draw of every pair stands for both."""
        pairs = self.judged.all_pairs
        return leave_out(self.judged.all_weights, pairs, np.unique(pairs[pairs >= 0]), 1 - side)

    def _response(self, player: Player, leaves: Floats) -> Strategies:
        """The best response before the flop where pots are worth `leaves` [P, 169]."""
        tree = self.preflop.tree
        values = self.preflop.values(player, leaves, best=True, strategies=self.strategies)
        chosen: Strategies = {}
        for node in tree.decisions():
            if tree.player[node] == player:
                below = values[tree.children_of(node)]
                best = np.arange(len(below))[:, None] == below.argmax(axis=0)
                chosen[node] = self.preflop.held(node, best.astype(np.float64))
        return chosen


def leave_out(weights: Floats, pairs: Longs, out: Longs, side: int) -> Floats:
    """[D]: the weights when the first or second draw of the pairs `out` is left out."""
    weights = weights.copy()
    for pair in out.tolist():
        gone, left = np.flatnonzero(pairs == pair).tolist()[:: 1 if side == 0 else -1]
        weights[left] += weights[gone]
        weights[gone] = 0.0
    return weights


def jackknife(weights: Floats, pairs: Longs, statistic: Callable[[Floats], float]) -> Floats:
    """[G]: the contribution of each of G groups of pairs to the variance of a statistic of weights
    [D].

    Either draw of a pair stands for both: the statistic moves by the difference of the two draws,
    and the mean of the squares is the variance that the pair contributes.
    """
    total, numbers = statistic(weights), np.unique(pairs[pairs >= 0])
    return np.array(
        [
            sum(
                (statistic(leave_out(weights, pairs, group, side)) - total) ** 2 / 2
                for side in (0, 1)
            )
            for group in np.array_split(numbers, min(len(numbers), REPLICATES))
        ]
    )


def margin_of_error(variances: Floats) -> float:
    """Half the 95 % interval of a sum with these variances, each of one degree of freedom."""
    total = float(variances.sum())
    if total <= 0:
        return 0.0
    freedom = total**2 / float((variances**2).sum())
    steps, errors = zip(*STUDENT, strict=True)
    inverse = [1 / step for step in reversed(steps)]  # t is nearly straight in 1 / freedom
    return float(np.interp(1 / freedom, inverse, errors[::-1])) * float(np.sqrt(total))


def needs_class_values(draws: Sequence[Draw], drafts: Sequence[Draw] = ()) -> bool:
    """Whether solving all flops with hand classes is worth its time for these draws."""
    if drafts and is_whole(drafts):
        return False
    return len(draws) > FEW_DRAWS and not is_whole(draws)


def is_whole(draws: Sequence[Draw]) -> bool:
    """Whether nothing was left to chance."""
    return all(draw.pair is None for draw in draws)


@dataclass(frozen=True, eq=False)
class DraftValues:
    """Quick solutions of flops, and the draws beside those that are evaluated."""

    draws: Sequence[Draw]
    values: Mapping[int, Floats]  # [2, P, 169] by flop number: these draws and the evaluated ones


def evaluated_flops(
    draws: Sequence[Draw],
    values: Sequence[LiftedValues],
    reach: Floats,
    dealt: Floats,
    played: Floats | None = None,
    drafts: DraftValues | None = None,
) -> EvaluatedFlops:
    """Put draws and their values together; `dealt` [169, 169] are the pairs before the flop.

    `reach` [2, P, 169] is that of the pots; draws of all flops or of a sample stand for the whole
    deck, those of a set of flops for the deal of that set. `played` [1755, 2, P, 169] are the
    values of all flops by hand classes, if draws are regressed on them; `drafts` are those of more
    draws.
    """
    if not draws:  # nobody sees a flop
        none = np.zeros((0, *reach.shape))
        known, totals = none[:, None], np.zeros((1, *reach.shape))
        return EvaluatedFlops(np.zeros(0), np.zeros(0, np.int64), none, None, known, totals)
    drawn = not is_whole(draws)
    summed = not drawn or (drafts is not None and is_whole(drafts.draws))  # nothing is missing
    count = 1 if summed else 2 if played is None else 3
    weights, pairs = _weights_and_pairs(draws, dealt)
    flops = [draw.flop for draw in draws]
    known = known_numbers(flops, reach, count, played)
    totals = known_totals(dealt, reach, count, played)
    more = None
    if drafts is not None and drawn:
        draft_weights, draft_pairs = _weights_and_pairs(drafts.draws, dealt)
        draft_flops = [draw.flop for draw in drafts.draws]
        draft_values = np.stack([drafts.values[flop.number] for flop in draft_flops])
        of_draws = np.stack([drafts.values[flop.number] for flop in flops])
        if summed:  # a known number as others are
            total = np.einsum("e,eaph->aph", draft_weights, draft_values)
            known = np.concatenate([known, of_draws[:, None]], axis=1)
            totals = np.concatenate([totals, total[None]])
        else:
            apart = np.where(draft_pairs < 0, -1, draft_pairs + pairs.max() + 1)
            of_drafts = known_numbers(draft_flops, reach, count, played)
            more = Drafts(draft_weights, apart, draft_values, of_drafts, of_draws)
    own = [flop_values.own for flop_values in values if flop_values.own is not None]
    return EvaluatedFlops(
        weights,
        pairs,
        np.stack([flop_values.best for flop_values in values]),
        np.stack(own) if len(own) == len(values) else None,
        known,
        totals,
        more,
    )


def _weights_and_pairs(draws: Sequence[Draw], dealt: Floats) -> tuple[Floats, Longs]:
    """[D] each: weights by which the draws deal as many pairs of combos as `dealt`, and pairs."""
    weights = np.array([draw.weight for draw in draws])
    pairs = np.array([-1 if draw.pair is None else draw.pair for draw in draws], np.int64)
    return weights * (float(dealt.sum()) / (PAIRS_BESIDE_FLOP * float(weights.sum()))), pairs

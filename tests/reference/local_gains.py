"""Local gains: the loss of a player's answers at every decision, by plain matrices of hands.

The **local gain** of a decision is what a best response from there on gains over the average
strategy, against an opponent who plays his average but takes every action with a thousandth of his
reach at the least: so lines that he never takes are judged, too. It is per pair of hands that may
be there (the player's as in his range, the opponent's as they get there), in % of the starting pot.
A decision is off-path if less than a thousandth of the hands get there by the averages.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import NodeKind, Player
from allstreets.cards import combo_strengths, fitting
from allstreets.engines import average_strategy
from allstreets.solvers import MBB_PER_CHIP, SpotSolver, WholeGameSolver

Floats = NDArray[np.float64]
RARE = 0.001  # decisions that are reached less often are off-path
MISTAKES = 0.001  # how often the opponent takes every action when answers are judged


class LocalGain(NamedTuple):
    """The loss of a decision's answers."""

    reached: float  # by a share of all pairs of hands
    gain: float


@dataclass(eq=False)
class LocalGains:
    """Local gains of one player's decisions in a solved river or turn spot."""

    solver: SpotSolver
    player: Player
    mistakes: float = MISTAKES
    gains: list[LocalGain] = field(default_factory=list)  # in % of pot

    def __post_init__(self) -> None:
        self.game, self.tree = self.solver.subgame, self.solver.spot.tree
        self.payoffs = self.solver.spot.payoffs[:, self.player]
        for street in self.game.streets[1:]:
            assert all(r.multiplicities.count(1) == len(r.multiplicities) for r in street.runouts)
        opponent = self.solver.reach[self.player.opponent]
        # [H], [H]: at the root, of the average and of the best response
        self.root = self.walk(0, 0, 0, self.solver.reach[self.player], opponent, opponent)

    def combos(self, player: Player, level: int, number: int) -> NDArray[np.int64]:
        return self.game.streets[level].combos(player, number)

    @cache  # noqa: B019
    def fits(self, level: int, number: int) -> Floats:
        """[H, O]: 1 where hands share no card."""
        mine, theirs = (
            self.combos(player, level, number) for player in (self.player, self.player.opponent)
        )
        return fitting(mine, theirs).astype(np.float64)

    @cache  # noqa: B019
    def margin(self, level: int, number: int) -> Floats:
        """[H, O]: 1 where a hand wins on a river, −1 where it loses."""
        strengths = combo_strengths(self.game.streets[level].boards[number])[0]
        mine, theirs = (
            strengths[self.combos(player, level, number)].astype(np.int64)
            for player in (self.player, self.player.opponent)
        )
        margin: Floats = np.sign(mine[:, None] - theirs[None]) * self.fits(level, number)
        return margin

    def below(self, player: Player, level: int, number: int) -> NDArray[np.int64]:
        """The places of a board's combos among those of the board above."""
        street = self.game.streets[level]
        above = self.combos(player, level - 1, int(street.parents[number]))
        return np.searchsorted(above, self.combos(player, level, number))

    def walk(
        self, node: int, level: int, number: int, own: Floats, clear: Floats, reach: Floats
    ) -> tuple[Floats, Floats]:
        """([H], [H]): values below a node, of the average and of the best response.

        `own` and `clear` are both players' reach by their averages, `reach` the opponent's when he
        errs now and then.
        """
        kind, opponent = self.tree.kind[node], self.player.opponent
        if kind == NodeKind.FOLD:
            value = self.payoffs[node, 0] * (self.fits(level, number) @ reach)
            return value, value
        if kind == NodeKind.SHOWDOWN and len(self.game.streets[level].boards[number]) == 5:
            win, tie, lose = self.payoffs[node]
            met, won = self.fits(level, number) @ reach, self.margin(level, number) @ reach
            value = (
                tie * met
                + (win - lose) / 2 * won
                + ((win + lose) / 2 - tie) * (np.abs(self.margin(level, number)) @ reach)
            )
            return value, value
        if kind in (NodeKind.CHANCE, NodeKind.SHOWDOWN):
            child = int(self.tree.children_of(node)[0]) if kind == NodeKind.CHANCE else node
            total = np.zeros((2, len(own)))
            parents = np.array(self.game.streets[level + 1].parents)
            for board in np.flatnonzero(parents == number).tolist():
                mine = self.below(self.player, level + 1, board)
                his = self.below(opponent, level + 1, board)
                total[:, mine] += self.walk(
                    child, level + 1, board, own[mine], clear[his], reach[his]
                )
            cards = 48 - len(self.game.streets[level].boards[number])
            return total[0] / cards, total[1] / cards
        children = self.tree.children_of(node).tolist()
        strategy = average_strategy(self.game, level, number, node)
        if self.tree.player[node] == opponent:
            erring = (1 - len(children) * self.mistakes) * strategy + self.mistakes
            parts = [
                self.walk(child, level, number, own, clear * chance, reach * err)
                for child, chance, err in zip(children, strategy, erring, strict=True)
            ]
            played, best = np.sum(parts, axis=0)
            return played, best
        parts = [
            self.walk(child, level, number, own * chance, clear, reach)
            for child, chance in zip(children, strategy, strict=True)
        ]
        played = sum(chance * part[0] for chance, part in zip(strategy, parts, strict=True))
        best = np.max([part[1] for part in parts], axis=0)
        self.note(level, number, own, clear, reach, best - played)
        return played, best

    def note(
        self, level: int, number: int, own: Floats, clear: Floats, reach: Floats, gain: Floats
    ) -> None:
        """How often a decision is reached, and the gain per pair of hands that may be there."""
        fits = self.fits(level, number)
        held = self.solver.spot.ranges[self.player].weights[self.combos(self.player, level, number)]
        often = float(own @ fits @ clear) / self.solver.spot.pairs
        pairs = float(held @ fits @ reach)
        if pairs > 0:
            lost = 100 * float(held @ gain) / pairs / self.solver.spot.pot
            self.gains.append(LocalGain(often, lost))


def local_gains(solver: SpotSolver) -> tuple[float, float, int]:
    """The mean local gain at off-path decisions and at the others, in % of pot; off-path ones."""
    gains = np.array([gain for player in Player for gain in LocalGains(solver, player).gains])
    rare = gains[:, 0] < RARE
    return float(gains[rare, 1].mean()), float(gains[~rare, 1].mean()), int(rare.sum())


def preflop_gains(solver: WholeGameSolver, mistakes: float = MISTAKES) -> dict[int, LocalGain]:
    """Node → how often a decision before the flop is reached, and its local gain in mbb/hand.

    The opponent errs before the flop; behind it he plays his averages.
    """
    game, average = solver.preflop.game, solver.preflop.average()
    flops, plain = np.arange(solver.engine.flops), game.reach(average)
    found: dict[int, LocalGain] = {}
    for player in Player:
        erring = {
            node: strategy
            if game.tree.player[node] == player
            else (1 - len(strategy) * mistakes) * strategy + mistakes
            for node, strategy in average.items()
        }
        reach = game.reach(erring)[:, player.opponent]
        behind = game.pot_reach(erring)[player.opponent]
        best, played = (
            game.values(
                player,
                solver.leaves.sum_flops(np.asarray(run(player, behind, flops))),
                best=free,
                strategies=erring,
            )
            for run, free in (
                (solver.engine.best_response, True),
                (solver.engine.evaluate, False),
            )
        )
        for node in game.tree.decisions():
            if game.tree.player[node] != player:
                continue
            often = float(plain[node, 0] @ game.pairs @ plain[node, 1]) / game.weight
            pairs = float((game.pairs @ reach[node]).sum())
            gain = float((best[node] - played[node]).sum()) / pairs * MBB_PER_CHIP
            found[node] = LocalGain(often, gain)
    return found

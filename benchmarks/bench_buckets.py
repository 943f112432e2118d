"""Bucket models with real cards: what their strategies lose where every card counts.

    export PYTHONPATH=tests  # OneFlop is a builder of theirs
    python benchmarks/bench_buckets.py [--flops 9h8h2c,Ks8s3d,7h7d2c] [--buckets fast,standard]

Full ranges, one size of bet. A model is solved in its own game; then every combo plays its bucket's
strategy on every real board, and the exact engine answers with a best response that sees all cards.
Beside it what a best response gains that leaves the model's play on the flop only, and, for the
smaller tree, what hand classes lose and the exact solution. All in % of the starting pot. Takes
about three minutes and 2 GB. Writes benchmarks/results/buckets.json.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from builders.one_flop import OneFlop
from numpy.typing import NDArray
from report import Row, write_report

from allstreets.base import Floats
from allstreets.betting import NodeKind, Player, Street, same_sizes
from allstreets.cards import HAND_OF_COMBO, live_combos, parse_cards, runouts
from allstreets.cfr.schedules import tuned
from allstreets.engines.exact.strategies import average_strategy, set_average_strategy
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.exact.view import StreetView
from allstreets.engines.matrix.buckets import (
    BucketCounts,
    bucket_stages,
    build_bucket_model,
)
from allstreets.engines.matrix.cards import Stage, class_stages
from allstreets.games.whole_game import PotGame, pot_at

HandsOnBoard = Callable[[tuple[int, ...]], NDArray[np.integer]]  # [1326] the model's hands

TREES = {
    "100 % of pot, SPR 3.5": pot_at(3.5, same_sizes(Street.FLOP, "100%", "100%"), 1),
    "75 % of pot, SPR 5": pot_at(5.0, same_sizes(Street.FLOP, "75%", "75%"), 1),
}
COUNTS = {"fast": BucketCounts(10, 50, 50), "standard": BucketCounts(20, 500, 500)}
ITERATIONS = 400
EXACT_ITERATIONS = 80
EVERYONE = np.ones(1176)
PAIRS = 1176 * 1081  # of combos that fit beside a flop and each other
BETS = "OOP bets, IP bets when checked to"


@dataclass(frozen=True)
class Spot:
    """A flop with a betting tree, played with real cards."""

    title: str
    game: PotGame
    exact: ExactSubgame

    @classmethod
    def of(cls, text: str, title: str, game: PotGame) -> "Spot":
        flop = parse_cards(text)
        live = np.flatnonzero(live_combos(flop))
        root = runouts(flop, [np.ones(1326)])
        exact = ExactSubgame(game.tree, game.payoffs, root, (live, live), threads=2)
        return cls(f"{text}, {title}", game, exact)

    @property
    def percent(self) -> float:
        """From chips, summed over pairs of combos, to % of pot."""
        return 100.0 / (PAIRS * self.game.tree.pot)

    def values(self, *, best: bool) -> list[float]:
        """The wins of OOP and IP by best responses to the strategies, or by them, in % of pot."""
        run = self.exact.best_response if best else self.exact.evaluate
        return [float(run(player, EVERYONE).sum()) * self.percent for player in Player]

    def play(self, subgame: OneFlop, hands_on: HandsOnBoard) -> None:
        """Let every combo play the average strategy of its hand in a matrix game, on all boards."""
        tree, exact = self.game.tree, self.exact
        for level, street in enumerate(exact.streets):
            here = (tree.kind == NodeKind.DECISION) & (tree.street == exact.levels[level])
            strategies = {int(node): subgame.average(int(node)) for node in np.flatnonzero(here)}
            for number, board in enumerate(street.boards):
                hands = hands_on(board)
                for node, strategy in strategies.items():
                    of_combos = strategy[:, hands[street.combos(tree.player_at(node), number)]]
                    set_average_strategy(exact, level, number, node, of_combos)

    def flop_gain(self) -> float:
        """Mean gain of both players who leave their strategies on the flop only, in % of pot."""
        view = StreetView(self.exact, (EVERYONE, EVERYONE))
        tree = self.game.tree

        def gain(player: Player, node: int) -> Floats:
            """[H]: chips times combos of the other, gained at the node and below it on the flop."""
            children = tree.children_of(node).tolist()
            if tree.kind[node] != NodeKind.DECISION:
                return np.zeros(len(EVERYONE))
            below = np.array([gain(player, child) for child in children])  # [A, H]
            if tree.player[node] != player:
                together: Floats = below.sum(axis=0)
                return together
            found = view.node(node)
            met = found.met[player]
            values = np.where(met > 0, found.action_values, 0.0) * met  # [A, H]
            played: Floats = (found.strategy * values).sum(axis=0)
            best: Floats = (values + below).max(axis=0)
            return best - played

        return sum(float(gain(player, 0).sum()) for player in Player) * self.percent / 2

    def bets(self) -> str:
        """The frequencies with which OOP bets first, and IP when checked to."""
        checked = int(self.game.tree.children_of(0)[0])
        shares = [1 - average_strategy(self.exact, 0, 0, node)[0].mean() for node in (0, checked)]
        return f"{BETS}: {100 * shares[0]:.0f} %, {100 * shares[1]:.0f} %"


def measure(name: str, spot: Spot, stages: tuple[Stage, ...], hands_on: HandsOnBoard) -> list[Row]:
    """Solve a model in its own game, then play it with real cards."""
    tree = spot.game.tree
    subgame = OneFlop(tree, spot.game.payoffs, stages)
    reach = np.ones(len(stages[0].combos))
    subgame.iterate((reach, reach), tuned().run(1, ITERATIONS))
    percent = 100.0 / (stages[0].pairs.sum() * tree.pot)
    own = sum(subgame.best_response(player, reach).sum() for player in Player) / 2 * percent
    ev = 50 + float(subgame.evaluate(Player.OOP, reach).sum()) * percent
    spot.play(subgame, hands_on)
    real_ev = 50 + spot.values(best=False)[Player.OOP]
    title = f"{spot.title}: {name}"
    return [
        Row(f"{title}, in its own game", float(own), "%"),
        Row(f"{title}, with real cards", sum(spot.values(best=True)) / 2, "%", spot.bets()),
        Row(f"{title}, left on the flop only", spot.flop_gain(), "%"),
        Row(f"{title}, OOP's EV", ev, "%", f"{real_ev:.2f} when played with real cards"),
    ]


def exactly(spot: Spot) -> list[Row]:
    """The exact solution."""
    for pair in spot.exact.averages:
        for array in pair:
            array[:] = 0
    spot.exact.iterate((EVERYONE, EVERYONE), tuned().run(1, EXACT_ITERATIONS))
    ev = 50 + spot.values(best=False)[Player.OOP]
    return [
        Row(f"{spot.title}: exact, with real cards", sum(spot.values(best=True)) / 2, "%"),
        Row(f"{spot.title}: exact, OOP's EV", ev, "%", spot.bets()),
    ]


def classes_on(board: tuple[int, ...]) -> NDArray[np.integer]:
    """Hand classes, whatever the board."""
    del board
    return HAND_OF_COMBO


def main() -> None:
    """Run the requested parts and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flops", default="9h8h2c,Ks8s3d,7h7d2c")
    parser.add_argument("--buckets", default="fast,standard")
    options = parser.parse_args()
    smaller = next(iter(TREES))
    rows: list[Row] = []
    for title, game in TREES.items():
        for text in options.flops.split(","):
            spot = Spot.of(text, title, game)
            for counts in options.buckets.split(","):
                model = build_bucket_model(parse_cards(text), COUNTS[counts], seed=1)
                rows += measure(f"buckets {counts}", spot, bucket_stages(model), model.buckets_on)
            if title == smaller:
                rows += measure("classes", spot, class_stages(parse_cards(text)), classes_on)
                rows += exactly(spot)
    write_report("buckets", rows)


if __name__ == "__main__":
    main()

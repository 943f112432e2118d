"""The gain from unifying: the separated pipeline and the unified solver on the same game.

    python benchmarks/bench_unifying.py [--flops spread_10] [--sizes 1.0] [--stack 20] [--threads 1]

The game: a stack in big blinds, preflop raises 2.5 times the last bet, one raise a street after it,
hand classes, and a few flops that stand for all. For models at the SPRs of the game's own pots, and
at a few SPRs, each solved with full ranges to 0.1 % of the pot:

* "played": exploitability in the whole game of the separated preflop strategy, with the strategies
  of the models after the flop;
* "re-solved": the same preflop strategy, with every flop solved again for the ranges that it sends
  there. What is lost then is lost before the flop;
* "unified": exploitability of the unified solver that was given the seconds of that pipeline.

Compilation and tables of cards are not counted. Writes benchmarks/results/unifying.json.
"""

import argparse
import time
from dataclasses import dataclass

from report import Row, write_report
from separated_play import (
    model_values,
    models_at,
    own_models,
    play_separated,
    pot_sprs,
    resolve_flops,
)

from allstreets.betting import PreflopRules, Street, same_sizes
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.cfr.schedules import tuned
from allstreets.engines.protocol import Engine
from allstreets.engines.spec import EngineSpec
from allstreets.games.whole_game import PotGame, WholeGame
from allstreets.solvers.flops import FlopsSolver, FlopTargets
from allstreets.solvers.separated import PreflopSolver
from allstreets.solvers.whole_game import PreflopTraining, WholeGameSolver

CHOICES: dict[str, tuple[float, ...]] = {
    "own SPRs": (),
    "SPR 3.5": (3.5,),
    "1, 3.5, 10": (1, 3.5, 10),
}
MODEL_TARGET = 0.001  # of the pot
PREFLOP_TARGET = 0.05  # mbb/hand
RESOLVE_ITERATIONS = 400
LONGEST = 5000  # iterations of anything


@dataclass(frozen=True)
class Bench:
    """The game, and how its flops are made."""

    game: WholeGame
    threads: int

    def flop_games(self, pots: tuple[PotGame, ...]) -> Engine:
        """Fresh subgames of pots on all flops."""
        rules = tuple(pot.rules for pot in pots)
        return EngineSpec(rules, self.game.flops.flops, threads=self.threads).build(
            [(pot.tree, pot.payoffs) for pot in pots]
        )

    def unified(self) -> WholeGameSolver:
        """A fresh solver of the whole game."""
        return WholeGameSolver(self.game, self.flop_games(self.game.pots), tuned())

    def models(self, sprs: tuple[float, ...]) -> tuple[FlopsSolver, float]:
        """(models at these SPRs or at the game's own, seconds)."""
        pots = models_at(self.game, sprs) if sprs else own_models(self.game)
        flops, never = self.game.flops, FlopTargets(exploitability=0.0, check_interval=LONGEST)
        made = FlopsSolver(pots, flops, self.flop_games(pots), tuned(), never)
        start = time.perf_counter()
        while made.iterations < LONGEST:
            made.train_batch(25)
            if made.mean_exploitability().max() <= MODEL_TARGET:
                break
        return made, time.perf_counter() - start

    def preflop(self, models: FlopsSolver) -> tuple[PreflopSolver, float]:
        """(a separated solution, seconds)."""
        start = time.perf_counter()
        solver = PreflopSolver(self.game.preflop, model_values(models), tuned())
        while solver.iterations < LONGEST:
            solver.train_batch(50)
            if exploitability(solver) <= PREFLOP_TARGET:
                break
        return solver, time.perf_counter() - start

    def unified_after(self, seconds: float) -> tuple[float, int]:
        """(exploitability, iterations) of the unified solver after so long."""
        solver = self.unified()
        end = time.perf_counter() + seconds
        solver.train_batch(10**9, lambda _: time.perf_counter() >= end)
        return exploitability(solver), solver.iterations

    def rows(self, name: str, sprs: tuple[float, ...]) -> list[Row]:
        """Everything about one choice of models."""
        models, model_seconds = self.models(sprs)
        solver, preflop_seconds = self.preflop(models)
        average = solver.preflop.average()
        played, resolved = self.unified(), self.unified()
        play_separated(played, average, models)
        resolve_flops(resolved, average, RESOLVE_ITERATIONS)
        seconds = model_seconds + preflop_seconds
        whole, done = self.unified_after(seconds)
        used = ", ".join(f"{own:.3g}→{model:.3g}" for own, model in dict(pot_sprs(solver)).items())
        return [
            Row(
                f"{name}: models",
                model_seconds,
                "s",
                f"{models.iterations} iterations; pots {used}",
            ),
            Row(
                f"{name}: preflop",
                preflop_seconds,
                "s",
                f"{solver.iterations} iterations to {exploitability(solver):.3f} mbb/hand in the "
                "simplified game",
            ),
            Row(f"{name}: played", exploitability(played), "mbb/hand", "in the whole game"),
            Row(f"{name}: re-solved", exploitability(resolved), "mbb/hand", "in the whole game"),
            Row(f"{name}: unified", whole, "mbb/hand", f"{done} iterations in {seconds:.1f} s"),
        ]


def exploitability(solver: PreflopTraining) -> float:
    """Exploitability of a solver that has all its strategies, in mbb/hand."""
    found = solver.exploitability()
    assert found is not None
    return found


def main() -> None:
    """Measure all choices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flops", default="spread_10")
    parser.add_argument("--sizes", default="1.0", help="in pots, by comma")
    parser.add_argument("--stack", type=float, default=20, help="in big blinds")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    sizes = same_sizes(Street.FLOP, given.sizes, given.sizes)
    rules = PreflopRules.parse(given.stack, [2.5], 4)
    game = WholeGame(rules, sizes, parse_flop_set(given.flops), max_raises=1)
    bench = Bench(game, given.threads)
    warm = bench.unified()  # compiles
    warm.train_batch(2)
    warm.exploitability()
    rows = [row for name, sprs in CHOICES.items() for row in bench.rows(name, sprs)]
    write_report("unifying", rows)


if __name__ == "__main__":
    main()

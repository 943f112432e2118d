"""The coverage of certificates' intervals in a game whose true value is known.

    allstreets certify FOLDER --flops all --cards classes
    python benchmarks/certificate_coverage.py FOLDER --cards classes [--seeds 100]

All 1,755 flops of the solution have been judged, so its exploitability with real cards is known.
Certificates are made from draws of them, with other seeds, as if the other flops were not known;
`--trained` flops of a subset count as those that the solution was trained on. A second population
is worth what hand classes make of it, except for monotone flops, on which the opponent gains
`--monotone` of the pot more: a loss that a small sample may miss.

Writes benchmarks/results/certificate_coverage.json.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from report import Row, write_report

from allstreets.analysis import RealGame, class_values
from allstreets.analysis.certificate_figures import (
    Draw,
    RealFigures,
    draw_flops,
    evaluated_flops,
    everything,
    known_numbers,
    needs_class_values,
)
from allstreets.base import Floats
from allstreets.cards import FLOP_COUNT, all_flops, preflop_equity, spread_flops, subset_flops
from allstreets.engines import LiftedValues
from allstreets.jobs.certificate import CertifyJob, plan_certify
from allstreets.solvers import Completion

COUNTS = (8, 12, 16, 24, 32)


class KnownGame:
    """A solution all of whose flops have been judged."""

    def __init__(self, job: CertifyJob, values: Floats, by_classes: Floats) -> None:
        self.reach, self.values, self.by_classes = job.evaluator.solver.reach, values, by_classes
        self.dealt = preflop_equity().pairs.astype(np.float64)
        self.preflop = job.result.game.before_the_flop(self.dealt)
        self.strategies = job.result.before.strategies

    def figures(self, draws: Sequence[Draw]) -> RealFigures:
        """The certificate that these draws give."""
        values = [LiftedValues(self.values[draw.flop.number]) for draw in draws]
        by_classes = self.by_classes if needs_class_values(draws) else None
        judged = evaluated_flops(draws, values, self.reach, self.dealt, by_classes)
        return RealGame(self.preflop, self.strategies, judged).figures()

    def coverage(self, name: str, trained: set[int], seeds: int) -> list[Row]:
        """A row for each number of draws."""
        truth = self.figures(everything(spread_flops(FLOP_COUNT))).exploitability
        rows: list[Row] = []
        for count in COUNTS:
            made = [self.figures(draw_flops(trained, count, seed)) for seed in range(seeds)]
            low, high = np.array([figures.interval for figures in made]).T
            estimates = np.array([figures.exploitability for figures in made])
            covered = float(((low <= truth) & (truth <= high)).mean())
            remark = (
                f"truth {truth:.1f} mbb/hand, estimates {estimates.mean():.1f} ± "
                f"{estimates.std():.1f}, intervals {(high - low).mean():.1f} wide"
            )
            rows.append(Row(f"{name}, {count} draws", 100 * covered, "% covered", remark))
        return rows


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cards", choices=["boards", "classes", "exact"])
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--trained", type=int, default=95)
    parser.add_argument("--monotone", type=float, default=0.05)
    options = parser.parse_args()

    job = plan_certify(
        options.folder,
        "all",
        completion=lambda cards: Completion.like(
            cards, options.cards, iterations=options.iterations
        ),
    )
    judged = job.work.load((flop.text, job.evaluator.completes(flop)) for flop in all_flops())
    missing = sum(flop is None for flop in judged)
    if missing:
        parser.error(f"{missing} flops are not judged: run allstreets certify --flops all first")
    values = np.stack([flop[0].best for flop in judged if flop is not None])
    by_classes = class_values(job.result.game, job.evaluator.solver.reach)
    monotone = np.array([flop.texture.suits == "monotone" for flop in all_flops()])
    met = known_numbers(all_flops(), job.evaluator.solver.reach, 1)[:, 0]
    pots = np.array([pot.pot.pot for pot in job.result.game.pots])[:, None]
    trained = {flop.number for flop in subset_flops(options.trained).flops}
    hidden = by_classes + monotone[:, None, None, None] * options.monotone * pots * met
    rows = KnownGame(job, values, by_classes).coverage("as judged", trained, options.seeds)
    rows += KnownGame(job, hidden, by_classes).coverage("monotone", trained, options.seeds)
    write_report("certificate_coverage", rows)


if __name__ == "__main__":
    main()

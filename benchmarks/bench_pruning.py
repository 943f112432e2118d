"""Regret-based pruning in matrix games: exploitability at equal wall time, with and without it.

    export PYTHONPATH=tests  # OneFlop is a builder of theirs
    python benchmarks/bench_pruning.py [--seconds 10] [--games small,large] [--order strength]

One flop with 169 hands, one thread. All contestants take turns of a fraction of a second, so that a
busy moment hits them all alike; each has its own clock, on which best responses do not count. For
each: exploitability when a hundredth, a tenth and all of the time are over, the share of (action,
block of sixteen hands) that was left out, and how its iterations compare with those of the same
schedule unpruned. The bar is `tuned` without pruning, the default. Thresholds are in the regret
that a hand of average weight gathers by losing one pot (chips times pairs of combos).

Then the case that a solver of the whole game has: passes that are asked for a few blocks of hands
only, since the preflop strategy has closed the others. Writes benchmarks/results/pruning.json.
"""

import argparse
import time
from dataclasses import dataclass, field

import numpy as np
from builders.one_flop import OneFlop
from report import Row, write_report

from allstreets.betting import (
    POSTFLOP,
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cards import parse_board
from allstreets.cards.hands import COMBO_CARDS, COMBO_MASKS, HAND_OF_COMBO
from allstreets.cards.matchups import matchups
from allstreets.cfr import Pruning
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.game import make_spaces
from allstreets.engines.matrix.kernels.layout import UPDATE
from allstreets.engines.matrix.plan import blocks_of_hands

HANDS = 169
POT = 1000
GAMES: dict[str, tuple[list[float], int, int]] = {  # sizes, raises, stack
    "small": ([0.5, 1.0], 1, 3500),
    "large": ([0.33, 0.75, 1.5], 2, 10_000),
}
UNPRUNED = ("tuned", "dcfr", "linear")  # the first is the bar
PRUNED = (  # schedule, threshold in pots times the mean weight of a hand
    ("dcfr", "-0.003*sqrt(t)"),
    ("dcfr", "-0.01*sqrt(t)"),
    ("dcfr", "-0.03*sqrt(t)"),
    ("dcfr", "-0.03"),
    ("dcfr", "-0.3"),
    ("linear", "-0.03*sqrt(t)"),
    ("linear", "-0.1*sqrt(t)"),
    ("linear", "-0.3"),
    ("linear", "-3"),
)
WARMUP, EXPLORE = 50, 20
TURN = 0.1  # seconds at a time
SHARES = (0.01, 0.1, 1.0)  # of the time, when exploitability is taken
ASKED = 48  # own hands that the last part asks for: 3 of 11 blocks
EVERYONE = np.ones(HANDS), np.ones(HANDS)


def flop_stage(flop: str, by_strength: bool) -> Stage:
    """The 169 hands on a flop, the turn and river integrated out."""
    board = parse_board(flop)
    dead = np.isin(COMBO_CARDS, board).any(axis=1)
    live = np.flatnonzero(~dead)
    found = matchups(board, live, live)
    fits = (COMBO_MASKS[live][:, None] & COMBO_MASKS[live]) == 0
    share = np.where(fits, (2.0 * found.wins + found.ties) / found.runouts - 1, 0.0)
    member = (HAND_OF_COMBO[live][:, None] == np.arange(HANDS)).astype(np.float64)
    holds = (COMBO_CARDS[live][:, :, None] == np.arange(52)).sum(axis=1)
    combos, cards, margin = member.sum(axis=0), member.T @ holds, member.T @ share @ member
    order = np.arange(HANDS)
    if by_strength:  # neighbours that want the same share a block
        order = np.argsort(-margin.sum(axis=1) / (member.T @ fits).sum(axis=1))
    matrix = margin[np.ix_(order, order)].astype(np.float32)
    return Stage(POSTFLOP, combos[order], cards[order], matrix)


@dataclass
class Contestant:
    """A solver with a clock of its own."""

    schedule: str
    threshold: str | None
    game: OneFlop
    seconds: float = 0.0
    iterations: int = 0
    turn: int = 8  # iterations
    found: dict[float, float] = field(default_factory=dict)  # exploitability by share of the time
    done: dict[float, int] = field(default_factory=dict)  # and iterations

    @property
    def name(self) -> str:
        return f"{self.schedule} pruned below {self.threshold}" if self.threshold else self.schedule

    @property
    def rate(self) -> float:
        """Iterations a second."""
        return self.iterations / self.seconds

    def run(self, until: float) -> None:
        """One turn, of fewer iterations where the time is almost over."""
        left = (until - self.seconds) * self.rate if self.iterations else 8
        count = max(1, min(self.turn, round(left)))
        every = parse_schedule(self.schedule).run(self.iterations + 1, count)
        start = time.perf_counter()
        self.game.iterate(EVERYONE, every)
        spent = time.perf_counter() - start
        self.seconds += spent
        self.iterations += count
        self.turn = max(1, round(TURN * count / spent))


def exploitability(game: OneFlop) -> float:
    """In % of the pot."""
    gain = 0.0
    for player in Player:
        own, other = EVERYONE[player], EVERYONE[player.opponent]
        gain += float(own @ (game.best_response(player, other) - game.evaluate(player, other)))
    return 100 * gain / 2 / (float(game.stages[0].pairs.sum()) * POT)


def make_game(name: str, stage: Stage, pruning: Pruning | None) -> OneFlop:
    sizes, raises, stack = GAMES[name]
    rules = PostflopRules(
        street=Street.FLOP,
        pot=POT,
        stack=stack,
        sizes=same_sizes(Street.FLOP, sizes, sizes),
        max_raises=raises,
    )
    tree = build_postflop_tree(rules)
    return OneFlop(tree, payoffs(tree, rules), (stage,), pruning)


def scaled(threshold: str, unit: float) -> str:
    """A threshold in the unit of stored regrets."""
    number, _, root = threshold.partition("*")
    return f"{float(number) * unit}*{root}" if root else f"{float(number) * unit}"


def equal_time(name: str, stage: Stage, seconds: float) -> list[Row]:
    """All contestants on one game."""
    unit = POT * float(stage.pairs.sum()) / HANDS
    runners = [Contestant(kind, None, make_game(name, stage, None)) for kind in UNPRUNED]
    for kind, threshold in PRUNED:
        pruning = Pruning(WARMUP, scaled(threshold, unit), EXPLORE)
        runners.append(Contestant(kind, threshold, make_game(name, stage, pruning)))
    for share in SHARES:
        waiting = list(runners)
        while waiting:
            for runner in waiting:
                runner.run(share * seconds)
            waiting = [runner for runner in waiting if runner.seconds < share * seconds]
        for runner in runners:
            runner.found[share] = exploitability(runner.game)
            runner.done[share] = runner.iterations
    plain = {runner.schedule: runner for runner in runners if runner.threshold is None}
    bar = plain[UNPRUNED[0]]
    rows = []
    for runner in runners:
        path = ", ".join(f"{runner.found[share]:.3g}" for share in SHARES[:-1])
        remark = f"before {path}; {runner.iterations:,} iterations"
        if runner.threshold:
            skipped = runner.game.pruned_fraction or 0.0
            speed = runner.rate / plain[runner.schedule].rate
            remark += f"; {skipped:.0%} left out, an iteration is {speed:.2f} times as fast"
        rows.append(Row(f"{name}: {runner.name}", runner.found[1.0], "% of pot", remark))
    pruned = [runner for runner in runners if runner.threshold]
    for share in SHARES:
        if min(runner.done[share] for runner in pruned) < 2 * WARMUP:
            continue  # too early: nothing, or hardly anything, was pruned until then
        best = min(pruned, key=lambda runner: runner.found[share])
        same = min(
            pruned, key=lambda runner: runner.found[share] / plain[runner.schedule].found[share]
        )
        against = same.found[share] / plain[same.schedule].found[share]
        rows.append(
            Row(
                f"{name}: after {share * seconds:g} s, best pruned over {bar.schedule}",
                best.found[share] / bar.found[share],
                "×",
                f"{best.name}; over its own schedule {against:.2f} at best ({same.name})",
            )
        )
    return rows


def few_hands(name: str, stage: Stage, rounds: int) -> list[Row]:
    """An iteration that is asked for 3 of 11 blocks of own hands, beside a full one."""
    game = make_game(name, stage, None)
    schedule = parse_schedule("tuned")
    game.iterate(EVERYONE, schedule.run(1, 50))
    saved = {key: array.copy() for key, array in game.state().items()}
    table = np.array([schedule.at(51)], np.float32)
    spaces = make_spaces([game.game])
    asked = blocks_of_hands(np.arange(HANDS) < ASKED)
    rows = []
    for others in (HANDS, ASKED):
        other = (np.arange(HANDS) < others).astype(np.float64)
        best = [np.inf, np.inf]
        for _ in range(rounds):
            for number, blocks in enumerate((None, asked)):
                for key, array in game.state().items():
                    array[...] = saved[key]
                start = time.perf_counter()
                for player in Player:
                    game.game.run(player, other, UPDATE, spaces, weights=table, wanted=blocks)
                best[number] = min(best[number], time.perf_counter() - start)
        full, part = best
        rows.append(
            Row(
                f"{name}: {ASKED} own hands against {others}",
                full / part,
                "× as fast",
                f"{1000 * part:.3g} ms an iteration, {1000 * full:.3g} ms when all are asked for",
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each contestant")
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--flop", default="AhKd7s")
    parser.add_argument("--order", choices=("hands", "strength"), default="hands")
    options = parser.parse_args()
    stage = flop_stage(options.flop, options.order == "strength")
    warm = make_game("small", stage, Pruning(1, -1e9))  # compiles
    warm.iterate(EVERYONE, parse_schedule("dcfr").run(1, 3))
    exploitability(warm)
    rows = []
    for name in options.games.split(","):
        rows += equal_time(name, stage, options.seconds)
        rows += few_hands(name, stage, 200 if name == "small" else 20)
    write_report("pruning", rows)


if __name__ == "__main__":
    main()

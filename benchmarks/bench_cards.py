"""Speed of the evaluator and of equities, beside eval7 and phevaluator in the same run.

    python benchmarks/bench_cards.py [--quick]

Prints a table and writes benchmarks/results/cards.json. One thread unless the row says otherwise;
each figure is the best of several runs, compilation not counted. The other programs are called
through Python one hand at a time, the only way they offer, with their arguments made beforehand.
"""

import argparse
from functools import partial

import eval7
import numpy as np
import phevaluator
from report import Row, best_seconds, write_report

from allstreets.cards import (
    COMBO_CARDS,
    Range,
    card_text,
    equity,
    evaluate,
    live_combos,
    parse_board,
)
from allstreets.cards.evaluator import evaluator_tables
from allstreets.cards.isomorphism import canonical_boards
from allstreets.cards.kernels.evaluator import evaluate_combos, evaluate_hands
from allstreets.cards.matchups import count_preflop_matchups


def evaluator_rows(quick: bool) -> list[Row]:
    """Hands a second: random hands in a batch, all combos on enumerated boards, the two others."""
    count = 200_000 if quick else 2_000_000
    rng = np.random.default_rng(1)
    hands = rng.random((count, 52)).argpartition(7, axis=1)[:, :7].astype(np.uint8)
    strengths = np.empty(count, np.uint16)
    tables = evaluator_tables()
    evaluate(hands[:10])  # compiles
    batch = count / best_seconds(lambda: evaluate_hands(hands, tables, strengths))

    boards = canonical_boards(5)[0][:: 134 if quick else 27]
    on_boards = np.empty((len(boards), len(COMBO_CARDS)), np.uint16)
    evaluate_combos(boards[:2], COMBO_CARDS, tables, on_boards[:2])
    live_hands = len(boards) * 1081
    enumerated = live_hands / best_seconds(
        lambda: evaluate_combos(boards, COMBO_CARDS, tables, on_boards)
    )

    few = hands[:100_000]
    cards = [eval7.Card(card_text(card)) for card in range(52)]
    as_cards = [[cards[card] for card in row] for row in few.tolist()]
    as_numbers = few.tolist()
    eval7_rate = len(few) / best_seconds(lambda: [eval7.evaluate(row) for row in as_cards], 3)
    phevaluator_rate = len(few) / best_seconds(
        lambda: [phevaluator.evaluate_cards(*row) for row in as_numbers], 3
    )
    best_other = max(eval7_rate, phevaluator_rate)

    def beside(rate: float) -> str:
        return f"{rate / best_other:.0f} × the best other"

    return [
        Row("7-card hands, random, batch", batch / 1e6, "M/s", beside(batch)),
        Row("7-card hands, enumerated boards", enumerated / 1e6, "M/s", beside(enumerated)),
        Row("eval7 through Python", eval7_rate / 1e6, "M/s"),
        Row("phevaluator through Python", phevaluator_rate / 1e6, "M/s"),
    ]


def equity_rows(quick: bool) -> list[Row]:
    """Range against range on a flop, and all preflop matchups from nothing."""
    board = parse_board("QsJh2h")
    live = np.flatnonzero(live_combos(board))
    rng = np.random.default_rng(1)
    ranges = []
    for _ in range(2):
        weights = np.zeros(1326)
        weights[rng.choice(live, 500, replace=False)] = 1.0
        ranges.append(Range(weights))
    first, second = ranges
    rows = [
        Row(
            f"500 × 500 combos on a flop, {threads} thread{'s' * (threads > 1)}",
            1000 * best_seconds(partial(equity, first, second, board, threads)),
            "ms",
            "990 runouts a pair, exact",
        )
        for threads in (1, 2)
    ]
    if not quick:
        seconds = best_seconds(lambda: count_preflop_matchups(2), 1)
        rows.append(Row("all preflop matchups, 2 threads", seconds, "s", "1,326² combos, exact"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer hands, no preflop table")
    quick = parser.parse_args().quick
    write_report("cards", evaluator_rows(quick) + equity_rows(quick))


if __name__ == "__main__":
    main()

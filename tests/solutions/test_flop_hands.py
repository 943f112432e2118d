"""The hands of a flop under each card model."""

import numpy as np
import pytest
from builders.whole_solution import BUCKETS, buckets, classes, combos, forgotten

from allstreets.betting import POSTFLOP, Street
from allstreets.cards import HAND_OF_COMBO, hand_combos, hand_pairs
from allstreets.cards.hands import COMBO_MASKS
from allstreets.engines.card_model import CLASSES, EXACT
from allstreets.engines.matrix.buckets import BucketCounts, build_bucket_model
from allstreets.engines.quantised import ONE_BYTE
from allstreets.solutions.pot_evaluation import combo_hands, flop_hands, live


def test_models_of_games() -> None:
    """The streets that a bundle keeps, stage by stage."""
    assert classes().engine.model == forgotten().engine.model == CLASSES
    assert (CLASSES.streets, CLASSES.last_street) == ((POSTFLOP,), Street.RIVER)
    model = buckets().engine.model
    assert (model.kind, model.buckets, model.seed) == ("buckets", BUCKETS, 1)
    assert model.streets == ((Street.FLOP,), (Street.TURN,), (Street.RIVER,))
    assert combos().engine.model == EXACT
    assert (EXACT.streets[0], EXACT.last_street) == ((Street.FLOP,), Street.FLOP)


def test_classes() -> None:
    flop = classes().game.flops.flops[0]
    hands = flop_hands(CLASSES, flop)
    assert np.array_equal(hands.combos, hand_combos(flop.cards))
    assert np.array_equal(hands.first.pairs, hand_pairs(flop.cards))


def test_combos() -> None:
    flop = combos().game.flops.flops[0]
    hands = combo_hands(flop)
    masks = COMBO_MASKS[live(flop)]
    assert len(masks) == 49 * 48 // 2
    assert np.array_equal(hands.first.pairs, (masks[:, None] & masks[None, :]) == 0)
    assert np.array_equal(hands.combos, hand_combos(flop.cards))


@pytest.mark.parametrize("flop", [0, 1])
def test_buckets(flop: int) -> None:
    """The stored buckets agree with a model that is computed again."""
    solver = buckets()
    held = solver.engine.pack(flop, np.zeros((2, 1, 169)), [ONE_BYTE])["held"]
    found = solver.game.flops.flops[flop]
    hands = flop_hands(solver.engine.model, found, held)
    model = build_bucket_model(found.cards, BucketCounts(*BUCKETS), 1)
    counts = np.zeros((169, len(model.weights[0])))
    for combo, bucket in enumerate(model.flop_buckets.tolist()):
        if bucket >= 0:
            counts[HAND_OF_COMBO[combo], bucket] += 1
    assert np.array_equal(hands.held, counts)
    assert np.array_equal(hands.first.combos, model.weights[0])
    assert np.array_equal(hands.combos, hand_combos(found.cards))
    assert np.array_equal(hands.stages()[0].combos, hands.first.combos)

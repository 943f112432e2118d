"""The hands of a flop under each card model."""

import numpy as np
import pytest
from builders.whole_solution import BUCKETS, buckets, classes, combos, forgotten

from allstreets.betting import Street
from allstreets.cards import HAND_OF_COMBO, hand_combos, hand_pairs
from allstreets.cards.combos import COMBO_MASKS
from allstreets.solvers.flops.hands import CardModel, combo_hands, live
from allstreets.subgames.buckets import BucketCounts, build_bucket_model


def test_names_of_models_are_read() -> None:
    """The names are those that the games give themselves."""
    found = CardModel.parse(classes().games.model)
    assert (found.kind, found.is_kept, found.last_street) == ("classes", True, Street.RIVER)
    found = CardModel.parse(buckets().games.model)
    assert (found.kind, found.counts, found.seed) == ("buckets", BucketCounts(*BUCKETS), 1)
    found = CardModel.parse(combos().games.model)
    assert (found.kind, found.is_kept, found.last_street) == ("exact", True, Street.FLOP)
    found = CardModel.parse(forgotten().games.model)
    assert (found.kind, found.is_kept) == ("classes", False)


def test_classes() -> None:
    flop = classes().game.flops.flops[0]
    hands = CardModel.parse("classes").hands(flop)
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
    """What is stored of the buckets agrees with the model that is found anew."""
    from allstreets.solvers.flops.packing import FlopPacker

    solver = buckets()
    none = np.zeros((2, 1, 169))
    held = FlopPacker(solver).pack(flop, none, none.astype(np.float32))["held"]
    found = solver.game.flops.flops[flop]
    hands = CardModel.parse(solver.games.model).hands(found, held)
    model = build_bucket_model(found.cards, BucketCounts(*BUCKETS), 1)
    counts = np.zeros((169, len(model.weights[0])))
    for combo, bucket in enumerate(model.flop_buckets.tolist()):
        if bucket >= 0:
            counts[HAND_OF_COMBO[combo], bucket] += 1
    assert np.array_equal(hands.held, counts)
    assert np.array_equal(hands.first.combos, model.weights[0])
    assert np.array_equal(hands.combos, hand_combos(found.cards))
    assert np.array_equal(hands.stages()[0].combos, hands.first.combos)

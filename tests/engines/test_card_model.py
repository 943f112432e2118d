"""Card models as values: written down, read back, and the pairs that they deal."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import POSTFLOP, Street
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_COUNT,
    all_flops,
    hand_combos,
    hand_pairs,
    preflop_equity,
)
from allstreets.engines.card_model import CLASSES, EXACT, KINDS, CardModel, DealtPairs

MODELS = [
    CLASSES,
    EXACT,
    CardModel("exact", precision="int16"),
    CardModel("exact", river_groups="suits"),
    CardModel("buckets", (6, 12, 15), seed=7),
    CardModel("sampled", sample_pct=0.25, seed=2),
]

boards = st.lists(st.integers(0, 51), min_size=3, max_size=3, unique=True).map(tuple)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_facts_come_back_through_a_file(model: CardModel) -> None:
    facts = json.loads(json.dumps(model.facts()))
    assert facts == model.facts()
    unset = {"river_groups"} if model.river_groups == "none" else set()  # as before it was known
    assert facts.keys() == {"kind", *KINDS[model.kind].settings} - unset
    assert CardModel.of(facts) == model
    assert hash(CardModel.of(facts)) == hash(model)


def test_settings_of_other_kinds_do_not_tell_models_apart() -> None:
    """A training file gives all of them, whatever the kind."""
    given = CardModel("classes", (6, 12, 15), "int16", sample_pct=0.5, river_groups="suits")
    assert given == CLASSES
    exact = CardModel("exact", (6, 12, 15), "int16", sample_pct=0.5, seed=7)
    assert exact == CardModel("exact", precision="int16")
    assert CardModel("buckets", seed=7) != CardModel("buckets")


def test_texts_name_what_matters() -> None:
    assert [str(model) for model in MODELS] == [
        "classes",
        "exact float32",
        "exact int16",
        "exact float32, river groups by suits",
        "buckets (6, 12, 15) seed 7",
        "sampled 0.25 % seed 2",
    ]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_stages_hold_every_street_once(model: CardModel) -> None:
    assert tuple(street for streets in model.streets for street in streets) == POSTFLOP
    assert model.last_street == (Street.FLOP if model.kind == "exact" else Street.RIVER)
    assert model.plays_classes == (model.kind in ("classes", "sampled"))
    assert model.removes_cards == (model.kind != "buckets")


@settings(max_examples=30)
@given(st.lists(boards, min_size=1, max_size=4), st.integers(0, 2**31), st.booleans())
def test_sums_and_reach_are_those_of_the_matrices(
    flops: list[tuple[int, ...]], seed: int, removal: bool
) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.random(len(flops)) * 30
    own, other = generator.random((2, HAND_COUNT)) * (generator.random((2, HAND_COUNT)) < 0.5)
    matrices = [
        hand_pairs(flop) if removal else np.outer(hand_combos(flop), hand_combos(flop))
        for flop in flops
    ]
    dealt = DealtPairs.of(flops, removal=removal)
    assert dealt.flops == len(flops)
    expected = sum(w * matrix for w, matrix in zip(weights, matrices, strict=True))
    np.testing.assert_allclose(dealt.sum(weights), expected, atol=1e-9)
    reached = [own @ matrix @ other for matrix in matrices]
    np.testing.assert_allclose(dealt.reached(own, other), reached, rtol=1e-9, atol=1e-9)
    for flop, matrix in enumerate(matrices):
        np.testing.assert_allclose(dealt.met(flop, other), matrix @ other, rtol=1e-9, atol=1e-9)


def test_one_hand_against_one_hand() -> None:
    """Aces against aces on a flop with an ace: three combos, no two of which fit together."""
    flop = next(flop for flop in all_flops() if flop.text == "AsKh7d")
    aces = np.zeros(HAND_COUNT)
    aces[0] = 1
    assert DealtPairs.of([flop.cards]).reached(aces, aces)[0] == 0
    assert DealtPairs.of([flop.cards], removal=False).reached(aces, aces)[0] == 9


def test_all_flops_deal_what_is_dealt_before_them() -> None:
    flops = all_flops()
    dealt = DealtPairs.of([flop.cards for flop in flops])
    total = dealt.sum(np.array([float(flop.multiplicity) for flop in flops]))
    np.testing.assert_allclose(total, 17_296 * preflop_equity().pairs, rtol=1e-12)


@pytest.mark.parametrize("permutation", [3, 14, 22])
def test_the_names_of_suits_do_not_matter(permutation: int) -> None:
    flop = (3, 18, 50)
    renamed = tuple(CARD_PERMUTATIONS[permutation][list(flop)].tolist())
    first, second = DealtPairs.of([flop]), DealtPairs.of([renamed])
    np.testing.assert_array_equal(first.sum(np.ones(1)), second.sum(np.ones(1)))


@pytest.mark.parametrize("counts", [{"groups": 8}, {"groups": 0}, {"rows": 20}, {"groups": 256}])
def test_buckets_come_in_sixteens(counts: dict[str, int]) -> None:
    with pytest.raises(InputError, match="multiple of 16, 240 at most"):
        CardModel("boards", **counts)  # type: ignore[arg-type]
    CardModel("exact", **counts)  # type: ignore[arg-type]  # which has none

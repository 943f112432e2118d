"""Card models as values: what is written down of them, and what comes back."""

import json

import pytest

from allstreets.betting import POSTFLOP, Street
from allstreets.engines.card_model import CLASSES, EXACT, KINDS, CardModel

MODELS = [
    CLASSES,
    EXACT,
    CardModel("exact", precision="int16"),
    CardModel("exact", river_groups="suits"),
    CardModel("buckets", (6, 12, 15), seed=7),
    CardModel("sampled", sample_pct=0.25, seed=2),
]


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

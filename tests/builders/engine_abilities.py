"""Abilities of only some engines, from an engine that has them."""

from allstreets.base import Flags
from allstreets.engines import DropsHands, Engine, EvaluatesPairs, Flops, Values


def pair_values(engine: Engine, pot: int, flops: Flops) -> Values:
    """[K, 169, 169]: see `EvaluatesPairs`."""
    assert isinstance(engine, EvaluatesPairs)
    return engine.pair_values(pot, flops)


def keep_hands(engine: Engine, hands: Flags) -> None:
    """See `DropsHands`."""
    assert isinstance(engine, DropsHands)
    engine.keep_hands(hands)

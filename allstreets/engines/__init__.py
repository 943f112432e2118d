"""A postflop game as a function: both players' reach goes in, counterfactual values come out."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

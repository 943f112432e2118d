"""The jobs: solve a spot, solve models of flops, solve the whole game."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

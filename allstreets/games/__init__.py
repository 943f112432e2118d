"""The games to solve: spots, the whole game, their locks, and what they take."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""What a player may do: bet sizes, rules, the flat public tree, and lines of play."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""What the cards are: cards, combos, hands, flops, ranges, and who wins."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""What can be said of solutions: certificates, simple strategies, comparisons, frequency locks."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

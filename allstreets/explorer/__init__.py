"""The explorer: solutions in the browser, and spots solved there."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

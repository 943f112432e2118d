"""What every layer may use: errors for users, safe files, the cache folder."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

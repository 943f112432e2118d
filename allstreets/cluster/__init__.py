"""The same jobs on several machines: Ray starts workers, which own shares of the flops."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Hands that were played: hand histories of several kinds, read to one record."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Regret minimisation: schedules, pruning, tabular CFR, external sampling, best responses."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

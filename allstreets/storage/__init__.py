"""What is persisted: checkpoints and solutions, whole or absent, with one writer per folder."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Practice: hands played against a solution, what each decision cost, and what comes back."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""Games small enough to prove a solver on, and an adapter for OpenSpiel's.

`load_game` knows them by name; `Game` and `State` say what a new game must provide.
"""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

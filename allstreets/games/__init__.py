"""The games to solve: spots, the whole game, their locks, and estimates of memory and time."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

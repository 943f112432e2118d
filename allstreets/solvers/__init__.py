"""Solvers of spots, of flops one by one, and of the whole game."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

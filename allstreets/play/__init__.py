"""Solutions at a table: how they answer, matches between them, and results without luck."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""The same jobs on several machines: Ray starts workers, which own a part of the flops each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

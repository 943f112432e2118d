"""Independent pieces of work: done here, in processes or on a cluster, and counted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Running a job: config, the loop, stop rules, progress, checkpoints, report, plot."""

from allstreets.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

"""The observers of a running job: callables that a terminal, a notebook or a server provides."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allstreets.base import Control
from allstreets.solutions import WholeSolution

if TYPE_CHECKING:
    from allstreets.jobs.flops import FlopsProgress
    from allstreets.jobs.progress import Progress


@dataclass(frozen=True)
class Watch:
    """Called while a job runs."""

    ready: Callable[[], None] | None = None  # everything is checked, and the work begins
    progress: "tuple[Callable[[Progress], None], ...]" = ()  # a few times per second
    flops: "Callable[[FlopsProgress], None] | None" = None  # the same, of flops one by one
    charts: "Callable[[Progress, WholeSolution], None] | None" = None  # at the config's intervals
    tables: Callable[[int, int], None] | None = None  # flops counted, of how many
    told: Callable[[str], None] | None = None  # what happens on a cluster, in words
    control: Control | None = None  # who pauses and stops it; None: the system's signals


NOBODY = Watch()

"""The messages between a solving process and the server.

The process writes one JSON object per line to its stdout, each with what has changed. It reads one
word per line from its stdin; the end of its stdin is the end of the server.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import SolveProgress, SolveState

Command = Literal["pause", "resume", "stop"]


class Report(BaseModel):
    """What has changed; None has not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: SolveState | None = None
    progress: SolveProgress | None = None
    points: list[CurvePoint] = []
    note: str | None = None  # "": there is none any more
    saves: int | None = None
    reason: str | None = None
    error: str | None = None

    def line(self) -> bytes:
        """As it is written."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"

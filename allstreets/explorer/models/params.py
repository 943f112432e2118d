"""Parameters in the addresses of requests, and their formats."""

from typing import Annotated

from fastapi import Path, Query

from allstreets.explorer.models.base import EvCount

SolutionId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-z]+$")]
SolveId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-z-]+$")]
TrashedId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f-]+$")]
HexId = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]+$")]
Line = Annotated[str, Query(max_length=1000, description='A line: "x b33% c | 7h | x"')]
Evs = Annotated[EvCount, Query(description="Where EVs count from: from here on, or the whole hand")]
Playable = Annotated[str, Query(max_length=64)]
Played = Annotated[
    str | None, Query(max_length=64, description="A solution that was played on; none: all of them")
]
Words = Annotated[str, Query(max_length=100, description="With commas; none: all of them")]
RangeName = Annotated[str, Query(max_length=200)]

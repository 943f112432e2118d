"""Where a solve without a process of this server stands, by what its folder holds."""

from allstreets.explorer.solves.folders import LIVE_STATES, Request, SolveFolder, Status

ELSEWHERE = "another process solves this: it can be viewed, not controlled"
LEFT_IN_LINE = "the server ended before its turn came; it can go on"
CUT_OFF = "the server ended before the solve did; it can go on"


def stored_status(
    folder: SolveFolder, request: Request, *, waits: bool
) -> tuple[Status, str | None]:
    """The status, and a note; `waits`: it is in the line of this server."""
    status = folder.status() or Status(run=0, state="interrupted")
    if request.state == "waiting":
        state = "waiting" if waits else "interrupted"
        reason = None if waits else LEFT_IN_LINE
        return _changed(status, state=state, reason=reason, error=None), None
    if request.state not in LIVE_STATES:
        return _changed(status, **request.model_dump(include={"state", "reason", "error"})), None
    if folder.in_use():
        return _changed(status, state="running"), ELSEWHERE
    if status.run != request.run or status.state in LIVE_STATES:
        return _changed(status, state="interrupted", reason=CUT_OFF, error=None), None
    return status, None


def _changed(status: Status, **changes: object) -> Status:
    return status.model_copy(update=changes)

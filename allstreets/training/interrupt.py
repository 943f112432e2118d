"""Ctrl-C as a request: the first ends the run in good order, the second at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class InterruptRequest:
    """Whether the user has asked to stop."""

    def __init__(self) -> None:
        self.made = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The signal handler; the second Ctrl-C raises `KeyboardInterrupt` where the program is.

        Compiled code cannot be broken off: Python hears of a signal when it returns.
        """
        if self.made:
            signal.default_int_handler(number, frame)
        self.made = True


@contextmanager
def interrupt_request() -> Iterator[InterruptRequest]:
    """Take Ctrl-C over for a while; what was there before is put back.

    Only the main thread may do so. In others the request is never made, and whoever runs the main
    thread stays in charge.
    """
    request = InterruptRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = signal.signal(signal.SIGINT, request.handle)
    try:
        yield request
    finally:
        # `before` is None when the handler was not installed from Python; then ours is dropped.
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)

"""Root may read every folder; a test of closed folders gives that up for a while."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = 0x20080522  # of Linux's capabilities: two words each
OVERRIDES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


class Header(ctypes.Structure):
    """Whose capabilities: those of this thread."""

    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class Capabilities(ctypes.Structure):
    """One word of each set."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@contextmanager
def as_anybody() -> Iterator[None]:
    """For this thread, permissions of files count as they do for any other user."""
    if os.geteuid() != 0:
        yield
        return
    assert sys.platform == "linux", "run the tests as a user, not as root"
    system = ctypes.CDLL(None, use_errno=True)
    header, both = Header(VERSION, 0), (Capabilities * 2)()
    assert system.capget(ctypes.byref(header), both) == 0
    before = both[0].effective
    both[0].effective = before & ~OVERRIDES
    assert system.capset(ctypes.byref(header), both) == 0
    try:
        yield
    finally:
        both[0].effective = before
        assert system.capset(ctypes.byref(header), both) == 0

"""True terminals for tests, and the text on their screens."""

import os
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest

needs_terminals = pytest.mark.skipif(not Path("/dev/ptmx").exists(), reason="no pseudo-terminals")


class Terminal:
    """A pseudo-terminal: what is written to `stream` is kept, and is in `output` at the end."""

    def __init__(self) -> None:
        self._main, side = os.openpty()
        self.stream: TextIO = os.fdopen(side, "w")
        self._chunks: list[bytes] = []
        # A terminal takes a few kB at a time: a thread has to read while it is written to.
        self._reader = threading.Thread(target=self._read)

    def __enter__(self) -> "Terminal":
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._reader.join()
        os.close(self._main)

    def _read(self) -> None:
        """Read until the other side is closed, which a pseudo-terminal reports as an error."""
        with suppress(OSError):
            while chunk := os.read(self._main, 65536):
                self._chunks.append(chunk)

    @property
    def output(self) -> str:
        return b"".join(self._chunks).decode()


def screen(output: str) -> list[str]:
    """The text on a terminal after `output`: text, line breaks, up, erase line."""
    lines, row = [""], 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", output):
        if part == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif match := re.fullmatch(r"\x1b\[(\d+)A", part):
            row -= int(match[1])
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part == "\r" or part.startswith("\x1b"):
            continue
        else:
            lines[row] += part
    return lines

"""A folder that every machine of a cluster sees under the same name.

Workers write large files there themselves. A machine that does not see the folder would write to
its own disk, where nobody looks: so whoever asks for the work puts a sign into the folder, and
every worker looks for it before it begins.
"""

import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from allstreets.base import InputError, Place

NAME = ".cluster"


@dataclass(frozen=True)
class Sign:
    """A file whose text nobody else can have written."""

    path: Path
    text: str

    def require(self) -> None:
        """Refuse to work on a machine that does not see it."""
        try:
            seen = self.path.read_text() == self.text
        except OSError:
            seen = False
        if not seen:
            raise not_shared(self.path.parent, [socket.gethostname()])


@contextmanager
def signed(folder: Path) -> Iterator[Sign]:
    """A sign in `folder`, for as long as work goes on there."""
    sign = Sign(folder.resolve() / NAME, secrets.token_hex(16))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sign.path.write_text(sign.text)
    except OSError as error:
        raise InputError(
            f"cannot write to the folder {folder}: {error.strerror}; name another folder"
        ) from None
    try:
        yield sign
    finally:
        sign.path.unlink(missing_ok=True)


def not_shared(folder: Place, machines: Sequence[str]) -> InputError:
    """What is said of machines that do not see a folder."""
    return InputError(
        f"{folder} is not there on {', '.join(machines)}.\n"
        "Workers write their own files: name a folder that all machines of the cluster see."
    )

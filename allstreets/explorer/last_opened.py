"""The solutions that were opened last, each as it is on disk now."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from allstreets.explorer.folders import Signature

MOST = 4

Solution = TypeVar("Solution")


class LastOpened(Generic[Solution]):
    """Opens folders by `load` and keeps a few; one thread at a time may use it."""

    def __init__(self, load: Callable[[Path], Solution]) -> None:
        self._load = load
        self._opened: dict[Path, tuple[Signature | None, Solution]] = {}

    def open(self, folder: Path) -> Solution:
        """The solution in a folder; it is loaded again if the folder has changed."""
        signature = Signature.of(folder)
        opened = self._opened.pop(folder, None)
        if opened is None or opened[0] != signature:
            opened = signature, self._load(folder)
        self._opened[folder] = opened  # the last to be given up
        while len(self._opened) > MOST:
            del self._opened[next(iter(self._opened))]
        return opened[1]

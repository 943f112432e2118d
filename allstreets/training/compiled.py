"""Whether the kernels of a job were compiled before: the first of a kind has to wait for them."""

from contextlib import suppress
from pathlib import Path

from allstreets.base import compiled_folder
from allstreets.games import Spot

COMPILING = "compiling kernels, once, about half a minute"


def must_compile(spot: "Spot", precision: str) -> bool:
    """Whether no such spot has been solved with these kernels."""
    return not _marker(spot, precision).exists()


def mark_compiled(spot: "Spot", precision: str) -> None:
    """Remember that such a spot has been solved."""
    with suppress(OSError):  # then it is announced once more
        _marker(spot, precision).touch()


def must_announce(what: str) -> bool:
    """Whether kernels of this name have not been waited for; from now on they have."""
    marker = compiled_folder() / what
    if marker.exists():
        return False
    with suppress(OSError):
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    return True


def _marker(spot: "Spot", precision: str) -> Path:
    """Lies beside the compiled kernels, so it goes when they do."""
    return compiled_folder() / f"solved-{spot.tree.first_street.text}-{precision}"

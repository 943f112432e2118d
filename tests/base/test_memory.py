"""Memory that this machine has left."""

from allstreets.base import available_bytes


def test_the_machine_has_some_memory() -> None:
    free = available_bytes()
    assert free is None or free > 10_000_000

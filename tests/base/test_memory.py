"""Memory that this machine has left, and that a process takes."""

import mmap

from allstreets.base import available_bytes, process_bytes


def test_the_machine_has_some_memory() -> None:
    free = available_bytes()
    assert free is None or free > 10_000_000


def test_process_memory_grows_with_what_is_held() -> None:
    before = process_bytes()
    # Pages of its own: an array may lie where others have lain, in what the process has already.
    with mmap.mmap(-1, 80_000_000) as held:
        held.write(b"1" * len(held))
        after = process_bytes()
        assert before is not None
        assert after is not None
        assert after - before > 0.8 * len(held)

"""What every layer may use: errors that speak to a person, safe files, the user's cache folder."""

from allstreets.base.cache import cache_folder, cached_arrays
from allstreets.base.errors import InputError, suggest
from allstreets.base.files import read_checked_arrays, write_atomic, write_checked_arrays
from allstreets.base.threads import processors, thread_count

__all__ = [
    "InputError",
    "cache_folder",
    "cached_arrays",
    "processors",
    "read_checked_arrays",
    "suggest",
    "thread_count",
    "write_atomic",
    "write_checked_arrays",
]

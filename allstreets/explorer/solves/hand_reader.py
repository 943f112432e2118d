"""The process that reads a text of hands for the server: UTF-8 in on standard input, JSON out.

It imports only the readers: it starts again for every form, and the server waits for it.
"""

import json
import sys

from allstreets import interop  # the server itself never calls these readers
from allstreets.base import InputError

REASONS = 3  # why hands were skipped: the most frequent


def main() -> int:
    """Read a text and print its contents; return the exit code."""
    text = sys.stdin.buffer.read().decode()
    try:
        files = interop.read_text(text)
        answer = {"hands": len(files.hands), "reasons": files.reasons()[:REASONS], "error": None}
    except InputError as error:  # PokerKit is not installed
        answer = {"hands": 0, "reasons": [], "error": str(error)}
    sys.stdout.write(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())

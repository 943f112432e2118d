"""A process that reads a pasted text: python -m allstreets.explorer.solves.hand_reader.

Hand histories come from anywhere, and one that keeps the interpreter busy would keep the whole
server from answering. So the server lets this process read them (`reading`), and ends it when it
takes too long. The text comes in on standard input as UTF-8; one line of JSON goes out.
"""

import json
import sys

from allstreets.base import InputError
from allstreets.interop import read_text

REASONS = 3  # that are told


def main() -> int:
    """Read a text, say what is in it; returns the exit code."""
    text = sys.stdin.buffer.read().decode()
    try:
        found = read_text(text)
        answer = {"hands": len(found.hands), "reasons": found.reasons()[:REASONS], "error": None}
    except InputError as error:  # PokerKit is not installed
        answer = {"hands": 0, "reasons": [], "error": str(error)}
    sys.stdout.write(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())

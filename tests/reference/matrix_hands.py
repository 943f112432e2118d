"""The offsets of some hands' numbers, counted one by one."""

from collections.abc import Sequence


def naive_row(actions: Sequence[int], hands: Sequence[int]) -> list[tuple[int, int, int] | None]:
    """The entries in the row of a flop: (node, action, hand), or None for padding.

    Node after node, sixteen hands after sixteen hands, action after action.
    """
    row: list[tuple[int, int, int] | None] = []
    for node, count in enumerate(actions):
        for first in range(0, len(hands), 16):
            some = list(hands[first : first + 16])
            for action in range(count):
                for hand in some:
                    row.append((node, action, hand))
                row.extend([None] * (16 - len(some)))
    return row

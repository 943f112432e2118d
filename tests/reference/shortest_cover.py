"""The length of the shortest range text, by exact search over every token there is."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from allstreets.cards import RANKS, hand_index


def shortest_length(hands: frozenset[int]) -> int:
    """Letters and commas of the shortest text for hands of weight 1, a comma after each token."""
    tokens = [(text, members) for text, members in all_tokens() if members <= hands]
    costs = [len(text) + 1 for text, _ in tokens]
    covers = np.array([[hand in members for _, members in tokens] for hand in sorted(hands)], float)
    solved = milp(
        costs,
        constraints=LinearConstraint(covers, 1, np.inf),
        integrality=np.ones(len(tokens)),
        bounds=Bounds(0, 1),
    )
    return round(float(solved.fun))


def all_tokens() -> list[tuple[str, frozenset[int]]]:
    """Every token that means the same to all programs, and the hands it stands for."""
    lines = [
        (kind, [(high, low) for low in range(high)][::-1]) for high in range(13) for kind in KINDS
    ]
    lines += [
        (kind, [(low + gap, low) for low in range(13 - gap)][::-1])
        for gap in range(1, 13)
        for kind in KINDS
    ]
    lines.append(("", [(rank, rank) for rank in range(12, -1, -1)]))
    tokens = []
    for kind, line in lines:
        for first in range(len(line)):
            for last in range(first, len(line)):
                members = frozenset(
                    hand_index(high, low, suited)
                    for high, low in line[first : last + 1]
                    for suited in (True, False)
                    if kind == "" or suited == (kind == "s")
                )
                tokens.append((token_text(line, first, last, kind), members))
    return tokens


KINDS = ("s", "o", "")


def token_text(line: list[tuple[int, int]], first: int, last: int, kind: str) -> str:
    """How the run from one place of a line to another is written."""
    top, bottom = (RANKS[high] + RANKS[low] + kind for high, low in (line[first], line[last]))
    if first == last:
        return top
    climbs = line[first][0] in (line[first][1], line[last][0])
    return bottom + "+" if first == 0 and climbs else f"{top}-{bottom}"

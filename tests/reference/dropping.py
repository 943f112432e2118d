"""The rule by which actions before the flop are closed and opened, hand by hand."""

from dataclasses import dataclass

SHARE = 1e-3
LOSS = 1.0  # chips


@dataclass(frozen=True)
class Verdict:
    """The fate of one hand's actions at one decision."""

    closed: list[bool]
    regrets: list[float]
    sums: list[float]
    played: list[bool]  # as the next period begins


def naive_verdict(
    closed: list[bool],
    played: list[bool],
    regrets: list[float],
    sums: list[float],
    worth: list[float],
    pairs: float,
) -> Verdict:
    """The outcome of a review.

    `worth` is what each action is worth when all that follows is the best response, `pairs` how
    many pairs of combos get to the decision.
    """
    total = sum(max(number, 0.0) for number in sums)
    actions = range(len(sums))
    share = [max(sums[a], 0.0) / total if total > 0 else 1 / len(sums) for a in actions]
    staying = [a for a in actions if not closed[a] and (played[a] or share[a] >= SHARE)]
    verdict = Verdict([], [], [], [])
    for a in actions:
        best_open = max(worth[b] for b in staying)
        least = best_open if closed[a] else best_open - LOSS * pairs
        shut = a not in staying and (worth[a] <= least if closed[a] else worth[a] < least)
        verdict.closed.append(shut)
        verdict.regrets.append(0.0 if closed[a] and not shut else regrets[a])
        verdict.sums.append(0.0 if shut and not closed[a] else sums[a])
        verdict.played.append(closed[a] and not shut)
    return verdict

"""A certificate for tests that store and show one."""

from typing import Any

from allstreets.solutions import Certificate


def certificate(**others: Any) -> Certificate:
    """Some figures, with others where given."""
    facts: dict[str, Any] = {
        "real_exploitability_mbb": 216.0,
        "interval_mbb": [201.0, 230.0],
        "after_flop_mbb": 150.0,
        "unseen_gap_mbb": 66.0,
        "own_exploitability_mbb": 0.21,
        "chosen": "32",
        "flops": 64,
        "trained_flops": 32,
        "completion": "classes, 5 iterations",
        "seed": 1,
        "seconds": 90.0,
        "code_version": "0.1",
        "judged": "",
    }
    return Certificate.of({**facts, **others})

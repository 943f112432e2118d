"""What a solution is worth with real cards, as it is stored beside it and shown to people."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

ALL, OWN = "all", "own"  # flops that are judged: every one, or those that were trained


@dataclass(frozen=True)
class Certificate:
    """How exploitable a solution is in the real game; figures in mbb/hand.

    Best responses see every card that a player sees. Flops that were not trained are solved for the
    solution's own ranges first.
    """

    real_exploitability_mbb: float
    interval_mbb: tuple[float, float]  # 95 %; from the figure to itself where nothing was drawn
    after_flop_mbb: float  # of it, by best responses after the flop alone
    unseen_gap_mbb: float  # of it, by best responses before the flop on top
    own_exploitability_mbb: float | None  # in the solution's own game, for comparison
    chosen: str  # "all", "own" or how many flops were drawn of either kind
    flops: int  # that were judged
    trained_flops: int  # of these: played as the solution stores it
    completion: str | None  # what the others were solved with; None: there were none
    seed: int  # of the draw
    seconds: float
    code_version: str
    judged: str  # a hash of strategies and rules
    outdated: bool = False  # the solution is no longer the one that was judged

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON data."""
        return {**asdict(self), "interval_mbb": list(self.interval_mbb)}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Certificate":
        """What `to_json` wrote down."""
        known = {each.name for each in fields(cls)}
        given = {key: value for key, value in facts.items() if key in known}
        low, high = given["interval_mbb"]
        return cls(**{**given, "interval_mbb": (float(low), float(high))})

    @property
    def width(self) -> float:
        """Half the interval's length."""
        return (self.interval_mbb[1] - self.interval_mbb[0]) / 2

    @property
    def flops_text(self) -> str:
        """Which flops were judged: "all 1,755 flops", "64 flops that stand for all"."""
        if self.chosen == ALL:
            return f"all {self.flops:,} flops"
        if self.chosen == OWN:
            return f"the {self.flops:,} flop{'' if self.flops == 1 else 's'} that it was trained on"
        return f"{self.flops:,} flops that stand for all"

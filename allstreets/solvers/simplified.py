"""What a stored solution with simple strategies was made from, how, and what that costs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

OWN_GAME = "in its own game"
REAL_CARDS = "with real cards, on its own flops"


@dataclass(frozen=True)
class MadeSimple:
    """Of a spot or a whole game; figures are in `unit`."""

    folder: str | None  # of the solution that it was made from; None: that was not stored
    name: str | None  # of that solution
    rule: str  # for people: "1 size, steps of 25 %"
    grid: float | None
    sizes: int | None
    drop: float | None
    players: tuple[str, ...]  # who is simple
    unit: str  # "% of pot", "mbb/hand"
    judged: str  # by which best response: OWN_GAME or REAL_CARDS
    before: float  # exploitability of the solution that it was made from
    after: float  # of what is stored
    prices: Mapping[str, float]  # by player: what the other's best response wins more

    def mapping(self) -> dict[str, Any]:
        """Plain data, as a manifest stores it."""
        return {**asdict(self), "players": list(self.players), "prices": dict(self.prices)}

    @classmethod
    def read(cls, keys: Mapping[str, Any]) -> "MadeSimple":
        """What `mapping` wrote down; keys of later versions are ignored."""
        given = {field.name: keys[field.name] for field in fields(cls)}
        return cls(**{**given, "players": tuple(given["players"])})

    @property
    def source(self) -> str:
        """The solution that it was made from, for people."""
        if self.name is None:
            return self.folder or "a solution that was not stored"
        return f"'{self.name}'" + (f" in {self.folder}" if self.folder else "")

    @property
    def head(self) -> str:
        """In a few words: "simple: steps of 25 %", "simple SB: 1 size"."""
        who = f" {self.players[0]}" if len(self.players) == 1 else ""
        return f"simple{who}: {self.rule}"

    @property
    def cost(self) -> str:
        """What it costs, in a sentence."""
        prices = ", ".join(f"{seat} {price:.3g}" for seat, price in self.prices.items())
        return (
            f"exploitable for {self.after:.3g} {self.unit} {self.judged}, before for "
            f"{self.before:.3g}; price of {prices}"
        )

    @property
    def text(self) -> str:
        """Who is simple in which way, and what that costs, in a line."""
        return f"{self._how}; {self.cost}"

    def lines(self) -> list[str]:
        """The same in two lines, with what it was made from."""
        return [f"{self._how}; made from {self.source}", f"  {self.cost}"]

    @property
    def _how(self) -> str:
        return f"{' and '.join(self.players)} simple: {self.rule}"

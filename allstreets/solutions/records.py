"""Records that are stored beside a solution: its certificate, and the solution it simplifies."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

ALL, OWN = "all", "own"  # flops that are evaluated: all, or those that were trained


@dataclass(frozen=True)
class Leak:
    """A deviation before the flop from which a best response gains."""

    seat: str  # of the player who deviates: "SB"
    line: str  # to the action that he takes and the solution takes less often, or never
    gain_mbb: float  # by it, with the best play that follows; part of the exploitability


@dataclass(frozen=True)
class PotGain:
    """A pot that sees a flop, with what best responses gain in it after the flop."""

    line: str  # that leads to it
    gain_mbb: float  # part of the exploitability
    shares: tuple[float, float]  # of OOP's and IP's hands that get there, in the solution
    off_path: bool  # whether too little gets there for answers to have been learned


@dataclass(frozen=True)
class Certificate:
    """The exploitability of a solution in the real game; figures in mbb/hand.

    Best responses see every card that a player sees. Flops that were not trained are solved for the
    solution's own ranges first.
    """

    real_exploitability_mbb: float
    interval_mbb: tuple[float, float]  # 95 %; from the figure to itself where nothing was drawn
    after_flop_mbb: float  # of it, by best responses after the flop only
    unseen_gap_mbb: float  # of it, by best responses before the flop on top
    own_exploitability_mbb: float | None  # in the solution's own game, for comparison
    chosen: str  # "all", "own" or how many flops were drawn of either kind
    flops: int  # that were evaluated
    trained_flops: int  # of these: played as the solution stores it
    completion: str | None  # how the others were solved; None: there were none
    seed: int  # of the draw
    seconds: float
    code_version: str
    judged: str  # a hash of strategies and rules
    outdated: bool = False  # the solution has changed since it was evaluated
    leaks: tuple[Leak, ...] = ()  # before the flop, the costliest first
    pots: tuple[PotGain, ...] = ()  # after the flop, the costliest first
    drafts: int = 0  # flops that were solved quickly, to compare the others with

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON data."""
        leaks = [asdict(leak) for leak in self.leaks]
        pots = [{**asdict(pot), "shares": list(pot.shares)} for pot in self.pots]
        known = asdict(self) | {"interval_mbb": list(self.interval_mbb)}
        return {**known, "leaks": leaks, "pots": pots}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Certificate":
        """Read what `to_json` wrote."""
        known = {each.name for each in fields(cls)}
        given = {key: value for key, value in facts.items() if key in known}
        low, high = given["interval_mbb"]
        leaks = (Leak(**leak) for leak in given.get("leaks", ()))
        pots = (PotGain(**{**pot, "shares": tuple(pot["shares"])}) for pot in given.get("pots", ()))
        read = {"interval_mbb": (float(low), float(high)), "leaks": tuple(leaks)}
        return cls(**{**given, **read, "pots": tuple(pots)})

    @property
    def width(self) -> float:
        """Half the interval's length."""
        return (self.interval_mbb[1] - self.interval_mbb[0]) / 2

    @property
    def flops_text(self) -> str:
        """The flops that were evaluated: "all 1,755 flops", "64 flops that stand for all"."""
        if not self.flops:
            return "no flop"
        if self.chosen == ALL:
            return f"all {self.flops:,} flops"
        if self.chosen == OWN:
            return f"the {self.flops:,} flop{'' if self.flops == 1 else 's'} that it was trained on"
        beside = f", compared with quick drafts of {self.drafts:,}" if self.drafts else ""
        return f"{self.flops:,} flops that stand for all{beside}"


OWN_GAME = "in its own game"
REAL_CARDS = "with real cards, on its own flops"


@dataclass(frozen=True)
class MadeSimple:
    """The record of a simple strategy of a spot or a whole game; figures are in `unit`."""

    folder: str | None  # of the solution that it was made from; None: that was not stored
    name: str | None  # of that solution
    rule: str  # in words: "1 size, steps of 25 %"
    grid: float | None
    sizes: int | None
    drop: float | None
    players: tuple[str, ...]  # who is simple
    unit: str  # "% of pot", "mbb/hand"
    judged: str  # by which best response: OWN_GAME or REAL_CARDS
    before: float  # exploitability of the solution that it was made from
    after: float  # of what is stored
    prices: Mapping[str, float]  # by player: the extra gain of the opponent's best response

    def mapping(self) -> dict[str, Any]:
        """Plain data, as a manifest stores it."""
        return {**asdict(self), "players": list(self.players), "prices": dict(self.prices)}

    @classmethod
    def read(cls, keys: Mapping[str, Any]) -> "MadeSimple":
        """Read a `mapping`; keys of later versions are ignored."""
        given = {field.name: keys[field.name] for field in fields(cls)}
        return cls(**{**given, "players": tuple(given["players"])})

    @property
    def source(self) -> str:
        """The solution that it was made from, in words."""
        if self.name is None:
            return self.folder or "a solution that was not stored"
        return f"'{self.name}'" + (f" in {self.folder}" if self.folder else "")

    @property
    def head(self) -> str:
        """A short text: "simple: steps of 25 %", "simple SB: 1 size"."""
        who = f" {self.players[0]}" if len(self.players) == 1 else ""
        return f"simple{who}: {self.rule}"

    @property
    def cost(self) -> str:
        """The cost, in a sentence."""
        prices = ", ".join(f"{seat} {price:.3g}" for seat, price in self.prices.items())
        return (
            f"exploitable for {self.after:.3g} {self.unit} {self.judged}, "
            f"{self.before:.3g} before; price of {prices}"
        )

    @property
    def text(self) -> str:
        """The simplified players, the rule, and its cost, in a line."""
        return f"{self._how}; {self.cost}"

    def lines(self) -> list[str]:
        """The same in two lines, with its source."""
        return [f"{self._how}; made from {self.source}", f"  {self.cost}"]

    @property
    def _how(self) -> str:
        return f"{' and '.join(self.players)} simple: {self.rule}"

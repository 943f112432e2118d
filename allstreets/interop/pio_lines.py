"""The betting lines of a PioSOLVER tree as sizes by street and player.

A line (`add_line 0 0 30 90`) names for each action what its player has put in since the root: as
much as the other is a check or a call, more is a bet or a raise. OOP begins each street.

Sizes are lists by street and player here, so they are found as the fewest that explain the lines:

1. Each bet was rounded to a chip, so its share of the pot lies between two bounds.
2. Bets of the same street, player and kind whose bounds overlap are of one size, the roundest
   number of per cents that lies between them.
3. An all-in that none of these sizes amounts to is the size `a`.

Lines may be fewer than sizes lead to: who asks compares them (`bets_of`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from allstreets.base import InputError
from allstreets.betting import BettingTree, Player, Street, exact_chips

STEPS = [Fraction(step) for step in ("25", "10", "5", "1", "0.5", "0.1", "0.01", "0.001")]
HALF = Fraction(1, 2)

Amounts = tuple[Fraction, ...]  # what each actor has put in after each action of a line
Where = tuple[Street, Player, str]  # a list of sizes: "bet", "raise" or "donk"


@dataclass(frozen=True)
class _Bet:
    """A bet or raise of a line."""

    where: Where
    added: Fraction  # on top of the call
    pot: Fraction  # after the call
    is_all_in: bool

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Per cents of the pot that round to it."""
        low, high = (100 * (self.added + side) / self.pot for side in (-HALF, HALF))
        return max(low, Fraction(0)), high


@dataclass
class _Walk:
    """The state at the point to which a line has been followed."""

    street: Street
    pot: Fraction
    stack: Fraction
    put_in: list[Fraction] = field(default_factory=lambda: [Fraction(0), Fraction(0)])
    actor: Player = Player.OOP
    base: Fraction = Fraction(0)  # what each had put in when the street began
    leader: Player | None = None  # who bet last on this street
    before: Player | None = None  # who bet last on the one before
    is_over: bool = False

    def take(self, amount: Fraction) -> _Bet | None:
        """An action; returns the bet, if it is one."""
        player, other = self.actor, self.actor.opponent
        called = self.put_in[other]
        if self.is_over:
            raise InputError(f"{amount} stands behind the end of the hand")
        if not called <= amount <= self.stack:
            raise InputError(
                f"{player.name} cannot have put in {amount}: {called} is called, {self.stack} is "
                "the stack"
            )
        if amount == called:
            ends = called > self.put_in[player] or player == Player.IP
            self.put_in[player] = amount
            self.actor = other
            if ends:
                self._deal()
            return None
        kind = "raise" if called > self.base else "bet"
        if kind == "bet" and player == Player.OOP and self.before == Player.IP:
            kind = "donk"
        added, pot = amount - called, self.pot + 2 * called
        bet = _Bet((self.street, player, kind), added, pot, amount == self.stack)
        self.put_in[player], self.leader, self.actor = amount, player, other
        return bet

    def _deal(self) -> None:
        self.is_over = self.street == Street.RIVER or self.put_in[0] == self.stack
        if self.is_over:
            return
        self.street = Street(self.street + 1)
        self.base, self.before, self.leader = self.put_in[0], self.leader, None
        self.actor = Player.OOP


def sizes_of_lines(
    lines: Mapping[int, Sequence[Fraction]], street: Street, pot: Fraction, stack: Fraction
) -> tuple[dict[str, dict[str, list[str]]], set[Amounts]]:
    """`bet_sizes` of a spot, and the lines up to each bet; `lines` by their numbers in the file."""
    bets: dict[Amounts, _Bet] = {}
    for number, line in lines.items():
        walk = _Walk(street, pot, stack)
        try:
            for index, amount in enumerate(line):
                bet = walk.take(amount)
                if bet is not None:
                    bets.setdefault(tuple(line[: index + 1]), bet)
        except InputError as error:
            raise InputError(f"line {number}, add_line: {error}") from None
    sizes: dict[str, dict[str, list[str]]] = {}
    streets = [later for later in Street if later >= street]
    for later, player in product(streets, Player):
        entry = sizes[f"{later.text}_{player.name.lower()}"] = {"bet": [], "raise": []}
        if player == Player.OOP and later > street:
            entry["donk"] = []
        for kind in entry:
            entry[kind] = _sizes(
                [bet for bet in bets.values() if bet.where == (later, player, kind)]
            )
    return sizes, set(bets)


def bets_of(tree: BettingTree) -> set[Amounts]:
    """The lines up to each bet of a tree."""
    return {
        tuple(_amounts(tree, node))
        for node in range(tree.node_count)
        if (action := tree.actions[node]) is not None and action.is_aggressive
    }


def _amounts(tree: BettingTree, node: int) -> Iterator[Fraction]:
    for step in tree.path_to(node)[1:]:
        if tree.actions[step] is not None:
            player = tree.player_at(int(tree.parent[step]))
            yield exact_chips(tree.invested[step, player].item())


def _sizes(bets: list[_Bet]) -> list[str]:
    """The fewest sizes that explain bets of one street, player and kind."""
    percents: list[Fraction] = []
    low = high = None
    for bounds in sorted((bet.bounds for bet in bets if not bet.is_all_in), key=lambda b: b[1]):
        if high is None or low is None or bounds[0] >= high:
            if low is not None and high is not None:
                percents.append(_roundest(low, high))
            low, high = bounds
        else:
            low = max(low, bounds[0])
    if low is not None and high is not None:
        percents.append(_roundest(low, high))
    most = max(percents, default=Fraction(-1))
    unexplained = any(bet.is_all_in and bet.added > most * bet.pot / 100 + HALF for bet in bets)
    return [f"{float(percent):.12g}%" for percent in percents] + ["a"] * unexplained


def _roundest(low: Fraction, high: Fraction) -> Fraction:
    """The roundest number from `low` on and below `high`."""
    for step in STEPS:
        first = -(-low // step) * step
        if 0 < first < high:
            return first
    return (low + high) / 2

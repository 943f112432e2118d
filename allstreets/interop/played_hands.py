"""A heads-up hand as it was played, whoever wrote it down.

Amounts are in big blinds and exact: 100 chips at blinds of 15/30 are 10/3. The button is IP and
posts the small blind, the other player is OOP, as everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from allstreets.betting import ActionKind, Player, Street

Amounts = tuple[Fraction, Fraction]  # of OOP and IP
Cards = tuple[int, int]
NOTHING: Amounts = (Fraction(0), Fraction(0))


@dataclass(frozen=True)
class PlayedAction:
    """An action of a player."""

    street: Street
    player: Player
    kind: ActionKind  # ALL_IN: a bet or a raise of everything; calling one is a CALL
    to: Fraction  # the player's total on this street, blinds included, antes not


@dataclass(frozen=True)
class Moment:
    """An action, and how things stood when it was taken."""

    place: int  # among the actions of the hand
    action: PlayedAction
    pot: Fraction  # all in the middle, bets that are not called yet included
    bets: Amounts  # put in on this street
    left: Amounts  # behind

    @property
    def to_call(self) -> Fraction:
        """The price of a call, capped at the player's stack."""
        player = self.action.player
        missing = self.bets[player.opponent] - self.bets[player]
        return max(min(missing, self.left[player]), Fraction(0))

    @property
    def pot_to_win(self) -> Fraction:
        """The pot as far as it is played for: a bet counts as far as it can be called."""
        player = self.action.player
        most = self.bets[player] + self.left[player]
        return self.pot - max(self.bets[player.opponent] - most, Fraction(0))

    @property
    def most(self) -> Fraction:
        """The largest total on this street that both players can put in."""
        return min(self.bets[player] + self.left[player] for player in Player)

    @property
    def counted(self) -> Fraction:
        """The effective amount of the action, capped at what the opponent can call."""
        return min(self.action.to, self.most)

    @property
    def is_all_in(self) -> bool:
        """Whether a bet or a raise leaves one of the players nothing more to bet."""
        return self.action.kind >= ActionKind.BET and self.action.to >= self.most

    @property
    def pot_share(self) -> Fraction:
        """The size of a bet or raise, in pots after calling, on top of the call."""
        called = self.bets[self.action.player.opponent]
        return (self.counted - called) / (self.pot + called - self.bets[self.action.player])


@dataclass(frozen=True)
class PlayedHand:
    """A hand from the deal to its end."""

    name: str  # what its writer called it; "" if nothing
    players: tuple[str, str]  # names of OOP and IP
    stacks: Amounts  # before antes and blinds
    antes: Amounts
    blinds: Amounts  # as far as stacks reach
    holes: tuple[Cards | None, Cards | None]  # None: never seen
    board: tuple[int, ...]
    actions: tuple[PlayedAction, ...]
    uncalled: Amounts  # uncalled bets, which were returned
    results: Amounts  # won or lost over the whole hand, after rake
    rake: Fraction
    viewer: Player | None = None  # from whose seat it was written down
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """The hand in a table: its name, or else where it was read."""
        return self.name or f"{self.file}:{self.line}"

    @property
    def stack(self) -> Fraction:
        """The effective stack: the shorter of the two."""
        return min(self.stacks)

    @property
    def raises(self) -> int:
        """Raises before the flop."""
        return sum(
            action.street == Street.PREFLOP and action.kind >= ActionKind.BET
            for action in self.actions
        )

    def player_named(self, name: str) -> Player | None:
        """The seat of a name, in any case; None: it is not at the table."""
        names = [player.casefold() for player in self.players]
        wanted = name.strip().casefold()
        return Player(names.index(wanted)) if wanted in names else None

    def board_on(self, street: Street) -> tuple[int, ...]:
        """The cards on the table on a street."""
        return self.board[: street + 2] if street > Street.PREFLOP else ()

    def moments(self) -> Iterator[Moment]:
        """Every action with the pot, the bets and the stacks before it."""
        bets, street = list(self.blinds), Street.PREFLOP
        left = [self.stacks[p] - self.antes[p] - self.blinds[p] for p in Player]
        pot = sum(self.antes) + sum(self.blinds)
        for index, action in enumerate(self.actions):
            if action.street != street:
                bets, street = [Fraction(0), Fraction(0)], action.street
            yield Moment(index, action, Fraction(pot), (bets[0], bets[1]), (left[0], left[1]))
            paid = action.to - bets[action.player]
            bets[action.player] += paid
            left[action.player] -= paid
            pot += paid

"""A heads-up hand as it was played, in any history.

Amounts are in big blinds and exact: 100 chips at blinds of 15/30 are 10/3. The button is IP and
posts the small blind, the other player is OOP, as everywhere.

Readers pass posts and actions to a `Ledger`, in the unit of their file. It knows whose turn it is,
the price of a call and the end of a street, so that a missing, repeated or garbled line does not
become a hand that was never played.

Amounts are exact and of bounded length. A short text can be a huge number: `1e200000000` is eleven
letters, and a fraction of two hundred million digits. So a number is checked before it is made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from allstreets.base import shortened
from allstreets.betting import ActionKind, Player, Street, bb_text

Amounts = tuple[Fraction, Fraction]  # of OOP and IP
Cards = tuple[int, int]
NOTHING: Amounts = (Fraction(0), Fraction(0))
MOST_ACTIONS = 500
DEEPEST = 1_000_000  # big blinds
MOST_LETTERS = 60  # of an amount
MOST_DIGITS = 15  # before the point
MOST_DECIMALS = 20
KINDS = {bool: "true or false", str: "text", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class PlayedAction:
    """An action of a player."""

    street: Street
    player: Player
    kind: ActionKind  # ALL_IN: a bet or a raise of everything; calling one is a CALL
    to: Fraction  # the player's total on this street, blinds included, antes not


@dataclass(frozen=True)
class Moment:
    """An action, and the state of the hand when it was taken."""

    place: int  # among the actions of the hand
    action: PlayedAction
    pot: Fraction  # everything in the middle, uncalled bets included
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
        """Whether a bet or a raise leaves one of the players without chips to bet."""
        return self.action.kind >= ActionKind.BET and self.action.to >= self.most

    @property
    def pot_share(self) -> Fraction:
        """The size of a bet or raise, in pots after calling, on top of the call."""
        called = self.bets[self.action.player.opponent]
        return (self.counted - called) / (self.pot + called - self.bets[self.action.player])


@dataclass(frozen=True)
class PlayedHand:
    """A hand from the deal to its end."""

    name: str  # its name in the history; "" if it has none
    players: tuple[str, str]  # names of OOP and IP
    stacks: Amounts  # before antes and blinds
    antes: Amounts
    blinds: Amounts  # as far as stacks reach
    holes: tuple[Cards | None, Cards | None]  # None: never seen
    board: tuple[int, ...]
    actions: tuple[PlayedAction, ...]
    uncalled: Amounts  # uncalled bets, which were returned
    results: Amounts  # won or lost over the whole hand, after rake
    pot: Fraction  # at the end, without uncalled bets
    rake: Fraction
    viewer: Player | None = None  # the player who recorded it
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """The hand in a table: its name, or else its place in the file."""
        return self.name or f"{self.file}:{self.line}"

    @property
    def stack(self) -> Fraction:
        """The effective stack: the shorter of the two."""
        return min(self.stacks)

    @property
    def rake_share(self) -> float:
        """The rake as a share of the pot."""
        return float(self.rake / self.pot) if self.rake else 0.0

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

    def before(self, street: Street) -> tuple[Fraction, Amounts]:
        """The pot and what both players have behind when a street begins."""
        left = [self.stacks[p] - self.antes[p] - self.blinds[p] for p in Player]
        for moment in self.moments():
            if moment.action.street < street:
                player = moment.action.player
                left = list(moment.left)
                left[player] -= moment.action.to - moment.bets[player]
        return sum(self.stacks, Fraction(0)) - sum(left), (left[0], left[1])

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


class HandError(ValueError):
    """The reason why a hand is not read; `line` is counted from 1, 0 = its first line."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def read_amount(text: str) -> Fraction:
    """An amount as written, so that 0.1 is a tenth.

    >>> read_amount("1,250.50")
    Fraction(2501, 2)
    """
    number = text.replace(",", "")
    if len(number) > MOST_LETTERS:
        raise HandError(f"{shortened(text)} is too long for an amount")
    try:
        exact = Decimal(number)
    except InvalidOperation:
        raise HandError(f"{shortened(text)} is not an amount") from None
    if not exact.is_finite():
        raise HandError(f"{shortened(text)} is not an amount")
    if exact.adjusted() >= MOST_DIGITS or int(exact.as_tuple().exponent) < -MOST_DECIMALS:
        raise HandError(f"{shortened(text)} is out of range for an amount")
    return Fraction(exact)


def amount_of(value: object) -> Fraction:
    """An amount that a parser has read already; true and false are not amounts."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 10**MOST_DIGITS:
            raise HandError("an amount is out of range")
        return Fraction(value)
    raise HandError(f"{KINDS.get(type(value), 'something else')} is not an amount")


@dataclass(frozen=True)
class Move:
    """An action that a player is about to take."""

    kind: ActionKind
    to: Fraction  # his total on this street, in the unit of the ledger


@dataclass
class Ledger:
    """The chips of a hand so far; amounts in the unit of the file."""

    players: tuple[str, str]
    stacks: Amounts
    big_blind: Fraction
    antes: list[Fraction] = field(default_factory=lambda: list(NOTHING))
    blinds: list[Fraction] = field(default_factory=lambda: list(NOTHING))
    actions: list[PlayedAction] = field(default_factory=list)
    _bets: list[Fraction] = field(default_factory=lambda: list(NOTHING))
    _paid: list[Fraction] = field(default_factory=lambda: list(NOTHING))
    _street: Street = Street.PREFLOP
    _to_act: Player | None = Player.IP
    _acted: set[Player] = field(default_factory=set)
    _folded: bool = False

    def post_ante(self, player: Player, amount: Fraction) -> None:
        """An ante goes into the pot, and is not part of a bet."""
        self.antes[player] += amount
        self._pay(player, amount)

    def post_blind(self, player: Player, amount: Fraction) -> None:
        """A blind is a bet."""
        if self.blinds[player]:
            raise HandError(f"{self.players[player]} posts a second blind")
        self.blinds[player] = amount
        self._bets[player] += amount
        self._pay(player, amount)

    def left(self, player: Player) -> Fraction:
        """The chips that a player has behind."""
        return self.stacks[player] - self._paid[player]

    def bet_of(self, player: Player) -> Fraction:
        """The chips that a player has put in on this street."""
        return self._bets[player]

    @property
    def to_act(self) -> tuple[Street, Player] | None:
        """The street and the player of the next action; None: the betting is over."""
        if self._folded:
            return None
        if self._to_act is not None and self._wants_to_act():
            return self._street, self._to_act
        return None if self._is_last_street() else (Street(self._street + 1), Player.OOP)

    @property
    def folded(self) -> Player | None:
        """The player who has folded; None: neither has."""
        return self.actions[-1].player if self._folded else None

    @property
    def bets(self) -> Amounts:
        """The chips that both have put in on the street of the next action."""
        turn = self.to_act
        return NOTHING if turn and turn[0] > self._street else (self._bets[0], self._bets[1])

    @property
    def matched(self) -> Fraction:
        """The chips of each player that are played for: the smaller of both totals."""
        return min(self._paid)

    @property
    def least_raise(self) -> Fraction:
        """The smallest total that a bet or raise may make now, were stacks deep enough.

        It is the largest bet and, on top, the last raise or the big blind, whichever is larger; an
        all-in for less than that does not count as a raise.
        """
        turn = self.to_act
        street = self._street if turn is None else turn[0]
        top = max(self.blinds) if street == Street.PREFLOP else Fraction(0)
        step = self.big_blind
        for action in self.actions:
            if action.street == street and action.kind >= ActionKind.BET:
                step, top = max(step, action.to - top), action.to
        return top + step

    def legal(self, kind: ActionKind, to: Fraction, *, whole: bool = False) -> "Move":
        """The legal action nearest to a move of the player whose turn it is.

        A raise below the smallest becomes the smallest, one above the stack the all-in; `whole`
        rounds it to chips. A fold without a bet to call becomes a check.
        """
        turn = self.to_act
        assert turn is not None
        player = turn[1]
        mine, theirs = self.bets[player], self.bets[player.opponent]
        most = mine + self.left(player)
        if kind < ActionKind.BET or most <= theirs or not self.left(player.opponent):
            if kind == ActionKind.FOLD and theirs > mine:
                return Move(ActionKind.FOLD, mine)
            passive = ActionKind.CALL if theirs > mine else ActionKind.CHECK
            return Move(passive, min(theirs, most))
        if whole:
            to = Fraction(round(to))
        to = most if kind == ActionKind.ALL_IN else min(max(to, self.least_raise), most)
        usual = ActionKind.RAISE if theirs else ActionKind.BET
        return Move(ActionKind.ALL_IN if to == most else usual, to)

    def act(self, street: Street, player: Player, kind: ActionKind, to: Fraction) -> None:
        """Apply an action; `to` is the player's total on this street after a bet or raise."""
        name = self.players[player]
        if len(self.actions) == MOST_ACTIONS:
            raise HandError(f"more than {MOST_ACTIONS} actions")
        if self._folded:
            raise HandError(f"{name} acts after a fold")
        if street != self._street:
            self._next_street(street)
        if self._to_act != player:
            raise HandError(
                f"{name} acts when the betting is over"
                if self._to_act is None
                else f"{name} acts out of turn"
            )
        theirs, mine = self._bets[player.opponent], self._bets[player]
        most = mine + self.left(player)
        if kind == ActionKind.CHECK and theirs > mine:
            raise HandError(f"{name} checks, and there is a bet of {_plain(theirs)}")
        if kind == ActionKind.CALL:
            if theirs <= mine:
                raise HandError(f"{name} calls, and there is no bet")
            to = min(theirs, most)
        elif kind < ActionKind.BET:
            to = mine
        elif to <= theirs:
            raise HandError(f"{name} raises to {_plain(to)}, and the bet is {_plain(theirs)}")
        if to > most:
            raise HandError(f"{name} bets {_plain(to)}, and has {_plain(most)}")
        if kind >= ActionKind.BET:
            usual = ActionKind.RAISE if theirs else ActionKind.BET
            kind = ActionKind.ALL_IN if to == most else usual
        self._pay(player, to - mine)
        self._bets[player] = to
        self.actions.append(PlayedAction(street, player, kind, to))
        self._after(player, kind)

    def end(
        self,
        *,
        name: str,
        holes: tuple[Cards | None, Cards | None],
        board: tuple[int, ...],
        results: Amounts | None = None,
        collected: Amounts | None = None,
        viewer: Player | None = None,
        line: int = 0,
    ) -> PlayedHand:
        """The hand; its end is given by `results`, or by what both `collected`."""
        over = self._is_last_street() and (self._to_act is None or not self._wants_to_act())
        if not (self._folded or over):
            raise HandError("it is cut off: the betting is not over")
        if self._street and len(board) < self._street + 2:
            raise HandError(f"the {self._street.text} was played, and its cards are missing")
        cards = [*board, *(card for hole in holes if hole for card in hole)]
        if len(set(cards)) < len(cards):
            raise HandError("a card is dealt twice")
        low = min(self._paid[p] - self.antes[p] for p in Player)
        back = [max(self._paid[p] - self.antes[p] - low, Fraction(0)) for p in Player]
        pot = sum(self._paid) - sum(back)
        if results is None:
            assert collected is not None
            won = [collected[p] + back[p] - self._paid[p] for p in Player]
            results = won[0], won[1]
        rake = -sum(results, Fraction(0))
        if pot and collected is not None and not any(collected):
            raise HandError("it is cut off: no player wins the pot")
        if rake < 0 or rake > pot:
            raise HandError(
                f"the amounts do not add up: a pot of {_plain(pot)} pays {_plain(pot - rake)}"
            )
        if max(self.stacks) > DEEPEST * self.big_blind:
            raise HandError(f"a stack is more than {DEEPEST:,} big blinds deep")
        return self._hand(
            name, holes, board, viewer, line, (back[0], back[1]), results, Fraction(pot), rake
        )

    def so_far(
        self, name: str, holes: tuple[Cards | None, Cards | None], board: tuple[int, ...]
    ) -> PlayedHand:
        """The hand as far as it was played; it has no result yet."""
        pot = sum(self._paid, Fraction(0))
        return self._hand(name, holes, board, None, 0, NOTHING, NOTHING, pot, Fraction(0))

    def _hand(
        self,
        name: str,
        holes: tuple[Cards | None, Cards | None],
        board: tuple[int, ...],
        viewer: Player | None,
        line: int,
        back: Amounts,
        results: Amounts,
        pot: Fraction,
        rake: Fraction,
    ) -> PlayedHand:
        unit = self.big_blind

        def in_bb(amounts: list[Fraction] | Amounts) -> Amounts:
            return amounts[0] / unit, amounts[1] / unit

        return PlayedHand(
            name=name,
            players=self.players,
            stacks=in_bb(self.stacks),
            antes=in_bb(self.antes),
            blinds=in_bb(self.blinds),
            holes=holes,
            board=board,
            actions=tuple(
                PlayedAction(action.street, action.player, action.kind, action.to / unit)
                for action in self.actions
            ),
            uncalled=in_bb(back),
            results=in_bb(results),
            pot=pot / unit,
            rake=rake / unit,
            viewer=viewer,
            line=line,
        )

    def _pay(self, player: Player, amount: Fraction) -> None:
        if amount < 0 or amount > self.left(player):
            raise HandError(
                f"{self.players[player]} puts in {_plain(amount)}, and has "
                f"{_plain(self.left(player))}"
            )
        self._paid[player] += amount

    def _after(self, player: Player, kind: ActionKind) -> None:
        """The player to act after an action."""
        self._acted.add(player)
        if kind == ActionKind.FOLD:
            self._folded, self._to_act = True, None
            return
        other = player.opponent
        if kind >= ActionKind.BET:
            self._to_act = other
        else:  # a check or a call ends the street, unless the other has not acted yet
            waits = other not in self._acted and self.left(other) > 0 and self.left(player) > 0
            self._to_act = other if waits else None

    def _next_street(self, street: Street) -> None:
        if self._to_act is not None and self._wants_to_act():
            raise HandError(
                f"the {street.text} comes before {self.players[self._to_act]} has acted"
            )
        if street != self._street + 1:
            raise HandError(f"the {street.text} follows the {self._street.text}")
        self._street, self._bets, self._acted = street, list(NOTHING), set()
        free = all(self.left(player) > 0 for player in Player)
        self._to_act = Player.OOP if free else None

    def _wants_to_act(self) -> bool:
        """Whether the player whose turn it is has a choice: the blinds may have put him all-in."""
        assert self._to_act is not None
        mine, theirs = self._bets[self._to_act], self._bets[self._to_act.opponent]
        return self.left(self._to_act) > 0 and (
            theirs > mine or self.left(self._to_act.opponent) > 0
        )

    def _is_last_street(self) -> bool:
        return self._street == Street.RIVER or any(self.left(player) == 0 for player in Player)


def _plain(amount: Fraction | int) -> str:
    return bb_text(round(float(amount) * 100, 2))

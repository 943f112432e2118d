"""Hand histories as PokerStars and GGPoker write them: one grammar, two ways to begin.

| line                                            | says                                         |
|-------------------------------------------------|----------------------------------------------|
| `PokerStars Hand #1: … ($0.50/$1.00 USD) - …`   | the game and its blinds; GGPoker: `Poker Hand` |
| `Table 'A' 2-max Seat #1 is the button`         | the button                                   |
| `Seat 1: Ann ($100 in chips)`                   | a player and his stack                       |
| `Ann: posts small blind $0.50`, `the ante $0.10` | blinds and antes                            |
| `Dealt to Ann [Ah Kd]`                          | from whose seat the hand is seen             |
| `*** FLOP *** [2c 7d Jh]`                       | the next street                              |
| `Ann: raises $2 to $3 and is all-in`            | folds, checks, calls, bets, raises           |
| `Uncalled bet ($2) returned to Ann`             | follows from the bets, and is compared       |
| `Ann collected $5.50 from pot`                  | who won                                      |
| `Bob: shows [Qs Qd] (…)`, `… mucked [Qs Qd]`    | cards that were seen                         |
| `*** SUMMARY ***`                               | the end                                      |

Other lines (chat, clocks, players who join or leave) are skipped; the ledger notices if a skipped
line was needed.

The patterns read any line in linear time: no two adjacent parts of a pattern repeat on the same
letters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from allstreets.base import InputError, shortened
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import parse_cards
from allstreets.interop.played_hands import (
    NOTHING,
    Cards,
    HandError,
    Ledger,
    PlayedHand,
    read_amount,
)

BEGINS = re.compile(r"^\W*((?:PokerStars|Poker) (?:[\w ]+ )?(?:Hand|Game) #([\w-]+)):\s*(.*)$")
GAME = re.compile(r"(?<!\+ )(?<!\w)Hold'em (No Limit|Pot Limit|Limit|Fixed Limit)")
TOURNAMENT = re.compile(r"Tournament #\d+,[^ ]* ")
AMOUNT = r"[^\d\s(/,]{0,3}([0-9,]+(?:\.[0-9]+)?)"
BLINDS = re.compile(rf"\({AMOUNT}/{AMOUNT}")
BUTTON = re.compile(r"^Table .*Seat #(\d+) is the button")
SEAT = re.compile(rf"^Seat (\d+): (.+) \({AMOUNT} in chips[^()]*\)(.*)$")
POST = re.compile(rf"posts (small blind|big blind|small & big blinds|the ante|ante|.*?) ?{AMOUNT}")
DEALT = re.compile(r"^Dealt to (.+?) \[([^\[\]]+)\]")
STREET = re.compile(r"^\*\*\* (?:FIRST )?(FLOP|TURN|RIVER) \*\*\*(.*)$")
CARDS = re.compile(r"\[([^\[\]]+)\]")
MOVE = re.compile(rf"(folds|checks|calls|bets|raises)\b(?: {AMOUNT})?(?: to {AMOUNT})?")
UNCALLED = re.compile(rf"^Uncalled bet \({AMOUNT}\) returned to (.+)$")
COLLECTED = re.compile(rf"^(.+) collected {AMOUNT} from")
SEEN = re.compile(r"(?:shows|showed|mucked) \[(\w\w) (\w\w)\]")
SUMMARY_SEAT = re.compile(r"^Seat (\d+): ")
MOST_LETTERS = 2_000  # of a line that may belong to the game
MOST_SEATS = 23  # the most that a deck can deal to
END = "*** SUMMARY ***"
HOLE_CARDS = "*** HOLE CARDS ***"
KINDS = {
    "folds": ActionKind.FOLD,
    "checks": ActionKind.CHECK,
    "calls": ActionKind.CALL,
    "bets": ActionKind.BET,
    "raises": ActionKind.RAISE,
}
STREETS = {"FLOP": Street.FLOP, "TURN": Street.TURN, "RIVER": Street.RIVER}


def split_hands(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The lines of every hand in a file, with the number of the first and the hand's name."""
    first, name, lines = 0, "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if begin := BEGINS.match(line):
            if first:
                yield first, name, lines
            first, name, lines = number, begin[1], []
        if first:
            lines.append(line.rstrip())
    if first:
        yield first, name, lines


def read_site_hand(lines: list[str]) -> PlayedHand:
    """A hand from its lines; a `HandError` says why it is not one."""
    return _Reader().read(lines)


@dataclass
class _Reader:
    """The state of a hand up to a line."""

    blinds: tuple[Fraction, Fraction] = NOTHING  # small, big
    button: str = ""  # seats by number, as written
    seats: dict[str, str] = field(default_factory=dict)
    stacks: dict[str, Fraction] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    posts: list[tuple[str, str, Fraction]] = field(default_factory=list)
    ledger: Ledger | None = None
    street: Street = Street.PREFLOP
    board: tuple[int, ...] = ()
    holes: dict[str, Cards] = field(default_factory=dict)
    viewer: str | None = None
    collected: list[Fraction] = field(default_factory=lambda: list(NOTHING))
    uncalled: list[Fraction] = field(default_factory=lambda: list(NOTHING))

    def read(self, lines: list[str]) -> PlayedHand:
        name = self._head(lines[0])
        ended = False
        for number, line in enumerate(lines[1:], 1):
            try:
                if line.strip() == END:
                    ended = True
                elif ended:
                    self._summary(line)
                else:
                    _require_short(line)
                    self._line(line)
            except HandError as error:
                raise HandError(error.reason, number) from None
            except InputError as error:  # cards
                raise HandError(str(error), number) from None
        if not ended:
            raise HandError("it is cut off: there is no summary", len(lines) - 1)
        return self._end(name, len(lines) - 1)

    def _head(self, line: str) -> str:
        _require_short(line)
        begin = BEGINS.match(line)
        assert begin is not None
        name, rest = begin[1], begin[3]
        game = GAME.search(rest)
        if game is None:
            series = TOURNAMENT.match(rest)
            what = re.split(r"[(-]", rest[series.end() if series else 0 :], maxsplit=1)[0].strip()
            raise HandError(f"another game: {what or shortened(rest)}")
        if game[1] != "No Limit":
            raise HandError(f"another game: Hold'em {game[1]}")
        if re.search(r"\bCap\b", rest):
            raise HandError("another game: its betting has a cap")
        blinds = BLINDS.search(rest, game.end())
        if blinds is None:
            raise HandError(f"the blinds are not in {shortened(line.strip(), 60)}")
        self.blinds = read_amount(blinds[1]), read_amount(blinds[2])
        if self.blinds[1] <= 0 or self.blinds[0] > self.blinds[1]:
            raise HandError(f"blinds of {blinds[1]}/{blinds[2]} are impossible")
        return name

    def _line(self, line: str) -> None:
        """One line before the summary."""
        if self.ledger is None:
            if match := BUTTON.match(line):
                self.button = match[1]
            elif match := SEAT.match(line):
                self._seat(match[1], match[2], read_amount(match[3]), match[4])
            elif line.strip() == HOLE_CARDS:
                self.ledger = self._open()
            elif (actor := self._actor(line)) and (match := POST.match(actor[1])):
                self.posts.append((actor[0], match[1], read_amount(match[2])))
            return
        if match := STREET.match(line):
            self._deal(STREETS[match[1]], match[2])
        elif match := DEALT.match(line):
            if self._player(match[1]) is not None:
                self.viewer, self.holes[match[1]] = match[1], _two(match[2])
        elif match := UNCALLED.match(line):
            self._add(self.uncalled, match[2], match[1])
        elif actor := self._actor(line):
            self._act(*actor)
        elif match := COLLECTED.match(line):
            self._add(self.collected, match[1], match[2])

    def _seat(self, number: str, name: str, stack: Fraction, more: str) -> None:
        self.seats[number], self.stacks[name] = name, stack
        if max(len(self.seats), len(self.stacks)) > MOST_SEATS:
            raise HandError(f"more than {MOST_SEATS} players")
        if "sitting out" in more or "out of hand" in more:
            self.away.add(name)

    def _actor(self, line: str) -> tuple[str, str] | None:
        """The player named in a line, by the longest name that fits, and the rest of the line."""
        fits = [name for name in self.stacks if line.startswith(f"{name}: ")]
        name = max(fits, key=len, default=None)
        return None if name is None else (name, line[len(name) + 2 :])

    def _player(self, name: str) -> Player | None:
        assert self.ledger is not None
        return Player(self.ledger.players.index(name)) if name in self.ledger.players else None

    def _open(self) -> Ledger:
        """The table when the cards are dealt: the players and the posts."""
        posted = {name for name, _, _ in self.posts}
        playing = [name for name in self.stacks if name not in self.away or name in posted]
        if len(playing) != 2:
            raise HandError(f"{len(playing)} player{'s' * (len(playing) != 1)}")
        button = self.seats.get(self.button)
        if button not in playing:
            raise HandError("the button is not with one of the two players")
        assert button is not None
        other = next(name for name in playing if name != button)
        names = other, button
        ledger = Ledger(names, (self.stacks[other], self.stacks[button]), self.blinds[1])
        seats = {"small blind": Player.IP, "big blind": Player.OOP}
        for name, what, amount in self.posts:
            if name not in names:
                continue
            player = Player(names.index(name))
            if what in ("the ante", "ante"):
                ledger.post_ante(player, amount)
            elif seats.get(what) == player:
                ledger.post_blind(player, amount)
            elif what in seats:
                raise HandError(f"{name} posts the {what} from the wrong seat")
            else:
                raise HandError(f"another game: {name} posts {what or 'something'}")
        if not ledger.blinds[Player.OOP] or (self.blinds[0] and not ledger.blinds[Player.IP]):
            raise HandError("a blind is missing")
        return ledger

    def _deal(self, street: Street, text: str) -> None:
        cards = " ".join(CARDS.findall(text))
        self.street, self.board = street, parse_cards(cards)
        if len(self.board) != street + 2:
            raise HandError(f"the {street.text} has {len(self.board)} cards")

    def _act(self, name: str, rest: str) -> None:
        player = self._player(name)
        if player is None:
            return
        assert self.ledger is not None
        if seen := SEEN.match(rest):
            self.holes[name] = _two(f"{seen[1]} {seen[2]}")
            return
        match = MOVE.match(rest)
        if match is None:
            return
        kind, ledger = KINDS[match[1]], self.ledger
        by = Fraction(0) if match[2] is None else read_amount(match[2])
        to = by
        if kind == ActionKind.RAISE:
            if match[3] is None:
                raise HandError(f"{name} raises without an amount")
            to = read_amount(match[3])
        elif kind == ActionKind.BET and match[2] is None:
            raise HandError(f"{name} bets without an amount")
        called = ledger.bet_of(player)
        ledger.act(self.street, player, kind, to)
        if kind == ActionKind.CALL and ledger.bet_of(player) - called != by:
            raise HandError(
                f"{name} calls {_plain(by)}, the call is {_plain(ledger.bet_of(player) - called)}"
            )

    def _add(self, where: list[Fraction], name: str, amount: str) -> None:
        player = self._player(name)
        if player is not None:
            where[player] += read_amount(amount)

    def _summary(self, line: str) -> None:
        """Cards that only the summary shows."""
        seat, seen = SUMMARY_SEAT.match(line), SEEN.search(line)
        name = self.seats.get(seat[1]) if seat else None
        if name is not None and seen is not None:
            self.holes.setdefault(name, _two(f"{seen[1]} {seen[2]}"))

    def _end(self, name: str, last: int) -> PlayedHand:
        if self.ledger is None:
            raise HandError("no cards are dealt", last)
        ledger = self.ledger
        oop, ip = ledger.players
        try:
            hand = ledger.end(
                name=name,
                holes=(self.holes.get(oop), self.holes.get(ip)),
                board=self.board,
                collected=(self.collected[0], self.collected[1]),
                viewer=None if self.viewer is None else self._player(self.viewer),
            )
        except HandError as error:
            raise HandError(error.reason, last) from None
        returned = [amount * ledger.big_blind for amount in hand.uncalled]
        if any(self.uncalled) and returned != self.uncalled:
            raise HandError(
                f"an uncalled bet of {_plain(sum(self.uncalled))} goes back, and it was "
                f"{_plain(sum(returned))}",
                last,
            )
        return hand


def _two(text: str) -> Cards:
    cards = parse_cards(text)
    if len(cards) != 2:
        raise HandError(f"another game: {len(cards)} cards each")
    return cards[0], cards[1]


def _require_short(line: str) -> None:
    if len(line) > MOST_LETTERS:
        raise HandError(f"a line has {len(line):,} letters, more than {MOST_LETTERS:,}")


def _plain(amount: Fraction | int) -> str:
    return f"{float(amount):.10g}"

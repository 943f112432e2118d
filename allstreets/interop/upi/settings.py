"""Settings of a session: the game, its lines, and how it is solved; each is set by a command.

Whole games use the settings of spots: `set_pot 100 50 0` has the blinds of OOP and IP and the dead
money, `set_eff_stack` the most that a player can put in, blinds included.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from allstreets.base import InputError, shorten
from allstreets.betting import Player, neat
from allstreets.cards import Flop, Range, all_flops, card_text, cards_text, parse_board
from allstreets.games import Spot
from allstreets.interop.pio_script import Amounts, forced_locks, spot_of_lines
from allstreets.interop.upi.text import read_amounts, read_flop, read_numbers, read_player

MOST_LINES = 100_000
REPORT_SECONDS = 60.0
TARGET = 0.003, "fraction"  # of the pot, where no accuracy is set


@dataclass
class Settings:
    """The settings of a tree, before it is built."""

    ranges: dict[Player, Range] = field(default_factory=dict)
    board: str = ""
    pot: float = 0
    blinds: tuple[float, float] = (0, 0)  # put in by OOP and IP before the first action
    stack: float = 0
    rake: tuple[float, float] = (0, 0)  # fraction and cap
    lines: dict[Amounts, None] = field(default_factory=dict)
    forced: dict[Amounts, None] = field(default_factory=dict)  # whose last action is always taken
    preflop_lines: dict[Amounts, None] = field(default_factory=dict)
    subset: dict[Flop, float] = field(default_factory=dict)  # flops with their weights
    info: list[str] = field(default_factory=list)
    accuracy: tuple[float, str] | None = None
    threads: int | None = None
    report_seconds: float = REPORT_SECONDS

    @property
    def target(self) -> tuple[float, str]:
        """The exploitability to reach, in chips or as a fraction of the pot."""
        return self.accuracy or TARGET

    @property
    def cards(self) -> list[str]:
        """The cards of the board."""
        return [card_text(card) for card in parse_board(self.board)]

    def spot(self) -> Spot:
        """The spot of the settings."""
        missing = [f"set_range {p.name}" for p in Player if p not in self.ranges]
        missing += [] if self.board else ["set_board"]
        missing += [] if self.pot else ["set_pot"]
        if any(self.blinds):
            raise InputError("bets before the root cannot be read: write set_pot 0 0 pot")
        if missing:
            raise InputError(f"a tree needs {', '.join(missing)}")
        rake, cap = self.rake
        lines = dict.fromkeys(_while_forced(line, self.forced) for line in self.lines)
        reached = [line for line in self.forced if _while_forced(line, self.forced) == line]
        return spot_of_lines(
            [line for line in lines if line],
            lock=forced_locks(reached, self.board, self.pot, self.stack),
            board=self.board,
            oop=self.ranges[Player.OOP],
            ip=self.ranges[Player.IP],
            pot=neat(self.pot),
            stack=neat(self.stack),
            rake=rake,
            rake_cap=neat(cap) if rake else None,
        )

    def set_threads(self, rest: str) -> None:
        """set_threads N; 0: every core."""
        (count,) = read_numbers(rest, 1)
        self.threads = int(count) or None

    def set_info_freq(self, rest: str) -> None:
        """set_info_freq SECONDS: how often a running solver reports."""
        (self.report_seconds,) = read_numbers(rest, 1)

    def set_accuracy(self, rest: str) -> None:
        """set_accuracy X [chips|fraction]: the exploitability to reach."""
        number, _, unit = rest.partition(" ")
        unit = unit.strip().lower() or "chips"
        if unit not in ("chips", "fraction"):
            raise InputError(f"'{shorten(unit)}' is not a unit: write chips or fraction")
        (value,) = read_numbers(number, 1)
        self.accuracy = value, unit

    def set_range(self, rest: str) -> None:
        """set_range OOP|IP RANGE: 1,326 weights, or a text such as QQ+,AKs."""
        player, text = read_player(rest)
        self.ranges[player] = Range.parse(text)

    def set_board(self, rest: str) -> None:
        """set_board CARDS."""
        self.board = cards_text(parse_board(rest)) if rest else ""

    def set_pot(self, rest: str) -> None:
        """set_pot 0 0 POT; before the flop set_pot BB SB DEAD."""
        oop, ip, self.pot = read_numbers(rest, 3)
        self.blinds = oop, ip

    def set_eff_stack(self, rest: str) -> None:
        """set_eff_stack CHIPS."""
        (self.stack,) = read_numbers(rest, 1)

    def set_rake(self, rest: str) -> None:
        """set_rake FRACTION CAP."""
        fraction, cap = read_numbers(rest, 2)
        self.rake = fraction, cap

    def add_line(self, rest: str) -> None:
        """add_line 0 0 30 90: the chips each actor has put in since the root, action by action."""
        _add(self.lines, rest)

    def remove_line(self, rest: str) -> None:
        """remove_line 0 0 30: the lines that begin with it lose its last action."""
        self.lines = _without(self.lines, rest)
        gone = read_amounts(rest)
        self.forced = {line: None for line in self.forced if line[: len(gone)] != gone}

    def force_line(self, rest: str) -> None:
        """force_line 0 0 30: a line whose last action is always taken where it can be."""
        _add(self.lines, rest)
        _add(self.forced, rest)

    def clear_lines(self, _: str) -> None:
        """clear_lines."""
        self.lines.clear()
        self.forced.clear()

    def add_preflop_line(self, rest: str) -> None:
        """add_preflop_line 250 900: the same before the flop, from the small blind on."""
        _add(self.preflop_lines, rest)

    def remove_preflop_line(self, rest: str) -> None:
        """remove_preflop_line 250 900."""
        self.preflop_lines = _without(self.preflop_lines, rest)

    def clear_preflop_lines(self, _: str) -> None:
        """clear_preflop_lines."""
        self.preflop_lines.clear()

    def add_to_subset(self, rest: str) -> None:
        """add_to_subset WEIGHT As Kh 7d: a flop that may come, as often as its weight says."""
        word, _, cards = rest.partition(" ")
        (weight,) = read_numbers(word, 1)
        if not weight:
            raise InputError("a flop without weight never comes: leave it out")
        flop = read_flop(cards)
        self.subset[flop] = self.subset.get(flop, 0.0) + weight

    def reset_subset(self, _: str) -> None:
        """reset_subset."""
        self.subset.clear()

    def add_all_flops(self, _: str) -> None:
        """add_all_flops: all 1,755, as often as they come."""
        self.subset = {flop: float(flop.multiplicity) for flop in all_flops()}

    def add_info_line(self, rest: str) -> None:
        """add_info_line #Key#value: a line of show_tree_info."""
        self.info.append(rest)

    def reset_tree_info(self, _: str) -> None:
        """reset_tree_info."""
        self.info.clear()

    def subset_rows(self) -> list[str]:
        """A line for each flop: its weight and its cards."""
        return [
            f"{weight:.9g} {' '.join(map(card_text, flop.cards))}"
            for flop, weight in self.subset.items()
        ]


def _add(lines: dict[Amounts, None], rest: str) -> None:
    if len(lines) >= MOST_LINES:
        raise InputError(f"more than {MOST_LINES:,} lines")
    lines[read_amounts(rest)] = None


def _without(lines: dict[Amounts, None], rest: str) -> dict[Amounts, None]:
    """The lines; those that begin with some amounts lose the last of these, and what follows."""
    gone = read_amounts(rest)
    kept: dict[Amounts, None] = {}
    for line in lines:
        kept[line[: len(gone) - 1] if line[: len(gone)] == gone else line] = None
    return {line: None for line in kept if line}


def _while_forced(line: Amounts, forced: Iterable[Amounts]) -> Amounts:
    """A line up to the first action that is not the one forced there."""
    for *before, action in forced:
        count = len(before)
        if line[:count] == tuple(before) and len(line) > count and line[count] != action:
            line = line[:count]
    return line


SETTINGS: Mapping[str, Callable[[Settings, str], None]] = {
    name: getattr(Settings, name)
    for name in (
        *("set_threads", "set_info_freq", "set_accuracy", "set_range", "set_board", "set_pot"),
        *("set_eff_stack", "set_rake", "add_line", "remove_line", "force_line"),
        *("clear_lines",),
        *("add_preflop_line", "remove_preflop_line", "clear_preflop_lines"),
        *("add_to_subset", "reset_subset", "add_all_flops", "add_info_line", "reset_tree_info"),
    )
}

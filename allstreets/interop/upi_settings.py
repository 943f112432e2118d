"""Settings of a session: the game, its lines, and how it is solved; each is set by a command."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from allstreets.base import InputError, shorten
from allstreets.betting import Player, neat
from allstreets.cards import Range, cards_text, parse_board
from allstreets.games import Spot
from allstreets.interop.pio_script import spot_of_lines
from allstreets.interop.upi_text import read_amounts, read_numbers, read_player

MOST_LINES = 100_000
REPORT_SECONDS = 60.0


@dataclass
class Settings:
    """The settings of a tree, before it is built."""

    ranges: dict[Player, Range] = field(default_factory=dict)
    board: str = ""
    pot: float = 0
    stack: float = 0
    rake: tuple[float, float] = (0, 0)  # fraction and cap
    lines: dict[tuple[Fraction, ...], None] = field(default_factory=dict)
    info: list[str] = field(default_factory=list)
    accuracy: tuple[float, str] | None = None
    threads: int | None = None
    report_seconds: float = REPORT_SECONDS

    def spot(self) -> Spot:
        """The spot of the settings."""
        missing = [f"set_range {p.name}" for p in Player if p not in self.ranges]
        missing += [] if self.board else ["set_board"]
        missing += [] if self.pot else ["set_pot"]
        if missing:
            raise InputError(f"a tree needs {', '.join(missing)}")
        rake, cap = self.rake
        return spot_of_lines(
            list(self.lines),
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
        """set_pot 0 0 POT."""
        oop, ip, pot = read_numbers(rest, 3)
        if oop or ip:
            raise InputError("bets before the root cannot be read: write set_pot 0 0 pot")
        self.pot = pot

    def set_eff_stack(self, rest: str) -> None:
        """set_eff_stack CHIPS."""
        (self.stack,) = read_numbers(rest, 1)

    def set_rake(self, rest: str) -> None:
        """set_rake FRACTION CAP."""
        fraction, cap = read_numbers(rest, 2)
        self.rake = fraction, cap

    def add_line(self, rest: str) -> None:
        """add_line 0 0 30 90: the chips each actor has put in since the root, action by action."""
        if len(self.lines) >= MOST_LINES:
            raise InputError(f"more than {MOST_LINES:,} lines")
        self.lines[read_amounts(rest)] = None

    def remove_line(self, rest: str) -> None:
        """remove_line 0 0 30: the lines that begin with it lose its last action."""
        gone = read_amounts(rest)
        kept: dict[tuple[Fraction, ...], None] = {}
        for line in self.lines:
            kept[line[: len(gone) - 1] if line[: len(gone)] == gone else line] = None
        self.lines = {line: None for line in kept if line}

    def clear_lines(self, _: str) -> None:
        """clear_lines."""
        self.lines.clear()

    def add_info_line(self, rest: str) -> None:
        """add_info_line #Key#value: a line of show_tree_info."""
        self.info.append(rest)

    def reset_tree_info(self, _: str) -> None:
        """reset_tree_info."""
        self.info.clear()

    def commands(self) -> list[str]:
        """The settings as commands."""
        lines = [f"set_board {self.board}", f"set_pot 0 0 {self.pot:g}"]
        lines += [f"set_eff_stack {self.stack:g}", f"set_rake {self.rake[0]:g} {self.rake[1]:g}"]
        lines += [f"set_range {player.name} {held}" for player, held in self.ranges.items()]
        if self.accuracy is not None:
            lines.append(f"set_accuracy {self.accuracy[0]:g} {self.accuracy[1]}")
        lines.append(f"set_threads {self.threads or 0}")
        amounts = (" ".join(f"{float(each):.12g}" for each in line) for line in self.lines)
        return [*lines, *(f"add_line {line}" for line in amounts)]


SETTINGS: Mapping[str, Callable[[Settings, str], None]] = {
    "set_threads": Settings.set_threads,
    "set_info_freq": Settings.set_info_freq,
    "set_accuracy": Settings.set_accuracy,
    "set_range": Settings.set_range,
    "set_board": Settings.set_board,
    "set_pot": Settings.set_pot,
    "set_eff_stack": Settings.set_eff_stack,
    "set_rake": Settings.set_rake,
    "add_line": Settings.add_line,
    "remove_line": Settings.remove_line,
    "clear_lines": Settings.clear_lines,
    "add_info_line": Settings.add_info_line,
    "reset_tree_info": Settings.reset_tree_info,
}

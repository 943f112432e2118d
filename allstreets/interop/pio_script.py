"""A PioSOLVER tree as the file of a spot.

PioSOLVER's viewer saves a tree as a script: lines `#Key#value` with the fields of its form, and the
commands that build the tree. Either will do. These are read:

| viewer                                | commands              | spot                     |
|---------------------------------------|-----------------------|--------------------------|
| Range0, Range1                        | set_range OOP, IP     | oop_range, ip_range      |
| Board                                 | set_board             | board                    |
| Pot                                   | set_pot 0 0 pot       | pot                      |
| EffectiveStacks                       | set_eff_stack         | stack                    |
| Rake.Enabled, Rake.Fraction, Rake.Cap | set_rake fraction cap | rake, rake_cap           |
|                                       | set_accuracy          | exploitability_threshold |
| FlopConfig.BetSize, FlopConfigIP.…    | add_line              | bet_sizes                |
| …RaiseSize, …DonkBetSize              |                       |                          |
| …AddAllin, AddAllinOnlyIfLess…        |                       | add_allin_threshold      |
| MergeSimilarBets, …Threshold          |                       | merging_threshold        |

Commands override the viewer's lines, as they do there; only sizes come from the viewer if it has
them: the lines were made from them. Settings without a counterpart are named in `left_out`.

**Lines as sizes.** A line (`add_line 0 0 30 90`) gives for each action the chips its player has put
in since the root: as many as the other player means a check or a call, more a bet or a raise. OOP
begins each street.

Sizes are lists by street and player here, so they are found as the fewest that explain the lines:

1. Each bet was rounded to a chip, so its share of the pot lies between two bounds.
2. Bets of the same street, player and kind whose bounds overlap are of one size, the roundest
   number of per cents between the bounds.
3. An all-in that none of these sizes explains is the size `a`.

Sizes may lead to more lines than given: callers compare them (`bets_of`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from allstreets.base import InputError, shorten
from allstreets.betting import (
    BettingTree,
    Edit,
    LargeTreeError,
    Player,
    Street,
    exact_chips,
    grains_for,
    street_of_board,
)
from allstreets.cards import Range, cards_text, parse_board
from allstreets.games import Lock, Spot
from allstreets.jobs import SpotConfig, check_config

STEPS = [Fraction(step) for step in ("25", "10", "5", "1", "0.5", "0.1", "0.01", "0.001")]
HALF = Fraction(1, 2)

Amounts = tuple[Fraction, ...]  # chips put in by each actor after each action of a line
Where = tuple[Street, Player, str]  # a list of sizes: "bet", "raise" or "donk"
SizeTexts = dict[str, dict[str, list[str]]]  # `bet_sizes` of a spot
SETTING = re.compile(r"#([\w.]+)#(.*)")
SIZE_KEY = re.compile(r"(Flop|Turn|River)Config(IP)?\.(BetSize|RaiseSize|DonkBetSize|AddAllin)")
SIZE_LISTS = {"BetSize": "bet", "RaiseSize": "raise", "DonkBetSize": "donk"}
PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
SAME_SIZE = re.compile(r"\d+(?:\.\d+)?[cx]|\d*e", re.IGNORECASE)
ALL_IN = ("a", "ai", "allin", "all-in")
PLAYERS = {"oop": "oop_range", "0": "oop_range", "ip": "ip_range", "1": "ip_range"}
# Commands and settings that do not change the game.
SILENT_COMMANDS = {
    *("build_tree", "calc_results", "dump_tree", "estimate_tree", "exit", "free_tree", "go"),
    *("is_ready", "set_algorithm", "set_always_display", "set_end_string", "set_hash_size"),
    *("set_info_freq", "set_isomorphism", "set_recalc_accuracy", "set_threads", "show_memory"),
    *("stop", "wait_for_solver"),
}
SILENT_SETTINGS = {"Type", "CapEnabled", "CapMode", "ICM.ICMFormat", "ICM.Payouts", "ICM.Stacks"}
TRUE = "true"
LARGEST = 1e9
MOST_AMOUNTS = 100  # of a line
MOST_COMPARED = 200_000  # nodes of a tree that is compared with the lines of its script


@dataclass(frozen=True)
class LineBet:
    """A bet or raise of a line."""

    where: Where
    raises: int  # bets and raises before it on its street
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
    """The state at a point of a line."""

    street: Street
    pot: Fraction
    stack: Fraction
    put_in: list[Fraction] = field(default_factory=lambda: [Fraction(0), Fraction(0)])
    actor: Player = Player.OOP
    base: Fraction = Fraction(0)  # chips put in by each when the street began
    bets: int = 0  # on this street
    leader: Player | None = None  # who bet last on this street
    before: Player | None = None  # who bet last on the one before
    is_over: bool = False

    def take(self, amount: Fraction) -> LineBet | None:
        """An action; returns the bet, if it is one."""
        player, other = self.actor, self.actor.opponent
        called = self.put_in[other]
        if self.is_over:
            raise InputError(f"{amount} comes after the end of the hand")
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
        bet = LineBet((self.street, player, kind), self.bets, added, pot, amount == self.stack)
        self.bets += 1
        self.put_in[player], self.leader, self.actor = amount, player, other
        return bet

    def _deal(self) -> None:
        self.is_over = self.street == Street.RIVER or self.put_in[0] == self.stack
        if self.is_over:
            return
        self.street = Street(self.street + 1)
        self.base, self.before, self.leader = self.put_in[0], self.leader, None
        self.bets, self.actor = 0, Player.OOP


def sizes_of_lines(
    lines: Mapping[int, Sequence[Fraction]], street: Street, pot: Fraction, stack: Fraction
) -> tuple[SizeTexts, set[Amounts]]:
    """`bet_sizes` of a spot, and the lines up to each bet; `lines` by their numbers in the file."""
    bets = bets_of_lines(lines, street, pot, stack)
    return sizes_of_bets(bets.values(), street), set(bets)


def bets_of_lines(
    lines: Mapping[int, Sequence[Fraction]], street: Street, pot: Fraction, stack: Fraction
) -> dict[Amounts, LineBet]:
    """The bets of lines, by the line up to each of them."""
    bets: dict[Amounts, LineBet] = {}
    for number, line in lines.items():
        walk = _Walk(street, pot, stack)
        try:
            for index, amount in enumerate(line):
                bet = walk.take(amount)
                if bet is not None:
                    bets.setdefault(tuple(line[: index + 1]), bet)
        except InputError as error:
            raise InputError(f"line {number}, add_line: {error}") from None
    return bets


def sizes_of_bets(bets: Collection[LineBet], street: Street) -> SizeTexts:
    """The fewest sizes by street, player and kind that explain bets."""
    sizes: SizeTexts = {}
    streets = [later for later in Street if later >= street]
    for later, player in product(streets, Player):
        entry = sizes[f"{later.text}_{player.name.lower()}"] = {"bet": [], "raise": []}
        if player == Player.OOP and later > street:
            entry["donk"] = []
        for kind in entry:
            entry[kind] = _sizes([bet for bet in bets if bet.where == (later, player, kind)])
    return sizes


def spot_of_lines(lines: Sequence[Sequence[Fraction]], **keys: Any) -> Spot:
    """The spot whose bets are those of the lines, no more and no fewer; `keys` are its other ones.

    If sizes by street and player explain the lines, they are its sizes. Otherwise it has none, and
    an edit for each node with bets.
    """
    given = dict(enumerate(lines, start=1))
    street = street_of_board(parse_board(keys["board"]))
    pot, stack = Fraction(str(keys["pot"])), Fraction(str(keys["stack"]))
    sizes, bets = sizes_of_lines(given, street, pot, stack)
    # These sizes explain bets that were rounded to whole chips.
    grains = grains_for(keys["pot"], keys["stack"])
    spot = Spot(bet_sizes=sizes, force_allin_threshold=0, grains=grains, **keys)
    try:
        if spot.size.node_count <= MOST_COMPARED and bets_of(spot.tree) == bets:
            return spot
    except LargeTreeError:
        pass
    none = {name: dict.fromkeys(kinds, ()) for name, kinds in sizes.items()}
    edits = _edits_of_lines(given, street, pot, stack)
    spot = Spot(bet_sizes=none, force_allin_threshold=0, edit=edits, **keys)
    wrong = sorted(bets ^ bets_of(spot.tree), key=len)
    if wrong:
        line = " ".join(f"{float(amount):.12g}" for amount in wrong[0])
        raise InputError(f"add_line {line}: its last bet is not a legal one")
    return spot


def forced_locks(
    lines: Sequence[Sequence[Fraction]], board: str, pot: float, stack: float
) -> tuple[Lock, ...]:
    """A lock for each line: its last action is always taken, whatever cards were dealt."""
    street = street_of_board(parse_board(board))
    locks = []
    for line in lines:
        *_, (before, word, _) = _worded(line, street, Fraction(str(pot)), Fraction(str(stack)))
        locks.append(Lock(before, {word: 1.0}))
    return tuple(locks)


def _edits_of_lines(
    lines: Mapping[int, Sequence[Fraction]], street: Street, pot: Fraction, stack: Fraction
) -> tuple[Edit, ...]:
    """An edit for each node with bets, which adds them all."""
    sizes: dict[str, dict[str, None]] = {}
    for line in lines.values():
        for before, _, size in _worded(line, street, pot, stack):
            if size:
                sizes.setdefault(before, {})[size] = None
    return tuple(
        Edit.from_mapping({"line": line, "add": list(added)}) for line, added in sizes.items()
    )


def _worded(
    line: Sequence[Fraction], street: Street, pot: Fraction, stack: Fraction
) -> Iterator[tuple[str, str, str]]:
    """For each action the line before it, its word in lines, and the size of a bet, "" of others.

    Any card stands where one is dealt.
    """
    walk, words = _Walk(street, pot, stack), list[str]()
    for amount in line:
        facing = walk.put_in[walk.actor.opponent] > walk.put_in[walk.actor]
        base, before, where = walk.base, walk.street, " ".join(words)
        bet = walk.take(amount)
        if bet is None:
            words.append("c" if facing else "x")
            yield where, words[-1], ""
            words += ["| * |"] * (walk.street != before)
            continue
        chips = f"{float(amount - base):.12g}"
        words.append("a" if bet.is_all_in else f"{'r' if facing else 'b'}{chips}")
        yield where, words[-1], "a" if bet.is_all_in else f"{chips}c"


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


def _sizes(bets: list[LineBet]) -> list[str]:
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
    """The roundest number from `low` up to, but below `high`."""
    for step in STEPS:
        first = -(-low // step) * step
        if 0 < first < high:
            return first
    return (low + high) / 2


@dataclass(frozen=True)
class PioTree:
    """A script as keys of a spot file, with notes on settings without a key."""

    keys: Mapping[str, Any]
    left_out: tuple[str, ...] = ()  # settings without a counterpart
    differs: str = ""  # how the tree of these keys differs from the lines of the script

    @property
    def yaml(self) -> str:
        """The spot file."""
        lines = []
        for key, value in self.keys.items():
            if key == "bet_sizes":
                lines.append("bet_sizes:")
                lines += [f"  {name}: {_flow(sizes)}" for name, sizes in value.items()]
            else:
                lines.append(f"{key}: {_scalar(value)}")
        return "\n".join(lines) + "\n"


@dataclass
class _Script:
    """The script as read so far, with line numbers."""

    keys: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    lines: dict[int, list[Fraction]] = field(default_factory=dict)
    accuracy: tuple[float, bool] | None = None  # and whether it is a share of the pot
    left_out: list[str] = field(default_factory=list)


def read_pio_script(text: str) -> PioTree:
    """Read a script; an `InputError` names an invalid line."""
    script = _Script()
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = raw.strip()
        setting = SETTING.fullmatch(line)
        try:
            if setting:
                _set(script, setting[1], setting[2].strip())
            elif line and not line.startswith("#"):
                _command(script, number, line)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None
    if not script.keys and not script.settings:
        raise InputError("no line is a PioSOLVER setting (#Pot#55) or command (set_pot 0 0 55)")
    return _tree(script)


def _set(script: _Script, key: str, value: str) -> None:
    keys = script.keys
    if key in ("Range0", "Range1"):
        keys.setdefault("oop_range" if key == "Range0" else "ip_range", _range(value))
    elif key == "Board":
        keys.setdefault("board", cards_text(parse_board(value)))
    elif key in ("Pot", "EffectiveStacks"):
        keys.setdefault("pot" if key == "Pot" else "stack", _number(key, value))
    elif key == "Type" and value.lower() != "nolimit":
        raise InputError(f"Type {shorten(value)}: only trees of NoLimit are read")
    else:
        script.settings[key] = value


def _command(script: _Script, number: int, line: str) -> None:
    name, _, rest = line.partition(" ")
    words, keys = rest.split(), script.keys
    if name == "set_range":
        player, _, text = rest.strip().partition(" ")
        if player.lower() not in PLAYERS:
            raise InputError(f"set_range {shorten(player)}: write set_range OOP or set_range IP")
        keys[PLAYERS[player.lower()]] = _range(text)
    elif name == "set_board":
        keys["board"] = cards_text(parse_board(rest))
    elif name == "set_pot":
        oop, ip, start = _numbers(name, words, 3)
        if oop or ip:
            raise InputError(
                f"set_pot {shorten(rest.strip())}: bets already in front of the players cannot be "
                "read: begin at the start of a street, set_pot 0 0 pot"
            )
        keys["pot"] = start
    elif name == "set_eff_stack":
        (keys["stack"],) = _numbers(name, words, 1)
    elif name == "set_rake":
        keys["rake"], keys["rake_cap"] = _numbers(name, words, 2)
    elif name == "set_accuracy":
        script.accuracy = _number(name, words[0] if words else ""), words[1:] == ["fraction"]
    elif name == "add_line":
        if len(words) > MOST_AMOUNTS:
            raise InputError(f"add_line: {len(words):,} amounts, more than {MOST_AMOUNTS}")
        script.lines[number] = [
            Fraction(str(amount)) for amount in _numbers(name, words, len(words))
        ]
    elif name == "clear_lines":
        script.lines.clear()
    elif name not in SILENT_COMMANDS:
        script.left_out.append(f"{shorten(name)} (line {number})")


def _tree(script: _Script) -> PioTree:
    """The result, once everything is read."""
    keys, settings = script.keys, script.settings
    missing = [key for key in ("board", "oop_range", "ip_range", "pot", "stack") if key not in keys]
    if missing:
        raise InputError(f"the script does not say {', '.join(missing)}: is this a tree?")
    for key in ("pot", "stack"):
        if not keys[key]:
            raise InputError(f"the {key} is 0: a tree needs chips to play for")
    if settings.get("Rake.Enabled", "").lower() == TRUE and "rake" not in keys:
        keys["rake"] = _number("Rake.Fraction", settings.get("Rake.Fraction", ""))
        keys["rake_cap"] = _number("Rake.Cap", settings.get("Rake.Cap", ""))
    if not keys.get("rake", 0):
        keys.pop("rake", None)
        keys.pop("rake_cap", None)
    if script.accuracy is not None and script.accuracy[0] > 0:
        value, is_share = script.accuracy
        share = value if is_share else value / keys["pot"]
        keys["exploitability_threshold"] = f"{100 * share:.6g}%"
    first = street_of_board(parse_board(keys["board"]))
    lines: set[Amounts] | None = None
    if any(SIZE_KEY.fullmatch(key) for key in settings):
        _viewer_sizes(script, first)
    elif script.lines:
        pot, stack = Fraction(str(keys["pot"])), Fraction(str(keys["stack"]))
        keys["bet_sizes"], lines = sizes_of_lines(script.lines, first, pot, stack)
        keys["force_allin_threshold"] = 0
    else:
        script.left_out.append("sizes: there are none, so those of allstreets apply")
    _settings_left(script)
    order = ["board", "oop_range", "ip_range", "pot", "stack", "rake", "rake_cap", "bet_sizes"]
    order += [key for key in keys if key not in order]
    kept = {key: keys[key] for key in order if key in keys}
    spot = check_config(kept, SpotConfig, "the script").spot()  # errors are raised now
    differs = "" if lines is None else _compared(lines, spot)
    return PioTree(kept, tuple(dict.fromkeys(script.left_out)), differs)


def _viewer_sizes(script: _Script, first: Street) -> None:
    """Sizes and thresholds from the viewer's form."""
    keys, settings = script.keys, script.settings
    sizes: dict[str, dict[str, list[str]]] = {}
    added: set[bool] = set()
    for street in (later for later in Street if later >= first):
        for seat in ("", "IP"):
            head = f"{street.text.title()}Config{seat}"
            entry = sizes[f"{street.text}_{seat.lower() or 'oop'}"] = {"bet": [], "raise": []}
            if not seat and street > first:
                entry["donk"] = []  # without a size PioSOLVER has no such bets
            for name, kind in SIZE_LISTS.items():
                value = settings.pop(f"{head}.{name}", "")
                if kind in entry:
                    entry[kind] = [_size(word) for word in re.split(r"[\s,]+", value) if word]
                elif value:
                    script.left_out.append(f"{head}.{name}: donk bets are impossible there")
            adds = settings.pop(f"{head}.AddAllin", "").lower() == TRUE
            if any(entry.values()):
                added.add(adds)
    keys["bet_sizes"] = sizes
    most = settings.pop("AddAllinOnlyIfLessThanThisTimesThePot", "")
    if added == {True} and most:
        keys["add_allin_threshold"] = _number("AddAllinOnlyIf…", most) / 100
    elif True in added:
        script.left_out.append("AddAllin of some streets and players only")
    if settings.pop("MergeSimilarBets", "").lower() == TRUE:
        percent = _number(
            "MergeSimilarBetsThreshold", settings.get("MergeSimilarBetsThreshold", "")
        )
        keys["merging_threshold"] = percent / 100
    settings.pop("MergeSimilarBetsThreshold", None)
    threshold = settings.pop("AllinThreshold", "")
    if threshold and _number("AllinThreshold", threshold) < 100:
        script.left_out.append(
            f"AllinThreshold {shorten(threshold)} (force_allin_threshold counts what is left "
            "behind, not what is put in)"
        )
    elif threshold:
        keys["force_allin_threshold"] = 0


def _settings_left(script: _Script) -> None:
    """Name the settings that were not read, as far as they matter."""
    for key, value in script.settings.items():
        off = value.lower() in ("", "false", "0")
        if off or key in SILENT_SETTINGS or key.startswith("Rake.") or SIZE_KEY.fullmatch(key):
            continue
        script.left_out.append(shorten(f"{key} {value}".replace("\\n", " ")))


def _compared(lines: set[Amounts], spot: Spot) -> str:
    """Differences between the tree of a spot and lines; a note if it is too large to compare."""
    nodes = spot.size.node_count
    if nodes > MOST_COMPARED:
        return f"of its {nodes:,} nodes few need be in the script: they were not compared"
    return _difference(lines, bets_of(spot.tree))


def _difference(lines: set[Amounts], ours: set[Amounts]) -> str:
    """Differences between the bets of two trees, in words; "": none."""
    more, fewer = len(ours - lines), len(lines - ours)
    if not more and not fewer:
        return ""
    return (
        f"sizes apply to a street and a player here, so that the tree has {more:,} bets more than "
        f"the {len(lines):,} of the lines and lacks {fewer:,} of them"
    )


def _size(word: str) -> str:
    if PLAIN_NUMBER.fullmatch(word):
        return f"{float(word):.12g}%"
    if word.lower() in ALL_IN:
        return "a"
    if SAME_SIZE.fullmatch(word):
        return word.lower()
    raise InputError(f"the size '{shorten(word)}' is not known: 50, 20c, 3x, e and a are")


def _range(text: str) -> str:
    return Range.parse(text).text()


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"{name}: '{shorten(text)}' is not a number") from None
    if not 0 <= number < LARGEST:
        raise InputError(f"{name}: {shorten(text)} is out of range")
    return int(number) if number.is_integer() else number


def _numbers(name: str, words: list[str], count: int) -> list[float]:
    if len(words) != count or not words:
        raise InputError(f"{name} takes {count or 'some'} numbers, not {len(words)}")
    return [_number(name, word) for word in words]


def _flow(sizes: Mapping[str, list[str]]) -> str:
    lists = (f"{kind}: [{', '.join(words)}]" for kind, words in sizes.items())
    return f"{{{', '.join(lists)}}}"


def _scalar(value: object) -> str:
    """A value that YAML reads back unchanged: `22` and `98s:0.5` are texts."""
    if isinstance(value, str) and (value.isdigit() or ":" in value):
        return f'"{value}"'
    return str(value)

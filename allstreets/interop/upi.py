"""PioSOLVER's text protocol (UPI): programs written for PioSOLVER drive this solver instead.

One command a line comes in, and its answer goes out, followed by the end string once one is set:

    set_end_string END         set_end_string ok! / END
    set_board QsJh2h           set_board ok! / END
    go                         go ok! / END, and later: SOLVER: stopped (required accuracy reached)
    show_strategy r:0          a line of 1,326 numbers for each child / END

A command without data answers `<command> ok!`. A command that fails answers with a line that begins
with ERROR, and the session continues. The solver trains in the background, and lines that begin
with `SOLVER:` come between two answers, never inside one.

A `Session` has the settings, a spot (`games.Spot`) with its solver, and its solution; commands are
methods. Node ids and vectors are those of `upi_nodes`.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from allstreets.base import (
    Flags,
    Floats,
    InputError,
    available_bytes,
    clean_message,
    decode_text,
    process_bytes,
    shorten,
)
from allstreets.betting import Player, neat
from allstreets.cards import (
    COMBO_COUNT,
    combo_text,
    equity,
    fitting,
    live_combos,
    parse_board,
)
from allstreets.games import Spot, estimate_spot, require_memory
from allstreets.interop import upi_nodes
from allstreets.interop.upi_nodes import ROOT, by_combo, find_node, matchups
from allstreets.interop.upi_settings import SETTINGS, Settings
from allstreets.interop.upi_solving import BackgroundSolve, Limits
from allstreets.interop.upi_text import (
    board_cards,
    hand_lines,
    one_line,
    read_numbers,
    read_path,
    read_player,
    read_words,
    tree_info,
    vector_line,
)
from allstreets.interop.upi_tree import Locked, Tree
from allstreets.solutions import Node, SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import load, open_spot_solver, save_spot
from allstreets.version import __version__

BANNER = (
    f"allstreets {__version__} (speaks the UPI protocol)",
    "heads-up no-limit hold'em, solved as one game",
    "registered to everyone",
)
SAVES = {"full": "full", "normal": "full", "no_rivers": "turn", "no_turns": "flop"}
MEGABYTE = 1_000_000
MOST_SCRIPT_BYTES = 100_000_000
MOST_SCRIPTS = 8  # scripts that call scripts
TARGET = 0.003  # of the pot, where no accuracy is set

Answer = Sequence[str] | None  # None: <command> ok!


class Session:
    """One client's session; `write` takes whole texts, from one thread at a time."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._lock = write, threading.Lock()
        self._end: str | None = None
        self._settings = Settings()
        self._tree: Tree | None = None
        self._solve: BackgroundSolve | None = None
        self._starts: BackgroundSolve | None = None  # once `go` has been answered
        self._scripts = 0
        self._over = False

    # The loop.

    def run(self, commands: Iterable[str]) -> None:
        """Answer commands until `exit`, or until there are no more."""
        self._say(BANNER, end=False)
        try:
            for line in commands:
                self.execute(line)
                if self._over:
                    break
        finally:
            if self._solve is not None:
                self._solve.stop()

    def execute(self, line: str) -> None:
        """Answer one command; empty lines and comments have no answer."""
        answer = self._answer(line)
        if answer is not None:
            self._say(answer)
        if self._starts is not None:
            self._starts.start()
            self._starts = None

    def _say(self, lines: Sequence[str], *, end: bool = True) -> None:
        ending = [self._end] if end and self._end is not None else []
        with self._lock:
            self._write("".join(f"{line}\n" for line in (*lines, *ending)))

    def _answer(self, line: str) -> Sequence[str] | None:
        text = line.strip()
        if not text or text.startswith("#"):
            return None
        name, _, rest = text.partition(" ")
        try:
            command = COMMANDS.get(name)
            if command is None:
                return [_unknown(name)]
            with self._turn(name):
                answer = command(self, rest.strip())
        except InputError as error:
            return [f"ERROR: {name}: {' '.join(str(error).split())}"]
        except OSError as error:
            return [f"ERROR: {name}: {error.strerror or 'the system refused'}"]
        except MemoryError:
            return [f"ERROR: {name}: not enough memory"]
        except Exception as error:  # a bug of ours must not end the client's session
            problem = " ".join(clean_message(f"{type(error).__name__}: {error}").split())
            return [f"ERROR: {name}: internal error, {problem}"]
        return [f"{name} ok!"] if answer is None else answer

    def _turn(self, name: str) -> AbstractContextManager[None]:
        """The moment when a command may run: now, or between two iterations of the solver."""
        if self._solve is None or not self._solve.runs or name in AT_ONCE:
            return nullcontext()
        if name in ALONE:
            raise InputError("the solver is running: send stop or wait_for_solver first")
        return self._solve.resting()

    # The session itself.

    def ready(self, _: str) -> Answer:
        """is_ready."""
        return None

    def exit(self, _: str) -> Answer:
        """exit: the solver stops, and the session ends."""
        self._over = True
        return None

    def set_end_string(self, rest: str) -> Answer:
        """set_end_string END."""
        self._end = one_line(rest) or None
        return None

    def echo(self, rest: str) -> Answer:
        """Echo TEXT."""
        return [rest]

    def version(self, _: str) -> Answer:
        """show_version."""
        return [__version__]

    def load_script(self, rest: str) -> Answer:
        """load_script FILE: every command of a file, with its answers."""
        return [line for answer in self._script(rest) for line in answer]

    def load_script_silent(self, rest: str) -> Answer:
        """load_script_silent FILE: the same; only errors are answered."""
        answers = [line for answer in self._script(rest) for line in answer]
        return [line for line in answers if line.startswith("ERROR")] or None

    def _script(self, rest: str) -> list[Sequence[str]]:
        path = read_path(rest)
        if self._scripts >= MOST_SCRIPTS:
            raise InputError(f"scripts call each other {MOST_SCRIPTS} deep: is it a circle?")
        with path.open("rb") as file:
            data = file.read(MOST_SCRIPT_BYTES + 1)
        if len(data) > MOST_SCRIPT_BYTES:
            raise InputError("the script is larger than 100 MB: is it the right file?")
        self._scripts += 1
        try:
            answers = []
            for line in decode_text(data, "the script").splitlines():
                if self._over:
                    break
                answers.append(self._answer(line) or ())
                if self._starts is not None:  # so that the next command can wait for it
                    self._starts.start()
                    self._starts = None
            return answers
        finally:
            self._scripts -= 1

    def ignore(self, _: str) -> Answer:
        """Take a setting without a counterpart."""
        return None

    def show_settings(self, _: str) -> Answer:
        """show_settings, show_tree_params: the settings, as commands."""
        return self._settings.commands()

    # Trees.

    def build_tree(self, _: str) -> Answer:
        """build_tree: the tree of the settings, not solved yet: play is uniform."""
        self._tree = None
        spot = self._settings.spot()
        oop, ip = (self._settings.ranges[player].on(spot.cards).largest for player in Player)
        self._tree = Tree(spot, (oop, ip), self._solver(spot))
        return None

    def _solver(self, spot: Spot) -> SpotSolver:
        self._require_room(spot)
        return SpotSolver(spot, threads=self._settings.threads)

    @staticmethod
    def _require_room(spot: Spot) -> None:
        require_memory(spot, "float32", estimate_spot(spot), available_bytes())

    def free_tree(self, _: str) -> Answer:
        """free_tree."""
        self._tree = None
        return None

    def estimate_tree(self, _: str) -> Answer:
        """estimate_tree: the memory that the tree of the settings takes."""
        need = estimate_spot(self._settings.spot())
        return [f"estimated memory: {need.process_bytes / MEGABYTE:.0f} MB"]

    def is_tree_present(self, _: str) -> Answer:
        """is_tree_present: true or false."""
        return ["true" if self._tree is not None else "false"]

    def load_tree(self, rest: str) -> Answer:
        """load_tree FOLDER [full|fast|auto]: a solved spot of this program."""
        solution = load(read_path(rest), SpotSolution)
        self._tree = Tree(
            solution.spot,
            stored=solution,
            seconds_before=solution.seconds,
            own_locks=solution.spot.lock,
        )
        return None

    def dump_tree(self, rest: str) -> Answer:
        """dump_tree FOLDER [full|no_rivers|no_turns]."""
        tree, words = self._known(), read_words(rest)
        saved = SAVES.get(words[1].lower()) if len(words) > 1 else "full"
        if saved is None:
            raise InputError(f"'{shorten(words[1])}': write full, no_rivers or no_turns")
        if tree.stored is not None:
            raise InputError(f"nothing was solved since it was loaded: copy {tree.stored.folder}")
        save_spot(tree.solution, read_path(rest), saved, seconds=tree.seconds)  # type: ignore[arg-type]
        return None

    def _known(self) -> Tree:
        if self._tree is None:
            raise InputError("there is no tree: build_tree or load_tree first")
        return self._tree

    def _solved(self) -> SpotSolution:
        """The solution with the current strategies, those that were set included."""
        tree = self._known()
        if not tree.given:
            return tree.solution
        if tree.changed is None:
            self._open(tree)
            if tree.solver is None:
                raise InputError("a strategy was set in a tree that is not stored whole: go first")
            locks = dict(tree.locks)
            for position, strategy in tree.given.items():
                held: Flags = np.asarray(strategy.sum(axis=0) > 0)
                locks[position] = Locked(tree.solution.node(position), strategy, held)
            given = (locked.lock() for locked in locks.values())
            spot = replace(tree.spot, lock=(*tree.own_locks, *given))
            self._require_room(spot)
            tree.changed = SpotSolution.of(tree.solver.with_locks(spot))
        return tree.changed

    # Solving.

    def go(self, rest: str) -> Answer:
        """Go [N seconds|steps]: train in the background."""
        tree, limits = self._known(), self._limits(rest)
        solver = self._trainable(tree)
        tree.given.clear()
        tree.changed = None
        solve = BackgroundSolve(
            solver,
            limits,
            tell=lambda line: self._say([line], end=False),
            report=lambda: self._say(["SOLVER:", *self._results(tree, tree.solution)]),
            interval=self._settings.report_seconds,
        )
        tree.runs.append(solve)
        self._solve = self._starts = solve
        return None

    def _limits(self, rest: str) -> Limits:
        words, pot = rest.split(), self._known().spot.pot
        value, unit = self._settings.accuracy or (TARGET, "fraction")
        target = value / pot if unit == "chips" else value
        limits = Limits(target if target > 0 else -math.inf)  # 0: until it is stopped
        if not words:
            return limits
        unit = words[1].lower() if len(words) > 1 else "seconds"
        (amount,) = read_numbers(words[0], 1)
        if unit not in ("seconds", "steps") or len(words) > 2:
            raise InputError("write go, go 30 seconds or go 100 steps")
        if unit == "seconds":
            return replace(limits, seconds=amount)
        return replace(limits, iterations=max(int(amount), 1))

    def _trainable(self, tree: Tree) -> SpotSolver:
        """The solver of the tree with its locks; with other locks it starts again."""
        locks = (*tree.own_locks, *(locked.lock() for locked in tree.locks.values()))
        if locks == tree.spot.lock:
            self._open(tree)
        if tree.solver is None or locks != tree.solver.spot.lock:
            tree.solver = self._solver(replace(tree.spot, lock=locks))
            tree.spot, tree.stored, tree.shown = tree.solver.spot, None, None
            tree.seconds_before = 0.0
            tree.runs.clear()
        return tree.solver

    def _open(self, tree: Tree) -> None:
        """Open the solver of a tree that was loaded whole."""
        stored = tree.stored
        if stored is None or stored.folder is None:
            return
        if stored.stored_streets == len(stored.streets):
            tree.solver = open_spot_solver(stored.folder, self._settings.threads)
            tree.spot, tree.stored = tree.solver.spot, None

    def stop(self, _: str) -> Answer:
        """Stop the solver after this iteration."""
        if self._solve is not None:
            self._solve.stop()
        return None

    def wait_for_solver(self, _: str) -> Answer:
        """wait_for_solver: answered when the solver has ended."""
        if self._solve is not None:
            self._solve.wait()
        return None

    def calc_results(self, _: str) -> Answer:
        """calc_results: EVs, and the winnings of best responses."""
        tree = self._known()
        self._open(tree)
        return self._results(tree, self._solved())

    @staticmethod
    def _results(tree: Tree, solution: SpotSolution) -> list[str]:
        pot, solver = tree.spot.pot, solution.solver
        best = [math.nan, math.nan]
        if solver is None:
            means, share = solution.evs, solution.exploitability
        else:
            means = solver.expected_values()
            best = [solver.mean(player, best=True) + pot / 2 for player in Player]
            share = (sum(best) - sum(means)) / 2 / pot
        return [
            f"running time: {tree.seconds:.3f}",
            f"EV OOP: {means[0]:.6g}",
            f"EV IP: {means[1]:.6g}",
            f"OOP's MES: {best[0]:.6g}",
            f"IP's MES: {best[1]:.6g}",
            f"Exploitable for: {max(share, 0.0) * pot:.6g}",
        ]

    # Nodes.

    def _node(self, text: str) -> Node:
        return find_node(self._known().solution, text)

    def show_node(self, rest: str) -> Answer:
        """show_node NODE."""
        return [*upi_nodes.block(self._node(rest), root=rest == ROOT), ""]

    def show_children(self, rest: str) -> Answer:
        """show_children NODE."""
        node = self._node(rest)
        below = [node] if rest == ROOT else upi_nodes.children(node)
        return [
            line
            for number, child in enumerate(below)
            for line in (f"child {number}:", *upi_nodes.block(child), "")
        ]

    def show_all_lines(self, _: str) -> Answer:
        """show_all_lines: cards left out."""
        return list(upi_nodes.lines(self._known().spot.tree))

    def node_count(self, _: str) -> Answer:
        """node_count: by street and kind, every card counted."""
        return upi_nodes.node_counts(self._known().spot.tree)

    def show_effective_stack(self, _: str) -> Answer:
        """show_effective_stack."""
        return [str(neat(self._known().spot.stack))]

    def show_board(self, _: str) -> Answer:
        """show_board_no_iso."""
        return [" ".join(board_cards(self._known().spot))]

    def show_tree_info(self, _: str) -> Answer:
        """show_tree_info: the lines of add_info_line, else those of the tree."""
        if self._settings.info:
            return list(self._settings.info)
        return tree_info(self._known().spot)

    def show_metadata(self, rest: str) -> Answer:
        """show_metadata FOLDER: a stored tree, which is not loaded."""
        solution = load(read_path(rest), SpotSolution)
        spot = solution.spot
        return [
            *upi_nodes.block(solution.at(), root=True),
            f"{neat(spot.stack)}",
            *(vector_line(held.weights) for held in spot.ranges),
            *tree_info(spot),
        ]

    def show_memory(self, _: str) -> Answer:
        """show_memory: free, and in use."""
        free, used = available_bytes(), process_bytes()
        return [
            f"available physical memory: {(free or 0) / MEGABYTE:.0f} MB",
            f"memory in use: {(used or 0) / MEGABYTE:.0f} MB",
        ]

    def show_hand_order(self, _: str) -> Answer:
        """show_hand_order: the 1,326 hands of every vector."""
        return [" ".join(combo_text(combo) for combo in range(COMBO_COUNT))]

    # Numbers.

    def show_range(self, rest: str) -> Answer:
        """show_range OOP|IP [NODE]; without a node the range of set_range."""
        player, text = read_player(rest)
        if text:
            node = find_node(self._solved(), text)
            reach = by_combo(node, player, node.ranges.hands[player].reach, 0.0)
            return [vector_line(reach * self._known().scale[player])]
        if player not in self._settings.ranges:
            raise InputError(f"no range is set: set_range {player.name} first")
        return [vector_line(self._settings.ranges[player].weights)]

    def show_strategy(self, rest: str) -> Answer:
        """show_strategy NODE: a line for each child; 0 for hands that are not there."""
        return [vector_line(row) for row in self._strategy(self._node(rest))[::-1]]

    def _strategy(self, node: Node) -> Floats:
        """[A, 1326]: the strategy that was set, else the solved one."""
        given = self._known().given.get(node.position)
        if given is not None:
            return given
        play = node.decision
        return by_combo(node, play.player, play.strategy, 0.0)

    def show_strategy_pp(self, rest: str) -> Answer:
        """show_strategy_pp NODE: a line for each hand."""
        node = self._node(rest)
        strategy = self._strategy(node)[::-1]
        words = [upi_nodes.step(child) for child in upi_nodes.children(node)]
        return hand_lines(strategy.sum(axis=0) > 0, dict(zip(words, strategy, strict=True)))

    def calc_ev(self, rest: str) -> Answer:
        """calc_ev OOP|IP NODE: EVs, and the weights of the pairs of hands."""
        evs, met = self._evs(rest)
        return [vector_line(evs), vector_line(met)]

    def calc_ev_pp(self, rest: str) -> Answer:
        """calc_ev_pp OOP|IP NODE: a line for each hand."""
        evs, met = self._evs(rest)
        return hand_lines(met > 0, {"EV": evs, "matchups": met})

    def _evs(self, rest: str) -> tuple[Floats, Floats]:
        player, text = read_player(rest)
        node = find_node(self._solved(), text)
        return upi_nodes.evs(node, player), self._met(node, player)

    def _met(self, node: Node, player: Player) -> Floats:
        oop, ip = self._known().scale
        return matchups(node, player) * oop * ip

    def calc_eq_node(self, rest: str) -> Answer:
        """calc_eq_node OOP|IP NODE: equities, the weights of the pairs of hands, and the mean."""
        player, text = read_player(rest)
        node = find_node(self._solved(), text)
        shares = node.ranges.equity(player)
        equities, met = by_combo(node, player, shares, np.nan), self._met(node, player)
        return [vector_line(equities), vector_line(met), f"{node.ranges.mean(shares, player):.9g}"]

    def calc_eq(self, rest: str) -> Answer:
        """calc_eq OOP|IP: equities of the ranges on the board that are set, without a tree."""
        shares, met, _ = self._equity(rest, self._settings.board)
        return [vector_line(shares), vector_line(met)]

    def calc_eq_pp(self, rest: str) -> Answer:
        """calc_eq_pp OOP|IP: a line for each hand."""
        shares, met, _ = self._equity(rest, self._settings.board)
        return hand_lines(met > 0, {"equity": shares, "matchups": met})

    def calc_eq_preflop(self, rest: str) -> Answer:
        """calc_eq_preflop OOP|IP: before the flop, and the mean."""
        shares, met, mean = self._equity(rest, "")
        return [vector_line(shares), vector_line(met), f"{mean:.9g}"]

    def _equity(self, rest: str, board: str) -> tuple[Floats, Floats, float]:
        player, _ = read_player(rest)
        held = self._settings.ranges
        if len(held) < len(Player):
            raise InputError("no ranges are set: set_range OOP and set_range IP first")
        cards = parse_board(board) if board else ()
        result = equity(held[Player.OOP], held[Player.IP], cards)
        live, combos = live_combos(cards), np.arange(COMBO_COUNT)
        own, other = (held[each].weights * live for each in (player, player.opponent))
        return (
            result.by_combo[player],
            own * (fitting(combos, combos) @ other),
            result.first if player == Player.OOP else result.second,
        )

    def calc_matchups_line(self, rest: str) -> Answer:
        """calc_matchups_line NODE: the weight of all pairs of hands that get there."""
        return [f"{self._met(find_node(self._solved(), rest), Player.OOP).sum():.9g}"]

    def calc_global_freq(self, rest: str) -> Answer:
        """calc_global_freq NODE: how often play gets there, the chance of its cards included."""
        node = find_node(self._solved(), rest)
        ways = self._known().spot.pairs * upi_nodes.cards_to_come(node)
        return [f"{matchups(node, Player.OOP).sum() / ways:.9g}"]

    def calc_line_freq(self, rest: str) -> Answer:
        """calc_line_freq NODE: how often play gets there if its cards are dealt."""
        return [f"{find_node(self._solved(), rest).ranges.share:.9g}"]

    # Locks.

    def set_strategy(self, rest: str) -> Answer:
        """set_strategy NODE NUMBERS: 1,326 for each child, one after the other."""
        text, _, numbers = rest.partition(" ")
        node = self._node(text)
        actions = len(node.decision.actions)
        values = np.array(read_numbers(numbers, actions * COMBO_COUNT))
        strategy = values.reshape(actions, COMBO_COUNT)[::-1]
        total = strategy.sum(axis=0)
        missing = np.flatnonzero(self._held(node) & (total <= 0))
        if len(missing):
            raise InputError(f"{combo_text(int(missing[0]))} is given no action")
        shares: Floats = np.divide(
            strategy, total, out=np.zeros_like(strategy), where=(total > 0) & self._held(node)
        )
        tree = self._known()
        tree.given[node.position], tree.changed = shares, None
        return None

    @staticmethod
    def _held(node: Node) -> Flags:
        """[1326]: the hands of the player who acts."""
        play = node.decision
        held: Flags = by_combo(node, play.player, np.ones(len(play.own.reach)), 0.0) > 0
        return held

    def lock_node(self, rest: str) -> Answer:
        """lock_node NODE: to the strategy that was set there, else to the solved one."""
        self._lock_hands(self._node(rest), np.ones(COMBO_COUNT, np.bool_))
        return None

    def combo_lock_node(self, rest: str) -> Answer:
        """combo_lock_node NODE FLAGS: some hands, those with 1 of 1,326 numbers."""
        text, _, numbers = rest.partition(" ")
        self._lock_hands(self._node(text), np.array(read_numbers(numbers, COMBO_COUNT)) > 0)
        return None

    def _lock_hands(self, node: Node, wanted: Flags) -> None:
        tree, held = self._known(), wanted & self._held(node)
        strategy = self._strategy(node)
        if not held.any():
            tree.locks.pop(node.position, None)
        else:
            tree.locks[node.position] = Locked(node, strategy, held)

    def unlock_node(self, rest: str) -> Answer:
        """unlock_node NODE: the next go solves it again."""
        tree, node = self._known(), self._node(rest)
        tree.locks.pop(node.position, None)
        tree.given.pop(node.position, None)
        tree.changed = None
        return None

    def show_locked_combos(self, rest: str) -> Answer:
        """show_locked_combos NODE: 1 for hands that are locked."""
        locked = self._known().locks.get(self._node(rest).position)
        return [vector_line(np.zeros(COMBO_COUNT) if locked is None else locked.held.astype(float))]


def _set(change: Callable[[Settings, str], None]) -> Callable[[Session, str], Answer]:
    return lambda session, rest: change(session._settings, rest)


COMMANDS: Mapping[str, Callable[[Session, str], Answer]] = {
    **{name: _set(change) for name, change in SETTINGS.items()},
    "is_ready": Session.ready,
    "exit": Session.exit,
    "set_end_string": Session.set_end_string,
    "echo": Session.echo,
    "show_version": Session.version,
    "show_build_version": Session.version,
    "load_script": Session.load_script,
    "load_script_silent": Session.load_script_silent,
    "set_recalc_accuracy": Session.ignore,
    "set_always_recalc": Session.ignore,
    "set_isomorphism": Session.ignore,
    "show_settings": Session.show_settings,
    "show_tree_params": Session.show_settings,
    "build_tree": Session.build_tree,
    "free_tree": Session.free_tree,
    "estimate_tree": Session.estimate_tree,
    "is_tree_present": Session.is_tree_present,
    "load_tree": Session.load_tree,
    "load_all_nodes": Session.ignore,
    "dump_tree": Session.dump_tree,
    "go": Session.go,
    "stop": Session.stop,
    "wait_for_solver": Session.wait_for_solver,
    "calc_results": Session.calc_results,
    "show_node": Session.show_node,
    "show_children": Session.show_children,
    "show_all_lines": Session.show_all_lines,
    "node_count": Session.node_count,
    "show_effective_stack": Session.show_effective_stack,
    "show_board_no_iso": Session.show_board,
    "show_tree_info": Session.show_tree_info,
    "show_metadata": Session.show_metadata,
    "show_memory": Session.show_memory,
    "show_hand_order": Session.show_hand_order,
    "show_range": Session.show_range,
    "show_strategy": Session.show_strategy,
    "show_strategy_pp": Session.show_strategy_pp,
    "calc_ev": Session.calc_ev,
    "calc_ev_pp": Session.calc_ev_pp,
    "calc_eq_node": Session.calc_eq_node,
    "calc_eq": Session.calc_eq,
    "calc_eq_pp": Session.calc_eq_pp,
    "calc_eq_preflop": Session.calc_eq_preflop,
    "calc_matchups_line": Session.calc_matchups_line,
    "calc_global_freq": Session.calc_global_freq,
    "calc_line_freq": Session.calc_line_freq,
    "set_strategy": Session.set_strategy,
    "lock_node": Session.lock_node,
    "combo_lock_node": Session.combo_lock_node,
    "unlock_node": Session.unlock_node,
    "show_locked_combos": Session.show_locked_combos,
}
# Commands that a running solver does not disturb, and those that it forbids.
AT_ONCE = {"is_ready", "exit", "set_end_string", "echo", "show_version", "stop", "wait_for_solver"}
AT_ONCE |= {"set_info_freq", "set_accuracy", "show_build_version", "show_memory", "load_script"}
AT_ONCE |= {"load_script_silent", "is_tree_present", "show_hand_order"}
ALONE = {"go", "build_tree", "free_tree", "load_tree", "set_strategy", "lock_node", "unlock_node"}
ALONE |= {"combo_lock_node"}
# Commands of PioSOLVER that have no counterpart yet.
LATER = {
    *("force_line", "show_preflop_order", "show_all_freqs", "show_save_version"),
    *("show_category_names", "show_categories", "solve_partial", "solve_all_splits"),
    *("explo_partial", "rebuild_forgotten_streets", "estimate_rebuild_forgotten_streets"),
    *("forget", "cut_line", "eliminate_path", "round_up_to", "set_mes", "set_equal_strats"),
    *("set_algorithm", "list_algorithms", "small_strats", "set_first_iteration_player"),
    *("show_step", "change_step", "set_adjust_strat", "bench", "needed_memory", "clear_cache"),
    *("normalize_tree", "ignore_mem_check", "stdoutredi", "stdoutredi_append", "stdoutback"),
    *("take_a_break", "show_iters", "solver_time", "add_preflop_line", "remove_preflop_line"),
    *("clear_preflop_lines", "build_preflop_tree", "add_to_subset", "reset_subset"),
    *("recover_subset", "show_subsets", "add_schematic_tree", "estimate_schematic_tree"),
    "add_all_flops",
}


def _unknown(name: str) -> str:
    if name in LATER:
        return f"ERROR: {name} is not supported by allstreets yet"
    return f"ERROR: Command {shorten(name, 60)} not recognized"

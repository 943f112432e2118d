"""PioSOLVER's text protocol (UPI): programs written for PioSOLVER drive this solver instead.

One command a line comes in, and its answer goes out, followed by the end string once one is set:

    set_end_string END         set_end_string ok! / END
    set_board QsJh2h           set_board ok! / END
    go                         go ok! / END, and later: SOLVER: stopped (required accuracy reached)
    show_strategy r:0          a line of 1,326 numbers for each child / END

A command without data answers `<command> ok!`. A command that fails answers with a line that begins
with ERROR, and the session continues. The solver trains in the background, and lines that begin
with `SOLVER:` come between two answers, never inside one.

A `Session` holds the settings and a tree, of a spot or of a whole game; commands are methods. Node
ids and vectors are those of `nodes`.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from allstreets.base import (
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
    HAND_NAMES,
    combo_text,
    equity,
    fitting,
    live_combos,
    parse_board,
)
from allstreets.engines import CardModel
from allstreets.games import estimate_spot
from allstreets.interop.upi.games import BOARDS, Betting, GameTree
from allstreets.interop.upi.nodes import ROOT, Nodes
from allstreets.interop.upi.settings import SETTINGS, Settings
from allstreets.interop.upi.solving import BackgroundSolve, Limits
from allstreets.interop.upi.text import (
    hand_lines,
    one_line,
    read_numbers,
    read_path,
    read_player,
    read_words,
    vector_line,
)
from allstreets.interop.upi.trees import Saved, SpotTree, Tree
from allstreets.solutions import Node, SpotSolution, WholeSolution
from allstreets.storage import load
from allstreets.version import __version__

BANNER = (
    f"allstreets {__version__} (speaks the UPI protocol)",
    "heads-up no-limit hold'em, solved as one game",
    "registered to everyone",
)
SAVES: Mapping[str, Saved] = {
    "full": "full",
    "normal": "full",
    "no_rivers": "turn",
    "no_turns": "flop",
}
MEGABYTE = 1_000_000
MOST_SCRIPT_BYTES = 100_000_000
MOST_SCRIPTS = 8  # scripts that call scripts
TARGET = 0.003  # of the pot, where no accuracy is set

Answer = Sequence[str] | None  # None: <command> ok!


class Session:
    """One client's session; `write` takes whole texts, from one thread at a time."""

    def __init__(self, write: Callable[[str], None], model: CardModel = BOARDS) -> None:
        """`model` is the card model of whole games."""
        self._model = model
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

    def reset_end_string(self, _: str) -> Answer:
        """reset_end_string: answers end without one."""
        self._end = None
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
        self._tree = SpotTree(spot, self._settings.threads, (oop, ip))
        return None

    def build_preflop_tree(self, _: str) -> Answer:
        """build_preflop_tree: the betting before the flop, not solved yet."""
        self._tree = None
        self._tree = GameTree(Betting.of(self._settings), self._settings, self._model)
        return None

    def add_schematic_tree(self, rest: str) -> Answer:
        """add_schematic_tree NODE: the lines that are set are those of the pot there."""
        self._game().set_lines(rest, list(self._settings.lines))
        return None

    def show_subsets(self, _: str) -> Answer:
        """show_subsets: the flops that are set, each with its weight."""
        return self._settings.subset_rows()

    def recover_subset(self, _: str) -> Answer:
        """recover_subset: set the flops of the tree."""
        self._settings.subset = self._game().flops
        return None

    def free_tree(self, _: str) -> Answer:
        """free_tree."""
        self._tree = None
        return None

    def estimate_tree(self, _: str) -> Answer:
        """estimate_tree: the memory that the tree of the settings takes."""
        if isinstance(self._tree, GameTree):
            return self.estimate_schematic_tree(_)
        need = estimate_spot(self._settings.spot())
        return [f"estimated memory: {need.process_bytes / MEGABYTE:.0f} MB"]

    def estimate_schematic_tree(self, _: str) -> Answer:
        """estimate_schematic_tree: the memory that the whole game takes."""
        need = self._game().estimate(self._settings.threads)
        return [f"estimated memory: {need / MEGABYTE:.0f} MB"]

    def is_tree_present(self, _: str) -> Answer:
        """is_tree_present: true or false."""
        return ["true" if self._tree is not None else "false"]

    def load_tree(self, rest: str) -> Answer:
        """load_tree FOLDER [full|fast|auto]: a solved spot or whole game of this program."""
        self._tree = self._stored(rest)
        return None

    def _stored(self, rest: str) -> Tree:
        path = read_path(rest)
        solution = load(path)
        if isinstance(solution, SpotSolution):
            return SpotTree(solution.spot, self._settings.threads, stored=solution)
        if isinstance(solution, WholeSolution) and solution.is_game:
            return GameTree.loaded(solution, self._settings)
        raise InputError(f"{path} is neither a spot nor a whole game")

    def dump_tree(self, rest: str) -> Answer:
        """dump_tree FOLDER [full|no_rivers|no_turns]."""
        tree, words = self._known(), read_words(rest)
        saved = SAVES.get(words[1].lower()) if len(words) > 1 else "full"
        if saved is None:
            raise InputError(f"'{shorten(words[1])}': write full, no_rivers or no_turns")
        tree.save(read_path(rest), saved)
        return None

    def _known(self) -> Tree:
        if self._tree is None:
            raise InputError("there is no tree: build_tree or load_tree first")
        return self._tree

    def _spot(self) -> SpotTree:
        """The tree, of which strategies are set and locked."""
        tree = self._known()
        if not isinstance(tree, SpotTree):
            raise InputError("strategies of whole games are set elsewhere: allstreets lock does")
        return tree

    def _game(self) -> GameTree:
        if not isinstance(self._tree, GameTree):
            raise InputError("there is no whole game: build_preflop_tree or load_tree first")
        return self._tree

    # Solving.

    def go(self, rest: str) -> Answer:
        """Go [N seconds|steps]: train in the background."""
        tree, limits = self._known(), self._limits(rest)
        solve = BackgroundSolve(
            tree.trainable(self._settings.threads),
            tree.exploitability,
            limits,
            tell=lambda line: self._say([line], end=False),
            report=lambda: self._say(["SOLVER:", *self._results(tree)]),
            interval=self._settings.report_seconds,
        )
        tree.runs.append(solve)
        self._solve = self._starts = solve
        return None

    def _limits(self, rest: str) -> Limits:
        words, pot = rest.split(), self._known().pot
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
        return self._results(self._known())

    @staticmethod
    def _results(tree: Tree) -> list[str]:
        results = tree.results()
        return [
            f"running time: {tree.seconds:.3f}",
            f"EV OOP: {results.evs[0]:.6g}",
            f"EV IP: {results.evs[1]:.6g}",
            f"OOP's MES: {results.best[0]:.6g}",
            f"IP's MES: {results.best[1]:.6g}",
            f"Exploitable for: {results.exploitable:.6g}",
        ]

    # Nodes.

    def _node(self, text: str) -> tuple[Nodes, Node]:
        nodes = self._known().nodes
        return nodes, nodes.find(text)

    def _played(self, text: str) -> tuple[Nodes, Node]:
        """The same with the current strategies."""
        nodes = self._known().played
        return nodes, nodes.find(text)

    def show_node(self, rest: str) -> Answer:
        """show_node NODE."""
        nodes, node = self._node(rest)
        return [*nodes.block(node, root=rest == ROOT), ""]

    def show_children(self, rest: str) -> Answer:
        """show_children NODE."""
        nodes, node = self._node(rest)
        below = [node] if rest == ROOT else nodes.children(node)
        return [
            line
            for number, child in enumerate(below)
            for line in (f"child {number}:", *nodes.block(child), "")
        ]

    def show_all_lines(self, _: str) -> Answer:
        """show_all_lines: cards left out."""
        return list(self._known().nodes.lines())

    def node_count(self, _: str) -> Answer:
        """node_count: by street and kind, every card counted."""
        return self._known().nodes.counts()

    def show_effective_stack(self, _: str) -> Answer:
        """show_effective_stack."""
        return [str(neat(self._known().stack))]

    def show_board(self, _: str) -> Answer:
        """show_board_no_iso."""
        return [" ".join(self._known().board)]

    def show_tree_info(self, _: str) -> Answer:
        """show_tree_info: the lines of add_info_line, else those of the tree."""
        return list(self._settings.info) or self._known().info

    def show_metadata(self, rest: str) -> Answer:
        """show_metadata FOLDER: a stored tree, which is not loaded."""
        tree = self._stored(rest)
        return [
            *tree.nodes.block(tree.nodes.find(ROOT), root=True),
            f"{neat(tree.stack)}",
            *(vector_line(held.weights) for held in tree.ranges),
            *tree.info,
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

    def show_preflop_order(self, _: str) -> Answer:
        """show_preflop_order: the 169 hand classes."""
        return [" ".join(HAND_NAMES)]

    # Numbers.

    def show_range(self, rest: str) -> Answer:
        """show_range OOP|IP [NODE]; without a node the range of set_range."""
        player, text = read_player(rest)
        if text:
            nodes, node = self._played(text)
            return [vector_line(nodes.reach(node, player) * self._known().scale[player])]
        if player not in self._settings.ranges:
            raise InputError(f"no range is set: set_range {player.name} first")
        return [vector_line(self._settings.ranges[player].weights)]

    def show_strategy(self, rest: str) -> Answer:
        """show_strategy NODE: a line for each child; 0 for hands that are not there."""
        return [vector_line(row) for row in self._strategy(*self._node(rest))[::-1]]

    def _strategy(self, nodes: Nodes, node: Node) -> Floats:
        """[A, 1326]: the strategy that was set, else the solved one."""
        tree = self._known()
        return tree.strategy(node) if isinstance(tree, SpotTree) else nodes.strategy(node)

    def show_strategy_pp(self, rest: str) -> Answer:
        """show_strategy_pp NODE: a line for each hand."""
        nodes, node = self._node(rest)
        strategy = self._strategy(nodes, node)[::-1]
        words = [nodes.step(child) for child in nodes.children(node)]
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
        nodes, node = self._played(text)
        return nodes.evs(node, player), self._met(nodes, node, player)

    def _met(self, nodes: Nodes, node: Node, player: Player) -> Floats:
        oop, ip = self._known().scale
        return nodes.matchups(node, player) * oop * ip

    def calc_eq_node(self, rest: str) -> Answer:
        """calc_eq_node OOP|IP NODE: equities, the weights of the pairs of hands, and the mean."""
        player, text = read_player(rest)
        nodes, node = self._played(text)
        shares = node.ranges.equity(player)
        equities = nodes.by_combo(node, player, shares, np.nan)
        mean = node.ranges.mean(shares, player)
        return [vector_line(equities), vector_line(self._met(nodes, node, player)), f"{mean:.9g}"]

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
        return [f"{self._met(*self._played(rest), Player.OOP).sum():.9g}"]

    def calc_global_freq(self, rest: str) -> Answer:
        """calc_global_freq NODE: how often play gets there, the chance of its cards included."""
        nodes, node = self._played(rest)
        return [f"{nodes.frequency(node):.9g}"]

    def calc_line_freq(self, rest: str) -> Answer:
        """calc_line_freq NODE: how often play gets there if its cards are dealt."""
        return [f"{self._played(rest)[1].ranges.share:.9g}"]

    # Locks.

    def set_strategy(self, rest: str) -> Answer:
        """set_strategy NODE NUMBERS: 1,326 for each child, one after the other."""
        text, _, numbers = rest.partition(" ")
        tree = self._spot()
        nodes, node = self._node(text)
        actions = len(node.decision.actions)
        values = np.array(read_numbers(numbers, actions * COMBO_COUNT))
        strategy = values.reshape(actions, COMBO_COUNT)[::-1]
        total, held = strategy.sum(axis=0), nodes.held(node)
        missing = np.flatnonzero(held & (total <= 0))
        if len(missing):
            raise InputError(f"{combo_text(int(missing[0]))} is given no action")
        where = (total > 0) & held
        tree.give(node, np.divide(strategy, total, out=np.zeros_like(strategy), where=where))
        return None

    def lock_node(self, rest: str) -> Answer:
        """lock_node NODE: to the strategy that was set there, else to the solved one."""
        self._spot().lock(self._node(rest)[1], np.ones(COMBO_COUNT, np.bool_))
        return None

    def combo_lock_node(self, rest: str) -> Answer:
        """combo_lock_node NODE FLAGS: some hands, those with 1 of 1,326 numbers."""
        text, _, numbers = rest.partition(" ")
        tree, node = self._spot(), self._node(text)[1]
        tree.lock(node, np.array(read_numbers(numbers, COMBO_COUNT)) > 0)
        return None

    def unlock_node(self, rest: str) -> Answer:
        """unlock_node NODE: the next go solves it again."""
        self._spot().unlock(self._node(rest)[1])
        return None

    def show_locked_combos(self, rest: str) -> Answer:
        """show_locked_combos NODE: 1 for hands that are locked."""
        return [vector_line(self._spot().locked(self._node(rest)[1]).astype(float))]


def _set(change: Callable[[Settings, str], None]) -> Callable[[Session, str], Answer]:
    return lambda session, rest: change(session._settings, rest)


COMMANDS: Mapping[str, Callable[[Session, str], Answer]] = {
    **{name: _set(change) for name, change in SETTINGS.items()},
    "is_ready": Session.ready,
    "exit": Session.exit,
    "set_end_string": Session.set_end_string,
    "reset_end_string": Session.reset_end_string,
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
    "build_preflop_tree": Session.build_preflop_tree,
    "add_schematic_tree": Session.add_schematic_tree,
    "estimate_schematic_tree": Session.estimate_schematic_tree,
    "show_subsets": Session.show_subsets,
    "recover_subset": Session.recover_subset,
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
    "show_preflop_order": Session.show_preflop_order,
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
AT_ONCE |= {"load_script_silent", "is_tree_present", "show_hand_order", "reset_end_string"}
ALONE = {"go", "build_tree", "free_tree", "load_tree", "set_strategy", "lock_node", "unlock_node"}
ALONE |= {"combo_lock_node", "build_preflop_tree", "add_schematic_tree"}
# Commands of PioSOLVER that have no counterpart yet.
LATER = {
    *("force_line", "show_all_freqs", "show_save_version"),
    *("show_category_names", "show_categories", "solve_partial", "solve_all_splits"),
    *("explo_partial", "rebuild_forgotten_streets", "estimate_rebuild_forgotten_streets"),
    *("forget", "cut_line", "eliminate_path", "round_up_to", "set_mes", "set_equal_strats"),
    *("set_algorithm", "list_algorithms", "small_strats", "set_first_iteration_player"),
    *("show_step", "change_step", "set_adjust_strat", "bench", "needed_memory", "clear_cache"),
    *("normalize_tree", "ignore_mem_check", "stdoutredi", "stdoutredi_append", "stdoutback"),
    *("take_a_break", "show_iters", "solver_time"),
}


def _unknown(name: str) -> str:
    if name in LATER:
        return f"ERROR: {name} is not supported by allstreets yet"
    return f"ERROR: Command {shorten(name, 60)} not recognized"

"""Commands that build, load, store and describe trees."""

from collections.abc import Mapping

from allstreets.base import InputError, available_bytes, process_bytes, shorten
from allstreets.betting import Player, neat
from allstreets.games import estimate_spot
from allstreets.interop.upi.games import Betting, GameTree
from allstreets.interop.upi.nodes import ROOT
from allstreets.interop.upi.state import Answer, Command, State
from allstreets.interop.upi.text import read_path, read_words, vector_line
from allstreets.interop.upi.trees import Saved, SpotTree, Tree
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage import load
from allstreets.version import __version__

SAVES: Mapping[str, Saved] = {
    "full": "full",
    "normal": "full",
    "no_rivers": "turn",
    "no_turns": "flop",
}
LOADS = ("full", "fast", "auto")  # all the same here: a street is read when it is shown
MEGABYTE = 1_000_000


def build_tree(state: State, _: str) -> Answer:
    """build_tree: the tree of the settings, not solved yet: play is uniform."""
    state.tree = None
    spot = state.settings.spot()
    oop, ip = (state.settings.ranges[player].on(spot.cards).largest for player in Player)
    state.tree = SpotTree(spot, state.settings.threads, (oop, ip))
    return None


def build_preflop_tree(state: State, _: str) -> Answer:
    """build_preflop_tree: the betting before the flop, not solved yet."""
    state.tree = None
    state.tree = GameTree(Betting.of(state.settings), state.settings, state.model)
    return None


def add_schematic_tree(state: State, rest: str) -> Answer:
    """add_schematic_tree NODE: the lines that are set are those of the pot there."""
    state.game().set_lines(rest, list(state.settings.lines))
    return None


def show_subsets(state: State, _: str) -> Answer:
    """show_subsets: the flops that are set, each with its weight, and how many there are."""
    rows = state.settings.subset_rows()
    return [*rows, f"{len(rows)} total"]


def recover_subset(state: State, _: str) -> Answer:
    """recover_subset: set the flops of the tree."""
    state.settings.subset = state.game().flops
    return None


def free_tree(state: State, _: str) -> Answer:
    """free_tree."""
    state.tree = None
    return None


def is_tree_present(state: State, _: str) -> Answer:
    """is_tree_present: true or false."""
    return ["true" if state.tree is not None else "false"]


# Files.


def load_tree(state: State, rest: str) -> Answer:
    """load_tree FOLDER [full|fast|auto]: a solved spot or whole game of this program."""
    how = read_words(rest)[1:]
    if how and how[0].lower() not in LOADS:
        raise InputError(f"'{shorten(how[0])}': write full, fast or auto")
    state.tree = _stored(state, rest)
    return None


def dump_tree(state: State, rest: str) -> Answer:
    """dump_tree FOLDER [full|no_rivers|no_turns]."""
    tree, words = state.known(), read_words(rest)
    saved = SAVES.get(words[1].lower()) if len(words) > 1 else "full"
    if saved is None:
        raise InputError(f"'{shorten(words[1])}': write full, no_rivers or no_turns")
    tree.save(read_path(rest), saved)
    return None


def show_metadata(state: State, rest: str) -> Answer:
    """show_metadata FOLDER: a stored tree, which is not loaded."""
    tree = _stored(state, rest)
    return [
        *tree.nodes.block(tree.nodes.find(ROOT), root=True),
        f"{neat(tree.stack)}",
        *(vector_line(held.weights) for held in tree.ranges),
        *tree.info,
    ]


def show_save_version(state: State, rest: str) -> Answer:
    """show_save_version FOLDER: the version of this program that reads it."""
    _stored(state, rest)
    return [__version__]


def _stored(state: State, rest: str) -> Tree:
    path = read_path(rest)
    if path.is_file():
        raise InputError(
            f"{path} is a file, and .cfr files of PioSOLVER are not read: solve the tree here, and "
            "dump_tree writes it as a folder"
        )
    solution = load(path)
    if isinstance(solution, SpotSolution):
        return SpotTree(solution.spot, state.settings.threads, stored=solution)
    if isinstance(solution, WholeSolution) and solution.is_game:
        return GameTree.loaded(solution, state.settings)
    raise InputError(f"{path} is neither a spot nor a whole game")


# Sizes and settings.


def estimate_tree(state: State, _: str) -> Answer:
    """estimate_tree: the memory that the tree takes, or that of the settings."""
    if isinstance(state.tree, GameTree):
        return estimate_schematic_tree(state, _)
    return _estimated(estimate_spot(state.settings.spot()).process_bytes)


def estimate_schematic_tree(state: State, _: str) -> Answer:
    """estimate_schematic_tree: the memory that the whole game takes."""
    return _estimated(state.game().estimate(state.settings.threads))


def estimate_rebuilt(state: State, _: str) -> Answer:
    """estimate_rebuild_forgotten_streets: the memory that the whole tree takes."""
    return _estimated(estimate_spot(state.spot().spot).process_bytes)


def _estimated(memory: float) -> Answer:
    return [f"estimated memory: {memory / MEGABYTE:.0f} MB"]


def show_memory(state: State, _: str) -> Answer:
    """show_memory: free, and in use."""
    del state
    free, used = available_bytes(), process_bytes()
    return [
        f"available physical memory: {(free or 0) / MEGABYTE:.0f} MB",
        f"memory in use: {(used or 0) / MEGABYTE:.0f} MB",
    ]


def show_settings(state: State, _: str) -> Answer:
    """show_settings: how trees are solved, a setting a line."""
    settings = state.settings
    value, unit = settings.target
    return [
        f"thread_no: {settings.threads or 0}",
        f"info_freq: {settings.report_seconds:g}",
        f"accuracy: {value:g}",
        f"accuracy mode: {unit}",
        "isomorphism: 1 1",
    ]


def show_tree_params(state: State, _: str) -> Answer:
    """show_tree_params: board, pot and stack of the tree, or of the settings."""
    tree, settings = state.tree, state.settings
    if tree is None:
        oop, ip = settings.blinds
        board, pot, stack = settings.cards, settings.pot, settings.stack
    else:
        (oop, ip), pot = tree.start
        board, stack = list(tree.board), tree.stack
    return [
        f"board: {' '.join(board) or 'not set'}",
        f"pot: {neat(oop)} {neat(ip)} {neat(pot)}",
        f"effective_stack: {neat(stack)}",
    ]


def show_tree_info(state: State, _: str) -> Answer:
    """show_tree_info: the lines of add_info_line, else those of the tree."""
    return list(state.settings.info) or state.known().info


def show_effective_stack(state: State, _: str) -> Answer:
    """show_effective_stack."""
    return [str(neat(state.known().stack))]


def show_board(state: State, _: str) -> Answer:
    """show_board_no_iso."""
    return [" ".join(state.known().board)]


def solver_time(state: State, _: str) -> Answer:
    """solver_time: seconds of training."""
    return [f"{state.known().seconds:.3f}"]


def show_iters(state: State, _: str) -> Answer:
    """show_iters: iterations of training."""
    return [str(state.known().iterations)]


BUILDING: Mapping[str, Command] = {
    "build_tree": build_tree,
    "build_preflop_tree": build_preflop_tree,
    "add_schematic_tree": add_schematic_tree,
    "estimate_schematic_tree": estimate_schematic_tree,
    "show_subsets": show_subsets,
    "recover_subset": recover_subset,
    "free_tree": free_tree,
    "estimate_tree": estimate_tree,
    "estimate_rebuild_forgotten_streets": estimate_rebuilt,
    "is_tree_present": is_tree_present,
    "load_tree": load_tree,
    "dump_tree": dump_tree,
    "show_metadata": show_metadata,
    "show_save_version": show_save_version,
    "show_memory": show_memory,
    "show_settings": show_settings,
    "show_tree_params": show_tree_params,
    "show_tree_info": show_tree_info,
    "show_effective_stack": show_effective_stack,
    "show_board_no_iso": show_board,
    "solver_time": solver_time,
    "show_iters": show_iters,
}

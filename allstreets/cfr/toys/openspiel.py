"""Any two-player zero-sum game of OpenSpiel, as a `Game`.

`pyspiel` is imported only when a game is requested: it is an optional extra.

1. Information sets keep the text that OpenSpiel gives them, so a strategy can be looked up there.
   In a game of perfect information without such texts the history is the information set.
2. Simultaneous moves are made one after the other, and the second player does not see the first
   move: OpenSpiel's own conversion.

Lanctot et al. (2019), OpenSpiel: a framework for reinforcement learning in games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.cfr.game import FIRST


@dataclass(frozen=True, slots=True)
class OpenSpielState:
    """A history of an OpenSpiel game; the wrapped state makes children and never advances."""

    inside: Any

    @property
    def is_terminal(self) -> bool:
        return bool(self.inside.is_terminal())

    @property
    def is_chance(self) -> bool:
        return bool(self.inside.is_chance_node())

    @property
    def player(self) -> int:
        return int(self.inside.current_player())

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        name = self.inside.action_to_string
        return [(str(name(move)), chance) for move, chance in self._possible_outcomes()]

    def actions(self) -> Sequence[str]:
        """OpenSpiel's own names of the moves; their numbers where two moves share a name."""
        moves = self.inside.legal_actions()
        names = tuple(str(self.inside.action_to_string(move)) for move in moves)
        return names if len(set(names)) == len(names) else tuple(str(move) for move in moves)

    def child(self, index: int) -> "OpenSpielState":
        if self.is_chance:
            move = self._possible_outcomes()[index][0]
        else:
            move = self.inside.legal_actions()[index]
        return OpenSpielState(self.inside.child(move))

    def information_set(self) -> str:
        if not self.inside.get_game().get_type().provides_information_state_string:
            return str(self.inside.history_str())
        return str(self.inside.information_state_string(self.player))

    def utility(self) -> float:
        return float(self.inside.returns()[FIRST])

    def _possible_outcomes(self) -> list[tuple[int, float]]:
        return [(move, chance) for move, chance in self.inside.chance_outcomes() if chance > 0]


@dataclass(frozen=True)
class OpenSpielGame:
    """A game that OpenSpiel has loaded; made by `load_openspiel`."""

    name: str
    inside: Any
    unit: str = "utility"

    def root(self) -> OpenSpielState:
        """The game's initial state."""
        return OpenSpielState(self.inside.new_initial_state())


def load_openspiel(text: str) -> OpenSpielGame:
    """The OpenSpiel game that `text` names, parameters included: "leduc_poker(players=2)".

    Raises `InputError` when OpenSpiel is not installed, does not know the game, or when the game
    is not one that these solvers can play.
    """
    pyspiel = import_pyspiel()
    short_name = text.partition("(")[0].strip()
    if short_name not in pyspiel.registered_names():
        raise InputError(
            f"OpenSpiel has no game {short_name!r}: {suggest(short_name, _suitable(pyspiel))}"
        )
    try:
        inside = pyspiel.load_game(text)
    except (pyspiel.SpielError, RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"OpenSpiel cannot load {text!r}: {reason} Parameters go in brackets: "
            "openspiel:leduc_poker(players=2)."
        ) from error
    players = inside.num_players()
    if players != 2:
        raise InputError(
            f"openspiel:{text} has {players} player{'s' * (players != 1)}; these solvers need "
            "exactly 2. Where the game allows it, add (players=2)."
        )
    if problem := _problem(pyspiel, inside.get_type()):
        raise InputError(f"openspiel:{text} {problem}")
    if inside.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        inside = pyspiel.convert_to_turn_based(inside)
    return OpenSpielGame(name=f"openspiel:{text}", inside=inside)


def import_pyspiel() -> ModuleType:
    """OpenSpiel's module; an `InputError` that says how to get it where it is not installed."""
    try:
        import pyspiel
    except ImportError as error:
        raise InputError(
            "OpenSpiel is not installed. Install it with: pip install allstreets[openspiel]"
        ) from error
    module: ModuleType = pyspiel
    return module


def _suitable(pyspiel: ModuleType) -> list[str]:
    """Names of the games that can be played here, by their own descriptions."""
    return [
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.min_num_players <= 2 <= kind.max_num_players and not _problem(pyspiel, kind)
    ]


def _problem(pyspiel: ModuleType, kind: Any) -> str:
    """The reason why no game of a kind can be played here; empty if some can."""
    types = pyspiel.GameType
    if kind.dynamics == types.Dynamics.MEAN_FIELD:
        return "is a mean-field game; these solvers need two players who move."
    if kind.utility != types.Utility.ZERO_SUM:
        return (
            "is not zero-sum; these solvers find equilibria of zero-sum games "
            "only. Choose a game whose returns add up to 0."
        )
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        return (
            "hides its chance probabilities; these solvers need them listed. "
            "Choose a game with explicit chance outcomes."
        )
    sees_all = (
        kind.information == types.Information.PERFECT_INFORMATION
        and kind.dynamics == types.Dynamics.SEQUENTIAL
    )
    if not (kind.provides_information_state_string or sees_all):
        return (
            "gives its information sets no text. "
            "Choose a game that provides information_state_string."
        )
    return ""

"""A spot as a game of OpenSpiel, and a solution of it as a `TabularPolicy`.

Chance deals OOP's combo and then IP's, in proportion to the weights of both ranges and without a
shared card. Players bet by the spot's tree; the cards to come are dealt one by one, also after an
all-in. Returns are in chips, relative to half the starting pot. So OpenSpiel's algorithms see the
game that was solved, and half of `nash_conv` is the exploitability in chips.

Player 0 is OOP, player 1 IP. Actions are numbered in the order of the tree: fold, check or call,
bets from the smallest. A private deal is the number of a combo, a card of the board 0 to 51. An
information state is what a player knows, as text: "OOP AhKh: b50 c | 7h | x".

Lanctot et al. (2019), OpenSpiel: a framework for reinforcement learning in games.
"""

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np

from allstreets.base import InputError
from allstreets.betting import BettingTree, NodeKind, Outcome, Player, action_word, line_text
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    DECK_SIZE,
    card_text,
    combo_strengths,
    combo_text,
    fitting,
)
from allstreets.cfr import import_pyspiel
from allstreets.games import Spot, spot_mapping
from allstreets.solutions import SpotSolution

if TYPE_CHECKING:
    import pyspiel
else:
    pyspiel = import_pyspiel()

READABLE = '"{}[]: '  # other characters would not survive OpenSpiel's own text of a game
NAME = "python_allstreets_spot"
PLAYERS = len(Player)
BOARD_CARDS = 5
CACHED_BOARDS = 2048  # more than there are rivers after a turn
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


def openspiel_game(spot: Spot) -> "SpotGame":
    """A spot as a game of OpenSpiel; locks are not part of it: every player is free there."""
    return SpotGame({"spot": quote(json.dumps(spot_mapping(spot)), safe=READABLE)})


def openspiel_policy(solution: SpotSolution) -> Any:
    """The strategies of a solved spot as OpenSpiel's `TabularPolicy`; its `game` is the spot's.

    Every history of the game is visited: ranges of a few combos on a turn, of dozens on a river.
    """
    from open_spiel.python.policy import TabularPolicy

    if solution.spot.tree.kind[0] != NodeKind.DECISION:
        raise InputError("the spot starts all-in: no player acts, so there is no policy")
    policy = TabularPolicy(openspiel_game(solution.spot))
    policy.action_probability_array[:] = 0
    for row, state in zip(policy.action_probability_array, policy.states, strict=True):
        street = solution.street(state.cards)
        player = state.current_player()
        (hand,) = np.flatnonzero(street.combos[player] == state.combos[player])
        strategy = street.strategy(state.node)[:, hand]
        row[: len(strategy)] = strategy / strategy.sum()
    return policy


class SpotRules:
    """The data that all states of a game share: the tree, the deals and the results of a spot."""

    def __init__(self, spot: Spot) -> None:
        self.spot, self.tree = spot, spot.tree
        self.movers = _movers(self.tree)
        oop, ip = (np.flatnonzero(given.weights) for given in spot.ranges)
        joint = fitting(oop, ip) * spot.ranges[0].weights[oop, None] * spot.ranges[1].weights[ip]
        total = joint.sum(axis=1)
        self.first_deals = _chances(oop[total > 0].tolist(), total[total > 0])
        self.second_deals = {
            combo: _chances(ip[row > 0].tolist(), row[row > 0])
            for combo, row in zip(oop.tolist(), joint, strict=True)
            if row.any()
        }
        self.strengths = lru_cache(CACHED_BOARDS)(lambda board: combo_strengths([board])[0])
        self.line = lru_cache(None)(lambda node, cards: line_text(self.tree, node, cards))

    def __deepcopy__(self, memo: object) -> "SpotRules":
        """Itself: nothing in it changes, and OpenSpiel copies states often."""
        return self

    def __reduce__(self) -> tuple[type["SpotRules"], tuple[Spot]]:
        """Pickle by the spot: a state finds its rules again."""
        return SpotRules, (self.spot,)


def _movers(tree: BettingTree) -> list[int | None]:
    """The mover at each node once combos are dealt; None: chance until the board is complete."""
    movers = list[int | None]()
    for kind, player in zip(tree.kind.tolist(), tree.player.tolist(), strict=True):
        decides, ends = kind == NodeKind.DECISION, kind == NodeKind.FOLD
        deals = CHANCE if kind == NodeKind.CHANCE else None
        movers.append(player if decides else TERMINAL if ends else deals)
    return movers


def _chances(outcomes: list[int], weights: Any) -> list[tuple[int, float]]:
    return list(zip(outcomes, (weights / weights.sum()).tolist(), strict=True))


def _game_type(raked: bool) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=NAME,
        long_name="A postflop spot of heads-up no-limit hold'em",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.GENERAL_SUM if raked else kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification={"spot": ""},
        default_loadable=False,
    )


class SpotGame(pyspiel.Game):
    """A spot; `pyspiel.load_game(NAME, {"spot": …})` makes it of the keys of a spot file.

    They are JSON with the escapes of URLs, as `openspiel_game` writes them.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        text = (params or {}).get("spot")
        if not text:
            raise InputError(
                f"{NAME} needs a spot: the keys of a spot file as JSON with the escapes of URLs"
            )
        self.rules = SpotRules(Spot.from_mapping(json.loads(unquote(text))))
        tree, results = self.rules.tree, self.rules.spot.payoffs
        raked = self.rules.spot.rake > 0
        decides = tree.kind == NodeKind.DECISION
        info = pyspiel.GameInfo(
            num_distinct_actions=int(tree.child_count.max(initial=1)),
            max_chance_outcomes=COMBO_COUNT,
            num_players=len(Player),
            min_utility=float(results.min()),
            max_utility=float(results.max()),
            utility_sum=None if raked else 0.0,
            max_game_length=max(
                int(decides[list(tree.path_to(node))].sum())
                for node in np.flatnonzero(tree.is_terminal).tolist()
            ),
        )
        super().__init__(_game_type(raked), info, params)

    def new_initial_state(self) -> "SpotState":
        """The state before any combo is dealt."""
        return SpotState(self, self.rules)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "SpotObserver":
        """The information of a player, as text."""
        del iig_obs_type, params
        return SpotObserver()


class SpotState(pyspiel.State):
    """A history: both combos, a node of the tree, and the cards dealt after the spot's board."""

    def __init__(self, game: SpotGame, rules: SpotRules) -> None:
        super().__init__(game)
        self.rules = rules
        self.combos: tuple[int, ...] = ()  # of OOP, IP
        self.node = 0
        self.cards: tuple[int, ...] = ()

    @property
    def board(self) -> tuple[int, ...]:
        """All cards on the table."""
        return (*self.rules.spot.cards, *self.cards)

    def current_player(self) -> int:
        """The player who acts; chance deals combos and cards."""
        if len(self.combos) < PLAYERS:
            return CHANCE
        mover = self.rules.movers[self.node]
        if mover is not None:
            return mover
        return TERMINAL if len(self.board) == BOARD_CARDS else CHANCE

    def is_terminal(self) -> bool:
        """Whether a player has folded, or both have shown their combos."""
        return self.current_player() == TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        del player
        return list(range(int(self.rules.tree.child_count[self.node])))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The combos or the cards that may come, each with its probability."""
        if not self.combos:
            return self.rules.first_deals
        if len(self.combos) == 1:
            return self.rules.second_deals[self.combos[0]]
        gone = {*self.board, *COMBO_CARDS[list(self.combos)].ravel().tolist()}
        cards = [card for card in range(DECK_SIZE) if card not in gone]
        return [(card, 1 / len(cards)) for card in cards]

    def _apply_action(self, action: int) -> None:
        tree = self.rules.tree
        if len(self.combos) < PLAYERS:
            self.combos = (*self.combos, action)
        elif self.current_player() == CHANCE:
            self.cards = (*self.cards, action)
            if tree.kind[self.node] == NodeKind.CHANCE:
                self.node = int(tree.children_of(self.node)[0])
        else:
            self.node = int(tree.children_of(self.node)[action])

    def _action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return combo_text(action) if len(self.combos) < PLAYERS else card_text(action)
        return action_word(self.rules.tree, int(self.rules.tree.children_of(self.node)[action]))

    def returns(self) -> list[float]:
        """Results in chips, relative to half the starting pot; 0 before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        outcomes = [Outcome.TIE, Outcome.TIE]
        if self.rules.tree.kind[self.node] == NodeKind.SHOWDOWN:
            oop, ip = self.rules.strengths(self.board)[list(self.combos)].tolist()
            if oop != ip:
                won = [Outcome.WIN, Outcome.LOSE]
                outcomes = won if oop > ip else won[::-1]
        results = self.rules.spot.payoffs[self.node]
        return [float(results[player, outcomes[player]]) for player in Player]

    def knowledge(self, player: int) -> str:
        """The combo of a player and the line so far."""
        own = combo_text(self.combos[player]) if player < len(self.combos) else "no cards"
        return f"{Player(player).name} {own}: {self.rules.line(self.node, self.cards)}"

    def __str__(self) -> str:
        """Both combos and the line so far."""
        combos = " v ".join(map(combo_text, self.combos))
        return f"{combos}: {self.rules.line(self.node, self.cards)}"


class SpotObserver:
    """The information of a player, as text; with perfect recall, observations are the same."""

    def __init__(self) -> None:
        self.tensor, self.dict = None, dict[str, Any]()

    def set_from(self, state: SpotState, player: int) -> None:
        """Do nothing: there is no tensor."""

    def string_from(self, state: SpotState, player: int) -> str:
        """The player's combo and the line so far."""
        return state.knowledge(player)


pyspiel.register_game(_game_type(raked=False), SpotGame)

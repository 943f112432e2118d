"""The strategies of flops out of a solver, each as the arrays of its file.

| array          | shape        | holds                                                            |
|----------------|--------------|------------------------------------------------------------------|
| `strategy.P.S` | [actions, H] | pot P, stage S: shares in whole numbers, see `strategies`;       |
|                |              | `exact`: probabilities as they are, in 32 bits                   |
| `values`       | [2, P, 169]  | both players' values at the pots' roots, in chips times pairs    |
| `held`         | [169, H]     | `buckets`: combos of each class in each bucket of the flop       |
| `evs.P`        | [2, N, H]    | `exact`: EVs in chips at the decisions on the flop, by combo     |
| `action_evs.P` | [actions, H] | `exact`: EVs in chips of the actions there                       |
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base.files import Arrays
from allstreets.betting import NodeKind, Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.kernels.simd import LANES
from allstreets.solvers.flops.strategies import TWO_BYTES, Floats, Numbers, Shares, encode
from allstreets.solvers.spot.stored import street_nodes
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames.exact_flops import ExactFlops
from allstreets.subgames.exact_view import StreetView
from allstreets.subgames.flop_games import FlopGames
from allstreets.subgames.matrix import MatrixGame
from allstreets.subgames.matrix_flops import MatrixFlops
from allstreets.subgames.matrix_model import padded

Longs = NDArray[np.int64]


def is_packable(games: FlopGames) -> bool:
    """Whether the games keep the strategies of all flops."""
    return isinstance(games, MatrixFlops | ExactFlops)


class FlopPacker:
    """Packs one flop after the other; any number of threads may use one."""

    def __init__(self, solver: UnifiedSolver, numbers: Numbers = TWO_BYTES) -> None:
        games = solver.games
        self._pack: list[Callable[[int, Floats], Arrays]]
        if isinstance(games, MatrixFlops):
            self._pack = [_MatrixPacker(game, numbers).pack for game in games.games]
        elif isinstance(games, ExactFlops):
            self._pack = [_ExactPacker(games, pot).pack for pot in range(games.pots)]
        else:
            raise TypeError(f"the strategies of the model '{games.model}' are not kept")
        self._games = games

    def pack(self, flop: int, reach: Floats, values: NDArray[np.float32]) -> Arrays:
        """The arrays of a flop; reach and values [2, P, 169] are those at its pots' roots."""
        arrays: Arrays = {"values": values}
        for pot, pack in enumerate(self._pack):
            for name, array in pack(flop, reach[:, pot]).items():
                kind, _, stage = name.partition(".")
                arrays[f"{kind}.{pot}.{stage}" if stage else f"{kind}.{pot}"] = array
        if isinstance(self._games, MatrixFlops) and self._games.roots is not None:
            root = self._games.roots[flop]
            combos = self._games.cards.kernel[0].combos[flop, : root.shape[1]]
            arrays["held"] = np.rint(root * combos).astype(np.uint8)
        return arrays


@dataclass(frozen=True, eq=False)
class _Group:
    """Decisions of one player and stage with the same number of actions."""

    player: Player
    hands: Longs  # of whom something is stored, in its order
    stored: Longs  # [nodes, actions · H]: where their sums stand
    rows: Longs  # [nodes, actions]: where their probabilities go


class _MatrixPacker:
    """One pot of a matrix game: all its decisions at once, since there are thousands."""

    def __init__(self, game: MatrixGame, numbers: Numbers) -> None:
        self._game, self._numbers = game, numbers
        tree = game.tree
        self._groups: list[list[_Group]] = []
        self._shapes: list[tuple[int, int]] = []
        for stage in range(game.cards.stages):
            here = (tree.kind == NodeKind.DECISION) & (game.stage_of_node == stage)
            counts = np.where(here, tree.child_count, 0)
            first = np.cumsum(counts) - counts
            groups = []
            for player in Player:
                kept = game.stored_hands(stage, player)
                length = padded(len(kept))
                for actions in np.unique(counts[here & (tree.player == player)]).tolist():
                    nodes = np.flatnonzero(here & (tree.player == player) & (counts == actions))
                    starts = game.slot_of_node[nodes] * length
                    groups.append(
                        _Group(
                            player,
                            kept[: game.cards.hands[stage]],
                            starts[:, None] + np.arange(actions * length),
                            first[nodes][:, None] + np.arange(actions),
                        )
                    )
            self._groups.append(groups)
            self._shapes.append((int(counts.sum()), game.cards.hands[stage]))

    def pack(self, flop: int, reach: Floats) -> Arrays:
        """The strategies of all stages."""
        del reach
        arrays: Arrays = {}
        for stage, (groups, shape) in enumerate(zip(self._groups, self._shapes, strict=True)):
            # All-in on the flop leaves the later stages without decisions.
            stored: Shares = np.zeros(shape if shape[0] else (0, 0), self._numbers)
            for group in groups:
                sums = self._game.averages[stage][group.player][flop, group.stored]
                nodes, actions = group.rows.shape
                by_lane = sums.reshape(nodes, -1, actions, LANES)
                by_action = by_lane.transpose(0, 2, 1, 3).reshape(nodes, actions, -1)
                of_all = np.zeros((nodes, actions, shape[1]), np.float32)
                of_all[:, :, group.hands] = by_action[:, :, : len(group.hands)]
                stored[group.rows] = encode(of_all, self._numbers, axis=1)
            arrays[f"strategy.{stage}"] = stored
        return arrays


class _ExactPacker:
    """One pot of exact games: the decisions on the flop, by combo."""

    def __init__(self, games: ExactFlops, pot: int) -> None:
        self._subgames = games.subgames[pot]

    def pack(self, flop: int, reach: Floats) -> Arrays:
        """Strategies and EVs, combos rising."""
        subgame = self._subgames[flop]
        combos = subgame.streets[0].combos(Player.OOP, 0)
        order = np.argsort(combos)
        hands = HAND_OF_COMBO[combos]
        view = StreetView(subgame, (reach[0][hands], reach[1][hands]))
        numbers = [view.node(node) for node in street_nodes(subgame.tree, Street.FLOP)]
        none = np.zeros((0, len(combos)))
        strategies = np.concatenate([none, *(each.strategy for each in numbers)])
        actions = np.concatenate([none, *(each.action_values for each in numbers)])
        evs = np.array([[each.values[player] for each in numbers] for player in Player])
        return {
            "strategy.0": strategies[:, order].astype(np.float32),
            "strategy.1": np.zeros((0, 0), np.float32),
            "evs": evs[..., order].astype(np.float32),
            "action_evs": actions[:, order].astype(np.float32),
        }

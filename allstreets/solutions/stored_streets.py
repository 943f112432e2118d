"""A street of a solution as plain arrays: what a small file stores, and a view that reads them.

For one board, with N decisions of the street in the order of the tree, H hands of a player and S
actions of all of his decisions:

| array                       | shape  | holds                                                  |
|-----------------------------|--------|--------------------------------------------------------|
| combos_oop, combos_ip       | [H]    | combos                                                 |
| reach_oop, reach_ip         | [N, H] | range weight times own actions so far                  |
| values_oop, values_ip       | [N, H] | result in chips, relative to half the starting pot     |
| strategy_oop, strategy_ip   | [S, H] | probabilities                                          |
| actions_oop, actions_ip     | [S, H] | result of each action                                  |
| equity_oop, equity_ip       | [N, H] | share of the pot if all cards were dealt now           |

Equity could be computed again, but its kernels take longer to load than everything else: so it is
stored for the first street. On the fifty boards of the next street it would take most of the time
of a save, so it is computed for the board that is looked at.

Numbers are stored as they were computed, in 64 bits: what is read back is equal, not close.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import DamagedFileError, Floats, InputError, Longs, require_shape
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import (
    COMBO_COUNT,
    COMBO_PERMUTATIONS,
    Runouts,
    card_text,
    combo_equity,
    met_reach,
)
from allstreets.engines import NodeNumbers, NodeSlots, node_slots

Arrays = dict[str, NDArray[Any]]


class StreetNumbers(Protocol):
    """Every decision of one street on one board."""

    @property
    def combos(self) -> tuple[Longs, Longs]:
        """[H] of OOP and IP: combos."""

    def node(self, node: int) -> NodeNumbers:
        """Strategy, reach and values at a decision of the tree."""

    def strategy(self, node: int) -> Floats:
        """[A, H]: the strategy of the player who acts there."""


def pack_street(
    view: StreetNumbers,
    tree: BettingTree,
    street: Street,
    board: tuple[int, ...],
    *,
    equity: bool = True,
) -> Arrays:
    """The arrays of one board, its cards being those on the table."""
    arrays: Arrays = {}
    numbers = [view.node(node) for node in tree.decisions(street)]
    equities = [combo_equity(board, view.combos, each.reach) for each in numbers if equity]
    for player in Player:
        name, combos = player.name.lower(), view.combos[player]
        empty = np.zeros((0, len(combos)))
        own = [each for each in numbers if each.player == player]
        arrays[f"combos_{name}"] = combos.astype(np.int16)
        arrays[f"reach_{name}"] = _rows([each.reach[player] for each in numbers], empty)
        arrays[f"values_{name}"] = _rows([each.values[player] for each in numbers], empty)
        if equity:
            arrays[f"equity_{name}"] = _rows([each[player] for each in equities], empty)
        arrays[f"strategy_{name}"] = np.concatenate([empty, *(each.strategy for each in own)])
        arrays[f"actions_{name}"] = np.concatenate([empty, *(each.action_values for each in own)])
    return arrays


def _rows(rows: list[Floats], empty: Floats) -> Floats:
    return np.stack(rows) if rows else empty


def board_names(root: Runouts, level: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(prefix of its arrays, cards dealt) of every stored board: the spot's, or the next."""
    if level == 0:
        yield "board", ()
        return
    for card in root.representatives:
        yield card_text(card), (card,)


def board_name(root: Runouts, cards: tuple[int, ...]) -> tuple[str, Longs]:
    """The prefix of the arrays of a board, and the renaming of combos from there to it [1326]."""
    if not cards:
        return "board", np.arange(COMBO_COUNT)
    card = cards[0]
    if root.representative[card] < 0:
        raise InputError(f"the card {card_text(card)} is on the board already")
    back = np.empty(COMBO_COUNT, np.int64)
    back[COMBO_PERMUTATIONS[int(root.permutation[card])]] = np.arange(COMBO_COUNT)
    return card_text(int(root.representative[card])), back


class StoredStreet:
    """Reads what `pack_street` made; `renamed` [1326] takes the stored combos to the shown ones."""

    def __init__(
        self,
        tree: BettingTree,
        street: Street,
        arrays: Mapping[str, NDArray[Any]],
        renamed: Longs,
    ) -> None:
        self._tree, self._arrays = tree, arrays
        self._slots: NodeSlots = node_slots(tree, street)
        self._place = {node: index for index, node in enumerate(tree.decisions(street))}
        self._require_shapes()
        self._combos = renamed[arrays["combos_oop"]], renamed[arrays["combos_ip"]]

    def _require_shapes(self) -> None:
        """Refuse arrays that are not those of this street."""
        for player in Player:
            name = player.name.lower()
            combos = self._arrays[f"combos_{name}"]
            own = [node for node in self._place if self._tree.player_at(node) == player]
            decisions = len(self._place), len(combos)
            actions = int(self._tree.child_count[own].sum()), len(combos)
            shapes = {
                "reach": decisions,
                "values": decisions,
                "strategy": actions,
                "actions": actions,
                **({"equity": decisions} if "equity_oop" in self._arrays else {}),
            }
            whole = combos.ndim == 1 and combos.dtype.kind == "i"
            if not whole or not ((combos >= 0) & (combos < COMBO_COUNT)).all():
                raise DamagedFileError(f"combos_{name} contains values that are not combos")
            for array, shape in shapes.items():
                require_shape(self._arrays, f"{array}_{name}", shape)

    @property
    def combos(self) -> tuple[Longs, Longs]:
        """[H] of OOP and IP: combos."""
        return self._combos

    def node(self, node: int) -> NodeNumbers:
        """Strategy, reach and values at a decision of the tree."""
        arrays, index = self._arrays, self._place[node]
        player = self._tree.player_at(node)
        first = self._slots.slot[node]
        own = slice(first, first + int(self._tree.child_count[node]))
        name = player.name.lower()
        reach = arrays["reach_oop"][index], arrays["reach_ip"][index]
        oop, ip = self._combos
        equity = None
        if "equity_oop" in arrays:  # of the first street
            equity = arrays["equity_oop"][index], arrays["equity_ip"][index]
        return NodeNumbers(
            player,
            self._combos,
            reach,
            (met_reach(oop, ip, reach[1]), met_reach(ip, oop, reach[0])),
            arrays[f"strategy_{name}"][own],
            arrays[f"actions_{name}"][own],
            (arrays["values_oop"][index], arrays["values_ip"][index]),
            equity,
        )

    def strategy(self, node: int) -> Floats:
        """[A, H]: the strategy of the player who acts there."""
        return self.node(node).strategy

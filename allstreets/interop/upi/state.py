"""The state that the commands of a session share: its settings and its tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from allstreets.base import InputError
from allstreets.engines import CardModel
from allstreets.interop.upi.games import BOARDS, GameTree
from allstreets.interop.upi.nodes import Nodes
from allstreets.interop.upi.settings import Settings
from allstreets.interop.upi.trees import SpotTree, Tree
from allstreets.solutions import Node

Answer = Sequence[str] | None  # None: <command> ok!


@dataclass
class State:
    """The settings and the tree of a client; `model` is the card model of whole games."""

    model: CardModel = BOARDS
    settings: Settings = field(default_factory=Settings)
    tree: Tree | None = None

    def known(self) -> Tree:
        """The tree; an `InputError` if there is none."""
        if self.tree is None:
            raise InputError("there is no tree: build_tree or load_tree first")
        return self.tree

    def spot(self) -> SpotTree:
        """The tree of a spot, where strategies are set and locked."""
        tree = self.known()
        if not isinstance(tree, SpotTree):
            raise InputError("strategies of whole games are set elsewhere: allstreets lock does")
        return tree

    def game(self) -> GameTree:
        """The tree of a whole game."""
        if not isinstance(self.tree, GameTree):
            raise InputError("there is no whole game: build_preflop_tree or load_tree first")
        return self.tree

    def node(self, text: str) -> tuple[Nodes, Node]:
        """A node by its id, with the strategies that were solved."""
        nodes = self.known().nodes
        return nodes, nodes.find(text)

    def played(self, text: str) -> tuple[Nodes, Node]:
        """The same with the current strategies, those that were set included."""
        nodes = self.known().played
        return nodes, nodes.find(text)


Command = Callable[[State, str], Answer]

"""A flop of a solved model as a pot that both players see with every hand."""

import numpy as np

from allstreets.betting import FlopPot
from allstreets.cards import HAND_COUNT, hand_combos, parse_flop
from allstreets.solvers.flops.game import POT, FlopGame
from allstreets.solvers.flops.hands import CardModel, FlopHands
from allstreets.solvers.flops.result import PostflopResult
from allstreets.solvers.flops.view import FlopView
from allstreets.solvers.unified.game import PotGame
from allstreets.subgames.buckets import BucketCounts


def pot_game(game: FlopGame) -> PotGame:
    """The game of a stack-to-pot ratio as a pot of a whole game; chips stay what they are."""
    pot = FlopPot(node=0, pot=POT, stack=game.tree.stack, raises=0, name="model")
    return PotGame(pot, game.rules, game.tree, game.payoffs)


def postflop_view(result: PostflopResult, flop: str, spr: float) -> FlopView:
    """Every decision of a flop; EVs are results against half the pot, in hundreds of chips."""
    kept, found = result.strategies(flop, spr), parse_flop(flop).flop
    return FlopView(
        pot=pot_game(result.game(spr)),
        flop=found,
        hands=_hands(result, found.text, spr),
        kept=kept,
        reach=np.ones((2, HAND_COUNT)),
    )


def _hands(result: PostflopResult, flop: str, spr: float) -> FlopHands:
    found = parse_flop(flop).flop
    counts = result.config.get("buckets")
    if counts is None:
        return CardModel.parse("classes").hands(found)
    shares = result.hands_of_classes(flop, spr)
    held = np.rint(shares * hand_combos(found.cards)[:, None]).astype(np.uint8)
    model = CardModel("buckets", "buckets", True, BucketCounts(*counts), result.config["seed"])
    return model.hands(found, held)

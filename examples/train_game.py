"""Solve a small whole game, preflop through river, and look into it. Runs in a few seconds.

python examples/train_game.py
"""

import tempfile
from pathlib import Path

import allstreets

CONFIG = {
    "name": "ten big blinds",
    "solver": {
        "type": "unified_cfr",
        "stack_depth": 10,
        "cards": "classes",  # a quick picture, blind to turn and river
        "raise_sizes": [2.5],
        "postflop_bet_sizes": [1.0],
        "flops": "spread_4",
        "epochs": 200,
        "exploitability_threshold": 2,
    },
}


def main() -> None:
    """Train a game, store it, load it, and look up decisions."""
    with tempfile.TemporaryDirectory() as folder:
        allstreets.train(CONFIG, Path(folder) / "solved")
        result = allstreets.load(Path(folder) / "solved")
        print(f"exploitability {result.exploitability:.2f} mbb/hand on {len(result.flops)} flops")
        print(f"value for the small blind {result.values[1]:+.1f} mbb/hand")

        for hand in ("AA", "A5s", "KTo", "72o"):
            mix = result.strategy("", hand=hand)
            shown = ", ".join(f"{action} {100 * share:.0f} %" for action, share in mix.items())
            print(f"  SB with {hand}: {shown}")

        flop = result.flops[0]["flop"]
        node = result.at("c x", flop)
        print(f"limped pot on {flop}: {node.seat} acts first")
        print(f"  {node.seat} with AA:", result.strategy("c x", flop=flop, hand="AA"))


if __name__ == "__main__":
    main()

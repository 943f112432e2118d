"""Heads-up no-limit hold'em solved as one game, preflop through river.

from allstreets import Spot, solve

result = solve(Spot(board="QsJh2h7c", oop="TT+,AQs+", ip="22+,A9s+", pot=10, stack=95))
result.node("x b75%").frequencies()

from allstreets import load, train

train("sample_configurations/smoke.yaml", "solved/")
load("solved/").strategy("r2.5", hand="AJs")
"""

from typing import TYPE_CHECKING, Any

from allstreets.version import __version__ as __version__

if TYPE_CHECKING:
    from allstreets.cards import Range, equity
    from allstreets.solvers import Lock, Spot, SpotSolver, solve, solve_many
    from allstreets.storage import load, load_spot, save_spot
    from allstreets.training.api import train


__all__ = [
    "Lock",
    "Range",
    "Spot",
    "SpotSolver",
    "equity",
    "load",
    "load_spot",
    "save_spot",
    "solve",
    "solve_many",
    "train",
]

# Names are looked up when they are first used: `allstreets --help` must not wait for Numba.
_HOME = {
    "Lock": "allstreets.solvers",
    "Range": "allstreets.cards",
    "Spot": "allstreets.solvers",
    "SpotSolver": "allstreets.solvers",
    "equity": "allstreets.cards",
    "load": "allstreets.storage",
    "load_spot": "allstreets.storage",
    "save_spot": "allstreets.storage",
    "solve": "allstreets.solvers",
    "solve_many": "allstreets.solvers",
    "train": "allstreets.training.api",
}


def __dir__() -> list[str]:
    """What tab completion offers: the public names, whether they have been used or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'allstreets' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)

"""Heads-up no-limit hold'em solved as one game, preflop through river.

A spot, and a whole game:

    from allstreets import Spot, solve

    result = solve(Spot(board="QsJh2h7c", oop="TT+,AQs+", ip="22+,A9s+", pot=10, stack=95))
    result.at("x b75%").decision.taken

    from allstreets import load, train

    train("sample_configurations/smoke.yaml", "solved/")
    load("solved/").strategy("r2.5", hand="AJs")
"""

import lazy_loader

from allstreets.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

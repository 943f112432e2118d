"""Heads-up no-limit hold'em solved as one game, preflop through river."""

__version__ = "0.1.0"

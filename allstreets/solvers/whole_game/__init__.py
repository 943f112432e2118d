"""The whole game: preflop decisions on top of every flop's subgames."""

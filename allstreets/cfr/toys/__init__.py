"""Games small enough to prove a solver on, and an adapter for OpenSpiel's.

`load_game` knows them by name; `Game` and `State` say what a new game must provide.
"""

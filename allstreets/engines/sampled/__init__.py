"""External sampling on a flop."""

"""Spots: flop, turn or river with given ranges, every combo and every card."""

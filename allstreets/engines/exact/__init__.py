"""Combos on every board."""

"""Flops one by one, with full ranges and a card model."""

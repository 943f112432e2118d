"""Simple strategies and what they cost."""

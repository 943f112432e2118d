"""Simple strategies and their cost."""

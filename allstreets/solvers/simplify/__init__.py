"""Simple strategies, and what they cost against a best response."""

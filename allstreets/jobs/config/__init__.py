"""Config files: read once, checked once, every problem named with its line."""

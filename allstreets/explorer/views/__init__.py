"""One view for each kind of solution."""

"""The explorer: solutions in the browser, and spots solved there."""

"""Spots that are solved from the page: read, estimated, run in a separate process."""

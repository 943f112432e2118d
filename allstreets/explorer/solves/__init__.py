"""Spots that are solved from the page: read, estimated, run in a process of their own."""

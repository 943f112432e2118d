"""Runs and solutions in words, tables and pictures."""

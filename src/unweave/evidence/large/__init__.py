"""Rows that do not fit in memory: their sources, one pass over all of them, and a random sample."""

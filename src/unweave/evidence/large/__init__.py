"""Rows that do not fit in memory: where they come from, one pass over them, and a random sample of them."""

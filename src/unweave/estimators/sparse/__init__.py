"""Exact sums, ranks and counts of sparse columns, computed from their nonzero entries."""

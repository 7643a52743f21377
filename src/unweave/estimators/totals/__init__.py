"""Counts, moments and products summed over blocks of rows, from which some metrics are computed without the rows."""

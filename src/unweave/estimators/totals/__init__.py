"""Sums over rows that come in blocks: counts, moments and products, from which some metrics follow without the rows."""

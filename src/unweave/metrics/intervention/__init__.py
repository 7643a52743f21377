"""Metrics that ask what the codes do when a factor is moved or held."""

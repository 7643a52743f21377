"""Metrics that ask what moves when a factor is moved or held."""

"""Metrics of stochastic encoders (001)."""

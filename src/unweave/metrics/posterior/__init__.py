"""Metrics of the posteriors of stochastic encoders (001)."""

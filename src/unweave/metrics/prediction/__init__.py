"""Metrics that predict factors from codes with a probe."""

"""Metrics that read factors from codes with a probe."""

"""Metrics that match one code to one factor."""

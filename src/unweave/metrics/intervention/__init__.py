"""Metrics that hold factors fixed and watch what the codes do."""

"""Metrics that measure how the codes respond when a factor is changed or held fixed."""

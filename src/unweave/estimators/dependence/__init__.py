"""Correlation, dependence and conditional independence of columns."""

"""Trained networks that nobody here trained, and factors that are really set."""

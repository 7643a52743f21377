"""Reasons for a verdict: what changes the score, what random codes score, and functions that recompute the numbers."""

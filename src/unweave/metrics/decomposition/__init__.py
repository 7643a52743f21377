"""Bounds on unique, redundant and synergistic information (002)."""

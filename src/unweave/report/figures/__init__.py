"""Figures: what is better seen than read. Each function returns a matplotlib figure."""

"""Matplotlib figures, which are drawn from plain data. No scores are computed here."""

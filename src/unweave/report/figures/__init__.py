"""Matplotlib figures from plain data; nothing is computed here."""

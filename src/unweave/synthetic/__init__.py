"""Worlds and encoders whose distance from the truth is known by construction."""

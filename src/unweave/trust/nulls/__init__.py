"""Noise floors: the scores of uninformative encoders on the same data."""

"""Noise floors: what uninformative encoders score on the same data."""

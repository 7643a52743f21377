"""Metrics of how each latent of a decoder changes the generated data (000)."""

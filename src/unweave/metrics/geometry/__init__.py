"""Metrics of what each latent does to the data (000)."""

"""Entropy and mutual information of posteriors: on grids, by sampling, and in closed form."""

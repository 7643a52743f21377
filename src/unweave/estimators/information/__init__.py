"""Entropy and mutual information of columns and posteriors."""

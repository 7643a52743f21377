"""Metrics of mutual information between codes and factors."""

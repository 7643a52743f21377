"""Uncertainty from parts of the samples: intervals, comparisons of representations, planning of sample sizes."""

"""Disentanglement, completeness and informativeness over one shared importance matrix (Eastwood and Williams 2018)."""

"""DCI (Eastwood and Williams 2018): disentanglement, completeness and informativeness from one importance matrix."""

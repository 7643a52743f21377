"""InfoMEC: modularity, explicitness and compactness by information (Hsu et al. 2023)."""

"""InfoMEC: information-theoretic modularity, explicitness and compactness (Hsu et al. 2023)."""

"""Code that needs torch: Jacobians of decoders, normalising flows and their training, and published models."""

"""The only place where torch is imported: Jacobians of decoders, flows, and their training."""

"""Gram matrices of Jacobians, and priors of latents."""

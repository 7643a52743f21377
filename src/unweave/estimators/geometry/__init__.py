"""Gram matrices of Jacobians."""

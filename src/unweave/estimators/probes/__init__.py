"""Probes that predict a factor from the codes."""

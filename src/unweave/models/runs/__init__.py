"""Folders of trained models: names, checkpoints, and reading."""

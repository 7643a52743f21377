"""Folders of trained models: their names, checkpoints, and how they are read again."""

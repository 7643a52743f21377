"""Regression of one set of columns on another."""

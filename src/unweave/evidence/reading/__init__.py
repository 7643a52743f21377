"""Conversion of tables of many types into checked columns of numbers."""

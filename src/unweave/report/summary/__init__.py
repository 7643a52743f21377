"""The summary of an evaluation as plain data. All pages are rendered from it."""

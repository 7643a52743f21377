"""Text to cite: a methods paragraph, table rows and BibTeX."""

"""Text for a paper: a methods paragraph and BibTeX entries."""

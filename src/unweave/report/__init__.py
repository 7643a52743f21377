"""Report pages, figures and terminal tables, which are rendered from plain data."""

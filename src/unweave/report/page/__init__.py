"""The report as an HTML or Markdown page."""

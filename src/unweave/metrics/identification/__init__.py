"""The metric `identification`, with one file for each of its steps."""

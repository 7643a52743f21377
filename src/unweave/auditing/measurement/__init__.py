"""The cases of an audit, and their measurement within a time budget."""

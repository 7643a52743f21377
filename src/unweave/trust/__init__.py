"""How far a number may be trusted on the data at hand."""

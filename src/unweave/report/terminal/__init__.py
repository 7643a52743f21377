"""An evaluation as text that fits a terminal: the answer first, then every metric."""

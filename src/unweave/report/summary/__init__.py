"""An evaluation as the plain data that every page is made of."""

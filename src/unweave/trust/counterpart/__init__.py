"""The same codes on other data: independent factors, no redundant codes, more rows."""

"""Evidence for the claims of 002; the ledger names the functions."""

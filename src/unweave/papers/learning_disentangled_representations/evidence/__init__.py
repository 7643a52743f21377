"""Evidence for the claims of 001; the ledger names the functions."""

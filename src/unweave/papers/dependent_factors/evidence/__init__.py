"""Evidence for the claims of 004; the ledger names the functions."""

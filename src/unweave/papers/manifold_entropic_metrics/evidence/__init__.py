"""Evidence for the claims of 000; the ledger names the functions."""

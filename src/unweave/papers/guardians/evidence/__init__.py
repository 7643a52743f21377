"""Evidence for the claims of 003: one file for each part of the paper; the ledger names the functions."""

"""The counterpart: how the same encoder would look with independent factors, no redundant codes and more rows."""

"""What `unweave reproduce` prints and draws, one file a paper."""

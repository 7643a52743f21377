"""What the data are: how factors depend on each other, and which codes are dead, copied or heavy-tailed."""

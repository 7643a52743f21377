"""Diagnosis of the data: how factors depend on each other, and which codes are dead, copied or heavy-tailed."""

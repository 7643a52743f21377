"""Columns that are mostly zero: sums, ranks and counts over the entries that are not, exact for the zeros too."""

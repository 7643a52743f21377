"""How far a score may be trusted: noise floors, intervals, comparisons and the samples they need."""

"""How far a score may be trusted: noise floors, intervals, comparisons, a diagnosis of the data, and verdicts."""

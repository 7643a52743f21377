"""The time budget: what metrics cost, how many draws fit, and a clock that stops what takes longer than planned."""

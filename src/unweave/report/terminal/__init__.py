"""The text that the terminal shows for an evaluation: first the answer, then all metrics."""

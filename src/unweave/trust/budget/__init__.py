"""The time budget: the cost of metrics, the number of draws that fit, and a clock that stops draws beyond it."""

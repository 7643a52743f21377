"""The time budget: costs of metrics, number of draws that fit, and a clock that stops draws if it is exceeded."""

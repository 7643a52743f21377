"""The authors' published numbers, the metrics of their released code, and their agreement with our results."""

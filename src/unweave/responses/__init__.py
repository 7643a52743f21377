"""Which factors are functions of others, and what every code responds to: one answer for metrics and for trust."""

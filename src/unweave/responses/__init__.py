"""Which factors are functions of others, and how every code responds to the factors, for metrics and for trust."""

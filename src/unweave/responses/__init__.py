"""Which factors are functions of other factors, and how every code responds to the factors."""
